"""Data as HCL, in the form `terraform fmt` leaves alone. Pure.

A file is a list of blocks; a block holds attributes, blocks and comments. Values are Python's text, numbers, booleans,
lists and mappings, `Reference` for an expression, `Interpolated` for text with expressions in it, `FunctionCall` for
a call of a function. Must hold: plain text that contains `${` is escaped, never read as an expression.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Reference:
    """An expression: `aws_dynamodb_table.pets.arn`."""

    text: str


@dataclass(frozen=True, slots=True)
class Interpolated:
    """Text with expressions in it: `${aws_dynamodb_table.pets.arn}/index/*`."""

    text: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function's value: `jsonencode({...})`."""

    function: str
    argument: Any


@dataclass(frozen=True, slots=True)
class Comment:
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """`kind "label" "label" { ... }`. What is None is left out."""

    kind: str
    labels: tuple[str, ...]
    body: "Sequence[Entry]"


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line, which also ends a column of equal signs."""


Entry: TypeAlias = tuple[str, Any] | Block | Comment | Gap


def block(kind: str, *labels: str, body: Iterable[Entry | None]) -> Block:
    """A block without the entries that are None."""
    return Block(kind, labels, tuple(entry for entry in body if entry is not None))


def text(entries: Sequence[Block | Comment]) -> str:
    """A file: blocks with an empty line between them; a comment belongs to the block behind it."""
    lines: list[str] = []
    for at, entry in enumerate(entries):
        if at and not isinstance(entries[at - 1], Comment):
            lines.append("")
        lines += _comment(entry) if isinstance(entry, Comment) else _block(entry)
    return "\n".join(lines) + "\n"


def _comment(comment: Comment) -> list[str]:
    return [f"# {line}".rstrip() for line in comment.text.splitlines()]


def _block(found: Block) -> list[str]:
    head = " ".join([found.kind, *(f'"{label}"' for label in found.labels)])
    if not found.body:
        return [f"{head} {{}}"]
    return [f"{head} {{", *_indented(_body(found.body)), "}"]


def _body(entries: Sequence[Entry]) -> list[str]:
    """Attributes in columns, blocks set off by an empty line."""
    lines: list[str] = []
    column: list[tuple[str, list[str]]] = []

    def close() -> None:
        lines.extend(_columns(column))
        column.clear()

    for at, entry in enumerate(entries):
        match entry:
            case Gap():
                close()
                lines.append("")
            case Comment():
                close()
                lines.extend(_comment(entry))
            case Block():
                close()
                if at and not isinstance(entries[at - 1], Gap | Comment):
                    lines.append("")
                lines.extend(_block(entry))
            case (name, value):
                if at and isinstance(entries[at - 1], Block):
                    lines.append("")
                column.append((name, _value(value)))
    close()
    return lines


def _columns(pairs: Sequence[tuple[str, list[str]]]) -> list[str]:
    """`name = value`, with equal signs below each other as long as values take one line each."""
    lines: list[str] = []
    run: list[tuple[str, str]] = []

    def close() -> None:
        width = max((len(name) for name, _ in run), default=0)
        lines.extend(f"{name.ljust(width)} = {value}" for name, value in run)
        run.clear()

    for name, value in pairs:
        if len(value) == 1:
            run.append((name, value[0]))
            continue
        close()
        lines += [f"{name} = {value[0]}", *value[1:]]
    close()
    return lines


def _value(value: Any) -> list[str]:
    """A value in one line or several."""
    match value:
        case bool():
            return ["true" if value else "false"]
        case int() | Decimal():
            return [str(value)]
        case None:
            return ["null"]
        case str():
            return [quoted(value)]
        case Reference():
            return [value.text]
        case Interpolated():
            return [f'"{value.text}"']
        case FunctionCall():
            first, *rest = _value(value.argument)
            if not rest:
                return [f"{value.function}({first})"]
            return [f"{value.function}({first}", *rest[:-1], f"{rest[-1]})"]
        case Mapping():
            if not value:
                return ["{}"]
            pairs = [(_key(name), _value(one)) for name, one in value.items()]
            return ["{", *_indented(_columns(pairs)), "}"]
        case _:
            return _list([_value(one) for one in value])


def _list(values: list[list[str]]) -> list[str]:
    flat = ", ".join(lines[0] for lines in values if len(lines) == 1)
    if all(len(lines) == 1 for lines in values) and len(flat) < _WIDTH and len(values) < 4:
        return [f"[{flat}]"]
    lines = [f"{line}," if line is one[-1] else line for one in values for line in one]
    return ["[", *_indented(lines), "]"]


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else quoted(name)


def quoted(value: str) -> str:
    """Text as a literal: nothing in it is an expression."""
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("${", "$${"), ("%{", "%%{")):
        value = value.replace(sign, written)
    return f'"{value}"'


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]
