"""Query: the items of one partition, in the order of their sort key. Scan: every item of a table or index.

A scan, or one segment of it, is in the order of the partitions' hashes.
"""

from typing import Any

from tablewright.engine.api import common_members as common
from tablewright.engine.api.arguments import (
    admit_conditions,
    admit_key,
    find_table,
    placeholders,
    read_filter,
    read_paths,
    refuse_mixing,
    refuse_nested_keys,
)
from tablewright.engine.api.operation import read_verb
from tablewright.engine.api.shapes import Answer, Request, Whole, Wording
from tablewright.engine.catalog import KeySchema, Table
from tablewright.engine.errors import invalid
from tablewright.engine.keys import partition_bytes, plan_range, position, segment_range
from tablewright.engine.limits import GLOBAL_HASH_KEYS, GLOBAL_RANGE_KEYS
from tablewright.engine.range_read import (
    answer,
    check_select,
    find_index,
    read_page,
    spend,
    start_key,
    view_of,
)
from tablewright.engine.transaction import ReadTransaction
from tablewright.expressions import (
    Condition,
    KeyPlan,
    KeyTest,
    Path,
    Placeholders,
    key_condition,
    key_conditions,
    paths_in,
    plan_keys,
    top_level_names,
)
from tablewright.expressions.legacy import TWO_CONDITIONS

_EXPRESSIONS = ("KeyConditionExpression", "FilterExpression", "ProjectionExpression")
_LEGACY = ("KeyConditions", "QueryFilter", "ConditionalOperator", "AttributesToGet")
# What most queries do not have, and then need not be checked for.
_FURTHER = frozenset((*_LEGACY, "FilterExpression", "ProjectionExpression", "ExclusiveStartKey", "Select"))


@read_verb(
    "Query",
    {
        "TableName": common.TABLE_NAME,
        "IndexName": common.INDEX_NAME,
        "Select": common.SELECT,
        "AttributesToGet": common.ATTRIBUTE_NAMES,
        "Limit": Whole(least=1, terse=True),
        "ConsistentRead": common.FLAG,
        "KeyConditions": common.CONDITIONS,
        "QueryFilter": common.CONDITIONS,
        "ConditionalOperator": common.CONDITIONAL_OPERATOR,
        "ScanIndexForward": common.FLAG,
        "ExclusiveStartKey": common.ATTRIBUTES,
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
        "ProjectionExpression": common.EXPRESSION,
        "FilterExpression": common.EXPRESSION,
        "KeyConditionExpression": common.EXPRESSION,
        "ExpressionAttributeNames": common.NAMES,
        "ExpressionAttributeValues": common.ATTRIBUTES,
    },
    required=("TableName",),
    wording=Wording(counts=False),
)
def query(txn: ReadTransaction, request: Request) -> Answer | bytes:
    is_plain = _FURTHER.isdisjoint(request)
    if not is_plain:
        _refuse_mixing(request)
    given = placeholders(request, ("FilterExpression", "KeyConditionExpression"), ("ProjectionExpression",))
    keep, paths = (None, None) if is_plain else _read_further(request, given)
    tests = _read_tests(request, given)
    given.check_all_used()
    if not is_plain:
        check_select(request, "Query")
    table = find_table(txn.tables, request["TableName"])
    if not is_plain:
        _refuse_nested(table, request, keep, paths)
    index = find_index(table, request, "Query")
    schema = table.schema if index is None else index.schema
    if len(tests) > 2 and len(schema.names) <= 2 and request.get("KeyConditions") is not None:
        raise invalid(TWO_CONDITIONS)
    plan = plan_keys(tests, schema.hash, schema.range, table.types)
    refuse_key_filter(schema, keep)
    view = view_of(table, index, request, keep, paths)
    low, high = plan_range(plan)
    backward = request.get("ScanIndexForward") is False
    start = None if is_plain else start_key(table, index, request)
    if start is not None:
        place = position(table, index, start)
        _refuse_outside(schema, plan, start, low <= place < high)
        if index is None and not schema.range:
            raise invalid("The query can return at most one row and cannot be restarted")
        low, high = (low, place) if backward else (place + b"\0", high)
    limit = request.get("Limit")
    if txn.throttle is not None:
        txn.check_throughput(table, index, low)
    page = read_page(txn, view, low, high, backward, None if limit is None else int(limit))
    spend(txn, view, page, "Query", low)
    if page.last is not None and index is None and not schema.range:
        page.last = None  # nothing can follow the one item of its key
    return answer(view, page, request)


