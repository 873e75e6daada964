"""The page for newcomers from DynamoDB Local quotes what the engine sends, and each habit on it fails as it says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright import testing
from tablewright.engine import Engine, ServiceError

Json = dict[str, Any]
PAGE = (Path(__file__).parents[1] / "docs" / "coming-from-dynamodb-local.md").read_text()


def schema(*names: str) -> list[Json]:
    return [{"AttributeName": n, "KeyType": k} for n, k in zip(names, ("HASH", "RANGE"), strict=False)]


def texts(*names: str) -> list[Json]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
ON_DEMAND = {"BillingMode": "PAY_PER_REQUEST"}
BY_COLOUR: Json = {
    "IndexName": "by-colour",
    "KeySchema": schema("colour"),
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}
PETS: Json = {
    "TableName": "pets",
    "KeySchema": schema("name"),
    "AttributeDefinitions": texts("name", "colour"),
    "GlobalSecondaryIndexes": [BY_COLOUR],
    **ON_DEMAND,
}
OTHER: Json = {**PETS, "TableName": "other"}
REX = {"TableName": "pets", "Key": {"name": {"S": "rex"}}}

HABITS: dict[str, tuple[str, Json, str]] = {
    "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions": (
        "CreateTable",
        {**OTHER, "GlobalSecondaryIndexes": None},
        "ValidationException",
    ),
    "Some AttributeDefinitions are not used.": (
        "CreateTable",
        {**OTHER, "AttributeDefinitions": texts("name", "colour", "note")},
        "ValidationException",
    ),
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST": (
        "CreateTable",
        {**OTHER, "ProvisionedThroughput": UNITS},
        "ValidationException",
    ),
    "ProvisionedThroughput should not be specified for index: by-colour when BillingMode is PAY_PER_REQUEST": (
        "CreateTable",
        {**OTHER, "GlobalSecondaryIndexes": [{**BY_COLOUR, "ProvisionedThroughput": UNITS}]},
        "ValidationException",
    ),
    "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED": (
        "CreateTable",
        {**OTHER, "BillingMode": None},
        "ValidationException",
    ),
    "Requested resource not found": (
        "GetItem",
        {**REX, "TableName": "nowhere"},
        "ResourceNotFoundException",
    ),
    "The provided key element does not match the schema": (
        "GetItem",
        {**REX, "Key": {"name": {"N": "1"}}},
        "ValidationException",
    ),
    "The parameter cannot be converted to a numeric value: abc": (
        "PutItem",
        {"TableName": "pets", "Item": {"name": {"S": "rex"}, "age": {"N": "abc"}}},
        "ValidationException",
    ),
    "Attribute name is a reserved keyword; reserved keyword: convert": (
        "UpdateItem",
        {**REX, "UpdateExpression": "REMOVE convert"},
        "ValidationException",
    ),
    "Secondary index by-colour does not project one or more filter attributes: [note]": (
        "Query",
        {
            "TableName": "pets",
            "IndexName": "by-colour",
            "KeyConditionExpression": "colour = :c",
            "FilterExpression": "note = :c",
            "ExpressionAttributeValues": {":c": {"S": "red"}},
        },
        "ValidationException",
    ),
    "Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy constraint: "
    "Member must not be null": (
        "TransactWriteItems",
        {"TransactItems": [{"Update": REX}]},
        "ValidationException",
    ),
    "Duplicate primary key exists in table": (
        "ExecuteStatement",
        {"Statement": "INSERT INTO pets VALUE {'name': 'rex'}"},
        "DuplicateItemException",
    ),
}


@pytest.fixture(scope="module")
def pets() -> Iterator[Engine]:
    with testing.engine() as engine:
        engine.call("CreateTable", PETS)
        item = {"name": {"S": "rex"}, "m": {"M": {"x": {"N": "1"}, "y": {"N": "2"}}}}
        engine.call("PutItem", {"TableName": "pets", "Item": item})
        yield engine


@pytest.mark.parametrize("words", HABITS)
def test_the_page_quotes_the_refusal_of_a_habit(pets: Engine, words: str) -> None:
    verb, request, code = HABITS[words]
    assert f"`{words}`" in PAGE
    with pytest.raises(ServiceError) as refusal:
        pets.call(verb, request)
    assert (refusal.value.name, words in refusal.value.message) == (code, True)


def test_every_message_of_the_page_is_one_that_is_tested() -> None:
    rules = [
        line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 4
    ]
    quoted = {
        part for rule in rules for part in rule.split("`")[1::2] if len(part) > 35 and part[0].isupper()
    }
    assert quoted <= HABITS.keys()


def test_a_description_has_more_than_the_habit_expects(pets: Engine) -> None:
    table = pets.call("DescribeTable", {"TableName": "pets"})["Table"]
    assert {"TableId", "WarmThroughput", "DeletionProtectionEnabled"} <= table.keys()
    for one in (table, *table["GlobalSecondaryIndexes"]):
        assert one["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def test_updated_new_returns_the_changed_part(pets: Engine) -> None:
    asked = {
        **REX,
        "UpdateExpression": "SET m.x = :v",
        "ExpressionAttributeValues": {":v": {"N": "5"}},
        "ReturnValues": "UPDATED_NEW",
    }
    assert pets.call("UpdateItem", asked) == {"Attributes": {"m": {"M": {"x": {"N": "5"}}}}}
