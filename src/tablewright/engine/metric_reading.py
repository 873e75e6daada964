"""Figures over time, read: minutes put together into periods, and levels that stand until they change.

Must hold: what was written and what was not written yet are told as one. Elsewhere: who asks (metrics.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeAlias

from tablewright.engine.metric_names import METRICS
from tablewright.engine.metric_values import Tally
from tablewright.engine.storage_metrics import Series, all_series, last_point, points_of
from tablewright.engine.storage_rows import Rows

MINUTE = timedelta(minutes=1)
# By series and minute.
Sums: TypeAlias = dict[tuple[Series, int], Tally]


class Point(NamedTuple):
    """A figure in one period. The quantiles are of times only."""

    at: datetime
    samples: float
    sum: float
    least: float
    most: float
    p50: float | None = None
    p99: float | None = None

    @property
    def mean(self) -> float:
        return self.sum / self.samples if self.samples else 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which series are asked for; None is any."""

    metric: str
    table: str | None
    index: str
    detail: str | None

    def takes(self, series: Series) -> bool:
        return (
            series.metric == self.metric
            and series.index_name == self.index
            and (self.table is None or series.table == self.table)
            and (self.detail is None or series.detail == self.detail)
        )


class Span(NamedTuple):
    """Minutes [since, until) in periods of so many minutes; both ends are whole periods."""

    since: int
    until: int
    step: int

    @classmethod
    def of(cls, since: datetime, until: datetime, period: timedelta) -> "Span":
        step, odd = divmod(period, MINUTE)
        if step < 1 or odd:
            raise ValueError(f"a period is one or more whole minutes, not {period}")
        first = minute_of(since) // step * step
        end = -(-minute_of(until - timedelta(microseconds=1) + MINUTE) // step) * step
        return cls(first, end, step)

    def start_of(self, minute: int) -> int:
        return self.since + (minute - self.since) // self.step * self.step


def points_in(rows: Rows, wanted: Wanted, span: Span, fresh: Sums) -> Iterator[Point]:
    """What is asked for, in the store and in `fresh`, which is not there yet."""
    numbers = [number for number, series in all_series(rows).items() if wanted.takes(series)]
    if METRICS[wanted.metric].kind == "level":
        yield from _level_points(rows, numbers, span, fresh)
        return
    periods: dict[int, Tally] = {}
    for minute, tally in _found(rows, numbers, span, fresh):
        periods.setdefault(span.start_of(minute), Tally()).merge(tally)
    for minute in sorted(periods):
        yield _point(minute, periods[minute])


def _found(rows: Rows, numbers: Sequence[int], span: Span, fresh: Sums) -> Iterator[tuple[int, Tally]]:
    for number in numbers:
        yield from points_of(rows, number, span.since, span.until)
    for (_, minute), tally in fresh.items():
        if span.since <= minute < span.until:
            yield minute, tally


def _level_points(rows: Rows, numbers: Sequence[int], span: Span, fresh: Sums) -> Iterator[Point]:
    """A level stands until its next point: what it was at the end of each period, all series together."""
    changes: dict[int, dict[object, float]] = {}
    standing: dict[object, float] = {}
    names = all_series(rows)
    for number in numbers:
        before = last_point(rows, number, span.since)
        if before is not None:
            standing[names[number]] = before[1].most
        for minute, tally in points_of(rows, number, span.since, span.until):
            changes.setdefault(minute, {})[names[number]] = tally.most
    for (series, minute), tally in sorted(fresh.items()):
        if minute < span.until:
            changes.setdefault(max(minute, span.since), {})[series] = tally.most
    for start in range(span.since, span.until, span.step):
        for minute in range(start, start + span.step) if changes else ():
            standing |= changes.pop(minute, {})
        if standing:
            yield _point(start, level(sum(standing.values())))


def _point(minute: int, tally: Tally) -> Point:
    p50, p99 = tally.quantile(0.5), tally.quantile(0.99)
    return Point(moment_of(minute), tally.samples, tally.sum, tally.least, tally.most, p50, p99)


def minute_of(moment: datetime) -> int:
    """Minutes since 1970."""
    return int(moment.timestamp() // 60)


def moment_of(minute: int) -> datetime:
    return datetime.fromtimestamp(minute * 60, UTC)


def level(value: float) -> Tally:
    return Tally(1, value, value, value)
