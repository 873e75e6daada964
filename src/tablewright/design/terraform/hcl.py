"""Data as HCL, in the form `terraform fmt` leaves alone. Pure.

A file is a list of blocks; a block has labels, attributes and blocks. Values are Python's text, numbers, booleans,
lists and mappings, `Reference` for an expression, `Interpolated` for text with expressions in it, `Json` for a value
that Terraform encodes. Must hold: plain text that contains `${` is escaped, never read as an expression.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

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
class Json:
    """A value as JSON text: `jsonencode({...})`."""

    value: Any


@dataclass(frozen=True, slots=True)
class Comment:
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """`kind "label" "label" { ... }`: attributes, then the blocks inside."""

    kind: str
    labels: Sequence[str]
    attributes: Mapping[str, Any]
    blocks: "Sequence[Block]"


NULL = Reference("null")


def block(kind: str, *parts: str | Mapping[str, Any] | Block | None) -> Block:
    """A block: texts are its labels, mappings its attributes, blocks are inside. What is None is left out."""
    attributes = {
        name: value
        for part in parts
        if isinstance(part, Mapping)
        for name, value in part.items()
        if value is not None
    }
    labels = [part for part in parts if isinstance(part, str)]
    return Block(kind, labels, attributes, [part for part in parts if isinstance(part, Block)])


def policy(*statements: Mapping[str, Any]) -> Json:
    """A policy of IAM."""
    return Json({"Version": "2012-10-17", "Statement": statements})


def text(entries: Sequence[Block | Comment]) -> str:
    """A file: blocks with an empty line between them; a comment belongs to the block behind it."""
    lines: list[str] = []
    for at, entry in enumerate(entries):
        if at and not isinstance(entries[at - 1], Comment):
            lines.append("")
        if isinstance(entry, Comment):
            lines += [f"# {line}".rstrip() for line in entry.text.splitlines()]
        else:
            lines += _block(entry)
    return "\n".join(lines) + "\n"


def assignments(values: Mapping[str, Any]) -> str:
    """A file of variables: `name = value`."""
    return "\n".join(_columns(values.items())) + "\n"


def _block(found: Block) -> list[str]:
    """Attributes in columns, blocks set off by an empty line."""
    head = " ".join([found.kind, *(f'"{label}"' for label in found.labels)])
    parts = [_columns(found.attributes.items())] if found.attributes else []
    parts += [_block(inside) for inside in found.blocks]
    if not parts:
        return [f"{head} {{}}"]
    lines = [line for part in parts for line in ("", *part)]
    return [f"{head} {{", *_indented(lines[1:]), "}"]


def _columns(pairs: Iterable[tuple[str, Any]]) -> list[str]:
    """`name = value`, with equal signs below each other as long as values take one line each."""
    lines: list[str] = []
    run: list[tuple[str, str]] = []

    def close() -> None:
        width = max((len(name) for name, _ in run), default=0)
        lines.extend(f"{name.ljust(width)} = {value}" for name, value in run)
        run.clear()

    for name, value in pairs:
        first, *rest = _value(value)
        if not rest:
            run.append((name, first))
            continue
        close()
        lines += [f"{name} = {first}", *rest]
    close()
    return lines


def _value(value: Any) -> list[str]:
    """A value in one line or several."""
    match value:
        case bool():
            return ["true" if value else "false"]
        case int() | Decimal():
            return [str(value)]
        case str():
            return [quoted(value)]
        case Reference():
            return [value.text]
        case Interpolated():
            return [f'"{value.text}"']
        case Json():
            lines = _value(value.value)
            lines[0] = f"jsonencode({lines[0]}"
            lines[-1] += ")"
            return lines
        case Mapping():
            if not value:
                return ["{}"]
            pairs = ((name if _NAME.fullmatch(name) else quoted(name), one) for name, one in value.items())
            return ["{", *_indented(_columns(pairs)), "}"]
        case _:
            return _list([_value(one) for one in value])


def _list(values: list[list[str]]) -> list[str]:
    flat = ", ".join(lines[0] for lines in values if len(lines) == 1)
    if all(len(lines) == 1 for lines in values) and len(flat) < _WIDTH and len(values) < 4:
        return [f"[{flat}]"]
    lines = [line for one in values for line in (*one[:-1], f"{one[-1]},")]
    return ["[", *_indented(lines), "]"]


def quoted(value: str) -> str:
    """Text as a literal: nothing in it is an expression."""
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("${", "$${"), ("%{", "%%{")):
        value = value.replace(sign, written)
    return f'"{value}"'


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]
