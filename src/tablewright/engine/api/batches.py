"""BatchGetItem: up to 100 items by their keys. BatchWriteItem: up to 25 puts and deletes, not atomic.

Both take several tables. Keys beyond 16 MB, items that another transaction has locked and throttled ones are returned
as unprocessed, with the settings of their request.
"""

from typing import Any

from tablewright.engine.api import common_members as common
from tablewright.engine.api.arguments import NO_MATCH, admit_key, find_table, key_bytes, refuse_bad_index_keys
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, ListOf, MapOf, Request, Struct, Wording
from tablewright.engine.catalog import Table
from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units
from tablewright.engine.errors import invalid
from tablewright.engine.indexes import EntryChange
from tablewright.engine.item_read import projected, wanted_paths
from tablewright.engine.limits import BATCH_GET_BYTES, BATCH_GET_KEYS, BATCH_WRITE_REQUESTS, ITEM_BYTES
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
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.values import Item, admit_item
from tablewright.values.codec import TWO_KINDS

KEYS_AND_ATTRIBUTES = Struct(
    "KeysAndAttributes",
    {
        "Keys": ListOf(common.ATTRIBUTES, least=1, most=BATCH_GET_KEYS, terse=True),
        "AttributesToGet": common.ATTRIBUTE_NAMES,
        "ConsistentRead": common.FLAG,
        "ProjectionExpression": common.EXPRESSION,
        "ExpressionAttributeNames": common.NAMES,
    },
    required=("Keys",),
)


@read_verb(
    "BatchGetItem",
    {
        "RequestItems": MapOf(KEYS_AND_ATTRIBUTES, least=1, key=common.TABLE_NAME),
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
    },
    wording=Wording(counts=False),
)
def batch_get_item(txn: ReadTransaction, request: Request) -> Answer:
    asked: dict[str, Request] = request.get("RequestItems") or {}
    if not asked:
        raise invalid("The requestItems parameter is required for BatchGetItem")
    if sum(len(one["Keys"]) for one in asked.values()) > BATCH_GET_KEYS:
        raise invalid("Too many items requested for the BatchGetItem call")
    wanted = {
        name: ([admit_key(key) for key in one["Keys"]], wanted_paths(one)) for name, one in asked.items()
    }
    plans = []
    for name, (keys, paths) in wanted.items():
        table = find_table(txn.tables, name)
        plans.append((name, table, [(key, key_bytes(table, key)) for key in keys], paths))
    # Over all names: one table may be named twice, by its name and by its ARN.
    all_keys = [(table.number, key) for _, table, places, _ in plans for _, key in places]
    if len(set(all_keys)) != len(all_keys):
        raise invalid("Provided list of item keys contains duplicates")
    responses: dict[str, list[Any]] = {}
    unprocessed: dict[str, Request] = {}
    spent: list[Consumed] = []
    late: list[Throttled] = []
    room = BATCH_GET_BYTES
    with txn.rows.snapshot():
        for name, table, places, paths in plans:
            consistent = bool(asked[name].get("ConsistentRead"))
            consumed = Consumed(table)
            found = responses.setdefault(name, [])
            for place, (given, key) in enumerate(places):
                try:
                    txn.check_throughput(table, None, key)
                except Throttled as refusal:
                    late.append(refusal)
                    unprocessed.setdefault(name, {**asked[name], "Keys": []})["Keys"].append(given)
                    continue
                row = txn.rows.get(table.number, key)
                size = 0 if row is None else row.size
                if size > room:
                    rest = [given for given, _ in places[place:]]
                    unprocessed.setdefault(name, {**asked[name], "Keys": []})["Keys"].extend(rest)
                    break
                room -= size
                txn.work(size)
                units = read_units(size, consistent)
                consumed.base += units
                txn.spend(table, None, units, key)
                if row is not None:
                    found.append(projected(row.item, paths))
            spent.append(consumed)
    if len(late) == len(all_keys):
        raise late[0]
    consumed_capacity = capacity_members(spent, request.get("ReturnConsumedCapacity"))
    return {"Responses": responses, "UnprocessedKeys": unprocessed, **consumed_capacity}


WRITE_REQUEST = Struct(
    "WriteRequest",
    {
        "PutRequest": Struct("PutRequest", {"Item": common.ATTRIBUTES}, required=("Item",)),
        "DeleteRequest": Struct("DeleteRequest", {"Key": common.ATTRIBUTES}, required=("Key",)),
    },
)


@write_verb(
    "BatchWriteItem",
    {
        "RequestItems": MapOf(ListOf(WRITE_REQUEST), key=common.TABLE_NAME, values=(1, BATCH_WRITE_REQUESTS)),
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
        "ReturnItemCollectionMetrics": common.RETURN_METRICS,
    },
)
def batch_write_item(txn: WriteTransaction, request: Request) -> Answer:
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
) -> Answer:
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
    answer: Answer = {"UnprocessedItems": unprocessed, **capacity_members(spent, how)}
    if metrics:
        answer["ItemCollectionMetrics"] = metrics
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
