"""Query: the items of one partition, in the order of their sort key."""

from typing import Any

from tablewright.engine.api.arguments import (
    admit_key,
    admit_key_conditions,
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
from tablewright.engine.catalog import KeySchema
from tablewright.engine.errors import invalid
from tablewright.engine.keys import partition_bytes, plan_range, position
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
    Placeholders,
    key_condition,
    key_conditions,
    paths_in,
    plan_keys,
    top_level_names,
)

SHAPE = Struct(
    "QueryInput",
    {
        "TableName": TABLE_NAME,
        "IndexName": INDEX_NAME,
        "Select": SELECT,
        "AttributesToGet": ATTRIBUTE_NAMES,
        "Limit": Whole(least=1, terse=True),
        "ConsistentRead": FLAG,
        "KeyConditions": CONDITIONS,
        "QueryFilter": CONDITIONS,
        "ConditionalOperator": CONDITIONAL_OPERATOR,
        "ScanIndexForward": FLAG,
        "ExclusiveStartKey": ATTRIBUTES,
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "ProjectionExpression": EXPRESSION,
        "FilterExpression": EXPRESSION,
        "KeyConditionExpression": EXPRESSION,
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": ATTRIBUTES,
    },
    required=("TableName",),
)


def query(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    refuse_mixing(
        request,
        ("KeyConditionExpression", "FilterExpression", "ProjectionExpression"),
        ("KeyConditions", "QueryFilter", "ConditionalOperator", "AttributesToGet"),
    )
    given = placeholders(request, ("FilterExpression", "KeyConditionExpression"), ("ProjectionExpression",))
    if request.get("ExclusiveStartKey") is not None:
        admit_key(request["ExclusiveStartKey"])
    keep = read_filter(request, given, "QueryFilter")
    paths = read_paths(request, given)
    tests = _read_tests(request, given)
    given.check_all_used()
    check_select(request, "Query")
    table = find_table(txn.tables, request["TableName"])
    refuse_nested_keys(
        table, request, lambda: (*(paths_in(keep) if keep is not None else ()), *(paths or ()))
    )
    index = find_index(table, request)
    schema = table.schema if index is None else index.schema
    plan = plan_keys(tests, schema.hash, schema.range, table.types)
    _refuse_key_filter(schema, keep)
    view = view_of(table, index, request, keep, paths)
    low, high = plan_range(plan)
    backward = request.get("ScanIndexForward") is False
    start = start_key(table, index, request)
    if start is not None:
        place = position(table, index, start)
        _refuse_outside(schema, plan, start, low <= place < high)
        low, high = (low, place) if backward else (place + b"\0", high)
    limit = request.get("Limit")
    txn.check_throughput(table, index, low)
    page = read_page(txn, view, low, high, backward, None if limit is None else int(limit))
    spend(txn, view, page, "Query", low)
    return answer(view, page, request)


def _read_tests(request: Request, given: Placeholders) -> tuple[KeyTest, ...]:
    text = request.get("KeyConditionExpression")
    if text is not None:
        return key_condition(text, given)
    old = request.get("KeyConditions")
    if old is None:
        raise invalid(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    return key_conditions(admit_key_conditions(old))


def _refuse_key_filter(schema: KeySchema, keep: Condition | None) -> None:
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


OPERATION = ReadOperation("Query", SHAPE, query)
