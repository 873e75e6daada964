"""Tables of other tools become a design: the same keys, indexes and settings, and a file that is a design."""

from pathlib import Path
from typing import Any

import pytest

from tablewright.client import embedded
from tablewright.design import Design
from tablewright.design.environments import Provisioned
from tablewright.design.files import DesignFileRefused, from_plain
from tablewright.design.files.text import from_json_text, from_yaml_text
from tablewright.design.schemas import SchemaRefused
from tablewright.mapping import Db
from tablewright.mapping.deploy.states import TableState, table_state
from tablewright.mapping.formats import FormatUnknown, imported_design, tables_in
from tablewright.mapping.formats.cloudformation_reader import read_tag
from tablewright.mapping.tables import create_table
from tablewright.testing import engine

SAMPLES = Path(__file__).parent / "samples"
ROOT = Path(__file__).parents[3]
SCHEMAS = sorted(ROOT.glob("deploy/*/schemas/*/*.schema.json"))


def plain(name: str) -> Any:
    text = (SAMPLES / name).read_text("utf-8")
    return from_yaml_text(text, read_tag) if name.endswith(".yaml") else from_json_text(text)


def imported(value: Any) -> tuple[Design, list[str], dict[str, TableState]]:
    """The design, its notes, and the tables that it asks for."""
    document = imported_design("imported", tables_in(value))
    design = from_plain(document)
    states = {name: table_state(create_table(design, table)) for name, table in design.tables.items()}
    return design, document["notes"], states


def test_a_model_of_nosql_workbench_keeps_keys_index_attributes_and_scaling() -> None:
    design, notes, states = imported(plain("workbench.json"))
    table = states["Bookshop"]
    assert table.key == (("PK", "HASH"), ("SK", "RANGE"))
    assert table.all_types == {"PK": "S", "SK": "S", "GSI1PK": "S", "GSI1SK": "N"}
    index = table.indexes["GSI1"]
    assert index.carried == ("INCLUDE", frozenset({"orderTotal"}))
    (entity,) = design.shapes
    assert {one.stored: one.kind.letter for one in entity.attributes}.items() >= {
        "orderTotal": "N", "lines": "L", "gift": "BOOL", "labels": "SS"
    }.items()  # fmt: skip
    capacity = design.environments["imported"].capacity_of("Bookshop")
    assert capacity == Provisioned(5, 4, max_read=20, target=65)
    assert entity.tag == "order"
    assert [key.template.text for key in entity.primary] == ["C#{customer}", "O#{order}"]
    assert any("order has customer, order in its key; no attribute" in each.lower() for each in notes)


def test_a_template_of_cloudformation_is_read_with_its_functions_and_says_what_it_could_not_resolve() -> None:
    design, notes, states = imported(plain("template.yaml"))
    assert set(states) == {"orders-prod", "Sessions", "everywhere-prod"}
    orders = states["orders-prod"]
    assert orders.indexes["by-time"].local
    assert orders.indexes["by-time"].carried == ("KEYS_ONLY", frozenset())
    assert orders.indexes["by-status"].key == (("status", "HASH"), ("placedAt", "RANGE"))
    assert orders.all_types["placedAt"] == "N"
    assert orders.stream == "NEW_AND_OLD_IMAGES"
    assert design.tables["orders-prod"].ttl == "expiresAt"
    assert design.environments["imported"].capacity_of("Sessions") == Provisioned(3, 2)
    assert design.environments["imported"].region == "eu-west-1"
    for words in (
        "Deletion protection: on in orders-prod; the design says off, since an environment has one setting.",
        "Sessions: it has no fixed name",
        "Encryption: customer in orders-prod; the design says owned",
        "Replicas: us-east-1 in everywhere-prod; the design says none",
    ):
        assert any(words in each for each in notes), words


def of_template(protected: Any, **parts: Any) -> tuple[TableState, tuple[str, ...]]:
    """The table of a template in which a value with functions says whether it is protected, and its notes."""
    properties = {
        "TableName": {
            "Fn::Sub": ["chat-${Short}", {"Short": {"Fn::FindInMap": ["Names", {"Ref": "Stage"}, "short"]}}]
        },
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "StreamSpecification": {"Ref": "AWS::NoValue"},
        "DeletionProtectionEnabled": protected,
    }
    template = {
        "Parameters": {"Stage": {"Type": "String", "Default": "production"}, "Unknown": {"Type": "String"}},
        "Mappings": {"Names": {"production": {"short": "prod"}}},
        "Conditions": {
            "IsProd": {"Fn::Equals": [{"Ref": "Stage"}, "production"]},
            "IsTest": {"Fn::Not": [{"Condition": "IsProd"}]},
            "Either": {"Fn::Or": [{"Condition": "IsTest"}, {"Condition": "IsProd"}]},
            "Both": {"Fn::And": [{"Condition": "IsTest"}, {"Condition": "IsProd"}]},
            "Asked": {"Fn::Equals": [{"Ref": "Unknown"}, "yes"]},
            "AskedOrProd": {"Fn::Or": [{"Condition": "Asked"}, {"Condition": "IsProd"}]},
            "Round": {"Fn::Not": [{"Condition": "Round"}]},
        },
        "Resources": {"Chat": {"Type": "AWS::DynamoDB::Table", "Properties": properties}},
    }  # fmt: skip
    (table,) = tables_in(template)
    return table.state, table.notes


