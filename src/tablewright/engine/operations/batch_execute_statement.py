"""BatchExecuteStatement: up to 25 statements, all reads or all writes, each for itself.

Each read names one item by its key, each write is one item's; a statement that is refused says so in its own place and
the others run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tablewright.engine.arguments import find_table, key_bytes
from tablewright.engine.capacity import Consumed, read_units, shown_all
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.item_reads import Read, shown
from tablewright.engine.item_writes import Write, consume
from tablewright.engine.limits import BATCH_WRITE_REQUESTS
from tablewright.engine.members import RETURN_CAPACITY
from tablewright.engine.selects import find_source, shown_item
from tablewright.engine.shapes import ListOf, Request, Struct
from tablewright.engine.statements import (
    CONSISTENT,
    EXISTS_ALONE,
    STATEMENT,
    carry_through,
    plainly,
    read_statement,
    reading_of,
    write_of,
)
from tablewright.engine.writing import Reading, Writing
from tablewright.expressions import BadExpression
from tablewright.partiql import Exists, Select, Statement, find_key
from tablewright.values import BadValue, Item

SHAPE = Struct(
    "BatchExecuteStatementInput",
    {
        "Statements": ListOf(
            Struct("BatchStatementRequest", {**STATEMENT, **CONSISTENT}, required=("Statement",)),
            least=1,
            most=BATCH_WRITE_REQUESTS,
        ),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
    },
    required=("Statements",),
)

NO_KEY = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
MIXED = "Read and write requests together in the same batch is not supported."
_CODES = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "DuplicateItemException": "DuplicateItem",
    "ItemCollectionSizeLimitExceededException": "ItemCollectionSizeLimitExceeded",
    "ProvisionedThroughputExceededException": "ProvisionedThroughputExceeded",
    "ReplicaNotWriterException": "AccessDenied",
    "ReplicaLeaseLapsedException": "AccessDenied",
    "RequestLimitExceeded": "RequestLimitExceeded",
    "ResourceNotFoundException": "ResourceNotFound",
    "ThrottlingException": "ThrottlingError",
    "TransactionConflictException": "TransactionConflict",
    "ValidationException": "ValidationError",
}


@dataclass(frozen=True, slots=True)
class Ready:
    """A statement that may run: what it asks, and the one item it is about."""

    asked: Statement
    deed: Read | Write


def batch_execute_statement(writing: Writing, request: Request) -> dict[str, Any]:
    return _answer(writing, reading_of(writing), request)


def batch_execute_selects(reading: Reading, request: Request) -> dict[str, Any]:
    """The same for statements that are known to be SELECTs: they need no writer."""
    return _answer(None, reading, request)


def _answer(writing: Writing | None, reading: Reading, request: Request) -> dict[str, Any]:
    members: Sequence[Request] = request["Statements"]
    read = [_read_member(member) for member in members]
    statements = [one for one in read if not isinstance(one, ServiceError)]
    if len({isinstance(one, Select) for one in statements}) > 1:
        raise invalid(MIXED)
    ready = [one if isinstance(one, ServiceError) else _prepared(reading.tables, one) for one in read]
    places = [(one.deed.table.number, one.deed.key) for one in ready if isinstance(one, Ready)]
    if len(set(places)) != len(places):
        raise invalid("Provided list of item keys contains duplicates")
    spent: dict[int, Consumed] = {}
    responses = [
        _refusal(one) if isinstance(one, ServiceError) else _run(writing, reading, one, member, spent)
        for one, member in zip(ready, members, strict=True)
    ]
    answer: dict[str, Any] = {"Responses": responses}
    capacity = shown_all(spent.values(), request.get("ReturnConsumedCapacity"))
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer


def _read_member(member: Request) -> Statement | ServiceError:
    try:
        asked = read_statement(member)
    except ServiceError as refusal:
        return refusal
    except BadValue as bad:
        return invalid(str(bad))
    return invalid(EXISTS_ALONE) if isinstance(asked, Exists) else asked


def _prepared(tables: Catalog, asked: Statement) -> Ready | ServiceError:
    try:
        table = find_table(tables, asked.table)
        if isinstance(asked, Select):
            return Ready(asked, _keyed_read(table, asked))
        assert not isinstance(asked, Exists), "refused when it was read"
        # A member's ReturnValuesOnConditionCheckFailure is taken and does nothing, as on the service.
        return Ready(asked, write_of(tables, table, asked, {}))
    except ServiceError as refusal:
        return refusal
    except (BadExpression, BadValue) as bad:
        return invalid(str(bad))


def _keyed_read(table: Table, asked: Select) -> Read:
    find_source(table, asked)
    names = table.schema.names
    found = find_key(asked.where, names, one_of=True)
    is_one = all(len(found.values.get(name, ())) == 1 for name in names)
    if asked.index is not None or found.rest is not None or not is_one:
        raise invalid(NO_KEY)
    return Read(table, key_bytes(table, found.key()), None)


def _run(
    writing: Writing | None, reading: Reading, ready: Ready, member: Request, spent: dict[int, Consumed]
) -> dict[str, Any]:
    asked, deed = ready.asked, ready.deed
    response: dict[str, Any] = {"TableName": deed.table.name}
    try:
        if isinstance(deed, Read):
            item = _read(reading, deed, asked, bool(member.get("ConsistentRead")), spent)
        else:
            assert writing is not None, "whoever gave no writer has looked (statements.only_reads)"
            item = _write(writing, deed, asked, spent)
    except ServiceError as refusal:
        # It has reached its table, and says which.
        return response | _refusal(refusal)
    except BadExpression as bad:
        return response | _refusal(plainly(bad))
    # There is no such thing as an empty row here.
    return response | {"Item": item} if item else response


def _read(
    reading: Reading, deed: Read, asked: Statement, consistent: bool, spent: dict[int, Consumed]
) -> Any:
    assert isinstance(asked, Select)
    reading.refuse_fast(deed.table, None, deed.key)
    row = deed.row(reading.rows)
    units = read_units(0 if row is None else row.size, consistent)
    reading.spend(deed.table, None, units, deed.key)
    spent.setdefault(deed.table.number, Consumed(deed.table)).base += units
    if row is None:
        return None
    if asked.columns is None:
        return shown(row.item, None)
    return shown_item(orjson.loads(row.item), asked.columns)


def _write(writing: Writing, deed: Write, asked: Statement, spent: dict[int, Consumed]) -> Item | None:
    assert not isinstance(asked, Select | Exists)
    decided, entries, item = carry_through(writing, deed, asked)
    consume(spent.setdefault(deed.table.number, Consumed(deed.table)), decided, entries)
    return item


def _refusal(refusal: ServiceError) -> dict[str, Any]:
    code = _CODES.get(refusal.name, "InternalServerError")
    # The message may quote what was sent, and half a surrogate pair cannot be sent back.
    message = refusal.message.encode(errors="replace").decode()
    return {"Error": {"Code": code, "Message": message}}
