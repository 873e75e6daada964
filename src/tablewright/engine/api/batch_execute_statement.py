"""BatchExecuteStatement: up to 25 statements, all reads or all writes, each independent of the others.

Each statement reads or writes one item, named by its key. A statement that is refused has an error in its place among
the responses; the others run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tablewright.engine.api.arguments import find_table, key_bytes
from tablewright.engine.api.common_members import RETURN_CAPACITY
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import ListOf, Request, Struct
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.item_read import ItemRead, projected
from tablewright.engine.limits import BATCH_WRITE_REQUESTS
from tablewright.engine.mutations import Mutation, consume
from tablewright.engine.partiql.select import find_source, labelled_item
from tablewright.engine.partiql.statements import (
    CONSISTENT,
    EXISTS_ALONE,
    STATEMENT,
    apply_statement,
    as_plain_error,
    read_statement,
    read_view,
    write_of,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
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
    "RequestLimitExceeded": "RequestLimitExceeded",
    "ResourceNotFoundException": "ResourceNotFound",
    "ThrottlingException": "ThrottlingError",
    "TransactionConflictException": "TransactionConflict",
    "ValidationException": "ValidationError",
}


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A statement that may run: what it asks for, and the read or write of its item."""

    asked: Statement
    operation: ItemRead | Mutation


def batch_execute_statement(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    return _answer(txn, read_view(txn), request)


def batch_execute_selects(snapshot: ReadTransaction, request: Request) -> dict[str, Any]:
    """The same for statements that are known to be SELECTs: they need no write transaction."""
    return _answer(None, snapshot, request)


def _answer(txn: WriteTransaction | None, snapshot: ReadTransaction, request: Request) -> dict[str, Any]:
    members: Sequence[Request] = request["Statements"]
    read = [_read_member(member) for member in members]
    statements = [one for one in read if not isinstance(one, ServiceError)]
    if len({isinstance(one, Select) for one in statements}) > 1:
        raise invalid(MIXED)
    ready = [one if isinstance(one, ServiceError) else _prepared(snapshot.tables, one) for one in read]
    places = [
        (one.operation.table.number, one.operation.key) for one in ready if isinstance(one, PreparedStatement)
    ]
    if len(set(places)) != len(places):
        raise invalid("Provided list of item keys contains duplicates")
    spent: dict[int, Consumed] = {}
    responses = [
        _refusal(one) if isinstance(one, ServiceError) else _run(txn, snapshot, one, member, spent)
        for one, member in zip(ready, members, strict=True)
    ]
    answer: dict[str, Any] = {"Responses": responses}
    capacity = capacity_members(spent.values(), request.get("ReturnConsumedCapacity"))
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


def _prepared(tables: Catalog, asked: Statement) -> PreparedStatement | ServiceError:
    try:
        table = find_table(tables, asked.table)
        if isinstance(asked, Select):
            return PreparedStatement(asked, _keyed_read(table, asked))
        assert not isinstance(asked, Exists), "refused when it was read"
        # A member's ReturnValuesOnConditionCheckFailure is accepted and has no effect, as on the service.
        return PreparedStatement(asked, write_of(tables, table, asked, {}))
    except ServiceError as refusal:
        return refusal
    except (BadExpression, BadValue) as bad:
        return invalid(str(bad))


def _keyed_read(table: Table, asked: Select) -> ItemRead:
    find_source(table, asked)
    names = table.schema.names
    found = find_key(asked.where, names, one_of=True)
    is_one = all(len(found.values.get(name, ())) == 1 for name in names)
    if asked.index is not None or found.rest is not None or not is_one:
        raise invalid(NO_KEY)
    return ItemRead(table, key_bytes(table, found.key()), None)


def _run(
    txn: WriteTransaction | None,
    snapshot: ReadTransaction,
    ready: PreparedStatement,
    member: Request,
    spent: dict[int, Consumed],
) -> dict[str, Any]:
    asked, operation = ready.asked, ready.operation
    response: dict[str, Any] = {"TableName": operation.table.name}
    try:
        if isinstance(operation, ItemRead):
            item = _read(snapshot, operation, asked, bool(member.get("ConsistentRead")), spent)
        else:
            assert txn is not None, "requests with writes have a write transaction (statements.only_reads)"
            item = _write(txn, operation, asked, spent)
    except ServiceError as refusal:
        # It has reached its table, so the response names it.
        return response | _refusal(refusal)
    except BadExpression as bad:
        return response | _refusal(as_plain_error(bad))
    # An empty item is left out, as on the service.
    return response | {"Item": item} if item else response


def _read(
    snapshot: ReadTransaction,
    operation: ItemRead,
    asked: Statement,
    consistent: bool,
    spent: dict[int, Consumed],
) -> Any:
    assert isinstance(asked, Select)
    snapshot.check_throughput(operation.table, None, operation.key)
    row = operation.row(snapshot.rows)
    size = 0 if row is None else row.size
    snapshot.work(size)
    units = read_units(size, consistent)
    snapshot.spend(operation.table, None, units, operation.key)
    spent.setdefault(operation.table.number, Consumed(operation.table)).base += units
    if row is None:
        return None
    if asked.columns is None:
        return projected(row.item, None)
    return labelled_item(orjson.loads(row.item), asked.columns)


def _write(
    txn: WriteTransaction, operation: Mutation, asked: Statement, spent: dict[int, Consumed]
) -> Item | None:
    assert not isinstance(asked, Select | Exists)
    evaluated, entries, item = apply_statement(txn, operation, asked)
    consume(spent.setdefault(operation.table.number, Consumed(operation.table)), evaluated, entries)
    return item


def _refusal(refusal: ServiceError) -> dict[str, Any]:
    code = _CODES.get(refusal.name, "InternalServerError")
    # The message may quote what was sent, and half a surrogate pair cannot be sent back.
    message = refusal.message.encode(errors="replace").decode()
    return {"Error": {"Code": code, "Message": message}}


OPERATION = WriteOperation(
    "BatchExecuteStatement", SHAPE, batch_execute_statement, run_reads=batch_execute_selects
)
