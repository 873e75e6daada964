"""A Get, a Query or the Scan of an entity as a DynamoDB request. Pure.

Must hold: what has expired or is deleted is filtered by the service itself, so counts and pages agree.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.design.requests import Get, Query
from tablewright.design.shape import Shape
from tablewright.mapping.items import visible
from tablewright.mapping.wording import Wording, all_of
from tablewright.mapping.writes import Physical
from tablewright.values import Value


def get_request(get: Get[Any], physical: Physical, consistent: bool) -> dict[str, Any]:
    request: dict[str, Any] = {"TableName": physical(get.shape.table.name), "Key": dict(get.key)}
    if consistent:
        request["ConsistentRead"] = True
    return request


def query_request(
    query: Query[Any], partition: Sequence[Value], physical: Physical, now: int, *, deleted: bool = False
) -> dict[str, Any]:
    """The Query of one partition, without where to start and how far to go."""
    wording = Wording()
    hashes = (query.table.pk,) if query.index is None else query.index.pk
    parts = [
        f"{wording.name(name)} = {wording.value(value)}"
        for name, value in zip(hashes, partition, strict=True)
    ]
    for name, test in query.sort:
        parts.append(_sort(wording.name(name), test.op, [wording.value(value) for value in test.values]))
    request: dict[str, Any] = {
        "TableName": physical(query.table.name),
        "KeyConditionExpression": " AND ".join(parts),
    }
    if query.index is not None:
        request["IndexName"] = query.index.name
    hidden = all_of(
        visible(query.shapes, wording, now, deleted), *(wording.test(test) for test in query.filters)
    )
    if hidden:
        request["FilterExpression"] = hidden
    if query.descending:
        request["ScanIndexForward"] = False
    if query.consistent:
        request["ConsistentRead"] = True
    return request | wording.placeholders()


def scan_request(shape: Shape, physical: Physical, now: int, *, deleted: bool = False) -> dict[str, Any]:
    """The Scan of an entity's table, as it is now; others' items come along where they share it."""
    wording = Wording()
    request: dict[str, Any] = {"TableName": physical(shape.table.name), "ConsistentRead": True}
    hidden = visible((shape,), wording, now, deleted)
    if hidden:
        request["FilterExpression"] = hidden
    return request | wording.placeholders()


def _sort(name: str, op: str, values: list[str]) -> str:
    if op == "BETWEEN":
        return f"{name} BETWEEN {values[0]} AND {values[1]}"
    return f"begins_with({name}, {values[0]})" if op == "begins_with" else f"{name} {op} {values[0]}"


def start_key(query: Query[Any], item: Mapping[str, Value]) -> dict[str, Value]:
    """Where a page that ended with this item goes on: its key in the index and in the table."""
    names = (*query.table.key_names, *(query.index.key_names if query.index is not None else ()))
    return {name: item[name] for name in dict.fromkeys(names)}
