"""What targets can do, as data; docs/capabilities.md is printed from it:
`python tests/design/test_capabilities.py > docs/capabilities.md`."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tablewright.client import CallRefused, embedded
from tablewright.design import Design, Environment, Keys, Load, Provisioned, Unique
from tablewright.design.capabilities import FEATURES, TARGETS, NoSuchTarget, missing, page
from tablewright.testing import engine

PAGE = Path(__file__).parents[2] / "docs" / "capabilities.md"
INTRODUCTION = """# What a target can do

Printed from `design/capabilities.py`; a test compares. `tablewright design check SYSTEM --target NAME` lists
what a design needs and the target lacks, by table, index and pattern; with `--environment NAME` the settings of that
environment, too. It exits with 1 if it found something. Each statement names where it is known from; probes are calls
that were made to a running server. Of Alternator nothing was run: its statements are those of its own pages.

"""


class Pet(BaseModel):
    owner: str
    name: str
    colour: str
    age: int
    embedding: tuple[float, ...] | None = None


def pet_key(owner: str, name: str) -> None: ...


def pets() -> Design:
    """A design that needs nearly everything."""
    design = Design("pets")
    table = design.table("pets", pk="PK", sk="name", ttl="ttl", stream="NEW_IMAGE")
    by_age = table.lsi("by-age", sk="age")
    by_both = table.gsi("by-both", pk=("colour", "name"), project="KEYS_ONLY")
    near = table.vectors("near", of="embedding", dimensions=3, partition="owner")
    pet = table.entity(
        Pet,
        pet_key,
        tag="pet",
        pk="OWNER#{owner}",
        sk="{name}",
        on={by_age: Keys("OWNER#{owner}", "{age}"), by_both: Keys(("{colour}", "{name}"))},
        unique=[Unique("name", "{name}")],
        load={"create": Load(per_month=1, transaction=True)},
    )

    @design.search(pet, on=near)
    def pets_like(*, owner: str) -> None: ...

    return design.build()


PROD = Environment(
    "prod",
    "us-east-1",
    capacity=Provisioned(5, 5, max_read=50),
    pitr_days=7,
    replicas=("eu-west-1",),
    tags={"team": "pets"},
    deletion_protection=True,
    encryption="managed",
)


def named(target: str, environment: Environment | None = None) -> set[tuple[str, str, str]]:
    """Rule, place and feature of each finding."""
    found = missing((pets(),), target, environment)
    return {(one.rule, one.where, one.why.split(": ")[1]) for one in found}


def test_every_target_answers_every_feature_with_a_source_and_says_what_differs() -> None:
    for feature in FEATURES:
        assert set(feature.support) == set(TARGETS), feature.name
        for target, support in feature.support.items():
            assert support.source, (feature.name, target)
            assert bool(support.note) == (support.level != "has"), (feature.name, target)


def test_amazon_lacks_nothing() -> None:
    assert named("amazon", PROD) == set()


def test_what_a_target_lacks_is_named_with_table_index_and_pattern() -> None:
    assert named("extenddb") == {("T001", "pets.pets.by-both", "Index keys of several attributes")}
    assert named("moto") == {
        ("T002", "pets", "Updates of one item at the same time"),
        ("T002", "pets.pets", "Time to live"),
        ("T002", "pets.pets", "Streams"),
        ("T001", "pets.pets.near", "Vector indexes"),
        ("T001", "pets.pets_like", "Vector indexes"),
    }
    transactions = {where for rule, where, what in named("alternator") if what.startswith("Transactions")}
    assert transactions == {"pets.pet", "pets.pet.create"}


def test_an_environment_adds_what_its_settings_need() -> None:
    assert named("embedded") == set()
    assert named("embedded", PROD) == {
        ("T001", "environment prod: pets.pets", "Autoscaling of provisioned capacity"),
        ("T002", "environment prod", "Encryption with a key of one's own"),
    }


def test_a_target_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(NoSuchTarget, match="no target is called dynalite; choose one of amazon, embedded"):
        missing((pets(),), "dynalite")


PROBES: dict[str, tuple[str, dict[str, Any]]] = {
    "partiql": ("ExecuteStatement", {"Statement": "SELECT * FROM pets WHERE \"owner\" = 'ann'"}),
    "backups": ("CreateBackup", {"TableName": "pets", "BackupName": "one"}),
    "pitr": (
        "UpdateContinuousBackups",
        {"TableName": "pets", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
    ),
    "ttl": (
        "UpdateTimeToLive",
        {"TableName": "pets", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
    ),
    "protection": ("UpdateTable", {"TableName": "pets", "DeletionProtectionEnabled": True}),
    "transactions": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"TableName": "pets", "Item": {"owner": {"S": "ann"}}}}]},
    ),
    "autoscaling": ("DescribeScalableTargets", {"ServiceNamespace": "dynamodb"}),
}


@pytest.mark.parametrize("name", PROBES)
def test_the_embedded_engine_is_as_the_data_says(name: str) -> None:
    level = next(feature for feature in FEATURES if feature.name == name).support["embedded"].level
    with engine() as store:
        call = embedded(store)
        key = {"AttributeName": "owner"}
        call(
            "CreateTable",
            {
                "TableName": "pets",
                "KeySchema": [{**key, "KeyType": "HASH"}],
                "AttributeDefinitions": [{**key, "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        verb, request = PROBES[name]
        if level == "has":
            call(verb, request)
        else:
            with pytest.raises(CallRefused, match="UnknownOperation"):
                call(verb, request)


def test_the_page_is_what_the_data_says() -> None:
    assert PAGE.read_text() == INTRODUCTION + page()


if __name__ == "__main__":
    print(INTRODUCTION + page(), end="")
