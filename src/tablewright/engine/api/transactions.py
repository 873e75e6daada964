"""TransactGetItems: up to 100 items from one snapshot. TransactWriteItems: up to 100 writes, all or nothing.

All actions of a write are evaluated first, so that each cancellation reason is in its action's place; only then is
anything written. A token makes the same call a no-op for ten minutes (client_tokens.py).
"""

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from tablewright.engine.api import common_members as common
from tablewright.engine.api.arguments import admit_key, find_table, key_bytes
from tablewright.engine.api.client_tokens import fingerprint, remember, replayed_answer
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, ListOf, Request, Shape, Struct, Text
from tablewright.engine.catalog import Catalog
from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units
from tablewright.engine.errors import CONFLICT, ItemMistake, ServiceError, invalid, transaction_canceled
from tablewright.engine.item_read import ItemRead, wanted_paths
from tablewright.engine.limits import (
    HASH_KEY_BYTES,
    KB,
    RANGE_KEY_BYTES,
    TRANSACTION_ACTIONS,
    TRANSACTION_BYTES,
)
from tablewright.engine.metrics.names import THROTTLED_REQUESTS
from tablewright.engine.mutations import (
    Evaluated,
    Mutation,
    apply_mutation,
    check_of,
    collection_metrics,
    consume,
    delete_of,
    evaluate,
    put_of,
    spend,
    update_of,
)
from tablewright.engine.throughput.token_buckets import Throttled
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.expressions import BadExpression
from tablewright.values import admit_item, item_size

GET = Struct(
    "Get",
    {
        "TableName": common.TABLE_NAME,
        "Key": common.ATTRIBUTES,
        "ProjectionExpression": common.EXPRESSION,
        "ExpressionAttributeNames": common.NAMES,
    },
    required=("TableName", "Key"),
)


@read_verb(
    "TransactGetItems",
    {
        "TransactItems": ListOf(
            Struct("TransactGetItem", {"Get": GET}, required=("Get",)), least=1, most=TRANSACTION_ACTIONS
        ),
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
    },
    required=("TransactItems",),
)
def transact_get_items(txn: ReadTransaction, request: Request) -> Answer:
    gets = [one["Get"] for one in request["TransactItems"]]
    wanted = [(admit_key(get["Key"]), wanted_paths(get)) for get in gets]
    tables = [find_table(txn.tables, get["TableName"]) for get in gets]
    reads: list[ItemRead] = []
    reasons: list[dict[str, Any]] = []
    for table, (key, paths) in zip(tables, wanted, strict=True):
        try:
            read = ItemRead(table, key_bytes(table, key), paths)
            txn.check_throughput(table, None, read.key)
            reads.append(read)
            reasons.append({"Code": "None"})
        except Throttled as throttled:
            if txn.samples is not None:
                txn.samples.extend(
                    ((THROTTLED_REQUESTS, name, "", "TransactGetItems"), 1.0) for name in throttled.tables
                )
            reasons.append({"Code": throttled.code, "Message": throttled.message})
        except ServiceError as error:
            reasons.append({"Code": "ValidationError", "Message": error.message})
    if len(reads) != len(gets):
        raise transaction_canceled(reasons)
    if len({(read.table.number, read.key) for read in reads}) != len(reads):
        raise invalid("Transaction request cannot include multiple operations on one item")
    return _read_all(txn, request, reads)


def _read_all(txn: ReadTransaction, request: Request, reads: list[ItemRead]) -> Answer:
    responses: list[dict[str, Any]] = []
    spent: dict[int, Consumed] = {}
    total = 0
    with txn.rows.snapshot():
        for read in reads:
            row = read.row(txn.rows)
            size = 0 if row is None else row.size
            total += size
            txn.work(size)
            if total > TRANSACTION_BYTES:
                raise invalid("Transaction response size cannot exceed 4MB")
            consumed = spent.setdefault(read.table.number, Consumed(read.table))
            units = 2 * read_units(size, consistent=True)
            consumed.base += units
            txn.spend(read.table, None, units, read.key)
            item = None if row is None else read.project(row)
            # A projection that matches nothing gives no Item here, unlike in GetItem.
            responses.append({"Item": item} if item not in (None, {}) else {})
    consumed_capacity = capacity_members(spent.values(), request.get("ReturnConsumedCapacity"), "Read")
    return {"Responses": responses, **consumed_capacity}


