"""BatchWriteItem: up to 25 puts and deletes, each independent of the others: not conditional, not atomic.

Items that another transaction has locked, and throttled ones, are returned in UnprocessedItems.
"""

from typing import Any

from tablewright.engine.api.arguments import (
    NO_MATCH,
    admit_key,
    find_table,
    key_bytes,
    refuse_bad_index_keys,
)
from tablewright.engine.api.common_members import ATTRIBUTES, RETURN_CAPACITY, RETURN_METRICS, TABLE_NAME
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import ListOf, MapOf, Request, Struct
from tablewright.engine.catalog import Table
from tablewright.engine.consumed_capacity import Consumed, capacity_members
from tablewright.engine.errors import invalid
from tablewright.engine.indexes import EntryChange
from tablewright.engine.limits import BATCH_WRITE_REQUESTS, ITEM_BYTES
from tablewright.engine.mutations import (
    TOO_LARGE,
    Evaluated,
    Mutation,
    apply_mutation,
    collection_metrics,
    consume,
    evaluate,
    evaluate_and_apply,
    refuse_unless_writer,
)
from tablewright.engine.throughput.token_buckets import Throttled
from tablewright.engine.transaction import WriteTransaction
from tablewright.values import Item, admit_item
from tablewright.values.codec import TWO_KINDS

WRITE_REQUEST = Struct(
    "WriteRequest",
    {
        "PutRequest": Struct("PutRequest", {"Item": ATTRIBUTES}, required=("Item",)),
        "DeleteRequest": Struct("DeleteRequest", {"Key": ATTRIBUTES}, required=("Key",)),
    },
)

SHAPE = Struct(
    "BatchWriteItemInput",
    {
        "RequestItems": MapOf(ListOf(WRITE_REQUEST), key=TABLE_NAME, values=(1, BATCH_WRITE_REQUESTS)),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "ReturnItemCollectionMetrics": RETURN_METRICS,
    },
)


def batch_write_item(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    asked: dict[str, list[Request]] = request.get("RequestItems") or {}
    if not asked:
        raise invalid("The requestItems parameter is required for BatchWriteItem")
    if sum(len(requests) for requests in asked.values()) > BATCH_WRITE_REQUESTS:
        raise invalid("Too many items requested for the BatchWriteItem call")
    admitted = {name: [_admit(one) for one in requests] for name, requests in asked.items()}
    planned = {
        name: [_write(find_table(txn.tables, name), *one) for one in writes]
        for name, writes in admitted.items()
    }
    # Over all names: one table may be named twice, by its name and by its ARN.
    places = [(write.table.number, write.key) for writes in planned.values() for write in writes]
    if len(set(places)) != len(places):
        raise invalid("Provided list of item keys contains duplicates")
    return _write_all(txn, request, asked, planned)


def _admit(request: Request) -> tuple[Item, int | None]:
    """The item to put with its size, or the key to delete with none."""
    put, delete = request.get("PutRequest"), request.get("DeleteRequest")
    if (put is None) == (delete is None):
        # The service's message is the one for an attribute value of two types.
        raise invalid(TWO_KINDS)
    if put is None:
        return admit_key(request["DeleteRequest"]["Key"]), None
    item, size = admit_item(put["Item"])
    if size > ITEM_BYTES:
        raise invalid(TOO_LARGE)
    return item, size


def _write(table: Table, item: Item, size: int | None) -> Mutation:
    if table.replicas is not None:
        refuse_unless_writer(table)
    if size is None:
        return Mutation(table, key_bytes(table, item), item, None, lambda *_: (None, 0))
    # The message for a bad key has less detail than PutItem's.
    if any(name not in item or table.types[name] not in item[name] for name in table.schema.names):
        raise invalid(NO_MATCH)
    key = key_bytes(table, {name: item[name] for name in table.schema.names})
    refuse_bad_index_keys(table, None, item, by_update=False)
    return Mutation(table, key, item, None, lambda *_: (item, size), is_put=True)


def _write_all(
    txn: WriteTransaction,
    request: Request,
    asked: dict[str, list[Request]],
    planned: dict[str, list[Mutation]],
) -> dict[str, Any]:
    how = request.get("ReturnConsumedCapacity")
    unprocessed: dict[str, list[Request]] = {}
    spent: list[Consumed] = []
    metrics: dict[str, list[dict[str, Any]]] = {}
    late: list[Throttled] = []
    # Only a local index can still refuse a write. Such writes are evaluated before the first write is applied, so that
    # a batch with an error changes nothing.
    decisions = {
        name: {place: _evaluated(txn, write) for place, write in enumerate(writes)}
        for name, writes in planned.items()
        if writes[0].table.has_local_indexes
    }
    for name, writes in planned.items():
        consumed = Consumed(writes[0].table)
        for place, write in enumerate(writes):
            if txn.is_locked(write.table, write.key):
                txn.mark_conflict(write.table)
                unprocessed.setdefault(name, []).append(asked[name][place])
                continue
            try:
                evaluated, entries = _apply(txn, write, decisions.get(name, {}).get(place))
            except Throttled as refusal:
                late.append(refusal)
                unprocessed.setdefault(name, []).append(asked[name][place])
                continue
            if how is not None and how != "NONE":
                consume(consumed, evaluated, entries)
        spent.append(consumed)
        if request.get("ReturnItemCollectionMetrics") == "SIZE" and consumed.table.has_local_indexes:
            metrics[name] = _metrics(txn, writes)
    if late and len(late) == sum(map(len, planned.values())):
        raise late[0]
    answer: dict[str, Any] = {"UnprocessedItems": unprocessed}
    if metrics:
        answer["ItemCollectionMetrics"] = metrics
    capacity = capacity_members(spent, how)
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer


def _evaluated(txn: WriteTransaction, write: Mutation) -> Evaluated | Throttled:
    try:
        return evaluate(txn, write)
    except Throttled as refusal:
        return refusal


def _apply(
    txn: WriteTransaction, write: Mutation, evaluated: Evaluated | Throttled | None
) -> tuple[Evaluated, list[EntryChange]]:
    if evaluated is None:
        return evaluate_and_apply(txn, write)
    if isinstance(evaluated, Throttled):
        raise evaluated
    return evaluated, apply_mutation(txn, evaluated)


def _metrics(txn: WriteTransaction, writes: list[Mutation]) -> list[dict[str, Any]]:
    metrics = [collection_metrics(txn.rows, write.table, write.attributes) for write in writes]
    return [one for place, one in enumerate(metrics) if one not in metrics[:place]]


OPERATION = WriteOperation("BatchWriteItem", SHAPE, batch_write_item)