def _refuse_mixing(request: Request) -> None:
    # KeyConditions may stand beside a filter or a projection of either style.
    beside_keys = request.get("KeyConditionExpression") is not None
    refuse_mixing(request, _EXPRESSIONS, _LEGACY if beside_keys else _LEGACY[1:])


def _read_further(request: Request, given: Placeholders) -> tuple[Condition | None, tuple[Path, ...] | None]:
    """The filter and the projection; refuses a malformed start key."""
    if request.get("ExclusiveStartKey") is not None:
        admit_key(request["ExclusiveStartKey"])
    return read_filter(request, given, "QueryFilter"), read_paths(request, given)


def _read_tests(request: Request, given: Placeholders) -> tuple[KeyTest, ...]:
    text = request.get("KeyConditionExpression")
    if text is not None:
        return key_condition(text, given)
    old = request.get("KeyConditions")
    if old is None:
        raise invalid(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    # Only a global index can have more key attributes than two.
    most = 2 if request.get("IndexName") is None else GLOBAL_HASH_KEYS + GLOBAL_RANGE_KEYS
    return key_conditions(admit_conditions(old), most)


def _refuse_nested(
    table: Table, request: Request, keep: Condition | None, paths: tuple[Path, ...] | None
) -> None:
    refuse_nested_keys(
        table, request, lambda: (*(paths_in(keep) if keep is not None else ()), *(paths or ()))
    )


def refuse_key_filter(schema: KeySchema, keep: Condition | None) -> None:
    if keep is None:
        return
    for name in top_level_names(keep):
        if name in schema.names:
            raise invalid(
                f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
            )


def _refuse_outside(schema: KeySchema, plan: KeyPlan, start: Any, inside: bool) -> None:
    if inside:
        return
    if partition_bytes([start[name] for name in schema.hash]) != partition_bytes(plan.partition):
        raise invalid("The provided starting key is outside query boundaries based on provided conditions")
    raise invalid("The provided starting key does not match the range key predicate")


@read_verb(
    "Scan",
    {
        "TableName": common.TABLE_NAME,
        "IndexName": common.INDEX_NAME,
        "AttributesToGet": common.ATTRIBUTE_NAMES,
        "Limit": Whole(least=1),
        "Select": common.SELECT,
        "ScanFilter": common.CONDITIONS,
        "ConditionalOperator": common.CONDITIONAL_OPERATOR,
        "ExclusiveStartKey": common.ATTRIBUTES,
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
        "TotalSegments": Whole(least=1, most=1_000_000),
        "Segment": Whole(least=0, most=999_999),
        "ProjectionExpression": common.EXPRESSION,
        "FilterExpression": common.EXPRESSION,
        "ExpressionAttributeNames": common.NAMES,
        "ExpressionAttributeValues": common.ATTRIBUTES,
        "ConsistentRead": common.FLAG,
    },
    required=("TableName",),
)
def scan(txn: ReadTransaction, request: Request) -> Answer | bytes:
    refuse_mixing(
        request,
        ("FilterExpression", "ProjectionExpression"),
        ("ScanFilter", "ConditionalOperator", "AttributesToGet"),
    )
    given = placeholders(request, ("FilterExpression",), ("ProjectionExpression",))
    if request.get("ExclusiveStartKey") is not None:
        admit_key(request["ExclusiveStartKey"])
    keep = read_filter(request, given, "ScanFilter")
    paths = read_paths(request, given)
    given.check_all_used()
    low, high = _segment(request)
    check_select(request, "Scan")
    table = find_table(txn.tables, request["TableName"])
    _refuse_nested(table, request, keep, paths)
    index = find_index(table, request, "Scan")
    view = view_of(table, index, request, keep, paths, scans=True)
    start = start_key(table, index, request)
    if start is not None:
        place = position(table, index, start)
        if not low <= place < high:
            raise invalid("Exclusive start key must lie within the segment")
        low = place + b"\0"
    limit = request.get("Limit")
    txn.check_throughput(table, index)
    page = read_page(txn, view, low, high, False, None if limit is None else int(limit))
    spend(txn, view, page, "Scan")
    return answer(view, page, request)


def _segment(request: Request) -> tuple[bytes, bytes]:
    segment, total = request.get("Segment"), request.get("TotalSegments")
    if segment is None and total is None:
        return segment_range(0, 1)
    if total is None:
        raise invalid(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if segment is None:
        raise invalid(
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present"
        )
    # The service truncates fractions: 1.5 segments are one.
    segment, total = int(segment), int(total)
    if segment >= total:
        raise invalid(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {total}"
        )
    return segment_range(segment, total)