_KEYED: dict[str, Shape] = {"TableName": common.TABLE_NAME, "Key": common.ATTRIBUTES}
ACTION = Struct(
    "TransactWriteItem",
    {
        "ConditionCheck": Struct(
            "ConditionCheck",
            {**_KEYED, **common.CONDITIONAL},
            required=("TableName", "Key", "ConditionExpression"),
        ),
        "Put": Struct(
            "Put",
            {"TableName": common.TABLE_NAME, "Item": common.ATTRIBUTES, **common.CONDITIONAL},
            required=("TableName", "Item"),
        ),
        "Delete": Struct("Delete", {**_KEYED, **common.CONDITIONAL}, required=("TableName", "Key")),
        "Update": Struct(
            "Update",
            {**_KEYED, "UpdateExpression": common.EXPRESSION, **common.CONDITIONAL},
            required=("TableName", "Key", "UpdateExpression"),
        ),
    },
)


# At least what a key counts, with its names.
_KEY_BYTES = HASH_KEY_BYTES + RANGE_KEY_BYTES + KB
_REASONS = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "ItemCollectionSizeLimitExceededException": "ItemCollectionSizeLimitExceeded",
}
READERS: dict[str, Callable[[Catalog, Request], Mutation]] = {
    "ConditionCheck": check_of,
    "Put": put_of,
    "Delete": delete_of,
    "Update": lambda tables, request: update_of(tables, request, alone=False)[0],
}


@write_verb(
    "TransactWriteItems",
    {
        "ClientRequestToken": Text(1, 36),
        "TransactItems": ListOf(ACTION, least=1, most=TRANSACTION_ACTIONS),
        "ReturnConsumedCapacity": common.RETURN_CAPACITY,
        "ReturnItemCollectionMetrics": common.RETURN_METRICS,
    },
    required=("TransactItems",),
)
def transact_write_items(txn: WriteTransaction, request: Request) -> Answer:
    actions = [_only_action(one) for one in request["TransactItems"]]
    token = request.get("ClientRequestToken")
    if token is not None:
        body = fingerprint(request)
        replay = replayed_answer(txn, request, token, body)
        if replay is not None:
            return replay
    writes = _read_actions(txn.tables, actions)
    _refuse_oversize(writes, actions)
    decisions = _evaluate_all(txn, writes)
    answer = _write_all(txn, request, decisions, [kind for kind, _ in actions])
    if token is not None:
        remember(txn, token, body, decisions)
    return answer


def _only_action(one: Request) -> tuple[str, Request]:
    given = [(kind, one[kind]) for kind in READERS if one.get(kind) is not None]
    if not given:
        raise invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
    if len(given) > 1:
        raise invalid("TransactItems can only contain one of Check, Put, Update or Delete")
    return given[0]


def _read_actions(tables: Catalog, actions: Sequence[tuple[str, Request]]) -> list[Mutation]:
    writes: list[Mutation] = []
    reasons: list[dict[str, Any]] = []
    missing: ServiceError | None = None
    for kind, action in actions:
        try:
            writes.append(READERS[kind](tables, action))
            reasons.append({"Code": "None"})
        except ServiceError as error:
            if error.name == "ResourceNotFoundException":
                # Errors of the actions themselves come before a missing table.
                missing = error
            elif not isinstance(error, ItemMistake):
                raise
            reasons.append({"Code": "ValidationError", "Message": error.message})
    reasons = _up_to_validation_error(reasons)
    if missing is not None:
        raise missing
    if len(writes) != len(actions):
        raise transaction_canceled(reasons)
    if len({(write.table.number, write.key) for write in writes}) != len(writes):
        raise invalid("Transaction request cannot include multiple operations on one item")
    return writes


