"""Several lines over the same time as one picture, with a legend that says in words what each line shows. Pure.

Must hold: a line is told apart by its dashes as well as by its colour; what is not known leaves a gap; the legend gives
each line's newest, mean and highest value as text. Elsewhere: where the values come from (metrics.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from tablewright.pages.charts import rounded_up

_WIDTH, _HEIGHT = 520, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 12, 34
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
    """A picture with its heading; `shown` turns a value into text."""

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
                now, mean, most = known[-1], sum(known) / len(known), max(known)
                texts = self.shown(now), self.shown(mean), self.shown(most)
                rows.append((_sample(place, line), line.name, *texts))
        return rows

    def drawn(self) -> Markup:
        most = rounded_up(max((value for line in self.lines for value in line.known), default=0.0))
        parts = [
            Markup('<svg class="chart timeline" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
                _WIDTH, _HEIGHT, self._sentence()
            ),
            *self._scale(most),
            *self._times(),
            *(
                Markup('<path class="{}" d="{}"/>').format(_class(place, line), self._path(line, most))
                for place, line in enumerate(self.lines)
                if line.known
            ),
        ]
        return Markup("").join([*parts, Markup("</svg>")])

    def _sentence(self) -> str:
        told = [f"{name} {now} now, {most} max" for _, name, now, _, most in self.legend()]
        return f"{self.title}: {'; '.join(told) or 'no data'}"

    def _scale(self, most: float) -> list[Markup]:
        parts = []
        for part in range(_TICKS + 1):
            y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * part / _TICKS
            parts.append(
                Markup('<path class="chart-grid" d="M{} {:g}H{}"/>').format(_LEFT, y, _WIDTH - _RIGHT)
            )
            if part % 2 == 0:
                parts.append(
                    Markup('<text class="chart-value" x="{}" y="{:g}" text-anchor="end">{}</text>').format(
                        _LEFT - 8, y + 4, self.shown(most * (1 - part / _TICKS))
                    )
                )
        return parts

    def _times(self) -> list[Markup]:
        count = max(len(line.values) for line in self.lines)
        is_long = self.period * count > timedelta(days=2)
        parts = []
        for tick in range(3):
            place = round((count - 1) * tick / 2)
            at = self.start + self.period * place
            text = f"{at.day} {at:%b}" if is_long else f"{at:%H:%M}"
            anchor = ("start", "middle", "end")[tick]
            parts.append(
                Markup('<text class="chart-value" x="{:.0f}" y="{}" text-anchor="{}">{}</text>').format(
                    self._x(place, count), _HEIGHT - 10, anchor, text
                )
            )
        return parts

    def _path(self, line: Line, most: float) -> str:
        text, is_on = "", False
        count = len(line.values)
        for place, value in enumerate(line.values):
            if value is None:
                is_on = False
                continue
            y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / most)
            is_alone = not is_on and (place + 1 == count or line.values[place + 1] is None)
            text += f"{'L' if is_on else 'M'}{self._x(place, count):.0f} {y:.1f}{'h1' if is_alone else ''}"
            is_on = True
        return text

    def _x(self, place: int, count: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (place / (count - 1) if count > 1 else 0.5)


def _class(place: int, line: Line) -> str:
    """Its colour and its dashes. A table has at most 20 global indexes: 21 lines with its own, of 25 styles."""
    if line.is_limit:
        return "timeline-limit"
    turn, colour = divmod(place % _STYLES, _COLOURS)
    return f"timeline-{colour + 1} dashes-{(colour + turn) % _COLOURS + 1}"


def _sample(place: int, line: Line) -> Markup:
    return Markup(
        '<svg class="sample" viewBox="0 0 26 10" aria-hidden="true"><path class="{}" d="M1 5H25"/></svg>'
    ).format(_class(place, line))
