"""What is exported and imported again is a design without an open finding, of its own tables, by their own names."""

from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from importlib.resources import files
from typing import Any

import pytest

from tablewright.design import Design
from tablewright.design import files as design_files
from tablewright.design.check import findings
from tablewright.design.deployment import Deployment
from tablewright.design.files import from_plain, from_yaml
from tablewright.design.review import review
from tablewright.design.review.designs import facts_of
from tablewright.mapping.deploy import desired_tables
from tablewright.mapping.deploy.states import TableState, table_state
from tablewright.mapping.deployment import deployment_of
from tablewright.mapping.formats import imported_design, tables_in, template, workbench_model
from tablewright.mapping.tables import create_table

SYSTEMS = ("campus", "chat", "parental", "portal", "travel")
MADE = datetime(2026, 1, 2, tzinfo=UTC)


def design_of(name: str) -> Design:
    if name == "example":
        return from_yaml(files(design_files).joinpath("example.yaml").read_text("utf-8"))
    (design,) = import_module(f"tablewright.systems.{name}.design").DESIGNS
    assert isinstance(design, Design)
    return design


def production(design: Design) -> Deployment:
    return deployment_of(design.name, (design,), list(design.environments.values())[-1])


def requests(deployment: Deployment) -> list[dict[str, Any]]:
    (design,) = deployment.designs
    return [create_table(design, table, deployment.environment) for table in design.tables.values()]


def model(deployment: Deployment) -> dict[str, Any]:
    return workbench_model(deployment.designs[0], MADE, deployment.environment)


def terraform_plan(deployment: Deployment) -> dict[str, Any]:
    """The tables as `terraform show -json` prints a plan of them."""
    tables = [_planned(state) for state in desired_tables(deployment)]
    resources = [
        {"mode": "managed", "type": "aws_dynamodb_table", "name": "this", "values": each} for each in tables
    ]
    return {"format_version": "1.2", "planned_values": {"root_module": {"resources": resources}}}


def _planned(state: TableState) -> dict[str, Any]:
    def index(name: str) -> dict[str, Any]:
        found = state.indexes[name]
        keys = [{"attribute_name": each, "key_type": kind} for each, kind in found.key]
        kind, names = found.carried
        return {
            "name": name,
            "key_schema": keys,
            "projection_type": kind,
            "non_key_attributes": sorted(names),
        }

    both = dict(state.key)
    searched = {name for vector in state.vectors.values() for name in vector.types}
    keys = {*state.types, *(name for found in state.indexes.values() for name in found.types)}
    return {
        "name": state.name,
        "hash_key": next(name for name, kind in both.items() if kind == "HASH"),
        "range_key": next((name for name, kind in both.items() if kind == "RANGE"), None),
        "attribute": [
            {"name": name, "type": letter}
            for name, letter in state.all_types.items()
            if name in keys or name not in searched
        ],
        "billing_mode": "PAY_PER_REQUEST",
        "global_secondary_index": [index(name) for name, each in state.indexes.items() if not each.local],
        "local_secondary_index": [index(name) for name, each in state.indexes.items() if each.local],
        "ttl": [{"attribute_name": state.ttl, "enabled": True}] if state.ttl else [],
        "stream_enabled": state.stream is not None,
        "stream_view_type": state.stream,
        "tags": dict(state.tags),
        "point_in_time_recovery": [{"enabled": bool(state.recovery_days)}],
        "deletion_protection_enabled": state.is_protected,
    }