@pytest.mark.parametrize(
    ("condition", "expected"),
    [("IsProd", True), ("IsTest", False), ("Either", True), ("Both", False), ("AskedOrProd", True)],
)
def test_a_condition_of_a_template_is_decided_by_the_defaults_of_its_parameters(
    condition: str, expected: bool
) -> None:
    state, notes = of_template({"Fn::If": [condition, {"Fn::If": ["IsProd", True, False]}, "false"]})
    assert (state.name, state.is_protected, state.stream, notes) == ("chat-prod", expected, None, ())


@pytest.mark.parametrize("condition", ["Asked", "Round", "Nowhere"])
def test_a_condition_that_only_a_deployment_decides_leaves_its_property_out_and_is_named(
    condition: str,
) -> None:
    state, notes = of_template({"Fn::If": [condition, True, False]})
    assert not state.is_protected
    assert notes == ("Chat.DeletionProtectionEnabled: Fn::If is not resolved; the property is left out.",)


@pytest.mark.parametrize(("write", "throttles"), [(4, True), (5, False), (6, False)])
def test_an_index_with_other_units_than_its_table_is_noted(write: int, throttles: bool) -> None:
    table = {
        "TableName": "seen", "ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": 5},
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [{
            "IndexName": "again", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
            "ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": write},
        }],
    }  # fmt: skip
    _, notes, _ = imported(table)
    found = [each for each in notes if "the index again has" in each]
    assert bool(found) == (write != 5)
    assert any("throttles writes to the table" in each for each in found) == throttles


@pytest.mark.parametrize("name", ["terraform-state.json", "terraform-show.json", "terraform-plan.json"])
def test_state_and_plan_of_terraform_are_the_same_tables(name: str) -> None:
    design, notes, states = imported(plain(name))
    assert set(states) == {"orders", "units"}
    orders = states["orders"]
    assert orders.key == (("PK", "HASH"), ("SK", "RANGE"))
    assert orders.indexes["by-status"].carried == ("INCLUDE", frozenset({"total"}))
    assert orders.stream == "NEW_IMAGE"
    assert design.tables["orders"].ttl == "expiresAt"
    assert design.tables["units"].ttl is None
    environment = design.environments["imported"]
    assert (environment.pitr_days, environment.deletion_protection, environment.encryption) == (
        35,
        True,
        "managed",
    )
    assert environment.capacity_of("units") == Provisioned(7, 3)
    assert environment.tags == {"team": "shop"}
    is_known = environment.region == "eu-west-1"
    assert is_known == ("plan" not in name), "a plan does not have addresses of tables"
    assert is_known != any("The region is not known" in each for each in notes)


def test_the_answer_of_describe_table_is_a_table_and_what_it_does_not_tell_is_noted() -> None:
    design, notes, states = imported(plain("describe-table.json"))
    table = states["customers"]
    assert table.indexes["by-email"].key == (("email", "HASH"),)
    assert table.stream == "KEYS_ONLY"
    environment = design.environments["imported"]
    assert (environment.region, environment.encryption) == ("eu-central-1", "managed")
    assert environment.deletion_protection
    assert environment.capacity_of("customers") == Provisioned(10, 5)
    assert any("tells neither TTL nor recovery" in each for each in notes)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.parent.name)
def test_the_schema_of_a_shipped_table_is_read_with_its_entities(path: Path) -> None:
    value = from_json_text(path.read_text("utf-8"))
    design, notes, states = imported(value)
    (state,) = states.values()
    key = value["primaryKey"]
    names = [key["partitionKey"]["name"], *([key["sortKey"]["name"]] if key.get("sortKey") else [])]
    assert [name for name, _ in state.key] == names
    assert {*state.indexes} == {
        each["indexName"]
        for each in (*value.get("globalSecondaryIndexes", ()), *value.get("localSecondaryIndexes", ()))
    }
    is_left_out = any(") are left out, as they are not complete" in each for each in notes)
    assert len(design.shapes) == (1 if is_left_out else 1 + len(value.get("entities", ())))


def test_what_is_imported_can_be_created() -> None:
    with engine() as made:
        for name in ("workbench.json", "template.yaml", "terraform-plan.json", "describe-table.json"):
            design, _, _ = imported(plain(name))
            Db(embedded(made), design).create_tables()
            assert set(design.tables) <= set(embedded(made)("ListTables", {})["TableNames"])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (7, "is not an object"),
        ({}, "is none of: a NoSQL Workbench model"),
        ({"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}, "describes no DynamoDB table"),
        ({"format": "tablewright-design/1"}, "is a design file already"),
        ({"DataModel": [{"TableName": "x"}]}, r"DataModel\[0\].KeyAttributes: is missing"),
        ({"terraform_version": "1", "resources": 7}, "resources: is a list, not a number"),
        ({"Table": {"KeySchema": []}}, "Table.AttributeDefinitions: is missing"),
        ({"TableName": "t", "KeySchema": [], "AttributeDefinitions": []}, "t has no partition key"),
        (
            {
                "TableName": "t",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [],
            },
            "the key attribute pk of t has no type",
        ),
    ],
)
def test_what_is_not_from_a_tool_that_is_known_is_refused_in_words(value: Any, words: str) -> None:
    with pytest.raises((FormatUnknown, DesignFileRefused), match=words):
        tables_in(value)


def test_a_schema_that_is_wrong_is_refused_with_its_problems() -> None:
    with pytest.raises(SchemaRefused):
        tables_in({"primaryKey": {}})
