"""BatchWriteItem: up to 25 puts and deletes, each for itself: not conditional, not atomic.

What another transaction holds, or what comes too fast, is handed back in UnprocessedItems.
"""

from typing import Any

from tablewright.engine.arguments import (
    NO_MATCH,
    admit_key,
    find_table,
    key_bytes,
    refuse_bad_index_keys,
)
from tablewright.engine.capacity import Consumed, shown_all
from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid
from tablewright.engine.indexes import EntryChange
from tablewright.engine.item_writes import (
    TOO_LARGE,
    Decided,
    Write,
    carry_out,
    collection_metrics,
    consume,
    decide,
    perform,
    refuse_unless_writer,
)
from tablewright.engine.limits import BATCH_WRITE_REQUESTS, ITEM_BYTES
from tablewright.engine.members import ATTRIBUTES, RETURN_CAPACITY, RETURN_METRICS, TABLE_NAME
from tablewright.engine.shapes import ListOf, MapOf, Request, Struct
from tablewright.engine.throttle import Throttled
from tablewright.engine.writing import Writing
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


def batch_write_item(writing: Writing, request: Request) -> dict[str, Any]:
    asked: dict[str, list[Request]] = request.get("RequestItems") or {}
    if not asked:
        raise invalid("The requestItems parameter is required for BatchWriteItem")
    if sum(len(requests) for requests in asked.values()) > BATCH_WRITE_REQUESTS:
        raise invalid("Too many items requested for the BatchWriteItem call")
    admitted = {name: [_admit(one) for one in requests] for name, requests in asked.items()}
    planned = {
        name: [_write(find_table(writing.tables, name), *one) for one in writes]
        for name, writes in admitted.items()
    }
    # Over all names: one table may be named twice, by its name and by its ARN.
    places = [(write.table.number, write.key) for writes in planned.values() for write in writes]
    if len(set(places)) != len(places):
        raise invalid("Provided list of item keys contains duplicates")
    for table in [writes[0].table for writes in planned.values()]:
        writing.refuse_lapsed(table)
    return _write_all(writing, request, asked, planned)


def _admit(request: Request) -> tuple[Item, int | None]:
    """The item to put with its size, or the key to delete with none."""
    put, delete = request.get("PutRequest"), request.get("DeleteRequest")
    if (put is None) == (delete is None):
        # The service's words for this are those for an attribute value of two types.
        raise invalid(TWO_KINDS)
    if put is None:
        return admit_key(request["DeleteRequest"]["Key"]), None
    item, size = admit_item(put["Item"])
    if size > ITEM_BYTES:
        raise invalid(TOO_LARGE)
    return item, size


def _write(table: Table, item: Item, size: int | None) -> Write:
    if table.replicas is not None:
        refuse_unless_writer(table)
    if size is None:
        return Write(table, key_bytes(table, item), item, None, lambda *_: (None, 0))
    # A batch says less about a bad key than PutItem does.
    if any(name not in item or table.types[name] not in item[name] for name in table.schema.names):
        raise invalid(NO_MATCH)
    key = key_bytes(table, {name: item[name] for name in table.schema.names})
    refuse_bad_index_keys(table, None, item, by_update=False)
    return Write(table, key, item, None, lambda *_: (item, size), is_put=True)


def _write_all(
    writing: Writing, request: Request, asked: dict[str, list[Request]], planned: dict[str, list[Write]]
) -> dict[str, Any]:
    how = request.get("ReturnConsumedCapacity")
    unprocessed: dict[str, list[Request]] = {}
    spent: list[Consumed] = []
    metrics: dict[str, list[dict[str, Any]]] = {}
    late: list[Throttled] = []
    # Only a local index can still refuse a write. These are decided before the first of all is carried out,
    # so that a batch with a mistake in it changes nothing.
    decisions = {
        name: {place: _decided(writing, write) for place, write in enumerate(writes)}
        for name, writes in planned.items()
        if writes[0].table.has_local_indexes
    }
    for name, writes in planned.items():
        consumed = Consumed(writes[0].table)
        for place, write in enumerate(writes):
            if writing.is_taken(write.table, write.key):
                writing.mark_conflict(write.table)
                unprocessed.setdefault(name, []).append(asked[name][place])
                continue
            try:
                decided, entries = _carried_out(writing, write, decisions.get(name, {}).get(place))
            except Throttled as refusal:
                late.append(refusal)
                unprocessed.setdefault(name, []).append(asked[name][place])
                continue
            if how is not None and how != "NONE":
                consume(consumed, decided, entries)
        spent.append(consumed)
        if request.get("ReturnItemCollectionMetrics") == "SIZE" and consumed.table.has_local_indexes:
            metrics[name] = _metrics(writing, writes)
    if late and len(late) == sum(map(len, planned.values())):
        raise late[0]
    answer: dict[str, Any] = {"UnprocessedItems": unprocessed}
    if metrics:
        answer["ItemCollectionMetrics"] = metrics
    capacity = shown_all(spent, how)
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer


def _decided(writing: Writing, write: Write) -> Decided | Throttled:
    try:
        return decide(writing, write)
    except Throttled as refusal:
        return refusal


def _carried_out(
    writing: Writing, write: Write, decided: Decided | Throttled | None
) -> tuple[Decided, list[EntryChange]]:
    if decided is None:
        return perform(writing, write)
    if isinstance(decided, Throttled):
        raise decided
    return decided, carry_out(writing, decided)


def _metrics(writing: Writing, writes: list[Write]) -> list[dict[str, Any]]:
    shown = [collection_metrics(writing.rows, write.table, write.attributes) for write in writes]
    return [one for place, one in enumerate(shown) if one not in shown[:place]]
