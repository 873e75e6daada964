"""Items as a grid: a row for each item, a column for each attribute, cells by type. Pure.

Must hold: items are covered (secrets.py) before they come here. Columns are keys first, then the attributes that most
items have. Elsewhere: reading the items (browse.py), CSV files (item_csv.py).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson

from tablewright.app.designs.diagrams import Owner
from tablewright.values import Value, item_size

_CELL = 60
COLUMNS = 12  # at first: a page stays small and readable


@dataclass(frozen=True, slots=True)
class Cell:
    """A value in a few letters. `note` is what its type adds, such as how many members it has."""

    kind: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """An item. `key_json` is its key as DynamoDB takes it, to copy."""

    owner: Owner
    href: str
    key: tuple[Cell, ...]
    key_json: str
    cells: tuple[Cell | None, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Grid:
    """`key` are the names in the first column; `columns` others with their types; `hidden` how many are left out."""

    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    hidden: int


def grid_of(
    physical: str,
    key: Sequence[str],
    first: Sequence[str],
    items: Sequence[tuple[Mapping[str, Value], Owner]],
    is_whole: bool = False,
) -> Grid:
    """The items of a page. `key` is the table's, `first` the attributes to show before the others."""
    names = columns_of([item for item, _ in items], first, key)
    shown_names = names if is_whole else names[:COLUMNS]
    kinds = {
        name: sorted({next(iter(item[name])) for item, _ in items if name in item}) for name in shown_names
    }
    rows = tuple(
        Row(
            owner,
            item_href(physical, item, key),
            tuple(cell_of(item[name]) for name in key),
            orjson.dumps({name: item[name] for name in key}).decode(),
            tuple(cell_of(item[name]) if name in item else None for name in shown_names),
            item_size(dict(item)),
        )
        for item, owner in items
    )
    columns = tuple((name, ", ".join(kinds[name])) for name in shown_names)
    return Grid(tuple(key), columns, rows, len(names) - len(shown_names))


def columns_of(
    items: Sequence[Mapping[str, Value]], first: Sequence[str], apart: Sequence[str] = ()
) -> list[str]:
    """The attributes of these items: `first`, then by how many items have them, then by name; none of `apart`."""
    counted = Counter(name for item in items for name in item)
    others = sorted(counted, key=lambda name: (-counted[name], name))
    return [name for name in dict.fromkeys([*first, *others]) if name not in apart and name in counted]


def cell_of(value: Value) -> Cell:
    ((kind, content),) = value.items()
    if kind in ("L", "M"):
        return Cell(kind, _short(_plain_text(value)), f"{len(content)}")
    if kind in ("SS", "NS", "BS"):
        return Cell(kind, _short(", ".join(content)), f"{len(content)}")
    if kind == "BOOL":
        return Cell(kind, "true" if content else "false")
    return Cell(kind, "null" if kind == "NULL" else _short(str(content)))


def _short(text: str, most: int = _CELL) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def shown(value: Value | None, most: int = 70) -> str:
    """A stored value in a few letters."""
    if value is None:
        return ""
    ((kind, content),) = value.items()
    return _short(str(content) if kind in ("S", "N", "B") else orjson.dumps(content).decode(), most)


def plain(value: Value) -> Any:
    """A value as plain JSON: numbers with all their digits, binaries in base64, sets as lists."""
    ((kind, content),) = value.items()
    if kind == "N":
        return orjson.Fragment(content)
    if kind == "NS":
        return [orjson.Fragment(each) for each in content]
    if kind == "M":
        return plain_item(content)
    if kind == "L":
        return [plain(each) for each in content]
    return None if kind == "NULL" else content


def plain_item(item: Mapping[str, Value]) -> dict[str, Any]:
    return {name: plain(value) for name, value in item.items()}


def _plain_text(value: Value) -> str:
    return orjson.dumps(plain(value)).decode()


def item_href(physical: str, item: Mapping[str, Value], names: Sequence[str], page: str = "item") -> str:
    """Where one item is shown, or changed."""
    key = {f"k.{name}": str(next(iter(item[name].values()))) for name in names}
    return f"/console/designs/{page}?{urlencode({'table': physical, **key})}"
