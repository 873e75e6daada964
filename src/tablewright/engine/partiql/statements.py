"""PartiQL statements as requests of the classic verbs: an UPDATE is an UpdateItem, an EXISTS a ConditionCheck.

Must hold: nothing here reads, writes, checks or charges on its own; a statement becomes the equivalent request, which
is run by the code of that verb.
Elsewhere: parsing (the package tablewright.partiql), the pages of a SELECT (select.py).
"""

import re
from typing import Any, TypeAlias

from tablewright.engine.api.common_members import FLAG, RETURN_ON_FAILURE
from tablewright.engine.api.shapes import AttributeValue, ListOf, Request, Shape, Text
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.errors import DUPLICATE, ServiceError, invalid
from tablewright.engine.indexes import EntryChange
from tablewright.engine.mutations import Evaluated, Mutation, delete_of, evaluate_and_apply, put_of, update_of
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.expressions import BadExpression, project, touched
from tablewright.expressions.build import all_of, attribute_exists, attribute_not_exists
from tablewright.expressions.nodes import Compare
from tablewright.partiql import (
    Delete,
    Exists,
    Insert,
    Statement,
    Update,
    find_key,
    parse,
    statement,
    worded,
    written_key,
)
from tablewright.partiql.nodes import SelectText
from tablewright.values import BadValue, Item, Value, admit

# The members that each of the three verbs has for a statement.
STATEMENT: dict[str, Shape] = {
    "Statement": Text(1, 8192),
    "Parameters": ListOf(AttributeValue(), least=1),
    "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
}
CONSISTENT: dict[str, Shape] = {"ConsistentRead": FLAG}

# Statements that change an item.
Changing: TypeAlias = Insert | Update | Delete

EXISTS_ALONE = "EXISTS can only be used in ExecuteTransaction write requests."
ONLY_SELECTS = "a request with a write has a write transaction (only_reads)"
EXISTS_BARE = "EXISTS() must contain a single item read with additional condition"
RETURNED = "RETURNING clause is not supported in ExecuteTransaction."

_KIND = re.compile(r"Invalid (?:Condition|Update|Filter|Projection|KeyCondition)Expression: ")


# --- parsing a statement ---


def read_parameters(request: Request) -> list[Value]:
    return [admit(value)[0] for value in request.get("Parameters") or ()]


def read_statement(request: Request) -> Statement:
    """The statement of a request; errors in its parameters are raised before errors in its text."""
    parameters = read_parameters(request)
    try:
        return statement(request["Statement"], parameters)
    except (BadExpression, BadValue) as bad:
        raise invalid(str(bad)) from None


def only_reads(request: Request) -> bool:
    """Whether all statements of a request are SELECTs; False if one cannot be parsed."""
    members = request.get("Statements") or request.get("TransactStatements") or [request]
    try:
        return all(isinstance(parse(member["Statement"])[0], SelectText) for member in members)
    except (BadExpression, TypeError, KeyError):
        return False


def as_plain_error(bad: BadExpression) -> ServiceError:
    """The error of an expression that was rendered here, without the name of a member that the client did not send."""
    return invalid(_KIND.sub("", str(bad), count=1))


def read_view(txn: ReadTransaction | WriteTransaction) -> ReadTransaction:
    """A read inside a write transaction: it sees committed state and the writes of its own group."""
    if isinstance(txn, ReadTransaction):
        return txn
    return ReadTransaction(txn.rows, txn.tables, txn.place, txn.world, txn.throttle, txn.samples)


# --- statements as requests ---


def request_of(table: Table, asked: Changing | Exists, one_item: bool = True) -> tuple[str, Request]:
    """The equivalent action of a transaction: its kind and its request.

    `one_item`: refuse a WHERE that does not name one item here; otherwise the action is refused later, for its key.
    """
    names = table.schema.names
    if isinstance(asked, Insert):
        is_new = attribute_not_exists(names[0])
        return "Put", {"TableName": table.name, "Item": asked.item, **worded(is_new)}
    key, condition = _key_of(asked, names, one_item)
    request: Request = {"TableName": table.name, "Key": key}
    if isinstance(asked, Exists):
        return "ConditionCheck", request | worded(condition)
    if isinstance(asked, Delete):
        return "Delete", request | worded(condition)
    is_there = attribute_exists(names[0])
    condition = all_of(is_there, condition)
    return "Update", request | worded(condition, asked.changes)


def _key_of(asked: Update | Delete | Exists, names: tuple[str, ...], one_item: bool) -> tuple[Item, Any]:
    if isinstance(asked, Exists):
        return _checked_key(asked, names)
    if one_item:
        return written_key(asked.where, names)
    found = find_key(asked.where, names)
    is_one = all(len(values) == 1 for values in found.values.values())
    return (found.key() if is_one else {}), found.rest


def _checked_key(asked: Exists, names: tuple[str, ...]) -> tuple[Item, Any]:
    """The first value of each key attribute is the key; a second one becomes a condition, which cannot hold."""
    found = find_key(asked.where, names)
    others = [Compare("=", (name,), value) for name, values in found.values.items() for value in values[1:]]
    rest = all_of(*others, found.rest)
    if rest is None or asked.index is not None or any(name not in found.values for name in names):
        raise invalid(EXISTS_BARE)
    return found.key(), rest


# --- one write ---


def write_of(tables: Catalog, table: Table, asked: Changing, request: Request) -> Mutation:
    """The mutation of a statement that is alone or in a batch."""
    kind, said = request_of(table, asked)
    said["ReturnValuesOnConditionCheckFailure"] = request.get("ReturnValuesOnConditionCheckFailure")
    try:
        match kind:
            case "Put":
                return put_of(tables, said)
            case "Delete":
                return delete_of(tables, said)
            case _:
                # The service applies the item size limit as for an update in a transaction.
                return update_of(tables, said, alone=False)[0]
    except BadExpression as bad:
        raise as_plain_error(bad) from None


def apply_statement(
    txn: WriteTransaction, write: Mutation, asked: Changing
) -> tuple[Evaluated, list[EntryChange], Item | None]:
    """Apply a statement; returns the result, the changed index entries, and the item of RETURNING."""
    txn.check_item_lock(write.table, write.key)
    try:
        evaluated, entries = evaluate_and_apply(txn, write)
    except ServiceError as refusal:
        if isinstance(asked, Insert) and refusal.name == "ConditionalCheckFailedException":
            raise ServiceError("DuplicateItemException", DUPLICATE) from None
        raise
    return evaluated, entries, _returned(asked, evaluated)


def _returned(asked: Changing, evaluated: Evaluated) -> Item | None:
    if isinstance(asked, Insert) or asked.returning is None:
        return None
    how, _, when = asked.returning.partition(" ")
    item = (evaluated.old if when == "OLD" else evaluated.new) or {}
    if how == "MODIFIED" and isinstance(asked, Update):
        return project(touched(asked.changes), item)
    return item
