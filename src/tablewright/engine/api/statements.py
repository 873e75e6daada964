"""ExecuteStatement: one PartiQL statement, a page of a SELECT or a write to an item. BatchExecuteStatement: up to 25.

The statements of a batch are all reads or all writes, each independent of the others. Each reads or writes one item,
named by its key. One that is refused has an error in its place among the responses; the others run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tablewright.engine.api.arguments import find_table, key_bytes
from tablewright.engine.api.common_members import RETURN_CAPACITY
from tablewright.engine.api.operation import statement_verb
from tablewright.engine.api.shapes import Answer, ListOf, Request, Struct, Text, Whole
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.consumed_capacity import Consumed, capacity_members, read_units
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.item_read import ItemRead, projected
from tablewright.engine.limits import BATCH_WRITE_REQUESTS
from tablewright.engine.mutations import Mutation, consume, single_answer
from tablewright.engine.partiql.page_tokens import FOREIGN_TOKEN
from tablewright.engine.partiql.select import find_source, labelled_item, select_page
from tablewright.engine.partiql.statements import (
    CONSISTENT,
    EXISTS_ALONE,
    ONLY_SELECTS,
    STATEMENT,
    apply_statement,
    as_plain_error,
    read_statement,
    read_view,
    write_of,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.expressions import BadExpression
from tablewright.partiql import Exists, Select, Statement, read_key
from tablewright.values import BadValue, Item


@statement_verb(
    "ExecuteStatement",
    {
        **STATEMENT,
        **CONSISTENT,
        "NextToken": Text(1, 32768),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
        "Limit": Whole(least=1),
    },
    required=("Statement",),
)
def execute_statement(txn: ReadTransaction | WriteTransaction, request: Request) -> Answer:
    asked = read_statement(request)
    if isinstance(asked, Exists):
        raise invalid(EXISTS_ALONE)
    if isinstance(asked, Select):
        return select_page(read_view(txn), asked, request)
    assert isinstance(txn, WriteTransaction), ONLY_SELECTS
    if request.get("NextToken") is not None:
        raise invalid(FOREIGN_TOKEN)
    table = find_table(txn.tables, asked.table)
    evaluated, entries, attributes = apply_statement(txn, write_of(txn.tables, table, asked, request), asked)
    how = {"ReturnConsumedCapacity": request.get("ReturnConsumedCapacity")}
    answer = single_answer(txn, how, evaluated, entries, attributes)
    items = answer.pop("Attributes", None)
    return {"Items": [] if items is None else [items], **answer}


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


@statement_verb(
    "BatchExecuteStatement",
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
def batch_execute_statement(txn: ReadTransaction | WriteTransaction, request: Request) -> Answer:
    members: Sequence[Request] = request["Statements"]
    read = [_read_member(member) for member in members]
    statements = [one for one in read if not isinstance(one, ServiceError)]
    if len({isinstance(one, Select) for one in statements}) > 1:
        raise invalid(MIXED)
    ready = [one if isinstance(one, ServiceError) else _prepared(txn.tables, one) for one in read]
    places = [
        (one.operation.table.number, one.operation.key) for one in ready if isinstance(one, PreparedStatement)
    ]
    if len(set(places)) != len(places):
        raise invalid("Provided list of item keys contains duplicates")
    spent: dict[int, Consumed] = {}
    responses = [
        _refusal(one) if isinstance(one, ServiceError) else _run(txn, one, member, spent)
        for one, member in zip(ready, members, strict=True)
    ]
    return {"Responses": responses, **capacity_members(spent.values(), request.get("ReturnConsumedCapacity"))}


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
    key = read_key(asked.where, table.schema.names)
    if asked.index is not None or key is None:
        raise invalid(NO_KEY)
    return ItemRead(table, key_bytes(table, key), None)


def _run(
    txn: ReadTransaction | WriteTransaction,
    ready: PreparedStatement,
    member: Request,
    spent: dict[int, Consumed],
) -> Answer:
    asked, operation = ready.asked, ready.operation
    response: dict[str, Any] = {"TableName": operation.table.name}
    try:
        if isinstance(operation, ItemRead):
            item = _read(read_view(txn), operation, asked, bool(member.get("ConsistentRead")), spent)
        else:
            assert isinstance(txn, WriteTransaction), ONLY_SELECTS
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


def _refusal(refusal: ServiceError) -> Answer:
    code = _CODES.get(refusal.name, "InternalServerError")
    # The message may quote what was sent, and half a surrogate pair cannot be sent back.
    message = refusal.message.encode(errors="replace").decode()
    return {"Error": {"Code": code, "Message": message}}
