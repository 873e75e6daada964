"""UpdateItem: change attributes of an item, creating it if it is not there."""

from typing import Any

from tablewright.engine.arguments import refuse_mixing
from tablewright.engine.item_writes import Decided, perform, single_answer, update_of
from tablewright.engine.members import ATTRIBUTES, EXPRESSION, SINGLE_WRITE, TABLE_NAME
from tablewright.engine.shapes import AttributeValue, MapOf, Request, Struct, Text
from tablewright.engine.writing import Writing
from tablewright.expressions import Update, fragments, touched
from tablewright.values import Item

ATTRIBUTE_UPDATES = MapOf(
    Struct(
        "AttributeValueUpdate", {"Value": AttributeValue(), "Action": Text(one_of=("ADD", "DELETE", "PUT"))}
    )
)

SHAPE = Struct(
    "UpdateItemInput",
    {
        "TableName": TABLE_NAME,
        "Key": ATTRIBUTES,
        "UpdateExpression": EXPRESSION,
        "AttributeUpdates": ATTRIBUTE_UPDATES,
        **SINGLE_WRITE,
    },
    required=("TableName", "Key"),
)


def update_item(writing: Writing, request: Request) -> dict[str, Any]:
    refuse_mixing(
        request,
        ("UpdateExpression", "ConditionExpression"),
        ("AttributeUpdates", "Expected", "ConditionalOperator"),
    )
    write, change = update_of(writing.tables, request)
    if write.table.replicas is not None:
        writing.refuse_lapsed(write.table)
    writing.refuse_taken(write.table, write.key)
    decided, entries = perform(writing, write)
    shown = _returned(request.get("ReturnValues"), decided, change)
    return single_answer(writing, request, decided, entries, shown)


def _returned(how: str | None, decided: Decided, change: Update | None) -> Item | None:
    match how:
        case "ALL_OLD":
            return decided.old
        case "ALL_NEW":
            return decided.new
        case "UPDATED_OLD" | "UPDATED_NEW" if change is not None:
            item = decided.old if how == "UPDATED_OLD" else decided.new
            return fragments(touched(change), item or {})
        case _:
            return None
