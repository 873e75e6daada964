"""Designs in the formats of other tools: cfn-lint is content, our engine takes the tables, and all are read back."""

import json
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pytest
from cfnlint.api import ManualArgs, lint
from pydantic import BaseModel

from tablewright.client import embedded
from tablewright.design import Backups, Design, Environment, Keys, Provisioned
from tablewright.design.deployment import Deployment
from tablewright.design.files import from_plain
from tablewright.mapping.deploy import desired_tables
from tablewright.mapping.deploy.states import TableState, table_state
from tablewright.mapping.deployment import deployment_of
from tablewright.mapping.formats import imported_design, tables_in, template, workbench_model
from tablewright.mapping.tables import create_table
from tablewright.testing import engine

SYSTEMS = ("campus", "chat", "parental", "portal", "travel")
MADE = datetime(2026, 1, 2, tzinfo=UTC)


def shipped(system: str) -> Design:
    (design,) = import_module(f"tablewright.systems.{system}.design").DESIGNS
    assert isinstance(design, Design)
    return design


def production(design: Design) -> Deployment:
    return deployment_of(design.name, (design,), list(design.environments.values())[-1])


def linted(made: dict[str, Any]) -> list[str]:
    """Errors and warnings of cfn-lint."""
    return [str(each) for each in lint(json.dumps(made), config=ManualArgs(regions=["us-east-1"]))]


class Visit(BaseModel):
    clinic: str
    at: str
    pet: str


def visit(clinic: str, at: str) -> None: ...


def clinic(**settings: Any) -> Design:
    design = Design("clinic")
    design.environment(Environment("prod", "us-east-1", account="123456789012", **settings))
    table = design.table("visits", pk="PK", sk="SK", ttl="ttl", stream="NEW_AND_OLD_IMAGES")
    index = table.gsi("by-pet", pk="pet", sk="at", project=("clinic",))
    table.entity(Visit, visit, tag="visit", pk="C#{clinic}", sk="V#{at}", on={index: Keys("{pet}", "{at}")})
    return design.build()


ELABORATE = {
    "scaled": clinic(capacity=Provisioned(5, 5, max_read=50, max_write=40), tags={"team": "pets"}),
    "own key": clinic(encryption="customer", pitr_days=14, deletion_protection=True),
    "replicas": clinic(
        replicas=("eu-west-1",), encryption="managed", backups=Backups("cron(0 3 * * ? *)", 30, "v")
    ),
}


def settings(state: TableState) -> Any:
    """What a template can say of a table."""
    return (
        state.key, dict(state.types), dict(state.indexes), state.stream, state.ttl, state.recovery_days,
        state.is_protected, state.encryption, dict(state.tags), state.replicas, state.units,
    )  # fmt: skip


@pytest.mark.parametrize("design", [*map(shipped, SYSTEMS), *ELABORATE.values()], ids=[*SYSTEMS, *ELABORATE])
def test_a_template_passes_cfn_lint_and_is_read_back_as_the_same_tables(design: Design) -> None:
    deployment = production(design)
    made = template(deployment)
    assert linted(made) == []
    read = {table.state.name: table.state for table in tables_in(made)}
    meant = {state.name: state for state in desired_tables(deployment)}
    assert {name: settings(state) for name, state in read.items()} == {
        name: settings(state) for name, state in meant.items()
    }


def test_cfn_lint_would_say_what_is_wrong_with_a_template() -> None:
    made = template(production(ELABORATE["scaled"]))
    made["Resources"]["Visits"]["Properties"]["KeySchema"][0]["KeyType"] = "PARTITION"
    assert linted(made)


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_create_table_says_is_taken_by_the_engine_and_read_back_from_it(system: str) -> None:
    design = shipped(system)
    requests = [create_table(design, table) for table in design.tables.values()]
    with engine() as made:
        described = [embedded(made)("CreateTable", each)["TableDescription"] for each in requests]
    read = from_plain(imported_design(system, tables_in([{"Table": each} for each in described])))
    for request, table in zip(requests, read.tables.values(), strict=True):
        meant, found = table_state(request), table_state(create_table(read, table))
        assert (found.key, found.types, found.indexes) == (meant.key, meant.types, meant.indexes)
        assert found.vectors.keys() == meant.vectors.keys()
        assert found.stream == meant.stream


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_model_of_workbench_is_read_back_as_the_same_keys_and_indexes(system: str) -> None:
    design = shipped(system)
    read = {table.state.name: table.state for table in tables_in(workbench_model(design, MADE))}
    for table in design.tables.values():
        meant, found = table_state(create_table(design, table)), read[table.name]
        single = {
            name: index for name, index in meant.indexes.items()
            if not index.local and len(index.key) <= 2 and [kind for _, kind in index.key].count("HASH") == 1
        }  # fmt: skip
        assert (found.key, found.types, found.indexes) == (meant.key, meant.types, single)
