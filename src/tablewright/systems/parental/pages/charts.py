"""Pictures of parental controls as inline SVG: the hours of a day, the week of a policy, attempts over time. Pure.

Widths are in per cent of the available width and heights in pixels, so that text keeps its size on a phone.
Colours come from the stylesheet by class. Must hold: what a picture shows is also in its text or in text beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from markupsafe import Markup

from tablewright.english import WEEKDAYS, number, plural
from tablewright.pages.charts import element, rounded_up, text
from tablewright.systems.parental.model import EVERYTHING, Window
from tablewright.systems.parental.pages.words import SHORT_DAYS, app_words, clock
from tablewright.systems.parental.policy.effective import Span
from tablewright.systems.parental.policy.windows import DAY_MINUTES, DAYS

_ROW, _BAR, _HEAD = 46, 16, 44
_HOUR = 14  # pixels of an hour in the week
_LEVELS = 5


# --- a day ---


def day_timeline(
    spans: Sequence[Span], start: datetime, end: datetime, now: datetime, zone: ZoneInfo
) -> Markup:
    """A day from midnight to midnight: a row for each app, a bar where it is blocked, paler where that is planned."""
    apps = sorted({span.app for span in spans}, key=lambda app: (app != EVERYTHING, app.casefold()))
    height = _HEAD + _ROW * len(apps) + 6
    length = (end - start).total_seconds()

    def x(at: datetime) -> float:
        return 100 * min(max((at - start).total_seconds() / length, 0), 1)

    about = f"Blocked on this day: {'; '.join(_told(spans, zone, end)) or 'nothing'}"
    parts: list[Markup] = []
    for at, hour in _hours(start, end, zone):
        kind = "minor" if hour % 6 else "major"
        parts.append(_upright(f"chart-grid {kind}", x(at), _HEAD - 6, height))
        if hour or at > start:
            parts.append(_text(f"chart-value {kind}", x(at), 32, f"{hour:02}:00", "middle"))
    for place, app in enumerate(apps):
        top = _HEAD + place * _ROW
        parts.append(element("rect", kind="day-room", x=0, y=top + 20, width="100%", height=_BAR, rx=4))
        for span in (one for one in spans if one.app == app):
            kind = "by-exception" if span.why.override_id is not None else "by-policy"
            if span.end > now:
                kind += " planned"
            words = f"{app_words(app)}: {clock(span.start, zone)} to {clock(span.end, zone)}"
            wide = max(x(span.end) - x(span.start), 0.3)
            parts.append(_box(f"day-bar {kind}", x(span.start), top + 20, wide, _BAR, words))
    if start <= now < end:
        parts.append(_upright("now-line", x(now), 18, height))
        anchor = "end" if x(now) > 85 else "start" if x(now) < 15 else "middle"
        parts.append(_text("now-word", x(now), 13, f"now {clock(now, zone)}", anchor))
    for place, app in enumerate(apps):
        parts.append(_text("chart-label day-app", 0, _HEAD + place * _ROW + 14, app_words(app)))
    return _svg(height, about, "day", parts)


def _told(spans: Sequence[Span], zone: ZoneInfo, end: datetime) -> Iterator[str]:
    for span in spans:
        until = "midnight" if span.end >= end else clock(span.end, zone)
        yield f"{app_words(span.app)} from {clock(span.start, zone)} to {until}"


def _hours(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[tuple[datetime, int]]:
    """Every third hour the wall clock shows, leaving out an hour that the change to summer time skips."""
    at, seen = start, -1
    while at < end:
        local = at.astimezone(zone)
        if local.minute == 0 and local.hour % 3 == 0 and local.hour != seen:
            seen = local.hour
            yield at, local.hour
        at += timedelta(minutes=15)


# --- a week ---


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a window in the column of one day. `is_rest`: it began the evening before."""

    day: int
    start: int
    end: int
    words: str
    is_rest: bool = False


def blocks(windows: Sequence[Window]) -> list[Block]:
    """Windows as they are drawn: what goes past midnight goes on at the top of the next day."""
    found = []
    for window in windows:
        start, end = (int(text[:2]) * 60 + int(text[3:]) for text in (window.start_time, window.end_time))
        length = (end - start) % DAY_MINUTES or DAY_MINUTES
        for name in window.days:
            day = DAYS.index(name)
            over = start + length - DAY_MINUTES
            to = f"{SHORT_DAYS[(day + 1) % 7]} {window.end_time}" if over > 0 else window.end_time
            words = f"{SHORT_DAYS[day]} {window.start_time} to {to}"
            found.append(Block(day, start, min(start + length, DAY_MINUTES), words))
            if over > 0:
                found.append(Block((day + 1) % 7, 0, over, words, is_rest=True))
    return found


