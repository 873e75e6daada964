"""Expressions as data: what parse makes, resolve fills in, evaluate reads and render writes back.

A parsed node holds the text's own placeholders: `#n` inside a path, `ValueRef(":v")` for a value.
A resolved node holds attribute names and attribute values in their place, and no placeholder at all.
Must hold: a node never changes once it is made. (Not enforced: a request makes a node for each of its
parts, and a frozen one takes three times as long to make.) And and Or hold at least two parts when they
come from a text; the legacy parameters may make them shorter, and an And of nothing is true.
Elsewhere: text to nodes (parse.py), nodes to text (render.py).
"""

from __future__ import annotations  # nodes hold nodes that are defined below them

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tablewright.values import Value

# A document path: `m.list[3].#n` is ("m", "list", 3, "#n").
Path: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class ValueRef:
    """A value that has still to be looked up: `:v`."""

    name: str


@dataclass(slots=True)
class Call:
    """A function, whether it is a condition (`contains`) or an operand (`size`, `if_not_exists`)."""

    name: str
    operands: tuple[Operand, ...]


@dataclass(slots=True)
class Arithmetic:
    op: str
    left: Operand
    right: Operand


@dataclass(slots=True)
class Compare:
    op: str
    left: Operand
    right: Operand


@dataclass(slots=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand


@dataclass(slots=True)
class In:
    operand: Operand
    options: tuple[Operand, ...]


@dataclass(slots=True)
class Not:
    part: Condition


@dataclass(slots=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(slots=True)
class Or:
    parts: tuple[Condition, ...]


@dataclass(slots=True)
class Set:
    path: Path
    value: Operand


@dataclass(slots=True)
class Remove:
    path: Path


@dataclass(slots=True)
class Add:
    path: Path
    value: Operand


@dataclass(slots=True)
class Delete:
    path: Path
    value: Operand


@dataclass(slots=True)
class Update:
    """All actions in the order of the text; those of one clause stand together."""

    actions: tuple[Action, ...]
    # AttributeUpdates and UpdateExpression have different words for the same type mismatch.
    is_legacy: bool = False


# What stands beside a comparator or inside a function. A resolved value is the plain wire dict.
Operand: TypeAlias = Path | ValueRef | Value | Call | Arithmetic
Condition: TypeAlias = And | Or | Not | Compare | Between | In | Call
Action: TypeAlias = Set | Remove | Add | Delete
Node: TypeAlias = Condition | Operand | Action | Update


def children(node: Node) -> tuple[Node, ...]:
    """What stands directly inside a node, in the order of the text."""
    if isinstance(node, tuple | dict | ValueRef):
        return ()
    match node:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return left, right
        case Between(operand, low, high):
            return operand, low, high
        case In(operand, options):
            return operand, *options
        case Call(_, operands):
            return operands
        case Set(path, value) | Add(path, value) | Delete(path, value):
            return path, value
        case Remove(path):
            return (path,)
        case Update(actions):
            return actions


def walk(node: Node) -> Iterator[Node]:
    """The node and everything inside it, in the order of the text. Depth costs no stack."""
    waiting: list[Node] = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def paths_in(node: Node) -> tuple[Path, ...]:
    """Every path the expression reads or writes, in the order of the text."""
    return tuple(part for part in walk(node) if isinstance(part, tuple))


def top_level_names(of: Condition | Update | Sequence[Path]) -> tuple[str, ...]:
    """The attributes an expression, or a list of paths, is about: each once, in order of appearance."""
    paths = of if isinstance(of, Sequence) else paths_in(of)
    return tuple(dict.fromkeys(str(path[0]) for path in paths))
