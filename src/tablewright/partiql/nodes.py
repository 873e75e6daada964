"""Statements as data: what parse makes of a text, before anybody knows its parameters or its table.

A term is anything that can stand in a WHERE, behind SET or in an item; what it may mean there is decided when it
is resolved. Terms keep the place of their first token, because refusals name it.
Must hold: a term nests at most MAX_DEPTH levels and holds at most MAX_OPERATORS operators (terms.py), so
whatever walks one may call itself.
"""

from __future__ import annotations  # terms hold terms that are defined below them

from dataclasses import dataclass
from typing import TypeAlias

from tablewright.expressions import Path


@dataclass(frozen=True, slots=True)
class Attribute:
    """A document path: `m.list[3]`, `"m"."list"[3]`."""

    path: Path
    at: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A scalar: kind is S, N, BOOL or NULL."""

    kind: str
    content: str | bool
    at: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """The `?` of this number, counted from 0."""

    number: int
    at: str


@dataclass(frozen=True, slots=True)
class Listing:
    """`[...]`"""

    members: tuple[Term, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Bag:
    """`<<...>>`: a set of texts or of numbers."""

    members: tuple[Term, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Structure:
    """`{'name': ...}`"""

    members: tuple[tuple[str, Term], ...]
    at: str


@dataclass(frozen=True, slots=True)
class Function:
    """Its name is in small letters, however it was written."""

    name: str
    operands: tuple[Term, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Operation:
    """AND, OR, NOT, a comparator, BETWEEN, IN, `+`, `-`; or `IS` and `IS NOT` with the name of a type."""

    op: str
    operands: tuple[Term, ...]
    at: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Star:
    """The `*` of COUNT(*), which DynamoDB refuses."""

    at: str


Term: TypeAlias = Attribute | Constant | Parameter | Listing | Bag | Structure | Function | Operation | Star


@dataclass(frozen=True, slots=True)
class Source:
    """A table, or an index of it."""

    table: str
    index: str | None = None


@dataclass(frozen=True, slots=True)
class SelectText:
    columns: tuple[Term, ...] | None  # None for `*`
    source: Source
    where: Term | None
    order: tuple[tuple[Attribute, bool], ...]  # with whether it is descending


@dataclass(frozen=True, slots=True)
class InsertText:
    source: Source
    item: Structure


@dataclass(frozen=True, slots=True)
class Assignment:
    """SET path = value; without a value REMOVE path."""

    target: Attribute
    value: Term | None


@dataclass(frozen=True, slots=True)
class UpdateText:
    source: Source
    assignments: tuple[Assignment, ...]
    where: Term | None
    returning: str | None


@dataclass(frozen=True, slots=True)
class DeleteText:
    source: Source
    where: Term | None
    returning: str | None


@dataclass(frozen=True, slots=True)
class ExistsText:
    select: SelectText


StatementText: TypeAlias = SelectText | InsertText | UpdateText | DeleteText | ExistsText
