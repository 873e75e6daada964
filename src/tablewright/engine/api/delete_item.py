"""DeleteItem: delete an item. Deleting a missing item is not an error."""

from typing import Any

from tablewright.engine.api.arguments import refuse_mixing
from tablewright.engine.api.common_members import ATTRIBUTES, SINGLE_WRITE, TABLE_NAME
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.errors import invalid
from tablewright.engine.mutations import delete_of, evaluate_and_apply, single_answer
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct(
    "DeleteItemInput",
    {"TableName": TABLE_NAME, "Key": ATTRIBUTES, **SINGLE_WRITE},
    required=("TableName", "Key"),
)


def delete_item(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    refuse_mixing(request, ("ConditionExpression",), ("Expected", "ConditionalOperator"))
    if request.get("ReturnValues") not in (None, "NONE", "ALL_OLD"):
        raise invalid("ReturnValues can only be ALL_OLD or NONE")
    write = delete_of(txn.tables, request)
    txn.check_item_lock(write.table, write.key)
    evaluated, entries = evaluate_and_apply(txn, write)
    attributes = evaluated.old if request.get("ReturnValues") == "ALL_OLD" else None
    return single_answer(txn, request, evaluated, entries, attributes)


OPERATION = WriteOperation("DeleteItem", SHAPE, delete_item)