def week_grid(windows: Sequence[Window], *, is_small: bool = False, is_empty: bool = False) -> Markup:
    """A column for each day from midnight to midnight; no windows at all are always, unless it `is_empty` still."""
    hour = 4 if is_small else _HOUR
    head = 14 if is_small else 24
    height = head + 24 * hour + 1
    always = [] if is_empty else [Block(day, 0, DAY_MINUTES, "Always") for day in range(7)]
    shown = blocks(windows) if windows else always
    told = "; ".join(dict.fromkeys(block.words for block in shown if not block.is_rest)) or "no times yet"
    parts: list[Markup] = []
    column = 100 / 7
    for day, name in enumerate(SHORT_DAYS):
        place = {"x": _percent(day * column + 0.4), "width": _percent(column - 0.8)}
        parts.append(element("rect", kind="week-day", **place, y=head, height=24 * hour, rx=3))
        shown_name = name[:1] if is_small else name
        parts.append(_text("week-name", (day + 0.5) * column, head - 5, shown_name, "middle"))
    for block in shown:
        top, tall = head + block.start * hour / 60, (block.end - block.start) * hour / 60
        kind = "week-block rest" if block.is_rest else "week-block"
        parts.append(_box(kind, block.day * column + 0.4, top, column - 0.8, max(tall, 1), block.words))
    if not is_small:
        parts += [_level_line("week-line", head + each * hour) for each in range(0, 25, 6)]
    return _svg(height, f"The week: {told}", "week small" if is_small else "week", parts)


def week_hours() -> Markup:
    """The hours beside a week, in pixels as wide as they are."""
    height = 24 + 24 * _HOUR + 8
    parts = [
        text("chart-value", 34, 24 + hour * _HOUR + (10 if hour == 0 else 4), f"{hour % 24:02}:00", "end")
        for hour in range(0, 25, 3)
    ]
    return element("svg", *parts, kind="week-hours", width=38, height=height, aria_hidden="true")


# --- attempts ---


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a chart: its label under it, its tooltip, and the value it is compared with."""

    label: str
    value: int
    words: str
    before: int | None = None


def columns(given: Sequence[Column], about: str) -> Markup:
    """Columns over time from zero; with `before`, two beside each other."""
    high, top, bottom = 150, 16, 24
    values = [column.value for column in given] + [column.before or 0 for column in given]
    most = rounded_up(max(values, default=0)) if any(values) else 1.0
    gutter = 7.0  # for the numbers of the scale
    parts: list[Markup] = []
    for part in (0, 0.5, 1):
        y = top + high * (1 - part)
        parts.append(_level_line("chart-grid", y))
        if part and any(values):
            parts.append(_text("chart-value", 0, y - 4, number(most * part)))
    room = (100 - gutter) / max(len(given), 1)
    every = max(-(-len(given) // 8), 1)
    for place, column in enumerate(given):
        left = gutter + place * room
        shown = [("chart-bar", 0.15, 0.7, column.value)]
        if column.before is not None:
            shown = [("bar-before", 0.14, 0.34, column.before), ("chart-bar", 0.52, 0.34, column.value)]
        for kind, begin, wide, value in shown:
            tall = value / most * high
            parts.append(_box(kind, left + room * begin, top + high - tall, room * wide, tall, column.words))
        if place % every == 0:
            kind = "chart-value" if place % (2 * every) == 0 or len(given) <= 7 else "chart-value minor"
            parts.append(_text(kind, left + room / 2, top + high + 17, column.label, "middle"))
    return _svg(top + high + bottom, about, "columns", parts)


def meter(share: float) -> Markup:
    """A share of a whole as a bar; the number is shown beside it."""
    room = element("rect", kind="day-room", width="100%", height=10, rx=3)
    bar = element("rect", kind="chart-bar", width=_percent(max(100 * share, 1)), height=10, rx=3)
    return element("svg", room, bar, kind="meter", width="100%", height=10, aria_hidden="true")


@dataclass(frozen=True, slots=True)
class Cell:
    """An hour of a day of the week: how often, how dark, and in words."""

    count: int
    level: int
    words: str


def heat_rows(heat: Sequence[Sequence[int]]) -> list[tuple[str, list[Cell]]]:
    """The heat map as rows of a table, a row for each day; the darkest is the most there was."""
    most = max((count for row in heat for count in row), default=0)
    return [
        (
            SHORT_DAYS[day],
            [
                Cell(count, _level(count, most), f"{WEEKDAYS[day]} {hour:02}:00: {plural(count, 'attempt')}")
                for hour, count in enumerate(row)
            ],
        )
        for day, row in enumerate(heat)
    ]


def _level(count: int, most: int) -> int:
    return 0 if not count else min(1 + int(_LEVELS * (count - 1) / max(most, 1)), _LEVELS)


# --- parts ---


def _svg(height: float, about: str, kind: str, parts: Sequence[Markup]) -> Markup:
    named = {"width": "100%", "height": height, "role": "img", "aria_label": about}
    return element("svg", *parts, kind=f"chart {kind}", **named)


def _box(kind: str, x: float, y: float, wide: float, tall: float, words: str) -> Markup:
    place = {"x": _percent(x), "y": y, "width": _percent(wide), "height": tall, "rx": 3}
    return element("rect", element("title", words), kind=kind, **place)


def _text(kind: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    return element("text", words, kind=kind, x=_percent(x), y=y, text_anchor=anchor)


def _upright(kind: str, x: float, top: float, bottom: float) -> Markup:
    return element("line", kind=kind, x1=_percent(x), x2=_percent(x), y1=top, y2=bottom)


def _level_line(kind: str, y: float) -> Markup:
    return element("line", kind=kind, x1=0, x2="100%", y1=y, y2=y)


def _percent(of_the_width: float) -> str:
    return f"{of_the_width:.3f}%"
