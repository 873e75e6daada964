"""Times of day on days of the week: written by parents, lived through on a wall clock, turned into moments.

A window belongs to the day on which it starts; an end at or before the start is on the day after, so equal times are
24 hours (PC-D8). What decides is what a clock on the wall shows: a time that is skipped in spring never comes, a time
that comes twice in autumn counts twice. Must hold: between two moments of `edges` nothing changes, and at each of
them something does. Pure: no clock is read here. Elsewhere: what the windows are for (effective.py).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import get_args
from zoneinfo import ZoneInfo, available_timezones

from tablewright.edge.errors import BadRequest
from tablewright.systems.parental.model import Day, Window

DAYS: tuple[Day, ...] = get_args(Day)
DAY_MINUTES = 24 * 60
WEEK_MINUTES = 7 * DAY_MINUTES
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_NAMES = ("startTime", "endTime", "days")
# Close to where datetime ends; nothing beyond is looked for.
_LAST = datetime(9999, 12, 1, tzinfo=UTC)

Minutes = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was put right without asking, or is not done, for the person who wrote it."""

    code: str
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Merged:
    """Windows of which no two overlap, and what was done for that."""

    windows: tuple[Window, ...]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Week:
    """Which minutes of a week are meant: apart, in order, counted from Monday 00:00 on the wall."""

    spans: tuple[Minutes, ...]
    flips: tuple[int, ...]

    def holds(self, wall: datetime) -> bool:
        """Whether the wall clock shows a time that is meant."""
        minute = wall.weekday() * DAY_MINUTES + wall.hour * 60 + wall.minute
        at = bisect_right(self.spans, (minute, WEEK_MINUTES)) - 1
        return at >= 0 and minute < self.spans[at][1]


# --- what parents write ---


def check(raw: Sequence[Window | Mapping[str, object]], field: str = "timeWindows") -> Merged:
    """Windows as they are kept; INVALID_WINDOW names the field that is wrong. Overlaps are merged, with a notice."""
    windows = [parse(one, f"{field}[{number}]") for number, one in enumerate(raw)]
    return merged(windows, field)


def parse(raw: Window | Mapping[str, object], field: str = "window") -> Window:
    """One window, its days each once and in order."""
    given = raw.model_dump(by_alias=True) if isinstance(raw, Window) else raw
    if not isinstance(given, Mapping):
        raise BadRequest("INVALID_WINDOW", "A window has startTime, endTime and days.", field)
    for name in (*(n for n in _NAMES if n not in given), *(n for n in given if n not in _NAMES)):
        words = "is missing" if name in _NAMES else "is not known here"
        raise BadRequest(
            "INVALID_WINDOW", f"A window has startTime, endTime and days; {name} {words}.", field
        )
    for name in _NAMES[:2]:
        _check_time(given[name], f"{field}.{name}")
    return Window(
        start_time=str(given["startTime"]),
        end_time=str(given["endTime"]),
        days=_days(given["days"], f"{field}.days"),
    )


def zone(name: str, field: str = "timezone") -> ZoneInfo:
    """A time zone by its IANA name."""
    if name not in _zone_names():
        words = (
            f"'{name}' isn't a valid time zone. Write an IANA name such as America/New_York or Europe/Berlin."
        )
        raise BadRequest("INVALID_TIMEZONE", words, field)
    return ZoneInfo(name)


def merged(windows: Sequence[Window], field: str = "timeWindows") -> Merged:
    """The same times with no window overlapping another; windows that overlap none stay as they were written."""
    kept: list[Window] = []
    notices = []
    for group in _overlapping(windows):
        if len(group) == 1:
            kept.append(windows[group[0]])
            continue
        union = _windows_of(_union(span for one in group for span in _spans(windows[one])))
        kept.extend(union)
        before = " and ".join(text(windows[one]) for one in group)
        after = ", ".join(text(one) for one in union)
        words = f"{before} overlap; they were merged into {after}."
        notices.append(Notice("WINDOWS_MERGED", f"{field}[{group[-1]}]", words))
    return Merged(tuple(kept), tuple(notices))


def text(window: Window) -> str:
    """A window in a sentence."""
    days = "every day" if len(window.days) == 7 else " ".join(window.days)
    return f"{window.start_time}-{window.end_time} {days}"


def _check_time(value: object, field: str) -> None:
    if isinstance(value, str) and _TIME.fullmatch(value):
        return
    words = f"{value!r} isn't a valid time. Write HH:MM, from 00:00 to 23:59; midnight is 00:00."
    raise BadRequest("INVALID_WINDOW", words, field)


def _days(value: object, field: str) -> list[Day]:
    if not isinstance(value, list | tuple) or not value:
        raise BadRequest(
            "INVALID_WINDOW", f"Choose at least one day on which it starts: {', '.join(DAYS)}.", field
        )
    for number, one in enumerate(value):
        if one not in DAYS:
            words = f"{one!r} isn't a valid day. Days are {', '.join(DAYS)}."
            raise BadRequest("INVALID_WINDOW", words, f"{field}[{number}]")
    return [day for day in DAYS if day in value]


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


# --- minutes of a week ---


def week(windows: Sequence[Window]) -> Week:
    """The minutes that windows mean; no windows at all mean always (PC-X4)."""
    spans = _union(span for window in windows for span in _spans(window)) if windows else ((0, WEEK_MINUTES),)
    flips = {edge for span in spans for edge in span}
    if {0, WEEK_MINUTES} <= flips:
        # What lasts over the end of the week does not change there.
        flips -= {0, WEEK_MINUTES}
    return Week(spans, tuple(sorted(edge % WEEK_MINUTES for edge in flips)))


