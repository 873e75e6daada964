"""Charts as inline SVG, made on the server: bars for shares, a line for what changes over time. Pure.

Colours come from the stylesheet by class, so both light and dark fit. Must hold: every chart has a sentence that says
what it shows, and each value is readable as text, not by length alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tablewright.pages.words import number

_ROW, _BAR, _ROOM, _WIDTH = 30, 12, 320, 760
_LETTER = 8.4  # as wide as a digit is in the widest of the fonts that are usual
_LETTERS = 26  # of a label
_SHORT = 420  # a chart up to this width fits a phone without scrolling


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a bar chart; `note` is shown beside the value."""

    label: str
    value: float
    note: str = ""
    href: str = ""


def bars(rows: Sequence[Bar], *, about: str, shown: Callable[[float], str] = number) -> Markup:
    """Horizontal bars, each with its label before and its value behind it."""
    most = max((row.value for row in rows), default=0) or 1
    names = [row.label if len(row.label) <= _LETTERS else row.label[: _LETTERS - 1] + "…" for row in rows]
    values = [f"{shown(row.value)}{' ' + row.note if row.note else ''}" for row in rows]
    # Room for the longest label only: short labels before a wide gap look like a chart that lost its left half.
    left, right = _letters(names) + 12, _letters(values) + 8
    width = left + _ROOM + right
    # An image has no links for a screen reader: a chart with links is a group.
    role = "group" if any(row.href for row in rows) else "img"
    kind = "chart bars short" if width <= _SHORT else "chart bars"
    parts = [_open(width, _ROW * len(rows), about, kind, role)]
    for place, (row, name, value) in enumerate(zip(rows, names, values, strict=True)):
        middle = place * _ROW + _ROW / 2
        length = max(row.value / most * _ROOM, 2 if row.value else 0)
        text = Markup('<text class="chart-label" x="{}" y="{:g}" text-anchor="end">{}</text>').format(
            left - 12, middle + 4, name
        )
        parts.append(Markup('<a href="{}">{}</a>').format(row.href, text) if row.href else text)
        parts.append(
            Markup('<rect class="chart-bar" x="{}" y="{:g}" width="{:.1f}" height="{}" rx="3"/>').format(
                left, middle - _BAR / 2, length, _BAR
            )
        )
        parts.append(
            Markup('<text class="chart-value" x="{:.1f}" y="{:g}">{}</text>').format(
                left + length + 8, middle + 4, value
            )
        )
    return Markup("").join([*parts, Markup("</svg>")])


def _letters(texts: Sequence[str]) -> int:
    """How wide the longest of some texts may be."""
    return round(max((len(text) for text in texts), default=0) * _LETTER)


@dataclass(frozen=True, slots=True)
class Point:
    """A value at a place from left to right; `label` is what the place is called."""

    label: str
    value: float


def line(
    points: Sequence[Point], *, about: str, shown: Callable[[float], str] = number, steps: bool = False
) -> Markup:
    """A line over time, from zero; `steps` for what stays until it changes, such as a price."""
    height, left, right, top, bottom = 220, 64, 20, 14, 30
    most = rounded_up(max((point.value for point in points), default=0))
    wide, high = _WIDTH - left - right, height - top - bottom
    places = [
        (
            left + (wide * at / (len(points) - 1) if len(points) > 1 else wide / 2),
            top + high * (1 - point.value / most),
        )
        for at, point in enumerate(points)
    ]
    parts = [_open(_WIDTH, height, about, "chart line")]
    for part in range(5):
        y = top + high * part / 4
        parts.append(Markup('<path class="chart-grid" d="M{} {:g}H{}"/>').format(left, y, _WIDTH - right))
        parts.append(
            Markup('<text class="chart-value" x="{}" y="{:g}" text-anchor="end">{}</text>').format(
                left - 8, y + 4, shown(most * (1 - part / 4))
            )
        )
    if places:
        parts.append(Markup('<path class="chart-line" d="{}"/>').format(_path(places, steps)))
    every = max(len(points) // 6, 1)
    for at, (point, (x, y)) in enumerate(zip(points, places, strict=True)):
        parts.append(
            Markup(
                '<circle class="chart-dot" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}: {}</title></circle>'
            ).format(x, y, point.label, shown(point.value))
        )
        if at % every == 0 or at == len(points) - 1:
            anchor = (
                "start"
                if at == 0 and len(points) > 1
                else "end"
                if at == len(points) - 1 and at
                else "middle"
            )
            parts.append(
                Markup('<text class="chart-label" x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(
                    x, height - 8, anchor, point.label
                )
            )
    return Markup("").join([*parts, Markup("</svg>")])


def _path(places: Sequence[tuple[float, float]], steps: bool) -> str:
    first, *rest = places
    text = f"M{first[0]:.1f} {first[1]:.1f}"
    for x, y in rest:
        text += f"H{x:.1f}V{y:.1f}" if steps else f"L{x:.1f} {y:.1f}"
    return text


def rounded_up(value: float) -> float:
    """The next number of the kind 1, 2, 4, 5, 10 times a power of ten: a scale people can halve in their head."""
    if value <= 0:
        return 1.0
    power = 1.0
    while power * 10 < value:
        power *= 10
    while power > value:
        power /= 10
    return next(power * step for step in (1, 2, 4, 5, 10) if power * step >= value)


def _open(width: int, height: int, about: str, kind: str, role: str = "img") -> Markup:
    return Markup('<svg class="{}" viewBox="0 0 {} {}" role="{}" aria-label="{}">').format(
        kind, width, height, role, about
    )
