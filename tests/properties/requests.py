"""Requests in the wire's form, from what the property tests draw."""

from typing import Any

from tests.properties.claims import ALWAYS, Claim, written
from tests.properties.edits import Update
from tests.properties.model import Index, Shape, Table
from tests.properties.plain import Item, Value

Request = dict[str, Any]


def create_table(table: Table) -> Request:
    shape = table.shape
    indexes = list(shape.indexes.values())
    request: Request = {
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": key_schema((shape.hash,), shape.keys[1:]),
        "AttributeDefinitions": definitions(shape, [*shape.keys, *(n for i in indexes for n in i.keys)]),
    }
    for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        described = [described_index(index) for index in indexes if index.local is local]
        if described:
            request[member] = described
    return request


def create_index(table: Table, index: Index) -> Request:
    return {
        "TableName": table.name,
        "AttributeDefinitions": definitions(table.shape, index.keys),
        "GlobalSecondaryIndexUpdates": [{"Create": described_index(index)}],
    }


def drop_index(table: Table, name: str) -> Request:
    return {"TableName": table.name, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}]}


def definitions(shape: Shape, names: Any) -> list[Request]:
    return [{"AttributeName": n, "AttributeType": shape.kinds[n]} for n in dict.fromkeys(names)]


def key_schema(hashes: tuple[str, ...], ranges: tuple[str, ...]) -> list[Request]:
    return [{"AttributeName": name, "KeyType": "HASH"} for name in hashes] + [
        {"AttributeName": name, "KeyType": "RANGE"} for name in ranges
    ]


def described_index(index: Index) -> Request:
    projection: Request = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    return {
        "IndexName": index.name,
        "KeySchema": key_schema(index.hash, index.range),
        "Projection": projection,
    }


def conditional(request: Request, claim: Claim, member: str = "ConditionExpression") -> Request:
    """The request with a condition or a filter; its placeholders follow those that are there."""
    if claim is ALWAYS:
        return request
    values: dict[str, Value] = request.get("ExpressionAttributeValues", {})
    text, more = written(claim, len(values))
    return request | {member: text} | _values(values | more)


def put(table: Table, item: Item, claim: Claim = ALWAYS) -> Request:
    return conditional({"TableName": table.name, "Item": item}, claim)


def keyed(table: Table, key: Item, claim: Claim = ALWAYS) -> Request:
    return conditional({"TableName": table.name, "Key": key}, claim)


def update(table: Table, key: Item, change: Update, claim: Claim = ALWAYS) -> Request:
    text, values = change.written()
    request = {"TableName": table.name, "Key": key, "UpdateExpression": text} | _values(values)
    return conditional(request, claim)


def _values(values: dict[str, Value]) -> Request:
    return {"ExpressionAttributeValues": values} if values else {}
