"""A Get, a Query or the Scan of an entity as a DynamoDB request. Pure.

Must hold: what has expired or is deleted is filtered by the service itself, so counts and pages agree.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.design.attributes import VECTOR
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.requests import Get, Query, SortTest
from tablewright.design.vectors import Search
from tablewright.expressions import PlaceholderAllocator, render
from tablewright.expressions.build import all_of
from tablewright.expressions.nodes import And, Between, Call, Compare, Condition
from tablewright.mapping.items import visible_filter
from tablewright.mapping.write_requests import Physical
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
    placeholders = PlaceholderAllocator()
    hashes = (query.table.pk,) if query.index is None else query.index.pk
    keys: list[Condition] = [
        Compare("=", (name,), value) for name, value in zip(hashes, partition, strict=True)
    ]
    keys += [_sort_condition(name, test) for name, test in query.sort]
    request: dict[str, Any] = {
        "TableName": physical(query.table.name),
        "KeyConditionExpression": render(And(tuple(keys)), placeholders),
    }
    if query.index is not None:
        request["IndexName"] = query.index.name
    shown = all_of(visible_filter(query.shapes, now, deleted), *query.filters)
    if shown is not None:
        request["FilterExpression"] = render(shown, placeholders)
    if query.descending:
        request["ScanIndexForward"] = False
    if query.consistent:
        request["ConsistentRead"] = True
    return request | placeholders.members()


def search_request(search: Search[Any], physical: Physical) -> dict[str, Any]:
    placeholders = PlaceholderAllocator()
    wanted = VECTOR.encode(search.vector) or {}
    request: dict[str, Any] = {
        "TableName": physical(search.index.table.name),
        "IndexName": search.index.name,
        "SearchVector": wanted["L"],
        "TopK": search.top,
    }
    tests: list[Condition] = [Compare("=", (name,), value) for name, value in search.equal]
    if tests:
        request["SearchConditionExpression"] = render(
            And(tuple(tests)) if len(tests) > 1 else tests[0], placeholders
        )
    return request | placeholders.members()


def scan_request(
    shape: EntitySpec, physical: Physical, now: int, *, deleted: bool = False, overdue: bool = False
) -> dict[str, Any]:
    """The Scan of an entity's table, as it is now; others' items come along where they share it.

    `overdue`: only of what expired before `now`, and is otherwise not shown.
    """
    placeholders = PlaceholderAllocator()
    request: dict[str, Any] = {"TableName": physical(shape.table.name), "ConsistentRead": True}
    shown = visible_filter((shape,), now, deleted)
    if overdue:
        assert shape.table.ttl is not None, "only what expires can be overdue"
        shown = Compare("<", (shape.table.ttl,), {"N": str(now)})
    if shown is not None:
        request["FilterExpression"] = render(shown, placeholders)
    return request | placeholders.members()


def _sort_condition(name: str, test: SortTest) -> Condition:
    if test.op == "BETWEEN":
        return Between((name,), test.values[0], test.values[1])
    if test.op == "begins_with":
        return Call("begins_with", ((name,), test.values[0]))
    return Compare(test.op, (name,), test.values[0])


def start_key(query: Query[Any], item: Mapping[str, Value]) -> dict[str, Value]:
    """Where a page that ended with this item goes on: its key in the index and in the table."""
    names = (*query.table.key_names, *(query.index.key_names if query.index is not None else ()))
    return {name: item[name] for name in dict.fromkeys(names)}
