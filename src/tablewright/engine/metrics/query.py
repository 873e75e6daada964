"""Reading metrics over time: minutes merged into periods; a gauge has its last value until the next point.

Must hold: points in the store and points not written yet are returned together. Elsewhere: the caller (collector.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeAlias

from tablewright.engine.catalog import Catalog, Index, Table
from tablewright.engine.metrics.histogram import Histogram
from tablewright.engine.metrics.names import (
    ITEM_COUNT,
    METRICS,
    MOST_ON_DEMAND_READ,
    MOST_ON_DEMAND_WRITE,
    PROVISIONED_READ,
    PROVISIONED_WRITE,
    SIZE_BYTES,
)
from tablewright.engine.metrics.store import Series, all_series, last_point, points_of
from tablewright.engine.storage.rows import RowReader, index_name, table_name

MINUTE = timedelta(minutes=1)
# By series and minute.
MinuteHistograms: TypeAlias = dict[tuple[Series, int], Histogram]


class Point(NamedTuple):
    """A metric in one period. Only times have quantiles."""

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
class SeriesFilter:
    """Which series to read; None matches any."""

    metric: str
    table: str | None
    index: str
    detail: str | None

    def matches(self, series: Series) -> bool:
        return (
            series.metric == self.metric
            and series.index_name == self.index
            and (self.table is None or series.table == self.table)
            and (self.detail is None or series.detail == self.detail)
        )


class PeriodRange(NamedTuple):
    """Minutes [since, until) in periods of so many minutes; both ends are whole periods."""

    since: int
    until: int
    step: int

    @classmethod
    def of(cls, since: datetime, until: datetime, period: timedelta) -> "PeriodRange":
        step, odd = divmod(period, MINUTE)
        if step < 1 or odd:
            raise ValueError(f"a period is one or more whole minutes, not {period}")
        first = minute_of(since) // step * step
        end = -(-minute_of(until - timedelta(microseconds=1) + MINUTE) // step) * step
        return cls(first, end, step)


def points_in(
    rows: RowReader, wanted: SeriesFilter, span: PeriodRange, fresh: MinuteHistograms
) -> Iterator[Point]:
    """The points of the matching series, from the store and from `fresh`, which is not written yet."""
    numbers = [number for number, series in all_series(rows).items() if wanted.matches(series)]
    if METRICS[wanted.metric].kind == "level":
        yield from _gauge_points(rows, numbers, span, fresh)
        return
    periods: dict[int, Histogram] = {}
    for minute, histogram in _found(rows, numbers, span, fresh):
        start = span.since + (minute - span.since) // span.step * span.step
        periods.setdefault(start, Histogram()).merge(histogram)
    for minute in sorted(periods):
        yield _point(minute, periods[minute])


def _found(
    rows: RowReader, numbers: Sequence[int], span: PeriodRange, fresh: MinuteHistograms
) -> Iterator[tuple[int, Histogram]]:
    for number in numbers:
        yield from points_of(rows, number, span.since, span.until)
    for (_, minute), histogram in fresh.items():
        if span.since <= minute < span.until:
            yield minute, histogram


def _gauge_points(
    rows: RowReader, numbers: Sequence[int], span: PeriodRange, fresh: MinuteHistograms
) -> Iterator[Point]:
    """The sum of the gauges at the end of each period; a gauge has its last value until its next point."""
    changes: dict[int, dict[object, float]] = {}
    standing: dict[object, float] = {}
    names = all_series(rows)
    for number in numbers:
        before = last_point(rows, number, span.since)
        if before is not None:
            standing[names[number]] = before[1].most
        for minute, histogram in points_of(rows, number, span.since, span.until):
            changes.setdefault(minute, {})[names[number]] = histogram.most
    for (series, minute), histogram in sorted(fresh.items()):
        if minute < span.until:
            changes.setdefault(max(minute, span.since), {})[series] = histogram.most
    for start in range(span.since, span.until, span.step):
        for minute in range(start, start + span.step) if changes else ():
            standing |= changes.pop(minute, {})
        if standing:
            yield _point(start, gauge(sum(standing.values())))


def _point(minute: int, histogram: Histogram) -> Point:
    p50, p99 = histogram.quantile(0.5), histogram.quantile(0.99)
    return Point(
        moment_of(minute), histogram.samples, histogram.sum, histogram.least, histogram.most, p50, p99
    )


def minute_of(moment: datetime) -> int:
    """Minutes since 1970."""
    return int(moment.timestamp() // 60)


def moment_of(minute: int) -> datetime:
    return datetime.fromtimestamp(minute * 60, UTC)


def gauge(value: float) -> Histogram:
    return Histogram(1, value, value, value)


# --- gauges as they are now: items, bytes, and provisioned or allowed units ---


def gauges(rows: RowReader, tables: Catalog) -> Iterator[tuple[Series, float]]:
    """The gauges of each table and index."""
    for table in tables.values():
        yield from _gauges_of(rows, table, None)
        for index in table.indexes:
            yield from _gauges_of(rows, table, index)
        for vector in table.vectors:
            yield from _counts(rows, table, index_name(table.number, vector.number), vector.name)


def _gauges_of(rows: RowReader, table: Table, index: Index | None) -> Iterator[tuple[Series, float]]:
    owner = table_name(table.number) if index is None else index_name(table.number, index.number)
    name = "" if index is None else index.name
    yield from _counts(rows, table, owner, name)
    for metric, value in _settings(table, index or table):
        yield Series(metric, table.name, name), float(value)


def _counts(rows: RowReader, table: Table, owner: str, name: str) -> Iterator[tuple[Series, float]]:
    items, size = rows.counts(owner)
    yield Series(ITEM_COUNT, table.name, name), float(items)
    yield Series(SIZE_BYTES, table.name, name), float(size)


def _settings(table: Table, owner: Table | Index) -> Iterator[tuple[str, int]]:
    if isinstance(owner, Index) and owner.local:
        return
    if table.billing == "PROVISIONED":
        yield PROVISIONED_READ, owner.throughput.read
        yield PROVISIONED_WRITE, owner.throughput.write
        return
    most = owner.on_demand or {}
    for metric, member in (
        (MOST_ON_DEMAND_READ, "MaxReadRequestUnits"),
        (MOST_ON_DEMAND_WRITE, "MaxWriteRequestUnits"),
    ):
        if most.get(member, -1) > 0:
            yield metric, most[member]
