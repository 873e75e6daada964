"""Scan: every item of a table or index, or of one segment of it, in the order of the partitions' hashes."""

from typing import Any

from tablewright.engine.api.arguments import (
    admit_key,
    find_table,
    placeholders,
    read_filter,
    read_paths,
    refuse_mixing,
    refuse_nested_keys,
)
from tablewright.engine.api.common_members import (
    ATTRIBUTE_NAMES,
    ATTRIBUTES,
    CONDITIONAL_OPERATOR,
    CONDITIONS,
    EXPRESSION,
    FLAG,
    INDEX_NAME,
    NAMES,
    RETURN_CAPACITY,
    SELECT,
    TABLE_NAME,
)
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Whole
from tablewright.engine.errors import invalid
from tablewright.engine.keys import position, segment_range
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
from tablewright.expressions import paths_in

SHAPE = Struct(
    "ScanInput",
    {
        "TableName": TABLE_NAME,
        "IndexName": INDEX_NAME,
        "AttributesToGet": ATTRIBUTE_NAMES,
        "Limit": Whole(least=1),
        "Select": SELECT,
        "ScanFilter": CONDITIONS,
        "ConditionalOperator": CONDITIONAL_OPERATOR,
        "ExclusiveStartKey": ATTRIBUTES,
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "TotalSegments": Whole(least=1, most=1_000_000),
        "Segment": Whole(least=0, most=999_999),
        "ProjectionExpression": EXPRESSION,
        "FilterExpression": EXPRESSION,
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": ATTRIBUTES,
        "ConsistentRead": FLAG,
    },
    required=("TableName",),
)


def scan(txn: ReadTransaction, request: Request) -> dict[str, Any]:
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
    refuse_nested_keys(
        table, request, lambda: (*(paths_in(keep) if keep is not None else ()), *(paths or ()))
    )
    index = find_index(table, request)
    view = view_of(table, index, request, keep, paths)
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


OPERATION = ReadOperation("Scan", SHAPE, scan)
