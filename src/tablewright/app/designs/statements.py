"""One statement of PartiQL as the workbench runs it: a SELECT is executed, a write becomes its classic request. Pure.

Must hold: what is shown as the plan of a write is the request that is sent; an attribute that a design marks as secret
is in no statement, whether it is read, compared with or copied. Elsewhere: the language (partiql/), the page
(partiql_pages.py).
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from tablewright.expressions import BadExpression, top_level_names
from tablewright.expressions.build import all_of, attribute_exists, attribute_not_exists
from tablewright.partiql import (
    Delete,
    Exists,
    Insert,
    Select,
    Statement,
    Update,
    statement,
    worded,
    written_key,
)
from tablewright.values import BadValue

Written: TypeAlias = Insert | Update | Delete


class StatementUnusable(ValueError):
    """A statement that is not run here; the text says why."""


def read_statement(text: str) -> Select | Written:
    """The statement; values are written in its text."""
    try:
        found: Statement = statement(text, ())
    except (BadExpression, BadValue) as wrong:
        raise StatementUnusable(str(wrong)) from None
    if isinstance(found, Exists):
        raise StatementUnusable(
            "EXISTS is a condition of a transaction. Write SELECT, INSERT, UPDATE or DELETE."
        )
    return found


def refuse_secret(found: Select | Written, secret: frozenset[str]) -> None:
    if named := sorted(secret & {*_names(found)}):
        raise StatementUnusable(
            f"{named[0]} is marked as secret: a statement cannot name it. SELECT * shows it covered."
        )


def _names(found: Select | Written) -> list[str]:
    """Every attribute that a statement names."""
    names: list[str] = []
    if isinstance(found, Insert):
        return list(found.item)
    if isinstance(found, Select) and found.columns is not None:
        names += [str(column.path[0]) for column in found.columns]
    if isinstance(found, Update):
        names += top_level_names(found.changes)
    return names + (list(top_level_names(found.where)) if found.where is not None else [])


def request_of(found: Written, names: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The verb and the request of a write. `names` are of the table's key, which a WHERE must fix."""
    if isinstance(found, Insert):
        return "PutItem", {
            "TableName": found.table,
            "Item": found.item,
            **worded(attribute_not_exists(names[0])),
        }
    try:
        key, rest = written_key(found.where, names)
    except BadExpression as wrong:
        raise StatementUnusable(f"{wrong}. The key is {', '.join(names)}.") from None
    request: dict[str, Any] = {"TableName": found.table, "Key": key}
    if isinstance(found, Delete):
        return "DeleteItem", request | worded(rest)
    # An UPDATE never creates an item.
    return "UpdateItem", request | worded(all_of(attribute_exists(names[0]), rest), found.changes)
