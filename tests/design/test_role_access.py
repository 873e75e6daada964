"""Roles against patterns and verbs: what is declared is allowed to its role, and everything else denied."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel
from tests.cli.command import here
from tests.design.test_policies import EVERY, documents

from tablewright.design import Design, Environment, Keys, Load, begins, equals
from tablewright.design.deployment import Deployment
from tablewright.design.role_access import role_access
from tablewright.mapping.deployment import deployment_of


class Pet(BaseModel):
    owner: str
    name: str
    kind: str


def pet_key(owner: str, name: str) -> None: ...


def clinic() -> Deployment:
    design = Design("clinic")
    table = design.table("clinic", pk="PK", sk="SK")
    by_kind, unused = table.gsi("by-kind", pk="GPK", sk="GSK"), table.gsi("unused", pk="HPK")
    pets = table.entity(
        Pet,
        pet_key,
        tag="pet",
        pk="OWNER#{owner}",
        sk="PET#{name}",
        on={by_kind: Keys("KIND#{kind}", "{name}"), unused: Keys("NAME#{name}")},
        load={"create": Load(per_month=10), "update": Load(per_month=10)},
    )
    design.principal("owner", owner="ownerId")

    @design.query(pets, pk="OWNER#{owner}", sk=begins("PET#"), roles=("owner",))
    def pets_of(*, owner: str) -> None: ...

    @design.query(pets, pk="OWNER#{owner}", sk=equals("PET#{name}"))
    def pets_named(*, owner: str, name: str) -> None: ...

    @design.query(pets, on=by_kind, pk="KIND#{kind}", roles=("vet",))
    def pets_by_kind(*, kind: str) -> None: ...

    return deployment_of("clinic", (design.build(),), Environment("dev", "us-east-1"))


CLINIC = clinic()
NONE = dict.fromkeys(("deployer", "restorer"), "denied")


def cells(documents: Any = None) -> dict[str, dict[str, str]]:
    return {row.access.name: dict(row.cells) for row in role_access(CLINIC, documents).rows}


def test_a_pattern_is_allowed_for_its_role_and_denied_for_every_other() -> None:
    found = cells()
    assert found["pets_of"] == {"service": "allowed", "owner": "allowed", "vet": "denied", **NONE}
    assert found["pets_by_kind"] == {"service": "allowed", "owner": "denied", "vet": "allowed", **NONE}
    assert found["pet.create"] == {"service": "allowed", "owner": "denied", "vet": "denied", **NONE}


def test_what_is_not_declared_is_denied_for_every_role() -> None:
    found = cells()
    for name in ("Scan of clinic", "Query of clinic.unused"):
        assert set(found[name].values()) == {"denied"}


def test_two_patterns_of_one_partition_key_are_one_right() -> None:
    assert cells()["pets_named"]["owner"] == "shared"
    assert role_access(CLINIC).findings == ()


def test_a_document_that_gives_too_much_or_too_little_is_found() -> None:
    given = documents(CLINIC)
    wide = {"Effect": "Allow", "Action": "dynamodb:Scan", "Resource": "*"}
    given["vet"] = {**given["vet"], "Statement": [*given["vet"]["Statement"], wide]}
    given["owner"] = {"Statement": []}
    found = cells(given)
    assert found["Scan of clinic"]["vet"] == "TOO MUCH"
    assert found["pets_of"]["owner"] == "MISSING"
    names = {(row.access.name, row.findings) for row in role_access(CLINIC, given).findings}
    assert names == {("Scan of clinic", ("vet",)), ("pets_of", ("owner",))}


@pytest.mark.parametrize("of", EVERY, ids=lambda of: of.title)
def test_the_policies_of_the_systems_decide_as_their_designs_declare(of: Deployment) -> None:
    found = role_access(of)
    assert [(row.access.name, row.findings) for row in found.findings] == []
    assert len(found.rows) > 20


def test_the_command_prints_roles_and_patterns_as_a_table() -> None:
    ran = here("design", "policy", "travel", "--environment", "prod", "--simulate")
    assert ran.code == 0
    head, *rows = ran.out.splitlines()
    assert head.split() == [
        "pattern",
        "or",
        "verb",
        "service",
        "admin",
        "public",
        "deployer",
        "restorer",
        "backup",
    ]
    assert ["region_by_code", "yes", "no", "yes", "no", "no", "no"] in [row.split() for row in rows]
    one = here(
        "design", "policy", "travel", "--environment", "prod", "--simulate", "--role", "public", "--json"
    )
    assert '"public": "allowed"' in one.out
    assert (
        here("design", "policy", "travel", "--environment", "prod", "--simulate", "--role", "cook").code == 2
    )