def _up_to_validation_error(reasons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reasons as the service gives them: it evaluates no action after the first that is not valid."""
    for place, reason in enumerate(reasons):
        if reason["Code"] == "ValidationError":
            return [*reasons[: place + 1], *[{"Code": "None"}] * (len(reasons) - place - 1)]
    return reasons


def _refuse_oversize(writes: Sequence[Mutation], actions: Sequence[tuple[str, Request]]) -> None:
    """Refuse a request whose items, keys and expression values are larger than 4 MB; stored items do not count."""
    size = 0
    if _most_bytes(writes, actions) <= TRANSACTION_BYTES:
        return
    for write, (_, action) in zip(writes, actions, strict=True):
        size += write.transform(None, 0)[1] if write.is_put else item_size(write.attributes)
        values = action.get("ExpressionAttributeValues")
        if values:
            size += admit_item(values)[1]
    if size > TRANSACTION_BYTES:
        raise invalid(f"Transaction payload size cannot exceed 4MB. Payload Size: {size}")


def _most_bytes(writes: Sequence[Mutation], actions: Sequence[tuple[str, Request]]) -> int:
    """At least the size of a request, in a fraction of the time: the JSON text of values is longer than they count."""
    size = 0
    for write, (_, action) in zip(writes, actions, strict=True):
        size += write.transform(None, 0)[1] if write.is_put else _KEY_BYTES
        values = action.get("ExpressionAttributeValues")
        if values:
            size += len(orjson.dumps(values))
    return size


def _evaluate_all(txn: WriteTransaction, writes: Sequence[Mutation]) -> list[Evaluated]:
    decisions: list[Evaluated] = []
    reasons: list[dict[str, Any]] = []
    for write in writes:
        if txn.is_locked(write.table, write.key):
            txn.mark_conflict(write.table)
            reasons.append({"Code": "TransactionConflict", "Message": CONFLICT})
            continue
        try:
            decisions.append(evaluate(txn, write, factor=2))
            reasons.append({"Code": "None"})
        except BadExpression as bad:
            reasons.append({"Code": "ValidationError", "Message": str(bad)})
        except Throttled as throttled:
            txn.samples += [
                ((THROTTLED_REQUESTS, name, "", "TransactWriteItems"), 1.0) for name in throttled.tables
            ]
            reasons.append({"Code": throttled.code, "Message": throttled.message})
        except ServiceError as error:
            code = _REASONS.get(error.name, "ValidationError")
            if code == "ValidationError" and not isinstance(error, ItemMistake):
                raise
            reasons.append({"Code": code, "Message": error.message, **error.fields})
    if len(decisions) != len(writes):
        raise transaction_canceled(_up_to_validation_error(reasons))
    return decisions


def _write_all(
    txn: WriteTransaction, request: Request, decisions: list[Evaluated], kinds: list[str]
) -> Answer:
    spent: dict[int, Consumed] = {}
    how = request.get("ReturnConsumedCapacity")
    for evaluated, kind in zip(decisions, kinds, strict=True):
        table = evaluated.write.table
        txn.lock_item(table, evaluated.write.key)
        entries = [] if kind == "ConditionCheck" else apply_mutation(txn, evaluated, factor=2)
        if kind == "ConditionCheck":
            spend(txn, evaluated, entries, factor=2)
        if how is not None and how != "NONE":
            consume(spent.setdefault(table.number, Consumed(table)), evaluated, entries, factor=2)
    answer = capacity_members(spent.values(), how, "Write")
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = _metrics(txn, decisions, kinds)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer


def _metrics(txn: WriteTransaction, decisions: list[Evaluated], kinds: list[str]) -> dict[str, list[Any]]:
    metrics: dict[str, list[Any]] = {}
    for evaluated, kind in zip(decisions, kinds, strict=True):
        table = evaluated.write.table
        if kind != "ConditionCheck" and table.has_local_indexes:
            one = collection_metrics(txn.rows, table, evaluated.write.attributes)
            if one not in metrics.setdefault(table.name, []):
                metrics[table.name].append(one)
    return metrics
