"""GetItem: one item by its key."""

from typing import Any

from tablewright.engine.api.common_members import (
    ATTRIBUTE_NAMES,
    ATTRIBUTES,
    EXPRESSION,
    FLAG,
    NAMES,
    RETURN_CAPACITY,
    TABLE_NAME,
)
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.consumed_capacity import Consumed, read_units
from tablewright.engine.item_read import read_of
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct(
    "GetItemInput",
    {
        "TableName": TABLE_NAME,
        "Key": ATTRIBUTES,
        "AttributesToGet": ATTRIBUTE_NAMES,
        "ConsistentRead": FLAG,
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "ProjectionExpression": EXPRESSION,
        "ExpressionAttributeNames": NAMES,
    },
    required=("TableName", "Key"),
)


def get_item(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    read = read_of(txn.tables, request)
    if txn.throttle is not None:
        txn.check_throughput(read.table, None, read.key)
    row = read.row(txn.rows)
    units = read_units(0 if row is None else row.size, bool(request.get("ConsistentRead")))
    txn.spend(read.table, None, units, read.key)
    answer: dict[str, Any] = {}
    if row is not None:
        answer["Item"] = read.project(row)
    how = request.get("ReturnConsumedCapacity")
    if how is not None and how != "NONE":
        answer["ConsumedCapacity"] = Consumed(read.table, units).as_member(how)
    return answer


OPERATION = ReadOperation("GetItem", SHAPE, get_item)
