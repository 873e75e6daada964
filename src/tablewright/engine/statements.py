"""PartiQL statements, handed to the code of the classic verbs: an UPDATE is an UpdateItem, an EXISTS a ConditionCheck.

Must hold: nothing here reads, writes, checks or charges in a way of its own; a statement becomes the request that says
the same thing, and that request takes the walk every request takes.
Elsewhere: what a text means (the room partiql), the pages of a SELECT (selects.py).
"""

import re
from typing import Any, TypeAlias

from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.errors import ServiceError, duplicate_item, invalid
from tablewright.engine.indexes import EntryChange
from tablewright.engine.item_writes import Decided, Write, delete_of, perform, put_of, update_of
from tablewright.engine.members import FLAG, RETURN_ON_FAILURE
from tablewright.engine.shapes import AttributeValue, ListOf, Request, Shape, Text
from tablewright.engine.writing import Reading, Writing
from tablewright.expressions import BadExpression, fragments, touched
from tablewright.expressions.nodes import Call, Compare
from tablewright.partiql import (
    Delete,
    Exists,
    Insert,
    Statement,
    Update,
    find_key,
    joined,
    parse,
    statement,
    worded,
    written_key,
)
from tablewright.partiql.nodes import SelectText
from tablewright.values import BadValue, Item, Value, admit

# What each of the three verbs asks of a statement.
STATEMENT: dict[str, Shape] = {
    "Statement": Text(1, 8192),
    "Parameters": ListOf(AttributeValue(), least=1),
    "ReturnValuesOnConditionCheckFailure": RETURN_ON_FAILURE,
}
CONSISTENT: dict[str, Shape] = {"ConsistentRead": FLAG}

# What changes an item.
Changing: TypeAlias = Insert | Update | Delete

EXISTS_ALONE = "EXISTS can only be used in ExecuteTransaction write requests."
EXISTS_BARE = "EXISTS() must contain a single item read with additional condition"
RETURNED = "RETURNING clause is not supported in ExecuteTransaction."

_KIND = re.compile(r"Invalid (?:Condition|Update|Filter|Projection|KeyCondition)Expression: ")


# --- reading a statement ---


def read_parameters(request: Request) -> list[Value]:
    return [admit(value)[0] for value in request.get("Parameters") or ()]


def read_statement(request: Request) -> Statement:
    """The statement of a request; what is wrong with its parameters comes before what is wrong with its text."""
    parameters = read_parameters(request)
    try:
        return statement(request["Statement"], parameters)
    except (BadExpression, BadValue) as bad:
        raise invalid(str(bad)) from None


def only_reads(request: Request) -> bool:
    """Whether all statements of a request are SELECTs, as far as their texts can be read."""
    members = request.get("Statements") or request.get("TransactStatements") or [request]
    try:
        return all(isinstance(parse(member["Statement"])[0], SelectText) for member in members)
    except (BadExpression, TypeError, KeyError):
        return False


def plainly(bad: BadExpression) -> ServiceError:
    """A mistake in an expression we worded ourselves, without the name of an argument nobody sent."""
    return invalid(_KIND.sub("", str(bad), count=1))


def reading_of(writing: Writing) -> Reading:
    """What a read sees that goes through the writer: all that is committed, and what its own group has written."""
    return Reading(
        writing.rows, writing.tables, writing.place, writing.world, writing.throttle, writing.marks
    )


# --- statements as requests ---


def request_of(table: Table, asked: Changing | Exists, one_item: bool = True) -> tuple[str, Request]:
    """The action of a transaction that says the same, as its kind and its request.

    `one_item`: a WHERE that does not name one item is refused here; otherwise the action is, for its key.
    """
    names = table.schema.names
    if isinstance(asked, Insert):
        is_new = Call("attribute_not_exists", ((names[0],),))
        return "Put", {"TableName": table.name, "Item": asked.item, **worded(is_new)}
    key, condition = _key_of(asked, names, one_item)
    request: Request = {"TableName": table.name, "Key": key}
    if isinstance(asked, Exists):
        return "ConditionCheck", request | worded(condition)
    if isinstance(asked, Delete):
        return "Delete", request | worded(condition)
    is_there = Call("attribute_exists", ((names[0],),))
    condition = is_there if condition is None else joined((is_there, condition))
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
    """The first value asked for is the key; that a key is also something else is a condition, and does not hold."""
    found = find_key(asked.where, names)
    others = [Compare("=", (name,), value) for name, values in found.values.items() for value in values[1:]]
    rest = joined([*others, *([] if found.rest is None else [found.rest])])
    if rest is None or asked.index is not None or any(name not in found.values for name in names):
        raise invalid(EXISTS_BARE)
    return found.key(), rest


# --- one write ---


def write_of(tables: Catalog, table: Table, asked: Changing, request: Request) -> Write:
    """The write of a statement that stands alone or in a batch."""
    kind, said = request_of(table, asked)
    said["ReturnValuesOnConditionCheckFailure"] = request.get("ReturnValuesOnConditionCheckFailure")
    try:
        match kind:
            case "Put":
                return put_of(tables, said)
            case "Delete":
                return delete_of(tables, said)
            case _:
                # The service measures these as it measures an update in a transaction.
                return update_of(tables, said, alone=False)[0]
    except BadExpression as bad:
        raise plainly(bad) from None


def carry_through(
    writing: Writing, write: Write, asked: Changing
) -> tuple[Decided, list[EntryChange], Item | None]:
    """Do it; what was done, to which index entries, and what RETURNING shows."""
    writing.refuse_lapsed(write.table)
    writing.refuse_taken(write.table, write.key)
    try:
        decided, entries = perform(writing, write)
    except ServiceError as refusal:
        if isinstance(asked, Insert) and refusal.name == "ConditionalCheckFailedException":
            raise duplicate_item() from None
        raise
    return decided, entries, _returned(asked, decided)


def _returned(asked: Changing, decided: Decided) -> Item | None:
    if isinstance(asked, Insert) or asked.returning is None:
        return None
    how, _, when = asked.returning.partition(" ")
    item = (decided.old if when == "OLD" else decided.new) or {}
    if how == "MODIFIED" and isinstance(asked, Update):
        return fragments(touched(asked.changes), item)
    return item