def _spans(window: Window) -> list[Minutes]:
    start, end = _minute(window.start_time), _minute(window.end_time)
    length = (end - start) % DAY_MINUTES or DAY_MINUTES
    found: list[Minutes] = []
    for day in window.days:
        begin = DAYS.index(day) * DAY_MINUTES + start
        over = begin + length - WEEK_MINUTES
        found.append((begin, min(begin + length, WEEK_MINUTES)))
        if over > 0:
            found.append((0, over))
    return found


def _minute(text: str) -> int:
    return int(text[:2]) * 60 + int(text[3:])


def _union(spans: Iterable[Minutes]) -> tuple[Minutes, ...]:
    """The same minutes in spans that neither overlap nor touch."""
    found: list[Minutes] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def _overlapping(windows: Sequence[Window]) -> list[list[int]]:
    """The windows' numbers, those together that overlap, directly or through others."""
    groups: list[list[int]] = []
    for number, window in enumerate(windows):
        near = [group for group in groups if any(_overlap(windows[other], window) for other in group)]
        joined = sorted([*(one for group in near for one in group), number])
        groups = sorted([*(group for group in groups if group not in near), joined])
    return groups


def _overlap(one: Window, other: Window) -> bool:
    return any(a < d and c < b for a, b in _spans(one) for c, d in _spans(other))


def _windows_of(spans: tuple[Minutes, ...]) -> list[Window]:
    """Windows that mean exactly these minutes."""
    if spans == ((0, WEEK_MINUTES),):
        return [Window(start_time="00:00", end_time="00:00", days=list(DAYS))]
    whole = list(spans)
    if whole[0][0] == 0 and whole[-1][1] == WEEK_MINUTES:
        # Over the end of the week: one window that begins on Sunday.
        whole[-1] = (whole[-1][0], WEEK_MINUTES + whole.pop(0)[1])
    days: dict[tuple[str, str], set[Day]] = {}
    for start, end in whole:
        # No window is longer than a day; what is longer becomes several, one after the other.
        for begin in range(start, end, DAY_MINUTES):
            times = (_clock(begin), _clock(min(begin + DAY_MINUTES, end)))
            days.setdefault(times, set()).add(DAYS[begin // DAY_MINUTES % 7])
    return [
        Window(start_time=start, end_time=end, days=[day for day in DAYS if day in on])
        for (start, end), on in sorted(days.items())
    ]


def _clock(minute: int) -> str:
    return f"{minute % DAY_MINUTES // 60:02}:{minute % 60:02}"


# --- moments ---


def is_inside(week: Week, zone: ZoneInfo, moment: datetime) -> bool:
    """Whether a clock in this zone shows, at this moment, a time that is meant."""
    return week.holds(moment.astimezone(zone))


def edges(week: Week, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Every later moment (UTC) at which the wall clock goes in or out, in order; endless unless nothing changes."""
    if not week.flips:
        return
    was_inside = is_inside(week, zone, after)
    for begin, end, offset in _steady(zone, after.astimezone(UTC)):
        wall = (begin + offset).replace(tzinfo=None)
        # The clock was changed here, or this is a new day: it may have jumped in or out, or be just at an edge.
        if week.holds(wall) != was_inside:
            was_inside = not was_inside
            yield begin
        for passed in _flips_between(week, wall, wall + (end - begin)):
            was_inside = not was_inside
            yield begin + (passed - wall)


def day_bounds(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The moments (UTC) at which a day begins and ends on the wall: 23, 24 or 25 hours apart, in most places."""
    start, end = (datetime.combine(day + timedelta(days=n), time(), zone).astimezone(UTC) for n in (0, 1))
    return start, end


def _flips_between(week: Week, start: datetime, end: datetime) -> Iterator[datetime]:
    """The edges on the wall clock after `start` and before `end`."""
    monday = datetime.combine(start.date() - timedelta(days=start.weekday()), time())
    at = bisect_right(week.flips, (start - monday) / timedelta(minutes=1))
    while True:
        weeks, number = divmod(at, len(week.flips))
        wall = monday + timedelta(days=7 * weeks, minutes=week.flips[number])
        if wall >= end:
            return
        yield wall
        at += 1


def _steady(zone: ZoneInfo, start: datetime) -> Iterator[tuple[datetime, datetime, timedelta]]:
    """From `start` on, spans of at most a day in which the clock is not changed, each with its offset.

    zoneinfo does not tell when clocks change, so each day is asked at both ends and halved where they differ. Two
    changes that undo each other within a day would be missed; no zone has ever had such a day.
    """
    while start < _LAST:
        end = start + timedelta(days=1)
        offset = _offset(zone, start)
        if _offset(zone, end) != offset:
            end = _changed(zone, start.replace(microsecond=0), offset)
        yield start, end, offset
        start = end


def _changed(zone: ZoneInfo, start: datetime, offset: timedelta) -> datetime:
    """The second, within a day after `start`, at which the offset is another."""
    same, other = 0, 24 * 60 * 60 + 1
    while other - same > 1:
        middle = (same + other) // 2
        if _offset(zone, start + timedelta(seconds=middle)) == offset:
            same = middle
        else:
            other = middle
    return start + timedelta(seconds=other)


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None  # a ZoneInfo always knows
    return offset
