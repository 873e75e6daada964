"""Patterns by index: a row for each pattern, a column for the table and each index, how it reads in the cell. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tablewright.app.pictures.canvas import LETTER, Link, Picture, hint, hue, label, longest, no_links
from tablewright.design import Design, Plan, Table
from tablewright.english import number
from tablewright.pages.charts import element, text

_ROW, _CELL, _SIDE = 30, 78, 1
_READS = {
    "=": "equal",
    "begins": "prefix",
    "between": "range",
    "<": "below",
    "<=": "up to",
    ">": "above",
    ">=": "from",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A pattern: the column it reads, how it reads there, and how often a month, if that is stated."""

    name: str
    about: str
    column: int
    reads: str
    calls: str
    is_search: bool = False


def rows_of(design: Design, table: Table) -> tuple[list[str], list[Row]]:
    """The columns by name, and the patterns of a table by what they read."""
    indexes = [index for index in design.indexes if index.table == table]
    vectors = [index for index in design.vectors if index.table == table]
    columns = [table.name, *(index.name for index in indexes), *(index.name for index in vectors)]
    rows = [
        Row(
            plan.name,
            plan.about,
            columns.index(plan.index.name) if plan.index else 0,
            reads(plan),
            _calls(plan.load),
        )
        for plan in design.plans
        if plan.table == table
    ]
    rows += [
        Row(plan.name, plan.about, columns.index(plan.index.name), f"top {plan.top}", _calls(plan.load), True)
        for plan in design.searches
        if plan.index in vectors
    ]
    return columns, sorted(rows, key=lambda row: row.column)


def reads(plan: Plan) -> str:
    """How a pattern reads a partition, in a word; an arrow where the last come first."""
    if plan.kind == "get":
        return "item"
    return (_READS[plan.sk[-1].op] if plan.sk else "all") + (" ↓" if plan.descending else "")


def _calls(load: object) -> str:
    calls = getattr(load, "calls_a_month", None)
    return number(round(calls)) if calls else ""


def pattern_matrix(design: Design, table: Table, *, name: str, link: Link = no_links) -> Picture:
    columns, rows = rows_of(design, table)
    left = round(longest(row.name for row in rows) * LETTER) + 26
    top = round(longest(columns) * LETTER * 0.5) + 30
    most = round(longest(row.calls for row in rows) * LETTER)
    right = left + len(columns) * _CELL
    slope = round(
        max(len(each) * LETTER * 0.87 - (len(columns) - 1 - n) * _CELL for n, each in enumerate(columns))
    )
    width = right + max(max(most, 92) + 12 if most else 0, slope - _CELL // 2 + 8) + _SIDE
    height = top + len(rows) * _ROW + _SIDE
    parts = [_column(place, each, left, top, height) for place, each in enumerate(columns)]
    if most:
        parts.append(text("p-note", width - _SIDE, top - 9, "calls a month", "end"))
    for place, row in enumerate(rows):
        parts += _row(row, top + place * _ROW, left, width, link)
    about = " ".join(
        f"{row.name} reads {columns[row.column]}: {row.reads.removesuffix(' ↓')}." for row in rows
    )
    title = f"Patterns of {table.name} by index"
    return Picture(name, title, about or "No pattern reads this table.", width, height, tuple(parts))


def _column(place: int, name: str, left: float, top: float, height: float) -> Markup:
    x = left + place * _CELL + _CELL / 2
    turned = f"translate({x:g} {top - 10:g}) rotate(-30)"
    words = element("text", name, kind="p-name", transform=turned)
    return words + element("path", kind="p-line", d=f"M{x:g} {top:g}V{height:g}")


def _row(row: Row, top: float, left: float, width: float, link: Link) -> Sequence[Markup]:
    middle = top + _ROW / 2
    x = left + row.column * _CELL + 4
    kind = f"p-soft {hue(row.column - 1)}" if row.column else "p-box"
    cell = element("rect", kind=kind, x=x, y=top + 3, width=_CELL - 8, height=_ROW - 6, rx=5)
    words = text("p-name", x + _CELL / 2 - 4, middle + 4.5, row.reads, "middle")
    href = "" if row.is_search else link("patterns", row.name)
    return [
        element("path", kind="p-line", d=f"M{_SIDE} {top:g}H{width - _SIDE:g}"),
        label(4, middle + 4.5, row.name, href),
        element("g", hint(row.about or row.name), cell, words),
        *([text("p-note", width - _SIDE, middle + 4.5, row.calls, "end")] if row.calls else []),
    ]
