"""TransactWriteItems: up to 100 writes and checks, all or nothing.

Everything is decided first, action by action, so that each cancellation reason stands in its action's place;
only then is anything written. A token makes the same call a no-op for ten minutes.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import orjson

from tablewright.engine.capacity import Consumed, read_units, shown_all
from tablewright.engine.catalog import Catalog
from tablewright.engine.errors import ItemMistake, ServiceError, invalid, transaction_canceled
from tablewright.engine.item_writes import (
    Decided,
    Write,
    carry_out,
    check_of,
    collection_metrics,
    consume,
    decide,
    delete_of,
    put_of,
    refuse_unless_writer,
    spend,
    update_of,
)
from tablewright.engine.limits import TOKEN_SECONDS, TRANSACTION_ACTIONS, TRANSACTION_BYTES
from tablewright.engine.members import (
    ATTRIBUTES,
    CONDITIONAL,
    EXPRESSION,
    RETURN_CAPACITY,
    RETURN_METRICS,
    TABLE_NAME,
)
from tablewright.engine.metric_names import CONSUMED_READ, THROTTLED_REQUESTS
from tablewright.engine.shapes import ListOf, Request, Shape, Struct, Text
from tablewright.engine.throttle import Throttled
from tablewright.engine.writing import Writing
from tablewright.expressions import BadExpression
from tablewright.values import WrongJson
from tablewright.values.codec import NOT_UTF8

_KEYED: dict[str, Shape] = {"TableName": TABLE_NAME, "Key": ATTRIBUTES}
ACTION = Struct(
    "TransactWriteItem",
    {
        "ConditionCheck": Struct(
            "ConditionCheck", {**_KEYED, **CONDITIONAL}, required=("TableName", "Key", "ConditionExpression")
        ),
        "Put": Struct(
            "Put",
            {"TableName": TABLE_NAME, "Item": ATTRIBUTES, **CONDITIONAL},
            required=("TableName", "Item"),
        ),
        "Delete": Struct("Delete", {**_KEYED, **CONDITIONAL}, required=("TableName", "Key")),
        "Update": Struct(
            "Update",
            {**_KEYED, "UpdateExpression": EXPRESSION, **CONDITIONAL},
            required=("TableName", "Key", "UpdateExpression"),
        ),
    },
)

SHAPE = Struct(
    "TransactWriteItemsInput",
    {
        "ClientRequestToken": Text(1, 36),
        "TransactItems": ListOf(ACTION, least=1, most=TRANSACTION_ACTIONS),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "ReturnItemCollectionMetrics": RETURN_METRICS,
    },
    required=("TransactItems",),
)

_REASONS = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "ItemCollectionSizeLimitExceededException": "ItemCollectionSizeLimitExceeded",
}
READERS: dict[str, Callable[[Catalog, Request], Write]] = {
    "ConditionCheck": check_of,
    "Put": put_of,
    "Delete": delete_of,
    "Update": lambda tables, request: update_of(tables, request, alone=False)[0],
}


def transact_write_items(writing: Writing, request: Request) -> dict[str, Any]:
    actions = [_only_action(one) for one in request["TransactItems"]]
    token = request.get("ClientRequestToken")
    if token is not None:
        body = _fingerprint(request)
        replay = _replayed(writing, request, token, body)
        if replay is not None:
            return replay
    writes = _read_actions(writing.tables, actions)
    _refuse_oversize(writes)
    for write in writes:
        if write.table.replicas is not None:
            writing.refuse_lapsed(write.table)
    decisions = _decide_all(writing, writes)
    answer = _write_all(writing, request, decisions, [kind for kind, _ in actions])
    if token is not None:
        _remember(writing, token, body, decisions)
    return answer


def _only_action(one: Request) -> tuple[str, Request]:
    given = [(kind, one[kind]) for kind in READERS if one.get(kind) is not None]
    if not given:
        raise invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
    if len(given) > 1:
        raise invalid("TransactItems can only contain one of Check, Put, Update or Delete")
    return given[0]


def _read_actions(tables: Catalog, actions: Sequence[tuple[str, Request]]) -> list[Write]:
    writes: list[Write] = []
    reasons: list[dict[str, Any]] = []
    missing: ServiceError | None = None
    for kind, action in actions:
        try:
            writes.append(READERS[kind](tables, action))
            reasons.append({"Code": "None"})
        except ServiceError as mistake:
            if mistake.name == "ResourceNotFoundException":
                # Every action's own mistakes are told before any missing table.
                missing = mistake
            elif not isinstance(mistake, ItemMistake):
                raise
            reasons.append({"Code": "ValidationError", "Message": mistake.message})
    if missing is not None:
        raise missing
    if len(writes) != len(actions):
        raise transaction_canceled(reasons)
    if len({(write.table.number, write.key) for write in writes}) != len(writes):
        raise invalid("Transaction request cannot include multiple operations on one item")
    return writes


def _refuse_oversize(writes: Sequence[Write]) -> None:
    size = sum(write.become(None, 0)[1] for write in writes if write.is_put)
    if size > TRANSACTION_BYTES:
        raise invalid(f"Transaction payload size cannot exceed 4MB. Payload Size: {size}")


def _decide_all(writing: Writing, writes: Sequence[Write]) -> list[Decided]:
    decisions: list[Decided] = []
    reasons: list[dict[str, Any]] = []
    for write in writes:
        if writing.is_taken(write.table, write.key):
            writing.mark_conflict(write.table)
            reasons.append({"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"})
            continue
        try:
            decisions.append(decide(writing, write, factor=2))
            reasons.append({"Code": "None"})
        except BadExpression as mistake:
            reasons.append({"Code": "ValidationError", "Message": str(mistake)})
        except Throttled as mistake:
            writing.marks += [
                ((THROTTLED_REQUESTS, t, "", "TransactWriteItems"), 1.0) for t in mistake.tables
            ]
            reasons.append({"Code": mistake.code, "Message": mistake.message})
        except ServiceError as mistake:
            code = _REASONS.get(mistake.name, "ValidationError")
            if code == "ValidationError" and not isinstance(mistake, ItemMistake):
                raise
            reasons.append({"Code": code, "Message": mistake.message, **mistake.fields})
    if len(decisions) != len(writes):
        raise transaction_canceled(reasons)
    if sum(max(one.old_size, one.new_size) for one in decisions) > TRANSACTION_BYTES:
        raise invalid("Transaction payload size cannot exceed 4MB")
    return decisions


def _write_all(
    writing: Writing, request: Request, decisions: list[Decided], kinds: list[str]
) -> dict[str, Any]:
    spent: dict[int, Consumed] = {}
    how = request.get("ReturnConsumedCapacity")
    for decided, kind in zip(decisions, kinds, strict=True):
        table = decided.write.table
        writing.take(table, decided.write.key)
        entries = [] if kind == "ConditionCheck" else carry_out(writing, decided, factor=2)
        if kind == "ConditionCheck":
            spend(writing, decided, entries, factor=2)
        if how is not None and how != "NONE":
            consume(spent.setdefault(table.number, Consumed(table)), decided, entries, factor=2)
    answer: dict[str, Any] = {}
    capacity = shown_all(spent.values(), how, "Write")
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = _metrics(writing, decisions, kinds)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer


def _metrics(writing: Writing, decisions: list[Decided], kinds: list[str]) -> dict[str, list[Any]]:
    metrics: dict[str, list[Any]] = {}
    for decided, kind in zip(decisions, kinds, strict=True):
        table = decided.write.table
        if kind != "ConditionCheck" and table.has_local_indexes:
            one = collection_metrics(writing.rows, table, decided.write.attributes)
            if one not in metrics.setdefault(table.name, []):
                metrics[table.name].append(one)
    return metrics


# --- tokens ---


def _fingerprint(request: Request) -> bytes:
    try:
        return sha256(orjson.dumps(request["TransactItems"], option=orjson.OPT_SORT_KEYS)).digest()
    except orjson.JSONEncodeError:
        raise WrongJson(NOT_UTF8) from None


def _replayed(writing: Writing, request: Request, token: str, body: bytes) -> dict[str, Any] | None:
    """The answer to a call that was made before, if it was made with this token in the last ten minutes."""
    kept = writing.rows.token(token)
    if kept is None or kept[0] <= writing.pen.at - TOKEN_SECONDS * 1_000_000:
        return None
    _, known, sizes = kept
    if known != body:
        raise ServiceError(
            "IdempotentParameterMismatchException",
            "The ClientRequestToken was used in the last ten minutes for a request with other parameters",
        )
    how = request.get("ReturnConsumedCapacity")
    units = [(t, used) for name, used in orjson.loads(sizes) if (t := writing.tables.get(name)) is not None]
    for table, _ in units:
        # The first answer may have been that it is not known whether this holds: it is not known now either.
        refuse_unless_writer(table)
        writing.refuse_lapsed(table)
    spent = [Consumed(table, used) for table, used in units]
    writing.marks += [((CONSUMED_READ, table.name, "", ""), used) for table, used in units]
    capacity = shown_all(spent, how, "Read")
    return {} if capacity is None else {"ConsumedCapacity": capacity}


def _remember(writing: Writing, token: str, body: bytes, decisions: list[Decided]) -> None:
    units: dict[str, float] = {}
    for decided in decisions:
        name = decided.write.table.name
        size = max(decided.old_size, decided.new_size)
        units[name] = units.get(name, 0.0) + 2 * read_units(size, consistent=True)
    now = writing.pen.at
    writing.rows.forget_tokens(before=now - TOKEN_SECONDS * 1_000_000)
    writing.rows.save_token(token, now, body, orjson.dumps(list(units.items())))
