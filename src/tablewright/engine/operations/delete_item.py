"""DeleteItem: remove an item. Removing what is not there is no mistake."""

from typing import Any

from tablewright.engine.arguments import refuse_mixing
from tablewright.engine.errors import invalid
from tablewright.engine.item_writes import delete_of, perform, single_answer
from tablewright.engine.members import ATTRIBUTES, SINGLE_WRITE, TABLE_NAME
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "DeleteItemInput",
    {"TableName": TABLE_NAME, "Key": ATTRIBUTES, **SINGLE_WRITE},
    required=("TableName", "Key"),
)


def delete_item(writing: Writing, request: Request) -> dict[str, Any]:
    refuse_mixing(request, ("ConditionExpression",), ("Expected", "ConditionalOperator"))
    if request.get("ReturnValues") not in (None, "NONE", "ALL_OLD"):
        raise invalid("ReturnValues can only be ALL_OLD or NONE")
    write = delete_of(writing.tables, request)
    if write.table.replicas is not None:
        writing.refuse_lapsed(write.table)
    writing.refuse_taken(write.table, write.key)
    decided, entries = perform(writing, write)
    shown = decided.old if request.get("ReturnValues") == "ALL_OLD" else None
    return single_answer(writing, request, decided, entries, shown)
