"""Schemas of tables as JSON: from every design and back, and refused by field."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tablewright.cli.designs import shipped_systems
from tablewright.design.deployment import Deployment
from tablewright.design.schemas import (
    SchemaRefused,
    read_schema,
    schema_path,
    schema_text,
    tables_of,
)
from tablewright.design.schemas.export import frequency
from tablewright.design.table_spec import key_types, projection
from tablewright.design.tables import Index
from tablewright.mapping.deployment import deployment_of

DEPLOY = Path(__file__).parents[3] / "deploy"
EVERY = sorted(path for path in DEPLOY.glob("*/schemas/*/*.schema.json"))
TENANT = json.loads((DEPLOY / "portal/schemas/tenants/tenant.schema.json").read_text())


def deployments(system: str) -> list[Deployment]:
    designs = import_module(f"tablewright.systems.{system}.design").DESIGNS
    return [deployment_of(system, designs, each) for each in designs[0].environments.values()]


def test_cp_s14_every_schema_is_read_and_written_as_it_was() -> None:
    assert len(EVERY) == sum(len(deployments(system)[0].tables) for system in shipped_systems())
    for path in EVERY:
        text = path.read_text()
        assert schema_text(read_schema(text, path.name)) == text


@pytest.mark.parametrize("system", shipped_systems())
def test_what_is_read_are_the_tables_indexes_and_key_types_of_the_design(system: str) -> None:
    every = deployments(system)
    for table in every[0].tables:
        made = tables_of(
            read_schema((DEPLOY / system / schema_path(every[0], table)).read_text()), table.design
        )
        about = table.about or f"The table {table.name}"
        assert made.table == replace(table, followed=False, whole=False, about=about)
        indexes, shapes = every[0].indexes(table), every[0].shapes(table)
        wanted = {index.name: _as_deployed(every[0], index) for index in indexes}
        assert {index.name: replace(index, table=table) for index in made.indexes} == wanted
        assert made.key_types == key_types(table, indexes, shapes)


def _as_deployed(deployment: Deployment, index: Index) -> Index:
    """An index with all that it projects, and without the names it had elsewhere."""
    kind, names = projection(index, deployment.shapes(index.table))
    project: Any = tuple(names) if kind == "INCLUDE" else kind
    return replace(index, project=project, aliases=())


def test_cp_53_a_schema_has_the_fields_of_the_document() -> None:
    assert [*TENANT] == [
        "tableName", "description", "primaryKey", "attributes", "globalSecondaryIndexes", "capacityMode", "pitr",
        "backup", "streams", "tags", "entities",
    ]  # fmt: skip
    assert TENANT["primaryKey"] == {
        "partitionKey": {"name": "PK", "type": "S", "pattern": "TENANT#{id}"},
        "sortKey": {"name": "SK", "type": "S", "pattern": "METADATA"},
    }
    assert TENANT["backup"] == {
        "dev": {"frequency": "daily", "retention": 7},
        "sit": {"frequency": "daily", "retention": 14},
        "prod": {"frequency": "hourly", "retention": 90},
    }
    assert TENANT["globalSecondaryIndexes"][0]["sortKey"] is None
    # CP-D39: the lists of tags are right, where the document's schemas say Project "2.1".
    assert TENANT["tags"]["Project"] == "BBWS WP Containers"
    assert "Environment" not in TENANT["tags"]


def test_cp_54_attributes_have_their_types_choices_defaults_and_formats() -> None:
    found = {each["name"]: each for each in TENANT["attributes"]}
    assert found["status"]["enum"] == ["UNVALIDATED", "VALIDATED", "REGISTERED", "SUSPENDED"]
    assert (found["active"]["type"], found["active"]["default"]) == ("BOOL", True)
    assert found["dateCreated"]["format"] == "ISO 8601"
    assert found["organizationName"]["required"] is False
    product, campaign = (
        {
            each["name"]: each
            for each in json.loads((DEPLOY / "portal/schemas" / name).read_text())["attributes"]
        }
        for name in ("products/product.schema.json", "campaigns/campaign.schema.json")
    )
    assert product["billingCycle"]["enum"] == ["monthly", "yearly"]
    assert (product["price"]["type"], product["features"]["type"]) == ("N", "L")
    assert campaign["fromDate"]["format"] == "ISO 8601 date (YYYY-MM-DD)"


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("tableName",), "x", "tableName: must have 3 to 255 letters"),
        (("primaryKey", "partitionKey", "type"), "BOOL", "primaryKey.partitionKey.type: must be one of S, N, B"),
        (("primaryKey", "sortKey", "name"), "other", "primaryKey.sortKey.name: 'other' is not in attributes"),
        (("attributes", 2, "type"), "X", "attributes[2].type: must be one of"),
        (("attributes", 2, "default"), "yes", "attributes[2].default: is not of type BOOL"),
        (("attributes", 3, "name"), "PK", "attributes[3].name: 'PK' is listed twice"),
        (("attributes", 3, "format"), "soon", "attributes[3].format: must be ISO 8601"),
        (("attributes", 3, "required"), 1, "attributes[3].required: must be true or false"),
        (("globalSecondaryIndexes", 1, "partitionKey"), "active", "globalSecondaryIndexes[1].partitionKey: 'active'"),
        (("globalSecondaryIndexes", 1, "indexName"), "EmailIndex", "globalSecondaryIndexes[1].indexName: must"),
        (("globalSecondaryIndexes", 1, "projectionType"), "INCLUDE", "globalSecondaryIndexes[1].nonKeyAttributes: "),
        (("streams", "enabled"), False, "streams.viewType: must be one of"),
        (("backup", "dev", "retention"), "7", "backup.dev.retention: must be a whole number"),
        (("entities", 0, "attributes", 0, "type"), "Q", "entities[0].attributes[0].type: must be one of"),
    ],
)  # fmt: skip
def test_a_bad_schema_is_refused_by_its_field(path: tuple[str | int, ...], value: Any, problem: str) -> None:
    said: Any = json.loads(json.dumps(TENANT))
    inside = said
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    with pytest.raises(SchemaRefused) as refused:
        read_schema(json.dumps(said), "tenant.schema.json")
    assert any(found.startswith(problem) for found in refused.value.problems), refused.value.problems
    assert f"tenant.schema.json: {problem}" in str(refused.value)


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(SchemaRefused, match=r"pets\.json: the file: is not JSON"):
        read_schema("{", "pets.json")
    with pytest.raises(SchemaRefused, match="the file: is not an object"):
        read_schema("[]", "pets.json")


def test_the_index_of_the_document_on_a_truth_is_refused() -> None:
    """CP-53's own example: DynamoDB has no index on a BOOL."""
    said = json.loads(json.dumps(TENANT))
    said["globalSecondaryIndexes"][2]["partitionKey"] = "active"
    with pytest.raises(SchemaRefused, match="'active' is of type BOOL; a key is one of S, N, B"):
        read_schema(json.dumps(said))


@pytest.mark.parametrize(
    ("schedule", "named"),
    [
        ("cron(0 * * * ? *)", "hourly"), ("cron(0 1 * * ? *)", "daily"), ("cron(0 2 ? * SUN *)", "weekly"),
        ("cron(0 2 1 * ? *)", "monthly"), ("cron(0 2 1 1 ? *)", "cron(0 2 1 1 ? *)"), ("rate(1 hour)", "rate(1 hour)"),
    ],
)  # fmt: skip
def test_a_schedule_is_named_by_how_often_it_is_due(schedule: str, named: str) -> None:
    assert frequency(schedule) == named
