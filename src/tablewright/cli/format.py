"""How commands format what they print: tables in columns, sizes, times, numbers. Pure functions.

Must hold: stored data cannot send control characters to a terminal; unprintable characters are escaped.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tablewright import english
from tablewright.english import grouped, plain, size

__all__ = [
    "as_json", "as_line", "as_pairs", "as_table", "count", "decimal", "escape_unprintable", "moment", "percent",
    "plural", "size",
]  # fmt: skip


def as_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their longest cell; columns of numbers are right-aligned."""
    cells = [list(head), *([escape_unprintable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    right = [all(_is_number(row[column]) for row in cells[1:]) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines)


def _is_number(cell: str) -> bool:
    return cell.removeprefix("-")[:1].isdigit() or cell in ("-", "")


def as_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """One `name  value` line per pair, values aligned."""
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name.ljust(width)}  {escape_unprintable(value)}".rstrip() for name, value in pairs)


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def as_line(value: Any) -> str:
    """JSON on one line, unprintable characters escaped."""
    return escape_unprintable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def escape_unprintable(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def count(number: int) -> str:
    """`1 234 567`."""
    return plain(grouped(number))


def decimal(number: float | Decimal, places: int) -> str:
    """`1 234.50`."""
    return plain(grouped(number, places))


def percent(share: float | Decimal, places: int = 2) -> str:
    """`46.00 %`, of a share from 0 to 1."""
    return f"{decimal(100 * share, places)} %"


def moment(seconds: float | None) -> str:
    """Seconds since 1970 as `2026-11-16 08:30:00 UTC`; `-` for None."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plural(number: int, thing: str) -> str:
    """`1 table`, `2 tables`, `3 copies`."""
    return plain(english.plural(number, thing))
