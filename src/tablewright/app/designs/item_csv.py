"""Items as CSV, and CSV as items. Pure.

The first line names the attributes, with the type behind a colon where it is not text: `age:N`, `tags:SS`, `address:M`;
`name:JSON` has values in DynamoDB's JSON, for an attribute of several types. An empty cell is an absent attribute.
Must hold: a spreadsheet runs nothing of a file made here (`'` is put before what begins like a formula; every cell is
quoted, so one that separates cells by `;` finds no formula behind it), and a file made here is read as the same items.
Elsewhere: the pages (csv_pages.py).
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tablewright.app.designs.item_grid import columns_of
from tablewright.app.designs.item_writes import ItemUnusable, refuse_key
from tablewright.app.designs.secrets import COVER
from tablewright.values import BadValue, Item, Value, WrongJson, admit, admit_item

MOST_BYTES, MOST_ROWS = 512 * 1024, 1000
# What a spreadsheet reads as a formula, also in the wide forms of an East Asian keyboard; and our own sign.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
_TYPES = ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "JSON")


class FileUnusable(ValueError):
    """The file as a whole cannot be read; the text says why."""


# --- out ---


def csv_of(items: Sequence[Item], first: Sequence[str]) -> str:
    """The items, with the byte order mark that spreadsheets need for letters beyond ASCII."""
    columns = [
        (name, _type_of([item[name] for item in items if name in item])) for name in columns_of(items, first)
    ]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow([_guarded(_title(name, kind)) for name, kind in columns])
    for item in items:
        writer.writerow([_cell(item[name], kind) if name in item else "" for name, kind in columns])
    return "\ufeff" + text.getvalue()


def _type_of(values: Sequence[Value]) -> str:
    kinds = {next(iter(value)) for value in values}
    # An empty text would be an empty cell, which is an absent attribute.
    return (
        kinds.pop()
        if len(kinds) == 1 and not any(value in ({"S": ""}, {"B": ""}) for value in values)
        else "JSON"
    )


def _title(name: str, kind: str) -> str:
    is_plain = kind == "S" and name.rpartition(":")[2] not in _TYPES and name == name.strip()
    return name if is_plain else f"{name}:{kind}"


def _cell(value: Value, kind: str) -> str:
    ((_, content),) = value.items()
    if kind == "N":
        return str(content)  # a number that begins with a minus is not a formula
    if kind in ("S", "B"):
        return _guarded(str(content))
    if kind == "BOOL":
        return "true" if content else "false"
    return "null" if kind == "NULL" else orjson.dumps(value if kind == "JSON" else content).decode()


def _guarded(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _unguarded(text: str) -> str:
    return text[1:] if text[:1] == "'" and text[1:].startswith(_FORMULA) else text


# --- in ---


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of a file, its type, and where the type is from: file, key, design or default."""

    name: str
    kind: str
    by: str


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A line of a file: its item, or what is wrong with it."""

    number: int
    item: Item
    mistake: str = ""


@dataclass(frozen=True, slots=True)
class CsvItems:
    columns: tuple[Column, ...]
    lines: tuple[CsvRow, ...]

    @property
    def wrong(self) -> list[CsvRow]:
        return [line for line in self.lines if line.mistake]

    @property
    def right(self) -> list[CsvRow]:
        return [line for line in self.lines if not line.mistake]


def items_in(
    content: bytes, key: Mapping[str, str], letters: Mapping[str, str], secret: frozenset[str]
) -> CsvItems:
    """The items of a file. `key` are the types of the table's key, `letters` those the design gives its attributes."""
    if len(content) > MOST_BYTES:
        raise FileUnusable(f"This file is larger than {MOST_BYTES // 1024} KB. Split it, or use an import.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileUnusable("This file is not UTF-8 text. Save it as CSV UTF-8.") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        columns = [_column(_unguarded(cell), key, letters) for cell in next(reader, [])]
        rows = [(reader.line_num, cells) for cells in reader if any(cells)]
    except csv.Error as wrong:
        raise FileUnusable(f"Line {reader.line_num} cannot be read as CSV: {wrong}.") from None
    _refuse_columns(columns, key, secret)
    if len(rows) > MOST_ROWS:
        raise FileUnusable(f"This file has more than {MOST_ROWS} items. Split it, or use an import.")
    return CsvItems(
        tuple(columns), _distinct([_line(number, cells, columns, key) for number, cells in rows], key)
    )


def _delimiter(text: str) -> str:
    """What separates cells: the sign by which the first line has the most."""

    def cells(sign: str) -> int:
        try:
            return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True), []))
        except csv.Error:  # it is within quotes, or behind them
            return 0

    return max(",;\t", key=cells)


def _refuse_columns(columns: Sequence[Column], key: Mapping[str, str], secret: frozenset[str]) -> None:
    names = [column.name for column in columns]
    if missing := [name for name in key if name not in names]:
        raise FileUnusable(f"The first line must name the columns; missing: {', '.join(missing)}.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FileUnusable(f"The first line names a column twice: {', '.join(twice)}.")
    if hidden := [name for name in names if name in secret]:
        raise FileUnusable(f"Secret attributes cannot be written from a file: {', '.join(hidden)}.")


def _column(cell: str, key: Mapping[str, str], letters: Mapping[str, str]) -> Column:
    name, colon, kind = cell.rpartition(":")
    if colon and kind in _TYPES:
        return Column(name, kind, "file")
    name = cell.strip()
    if name in key:
        return Column(name, key[name], "key")
    return Column(name, letters.get(name, "S"), "design" if name in letters else "default")


def _line(number: int, cells: Sequence[str], columns: Sequence[Column], key: Mapping[str, str]) -> CsvRow:
    if len(cells) > len(columns):
        return CsvRow(number, {}, f"It has {len(cells)} cells, but there are {len(columns)} columns.")
    item: Item = {}
    for column, cell in zip(columns, cells, strict=False):
        if cell == "":
            continue
        try:
            item[column.name] = admit(_value(column.kind, _unguarded(cell)))[0]
        except (BadValue, WrongJson, ItemUnusable, orjson.JSONDecodeError) as wrong:
            return CsvRow(number, {}, f"{column.name} is not of the type {column.kind}: {wrong}")
    try:
        refuse_key(item, key)
        admit_item(item)
    except (ItemUnusable, BadValue) as wrong:
        return CsvRow(number, {}, str(wrong))
    return CsvRow(number, item)


def _value(kind: str, text: str) -> Any:
    if COVER in text:
        raise ItemUnusable("this is the cover of a secret, not its value")
    if kind == "BOOL":
        if text.lower() not in ("true", "false"):
            raise ItemUnusable("write true or false")
        return {kind: text.lower() == "true"}
    if kind == "NULL":
        return {kind: True}
    if kind == "JSON":
        return orjson.loads(text)
    return {kind: text if kind in ("S", "N", "B") else orjson.loads(text)}


def _distinct(lines: Sequence[CsvRow], key: Mapping[str, str]) -> tuple[CsvRow, ...]:
    """Lines with mistakes for those whose key an earlier line has."""
    seen: dict[bytes, int] = {}
    found = []
    for line in lines:
        own = orjson.dumps([line.item[name] for name in key]) if line.item else b""
        if own and own in seen:
            line = CsvRow(line.number, {}, f"Line {seen[own]} has the same key.")
        elif own:
            seen[own] = line.number
        found.append(line)
    return tuple(found)
