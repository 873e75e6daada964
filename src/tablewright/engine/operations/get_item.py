"""GetItem: one item by its key."""

from typing import Any

from tablewright.engine.capacity import Consumed, read_units
from tablewright.engine.item_reads import read_of
from tablewright.engine.members import (
    ATTRIBUTE_NAMES,
    ATTRIBUTES,
    EXPRESSION,
    FLAG,
    NAMES,
    RETURN_CAPACITY,
    TABLE_NAME,
)
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

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


def get_item(reading: Reading, request: Request) -> dict[str, Any]:
    read = read_of(reading.tables, request)
    if reading.throttle is not None:
        reading.refuse_fast(read.table, None, read.key)
    row = read.row(reading.rows)
    units = read_units(0 if row is None else row.size, bool(request.get("ConsistentRead")))
    reading.spend(read.table, None, units, read.key)
    answer: dict[str, Any] = {}
    if row is not None:
        answer["Item"] = read.shown(row)
    how = request.get("ReturnConsumedCapacity")
    if how is not None and how != "NONE":
        answer["ConsumedCapacity"] = Consumed(read.table, units).shown(how)
    return answer
