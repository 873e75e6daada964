"""How commands print: tables in columns, sizes, times, figures. Pure.

Must hold: nothing that was stored can move a reader's cursor: what does not print is shown escaped.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

_UNITS = ("B", "kB", "MB", "GB", "TB")
_BARS = "▁▂▃▄▅▆▇█"


def as_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need to be; those of figures to the right."""
    cells = [list(head), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    right = [all(_is_figure(row[column]) for row in cells[1:]) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines)


def _is_figure(cell: str) -> bool:
    return cell.removeprefix("-")[:1].isdigit() or cell in ("-", "")


def as_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """A name and what it is, line by line."""
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name.ljust(width)}  {plain(value)}".rstrip() for name, value in pairs)


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def as_line(value: Any) -> str:
    """JSON on one line, safe to be shown."""
    return plain(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def plain(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def count(number: int) -> str:
    """`1 234 567`."""
    return f"{number:,}".replace(",", " ")


def size(number: float) -> str:
    """`12.3 MB`: three figures are enough to judge by."""
    value = float(number)
    for unit in _UNITS:
        if abs(value) < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.3g} {unit}"


def moment(seconds: float | None) -> str:
    """Seconds since 1970 as a reader's time, in UTC."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plural(number: int, thing: str) -> str:
    """`1 table`, `2 tables`, `3 copies`."""
    if number == 1:
        return f"1 {thing}"
    return f"{count(number)} {thing[:-1] + 'ies' if thing.endswith('y') and thing[-2] not in 'aeiou' else thing + 's'}"


def chart(values: Sequence[float]) -> str:
    """Figures as a row of small bars, the highest of them full; a space where there is nothing."""
    top = max(values, default=0.0)
    if top <= 0:
        return " " * len(values)
    return "".join(
        _BARS[min(int(value / top * len(_BARS)), len(_BARS) - 1)] if value > 0 else " " for value in values
    )
