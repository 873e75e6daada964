"""Lines over a quantity, with a logarithmic scale on both sides: cost over load. Pure; drawn with charts.py's writer.

Must hold: a value that is not above 0 leaves a gap, since it has no place on such a scale.
Elsewhere: bars and lines over time (charts.py); the page beside a curve has its values as a table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

from markupsafe import Markup

from tablewright.pages.charts import element, svg, text

_WIDTH, _HEIGHT = 520, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 30, 14, 34


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines through the same places; `marks` are places that a vertical line names. `shown` turns a value into text."""

    about: str
    places: Sequence[float]
    lines: Sequence[tuple[str, Sequence[float]]]
    shown: Callable[[float], str]
    marks: Sequence[tuple[str, float]] = ()

    def drawn(self) -> Markup:
        values = [value for _, line in self.lines for value in line if value > 0]
        low, high = floor(log10(min(values, default=1))), ceil(log10(max(values, default=10)))
        scale = _Scale(log10(self.places[0]), log10(self.places[-1]), low, max(high, low + 1))
        parts = [*self._grid(scale), *self._marks(scale), *self._lines(scale)]
        return svg(_WIDTH, _HEIGHT, self.about, parts, "chart curve")

    def samples(self) -> list[tuple[Markup, str]]:
        """A piece of each line and its name, for a legend."""
        pieces = (element("path", kind=_class(number), d="M1 5H25") for number in range(len(self.lines)))
        return [
            (element("svg", piece, kind="sample", viewBox="0 0 26 10", aria_hidden="true"), name)
            for piece, (name, _) in zip(pieces, self.lines, strict=True)
        ]

    def _grid(self, scale: "_Scale") -> list[Markup]:
        parts = []
        for power in range(scale.low, scale.high + 1):
            y = scale.y(10.0**power)
            parts.append(element("path", kind="chart-grid", d=f"M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"))
            parts.append(text("chart-value", _LEFT - 8, y + 4, self.shown(10.0**power), "end"))
        for power in range(ceil(scale.first), floor(scale.last) + 1):
            x = scale.x(10.0**power)
            parts.append(element("path", kind="chart-grid", d=f"M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}"))
            parts.append(text("chart-value", x, _HEIGHT - 12, f"{10.0**power:g} x", "middle"))
        return parts

    def _marks(self, scale: "_Scale") -> list[Markup]:
        parts = []
        for number, (words, place) in enumerate(self.marks):
            x = scale.x(place)
            is_left = x > _WIDTH / 2
            parts.append(element("path", kind="timeline-limit", d=f"M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}"))
            anchor, away = ("end", -5) if is_left else ("start", 5)
            parts.append(text("chart-label", x + away, _TOP + 12 + 15 * number, words, anchor))
        return parts

    def _lines(self, scale: "_Scale") -> list[Markup]:
        parts = []
        for number, (_, line) in enumerate(self.lines):
            pairs = pairwise(zip(self.places, line, strict=True))
            drawn = "".join(
                f"M{scale.x(x):.1f} {scale.y(y):.1f}L{scale.x(after):.1f} {scale.y(then):.1f}"
                for (x, y), (after, then) in pairs
                if y > 0 and then > 0
            )
            parts.append(element("path", kind=_class(number), d=drawn))
        return parts


@dataclass(frozen=True, slots=True)
class _Scale:
    """The powers of ten at the edges of the chart."""

    first: float
    last: float
    low: int
    high: int

    def x(self, place: float) -> float:
        share = (log10(place) - self.first) / (self.last - self.first)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * min(max(share, 0.0), 1.0)

    def y(self, value: float) -> float:
        share = (log10(value) - self.low) / (self.high - self.low)
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - share)


def _class(number: int) -> str:
    return f"timeline-{number + 1} dashes-{number + 1}"