FORMS: dict[str, Callable[[Deployment], Any]] = {
    "cloudformation": template,
    "create-table": requests,
    "terraform": terraform_plan,
    "workbench": model,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("system", [*SYSTEMS, "example"])
def test_what_is_exported_is_imported_without_an_open_finding(system: str, form: str) -> None:
    deployment = production(design_of(system))
    read = from_plain(imported_design(system, tables_in(FORMS[form](deployment))))
    found = [*findings(read), *review(facts_of(read))]
    # Facets have templates, so the rules find what the design accepts with a reason; a model has no place for reasons.
    known = {each.rule for each in deployment.designs[0].accepted} if form == "workbench" else set()
    still_open = [each for each in found if each.severity != "information" and not each.reason]
    assert [str(each) for each in still_open if each.rule not in known] == []
    (environment,) = read.environments.values()
    meant = {deployment.physical(table.name): table for table in deployment.own}
    assert {environment.physical(name) for name in read.tables} == set(meant), "no table of the mapping"
    if form in ("cloudformation", "terraform"):
        assert {environment.physical(table.name): table.ttl for table in read.tables.values()} == {
            name: table.ttl for name, table in meant.items()
        }


@pytest.mark.parametrize("system", ["travel", "example"])
def test_the_name_of_the_environment_is_not_part_of_a_tables_name(system: str) -> None:
    design = design_of(system)
    read = from_plain(imported_design(system, tables_in(template(production(design)))))
    assert list(read.tables) == list(design.tables)
    assert list(read.environments) == ["prod"]


def _named(*names: str, key: str = "pk", **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "TableName": name,
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
            **more,
        }
        for name in names
    ]


@pytest.mark.parametrize(
    ("names", "expected", "environment"),
    [
        (("orders-blue", "users-blue"), {"orders", "users"}, "blue"),
        (("orders-prod",), {"orders"}, "prod"),
        (("campus-cloud",), {"campus-cloud"}, "imported"),
        (("orders-prod", "users-dev"), {"orders-prod", "users-dev"}, "imported"),
        (("orders-prod", "users"), {"orders-prod", "users"}, "imported"),
    ],
)
def test_an_end_that_all_names_share_is_the_environment(
    names: tuple[str, ...], expected: set[str], environment: str
) -> None:
    read = from_plain(imported_design("shop", tables_in(_named(*names))))
    assert set(read.tables) == expected
    assert list(read.environments) == [environment]
    assert {read.environments[environment].physical(name) for name in read.tables} == set(names)


def test_a_table_of_receipts_is_left_out_and_noted_and_another_of_that_name_is_not() -> None:
    document = imported_design("shop", tables_in([*_named("shop-prod"), *_named("receipts-prod", key="id")]))
    assert [table["name"] for table in document["tables"]] == ["shop"]
    assert any("receipts-prod: left out" in note for note in document["notes"])
    document = imported_design("shop", tables_in(_named("shop-prod", "receipts-prod")))
    assert [table["name"] for table in document["tables"]] == ["shop", "receipts"]
    alone = imported_design("shop", tables_in(_named("receipts-prod", key="id")))
    assert [table["name"] for table in alone["tables"]] == ["receipts"]


def _expiring(projection: dict[str, Any]) -> dict[str, Any]:
    key = [{"AttributeName": "state", "KeyType": "HASH"}]
    (table,) = _named("jobs")
    table["AttributeDefinitions"].append({"AttributeName": "state", "AttributeType": "S"})
    table["GlobalSecondaryIndexes"] = [{"IndexName": "by-state", "KeySchema": key, "Projection": projection}]
    table["TimeToLiveSpecification"] = {"AttributeName": "goneAt", "Enabled": True}
    return {"Resources": {"Jobs": {"Type": "AWS::DynamoDB::Table", "Properties": table}}}


def test_the_attribute_that_items_expire_by_is_declared_as_what_it_is() -> None:
    document = imported_design("jobs", tables_in(_expiring({"ProjectionType": "ALL"})))
    (entity,) = document["tables"][0]["entities"]
    assert entity["fields"]["gone_at"] == {"type": "integer?", "stored": "goneAt"}
    assert entity["expires"] == "gone_at"
    assert "accepted" not in document


@pytest.mark.parametrize(
    "projection",
    [{"ProjectionType": "KEYS_ONLY"}, {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]}],
    ids=["keys only", "some"],
)
def test_an_index_that_cannot_show_what_has_expired_stays_as_it_is_and_is_noted(
    projection: dict[str, Any],
) -> None:
    value = _expiring(projection)
    document = imported_design("jobs", tables_in(value))
    read = from_plain(document)
    made, meant = table_state(create_table(read, read.tables["jobs"])), tables_in(value)[0].state
    assert made.indexes == meant.indexes
    assert any("goneAt, which not every index carries" in note for note in document["notes"])
    # The template switches neither recovery nor protection on, and that is found.
    found = [each for each in review(facts_of(read)) if each.severity != "information" and not each.reason]
    assert {each.rule for each in found} == {"OPS-UNPROTECTED"}
