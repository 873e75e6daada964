"""A parsed statement and its parameters to a statement that only waits for its table.

Must hold: a statement that passes can no longer fail for a reason that is visible without table and data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tablewright.expressions import Condition, Path
from tablewright.expressions import Update as Changes
from tablewright.partiql.conditions import condition_of
from tablewright.partiql.errors import BadStatement
from tablewright.partiql.literals import MISCOUNTED, item_of
from tablewright.partiql.nodes import (
    Attribute,
    DeleteText,
    ExistsText,
    InsertText,
    SelectText,
    StatementText,
    Term,
    UpdateText,
)
from tablewright.partiql.parse import parse
from tablewright.partiql.updates import update_of
from tablewright.values import Item, Value


@dataclass(frozen=True, slots=True)
class Column:
    """A part of an item that is asked for, and what the answer calls it."""

    path: Path
    label: str


@dataclass(frozen=True, slots=True)
class Select:
    table: str
    index: str | None
    columns: tuple[Column, ...] | None  # None: all of the item
    where: Condition | None
    order: tuple[tuple[str, bool], ...]  # names of attributes, with whether they are descending


@dataclass(frozen=True, slots=True)
class Insert:
    table: str
    item: Item


@dataclass(frozen=True, slots=True)
class Update:
    table: str
    changes: Changes
    where: Condition | None
    returning: str | None


@dataclass(frozen=True, slots=True)
class Delete:
    table: str
    where: Condition | None
    returning: str | None


@dataclass(frozen=True, slots=True)
class Exists:
    """A condition of a transaction on an item it does not write."""

    table: str
    index: str | None
    where: Condition | None


Statement: TypeAlias = Select | Insert | Update | Delete | Exists


def statement(text: str, parameters: Sequence[Value]) -> Statement:
    """The statement a text says; the parameters have been admitted."""
    parsed, count = parse(text)
    if count != len(parameters):
        raise BadStatement(MISCOUNTED)
    return resolve(parsed, parameters)


def resolve(parsed: StatementText, parameters: Sequence[Value]) -> Statement:
    match parsed:
        case SelectText(columns, source, where, order):
            return Select(
                source.table,
                source.index,
                None if columns is None else tuple([_column(column) for column in columns]),
                _where(where, parameters),
                tuple([(_key(key), descending) for key, descending in order]),
            )
        case InsertText(source, item):
            return Insert(source.table, item_of(item, parameters))
        case UpdateText(source, assignments, where, returning):
            changes = update_of(assignments, parameters)
            return Update(source.table, changes, _where(where, parameters), returning)
        case DeleteText(source, where, returning):
            if returning not in (None, "ALL OLD"):
                raise BadStatement(
                    f"Invalid returning clause: RETURNING {returning} *. "
                    "Only RETURNING ALL OLD * is allowed in DELETE statements."
                )
            return Delete(source.table, _where(where, parameters), returning)
        case ExistsText(select):
            inner = resolve(select, parameters)
            assert isinstance(inner, Select)
            return Exists(inner.table, inner.index, inner.where)


def _where(where: Term | None, parameters: Sequence[Value]) -> Condition | None:
    return None if where is None else condition_of(where, parameters)


def _column(term: Term) -> Column:
    if not isinstance(term, Attribute):
        raise BadStatement(f"Unexpected path component at {term.at}")
    return Column(term.path, _label(term.path))


def _label(path: Path) -> str:
    """The last name of a path with the places behind it: `m.k[0]` is shown as `k[0]`."""
    label = ""
    for element in reversed(path):
        if isinstance(element, str):
            return element + label
        label = f"[{element}]{label}"
    return label


def _key(key: Attribute) -> str:
    if len(key.path) > 1:
        raise BadStatement(f"Unexpected path component at {key.at}")
    return str(key.path[0])
