"""ExecuteTransaction: up to 100 statements, all or nothing, run as TransactGetItems or TransactWriteItems.

An error in a statement refuses the call and names the statement; an error with an item cancels the transaction, with a
reason in the statement's place.
"""

from collections.abc import Sequence
from typing import Any

from tablewright.engine.api.arguments import find_table
from tablewright.engine.api.common_members import RETURN_CAPACITY
from tablewright.engine.api.operation import statement_verb
from tablewright.engine.api.shapes import Answer, ListOf, Request, Struct, Text
from tablewright.engine.api.transactions import transact_get_items, transact_write_items
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.errors import DUPLICATE, ServiceError, invalid, transaction_canceled
from tablewright.engine.limits import TRANSACTION_ACTIONS
from tablewright.engine.partiql.select import labelled_item, top_level
from tablewright.engine.partiql.statements import (
    ONLY_SELECTS,
    RETURNED,
    STATEMENT,
    as_plain_error,
    read_parameters,
    read_view,
    request_of,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.expressions import BadExpression
from tablewright.partiql import Delete, Insert, Select, Statement, Update, projecting, read_key, statement
from tablewright.values import BadValue, Value

NO_KEY = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
NO_INDEX = "Reads on indices are not supported within transactions."
MIXED = "Read and write requests together in the same transaction is not supported."


@statement_verb(
    "ExecuteTransaction",
    {
        "TransactStatements": ListOf(
            Struct("ParameterizedStatement", STATEMENT, required=("Statement",)),
            least=1,
            most=TRANSACTION_ACTIONS,
        ),
        "ClientRequestToken": Text(1, 36),
        "ReturnConsumedCapacity": RETURN_CAPACITY,
    },
    required=("TransactStatements",),
)
def execute_transaction(txn: ReadTransaction | WriteTransaction, request: Request) -> Answer:
    asked, said = _said(txn.tables, request)
    reads = [one for one in asked if isinstance(one, Select)]
    if reads:
        return _get(read_view(txn), said, reads)
    assert isinstance(txn, WriteTransaction), ONLY_SELECTS
    return _write(txn, said, asked, request)


def _said(tables: Catalog, request: Request) -> tuple[list[Statement], Request]:
    """The statements, and the equivalent request of the classic verb."""
    members: Sequence[Request] = request["TransactStatements"]
    parameters = [read_parameters(member) for member in members]
    asked = [_read(place, member, parameters[place]) for place, member in enumerate(members)]
    if len({isinstance(one, Select) for one in asked}) > 1:
        raise invalid(MIXED)
    actions = _translated(tables, asked)
    for member, action in zip(members, actions, strict=True):
        for one in action.values():
            one["ReturnValuesOnConditionCheckFailure"] = member.get("ReturnValuesOnConditionCheckFailure")
    how = request.get("ReturnConsumedCapacity")
    return asked, {"TransactItems": actions, "ReturnConsumedCapacity": how}


def _read(place: int, member: Request, parameters: Sequence[Value]) -> Statement:
    try:
        return statement(member["Statement"], parameters)
    except (BadExpression, BadValue) as bad:
        raise _invalid(place, str(bad)) from None


def _invalid(place: int, message: str) -> ServiceError:
    return invalid(f"Validation failed in TransactStatements[{place}]: {message}")


# --- statements as actions ---


def _translated(tables: Catalog, asked: Sequence[Statement]) -> list[dict[str, Request]]:
    """The actions of the classic verb. Missing tables cancel the transaction, if there is no other error."""
    actions: list[dict[str, Request]] = []
    reasons: list[dict[str, Any]] = []
    for place, one in enumerate(asked):
        try:
            table = find_table(tables, one.table)
        except ServiceError as missing:
            reasons.append({"Code": "ResourceNotFound", "Message": missing.message})
            continue
        reasons.append({"Code": "None"})
        try:
            actions.append(_action(table, one))
        except BadExpression as bad:
            raise _invalid(place, as_plain_error(bad).message) from None
        except ServiceError as refusal:
            raise _invalid(place, refusal.message) from None
    if len(actions) != len(asked):
        raise transaction_canceled(reasons)
    return actions


def _action(table: Table, asked: Statement) -> dict[str, Request]:
    if isinstance(asked, Select):
        return {"Get": _get_of(table, asked)}
    if isinstance(asked, Update | Delete) and asked.returning is not None:
        raise invalid(RETURNED)
    kind, request = request_of(table, asked, one_item=False)
    return {kind: request}


def _get_of(table: Table, asked: Select) -> Request:
    if asked.index is not None:
        raise invalid(NO_INDEX)
    key = read_key(asked.where, table.schema.names)
    if key is None:
        raise invalid(NO_KEY)
    wanted = top_level(asked.columns)
    request: Request = {"TableName": table.name, "Key": key}
    return request if wanted is None else request | projecting(tuple(name for (name,) in wanted))


# --- running them ---


def _get(txn: ReadTransaction, said: Request, reads: Sequence[Select]) -> Answer:
    answer = transact_get_items(txn, said)
    for asked, response in zip(reads, answer["Responses"], strict=True):
        if asked.columns is not None and "Item" in response:
            response["Item"] = labelled_item(response["Item"], asked.columns)
    return answer


def _write(txn: WriteTransaction, said: Request, asked: Sequence[Statement], request: Request) -> Answer:
    token = request.get("ClientRequestToken")
    if token is not None:
        # Tokens of TransactWriteItems are separate, even if they are equal.
        said["ClientRequestToken"] = f"ExecuteTransaction/{token}"
    try:
        answer = transact_write_items(txn, said)
    except BadExpression as bad:
        raise as_plain_error(bad) from None
    except ServiceError as refusal:
        reasons = refusal.fields.get("CancellationReasons")
        if reasons is None:
            raise
        raise transaction_canceled(
            [_reason(one, reason) for one, reason in zip(asked, reasons, strict=True)]
        ) from None
    return {"Responses": [], **answer}


def _reason(asked: Statement, reason: dict[str, Any]) -> Answer:
    """The only condition of an INSERT is that the item does not exist."""
    if isinstance(asked, Insert) and reason["Code"] == "ConditionalCheckFailed":
        return reason | {"Code": "DuplicateItem", "Message": DUPLICATE}
    return reason
