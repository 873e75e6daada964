"""PutItem: write a whole item, in the place of the one that was there."""

from typing import Any

from tablewright.engine.arguments import refuse_mixing
from tablewright.engine.errors import invalid
from tablewright.engine.item_writes import perform, put_of, single_answer
from tablewright.engine.members import ATTRIBUTES, SINGLE_WRITE, TABLE_NAME
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "PutItemInput",
    {"TableName": TABLE_NAME, "Item": ATTRIBUTES, **SINGLE_WRITE},
    required=("TableName", "Item"),
)


def put_item(writing: Writing, request: Request) -> dict[str, Any]:
    refuse_mixing(request, ("ConditionExpression",), ("Expected", "ConditionalOperator"))
    if request.get("ReturnValues") not in (None, "NONE", "ALL_OLD"):
        raise invalid("ReturnValues can only be ALL_OLD or NONE")
    write = put_of(writing.tables, request)
    if write.table.replicas is not None:
        writing.refuse_lapsed(write.table)
    writing.refuse_taken(write.table, write.key)
    decided, entries = perform(writing, write)
    shown = decided.old if request.get("ReturnValues") == "ALL_OLD" else None
    return single_answer(writing, request, decided, entries, shown)
