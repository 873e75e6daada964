"""UpdateItem: change attributes of an item, creating it if it does not exist."""

from typing import Any

from tablewright.engine.api.arguments import refuse_mixing
from tablewright.engine.api.common_members import ATTRIBUTES, EXPRESSION, SINGLE_WRITE, TABLE_NAME
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import AttributeValue, MapOf, Request, Struct, Text
from tablewright.engine.mutations import Evaluated, evaluate_and_apply, single_answer, update_of
from tablewright.engine.transaction import WriteTransaction
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


def update_item(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    refuse_mixing(
        request,
        ("UpdateExpression", "ConditionExpression"),
        ("AttributeUpdates", "Expected", "ConditionalOperator"),
    )
    write, change = update_of(txn.tables, request)
    txn.check_item_lock(write.table, write.key)
    evaluated, entries = evaluate_and_apply(txn, write)
    attributes = _returned(request.get("ReturnValues"), evaluated, change)
    return single_answer(txn, request, evaluated, entries, attributes)


def _returned(how: str | None, evaluated: Evaluated, change: Update | None) -> Item | None:
    match how:
        case "ALL_OLD":
            return evaluated.old
        case "ALL_NEW":
            return evaluated.new
        case "UPDATED_OLD" | "UPDATED_NEW" if change is not None:
            item = evaluated.old if how == "UPDATED_OLD" else evaluated.new
            return fragments(touched(change), item or {})
        case _:
            return None


OPERATION = WriteOperation("UpdateItem", SHAPE, update_item)
