"""Designs for the tests of `serve --target`: each needs one thing that some target lacks."""

from pydantic import BaseModel

from tablewright.design import Design, Environment, Keys, Provisioned, Unique

ENVIRONMENTS = {
    "autoscaling": Environment("prod", "us-east-1", capacity=Provisioned(5, 5, max_read=50)),
    "replicas": Environment("prod", "us-east-1", replicas=("eu-west-1",)),
    "pitr": Environment("prod", "us-east-1", pitr_days=7),
    "protection": Environment("prod", "us-east-1", deletion_protection=True),
    "encryption": Environment("prod", "us-east-1", encryption="managed"),
}


class Pet(BaseModel):
    owner: str
    name: str
    colour: str
    embedding: tuple[float, ...] | None = None


def pet_key(owner: str, name: str) -> None: ...


def pets(needed: str = "") -> Design:
    design = Design("pets")
    table = design.table("pets", pk="PK", sk="name")
    keys = {}
    if needed == "multi_attribute":
        keys[table.gsi("by-both", pk=("colour", "name"))] = Keys(("{colour}", "{name}"))
    if needed == "vectors":
        table.vectors("near", of="embedding", dimensions=3, partition="owner")
    unique = [Unique("name", "{name}")] if needed == "transactions" else []
    table.entity(Pet, pet_key, tag="pet", pk="OWNER#{owner}", sk="{name}", on=keys, unique=unique)
    if needed in ENVIRONMENTS:
        design.environment(ENVIRONMENTS[needed])
    return design.build()


MULTI_ATTRIBUTE, VECTORS, TRANSACTIONS = pets("multi_attribute"), pets("vectors"), pets("transactions")
AUTOSCALING, REPLICAS, PITR = pets("autoscaling"), pets("replicas"), pets("pitr")
PROTECTION, ENCRYPTION, NOTHING = pets("protection"), pets("encryption"), pets()
