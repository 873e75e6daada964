"""Charts as inline SVG, made on the server: bars for shares, lines over time. Pure. `svg` and `element` write it all.

Colours come from the stylesheet by class, so both light and dark fit. Must hold: every chart has a sentence that says
what it shows, and each value is readable as text, not by length alone; a line is told apart by its dashes as well as by
its colour; what is not known leaves a gap.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from tablewright.english import MONTHS, number

_ROW, _BAR, _ROOM = 30, 12, 320
_LETTER = 8.4  # as wide as a digit is in the widest of the fonts that are usual
_LETTERS = 26  # of a label
_SHORT = 420  # a chart up to this width fits a phone without scrolling


# --- SVG ---


def svg(wide: float, high: float, about: str, parts: Iterable[Markup], kind: str, **more: object) -> Markup:
    """A picture, with the sentence that says what it shows."""
    named = {"kind": kind, "viewBox": f"0 0 {wide:g} {high:g}", "role": "img", **more, "aria_label": about}
    return element("svg", *parts, **named)


def element(name: str, *content: Markup | str, **attributes: object) -> Markup:
    """An element; `kind` is its class, and `text_anchor` is written text-anchor. Numbers have at most one decimal."""
    said = [
        Markup(' {}="{}"').format("class" if key == "kind" else key.replace("_", "-"), _figure(value))
        for key, value in attributes.items()
    ]
    return Markup("<{0}{1}>{2}</{0}>").format(name, Markup("").join(said), Markup("").join(content))


def text(kind: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    return element("text", words, kind=kind, x=x, y=y, text_anchor=anchor)


def _figure(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value


# --- bars ---


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
    parts: list[Markup] = []
    for place, (row, name, value) in enumerate(zip(rows, names, values, strict=True)):
        middle = place * _ROW + _ROW / 2
        length = max(row.value / most * _ROOM, 2 if row.value else 0)
        label = text("chart-label", left - 12, middle + 4, name, "end")
        bar = {"x": left, "y": middle - _BAR / 2, "width": float(length), "height": _BAR, "rx": 3}
        parts += [
            element("a", label, href=row.href) if row.href else label,
            element("rect", kind="chart-bar", **bar),
            text("chart-value", left + length + 8, middle + 4, value),
        ]
    # An image has no links for a screen reader: a chart with links is a group.
    role = "group" if any(row.href for row in rows) else "img"
    kind = "chart bars short" if width <= _SHORT else "chart bars"
    return svg(width, _ROW * len(rows), about, parts, kind, role=role)


def _letters(texts: Sequence[str]) -> int:
    """How wide the longest of some texts may be."""
    return round(max((len(text) for text in texts), default=0) * _LETTER)


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


# --- lines over time ---

_WIDTH, _HEIGHT = 520, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 12, 34
_HIGH = _HEIGHT - _TOP - _BOTTOM
_TICKS = 4
# Lines differ in colour first; where colours repeat, in their dashes.
_COLOURS, _STYLES = 5, 25


@dataclass(frozen=True, slots=True)
class Line:
    """What is shown of one figure: a value for each period, None where nothing is known. A limit is drawn faint."""

    name: str
    values: Sequence[float | None]
    is_limit: bool = False

    @property
    def known(self) -> list[float]:
        return [value for value in self.values if value is not None]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Several lines over the same time, with a legend that gives each as text; `shown` turns a value into text."""

    title: str
    about: str
    start: datetime
    period: timedelta
    lines: tuple[Line, ...]
    shown: Callable[[float], str]

    def legend(self) -> list[tuple[Markup, str, str, str, str]]:
        """For each line: a piece of it, its name, and its newest, mean and highest value."""
        rows = []
        for place, line in enumerate(self.lines):
            known = line.known
            if known:
                piece = element("path", kind=_class(place, line), d="M1 5H25")
                sample = element("svg", piece, kind="sample", viewBox="0 0 26 10", aria_hidden="true")
                now, mean, most = known[-1], sum(known) / len(known), max(known)
                rows.append((sample, line.name, self.shown(now), self.shown(mean), self.shown(most)))
        return rows

    def drawn(self) -> Markup:
        most = rounded_up(max((value for line in self.lines for value in line.known), default=0.0))
        told = [f"{name} {now} now, {most} max" for _, name, now, _, most in self.legend()]
        paths = [
            element("path", kind=_class(place, line), d=_path(line, most))
            for place, line in enumerate(self.lines)
            if line.known
        ]
        about = f"{self.title}: {'; '.join(told) or 'no data'}"
        return svg(_WIDTH, _HEIGHT, about, [*self._scale(most), *self._times(), *paths], "chart timeline")

    def _scale(self, most: float) -> list[Markup]:
        parts = []
        for part in range(_TICKS + 1):
            y = _TOP + _HIGH * part / _TICKS
            parts.append(element("path", kind="chart-grid", d=f"M{_LEFT} {y:g}H{_WIDTH - _RIGHT}"))
            if part % 2 == 0:
                words = self.shown(most * (1 - part / _TICKS))
                parts.append(text("chart-value", _LEFT - 8, y + 4, words, "end"))
        return parts

    def _times(self) -> list[Markup]:
        count = max(len(line.values) for line in self.lines)
        is_long = self.period * count > timedelta(days=2)
        parts = []
        for tick, anchor in enumerate(("start", "middle", "end")):
            place = round((count - 1) * tick / 2)
            at = self.start + self.period * place
            words = f"{at.day} {MONTHS[at.month - 1][:3]}" if is_long else f"{at:%H:%M}"
            parts.append(text("chart-value", _x(place, count), _HEIGHT - 10, words, anchor))
        return parts


def _path(line: Line, most: float) -> str:
    drawn, is_on = "", False
    count = len(line.values)
    for place, value in enumerate(line.values):
        if value is None:
            is_on = False
            continue
        y = _TOP + _HIGH * (1 - value / most)
        is_alone = not is_on and (place + 1 == count or line.values[place + 1] is None)
        drawn += f"{'L' if is_on else 'M'}{_x(place, count):.0f} {y:.1f}{'h1' if is_alone else ''}"
        is_on = True
    return drawn


def _x(place: int, count: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place / (count - 1) if count > 1 else 0.5)


def _class(place: int, line: Line) -> str:
    """Its colour and its dashes. A table has at most 20 global indexes: 21 lines with its own, of 25 styles."""
    if line.is_limit:
        return "timeline-limit"
    turn, colour = divmod(place % _STYLES, _COLOURS)
    return f"timeline-{colour + 1} dashes-{(colour + turn) % _COLOURS + 1}"
