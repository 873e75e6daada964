"""A small design, as a repository."""

from typing import Any

from pydantic import BaseModel

from tablewright.design import Design, Environment
from tablewright.design.deployment import Deployment
from tablewright.design.repository import repository
from tablewright.mapping.deployment import deployment_of


class Pet(BaseModel):
    """An animal with an owner."""

    owner: str
    name: str


def pet_key(owner: str, name: str) -> None: ...


def deployment(name: str = "pets", environment: str = "dev", **said: Any) -> Deployment:
    design = Design(name)
    table = design.table("pets", pk="owner", sk="name")
    table.entity(Pet, pet_key, tag="pet", pk="{owner}", sk="{name}")
    return deployment_of(name, (design.build(),), Environment(environment, "eu-west-1", **said))


def printed(name: str = "pets", **said: Any) -> dict[str, str]:
    return repository([deployment(name, **said)])
