"""GetItem, PutItem, UpdateItem and DeleteItem: one item by its key.

PutItem writes a whole item, replacing the one with the same key; UpdateItem changes attributes and creates an item
that does not exist; deleting a missing item is not an error.
"""

from collections.abc import Callable

from tablewright.engine.api import common_members as common
from tablewright.engine.api.arguments import admit_key, counted, find_table, key_bytes, refuse_mixing
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, AttributeValue, MapOf, Request, Struct, Text, Wording
from tablewright.engine.catalog import Catalog
from tablewright.engine.consumed_capacity import Consumed, read_units
from tablewright.engine.errors import invalid
from tablewright.engine.item_read import projected, wanted_paths
from tablewright.engine.mutations import (
    Evaluated,
    Mutation,
    Validate,
    delete_of,
    evaluate_and_apply,
    put_of,
    single_answer,
    update_of,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.expressions import Update, project, touched
from tablewright.values import Item


@read_verb(
    "GetItem",
    {
        "TableName": common.TABLE_NAME,
        "Key": common.ATTRIBUTES,
        "AttributesToGet": common.ATTRIBUTE_NAMES,
        "ConsistentRead": common.FLAG,
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
        "ProjectionExpression": common.EXPRESSION,
        "ExpressionAttributeNames": common.NAMES,
    },
    required=("TableName", "Key"),
    wording=Wording(counts=False),
)
def get_item(txn: ReadTransaction, request: Request) -> Answer:
    attributes = admit_key(request["Key"])
    paths = wanted_paths(request)
    table = find_table(txn.tables, request["TableName"])
    key = key_bytes(table, attributes)
    if txn.throttle is not None:
        txn.check_throughput(table, None, key)
    row = txn.rows.get(table.number, key)
    units = read_units(0 if row is None else row.size, bool(request.get("ConsistentRead")))
    txn.spend(table, None, units, key)
    answer: Answer = {}
    if row is not None:
        answer["Item"] = projected(row.item, paths)
    how = request.get("ReturnConsumedCapacity")
    if how is not None and how != "NONE":
        answer["ConsumedCapacity"] = Consumed(table, units).as_member(how)
    return answer


@write_verb(
    "PutItem",
    {"TableName": common.TABLE_NAME, "Item": common.ATTRIBUTES, **common.SINGLE_WRITE},
    required=("TableName", "Item"),
    wording=Wording(counts=True, joins=True),
)
def put_item(txn: WriteTransaction, request: Request) -> Answer:
    return _write(txn, request, put_of)


ATTRIBUTE_UPDATES = MapOf(
    Struct(
        "AttributeValueUpdate", {"Value": AttributeValue(), "Action": Text(one_of=("ADD", "DELETE", "PUT"))}
    )
)


@write_verb(
    "UpdateItem",
    {
        "TableName": common.TABLE_NAME,
        "Key": common.ATTRIBUTES,
        "UpdateExpression": common.EXPRESSION,
        "AttributeUpdates": ATTRIBUTE_UPDATES,
        **common.SINGLE_WRITE,
    },
    required=("TableName", "Key"),
    wording=Wording(counts=True),
)
def update_item(txn: WriteTransaction, request: Request) -> Answer:
    counted(_check_update, request)
    write, change = update_of(txn.tables, request, counted)
    txn.check_item_lock(write.table, write.key)
    evaluated, entries = evaluate_and_apply(txn, write)
    attributes = _returned(request.get("ReturnValues"), evaluated, change)
    return single_answer(txn, request, evaluated, entries, attributes)


def _check_update(request: Request) -> None:
    refuse_mixing(
        request,
        ("UpdateExpression", "ConditionExpression"),
        ("AttributeUpdates", "Expected", "ConditionalOperator"),
    )


def _returned(how: str | None, evaluated: Evaluated, change: Update | None) -> Item | None:
    match how:
        case "ALL_OLD":
            return evaluated.old
        case "ALL_NEW":
            return evaluated.new
        case "UPDATED_OLD" | "UPDATED_NEW" if change is not None:
            # Only what the paths lead to: an element set beyond the end of its list is not shown, and one that was
            # removed shows what moved into its place, as on the service.
            item = evaluated.old if how == "UPDATED_OLD" else evaluated.new
            return project(touched(change), item or {})
        case _:
            return None


@write_verb(
    "DeleteItem",
    {"TableName": common.TABLE_NAME, "Key": common.ATTRIBUTES, **common.SINGLE_WRITE},
    required=("TableName", "Key"),
    wording=Wording(counts=True, joins=True),
)
def delete_item(txn: WriteTransaction, request: Request) -> Answer:
    return _write(txn, request, delete_of)


def _write(
    txn: WriteTransaction, request: Request, read: Callable[[Catalog, Request, Validate], Mutation]
) -> Answer:
    """PutItem and DeleteItem, which can return the item as it was."""
    counted(_check_write, request)
    write = read(txn.tables, request, counted)
    txn.check_item_lock(write.table, write.key)
    evaluated, entries = evaluate_and_apply(txn, write)
    attributes = evaluated.old if request.get("ReturnValues") == "ALL_OLD" else None
    return single_answer(txn, request, evaluated, entries, attributes)


def _check_write(request: Request) -> None:
    refuse_mixing(request, ("ConditionExpression",), ("Expected", "ConditionalOperator"))
    if request.get("ReturnValues") not in (None, "NONE", "ALL_OLD"):
        raise invalid("ReturnValues can only be ALL_OLD or NONE")
