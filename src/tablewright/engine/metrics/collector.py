"""Metrics by minute, kept for 14 days in the store, with CloudWatch's names.

A request adds samples: a metric's key and a value. The values of each key are appended to a list, since requests run on
several threads and an append is atomic without a lock; they are summed when a list is long, or by the maintenance
thread. Once a minute that thread writes the sums, so a crash loses the running minute at most; `close` writes the rest.
Must hold: a request executes no statement and waits for no lock; a sample counts once, in the minute it was made in.
Gauges (item counts, provisioned units) are written when they change, and hourly: each is valid until the next point.
Elsewhere: the names (names.py), sums and quantiles (histogram.py), periods (query.py), SQL (store.py), Prometheus
(prometheus.py), where samples are made (transaction.py, throughput/token_buckets.py, errors.py).
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from tablewright.engine.background.session import Session
from tablewright.engine.catalog import Catalog
from tablewright.engine.metrics.histogram import Histogram
from tablewright.engine.metrics.names import LATENCY, METRICS, MetricKey, Sample, metric_named
from tablewright.engine.metrics.query import (
    MINUTE,
    MinuteHistograms,
    PeriodRange,
    Point,
    SeriesFilter,
    gauge,
    gauges,
    minute_of,
    moment_of,
    points_in,
)
from tablewright.engine.metrics.store import Series, add_points, all_series, prune_points
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.world import World, machine_time

RETENTION = timedelta(days=14)
# A list with this many latencies is summed by the next request of its kind.
UNSUMMED_TIMES = 4096
CLOCK_SECONDS = 0.02
# Small enough that a write waits a few milliseconds at most.
FLUSHED_POINTS = 100
PRUNED_POINTS = 500
FLUSHED_STEPS = 5
GAUGE_MINUTES = 60

N = TypeVar("N", int, float)
Write: TypeAlias = Callable[[Callable[[WriteTransaction], Any]], Any]
Look: TypeAlias = Callable[[Callable[[Any], Any]], Any]


class MetricsSnapshot(NamedTuple):
    """The metrics of one region: sums since its engine was opened, and gauges as they are now."""

    region: str
    sums: Mapping[Series, Histogram]
    gauges: Mapping[Series, float]


class MetricsCollector:
    """The metrics of an open engine. `series` reads them, `record` adds a value, `snapshot` is for Prometheus."""

    def __init__(self, session: Session, world: World) -> None:
        self._session, self._world = session, world
        # The values of the running minute that are not summed yet: for each key its values, and for each verb the
        # microseconds of its requests. The list objects are never replaced, so that no thread appends to a stale one.
        self._cells: dict[MetricKey, tuple[list[float], dict[str, list[int]]]] = {}
        self._minute = 0
        self._since = self._until = moment_of(0)
        # The machine's clock is read now and then; the clock of a test, each time.
        self._check_seconds = CLOCK_SECONDS if world.now is machine_time else 0.0
        self._next_check = 0.0
        # Held while values are summed, never while waiting for something.
        self._adding = threading.Lock()
        # Held while sums are written: readers of store and sums wait for it.
        self._flushing = threading.Lock()
        self._sums: MinuteHistograms = {}
        self._moving: MinuteHistograms = {}  # being written to the store
        self._totals: dict[Series, Histogram] = {}
        self._flushed = minute_of(world.now())
        self._is_behind = False
        self._pruned = 0
        self._gauges: dict[Series, tuple[float, int]] = {}
        self._catalog: Catalog | None = None

    # --- recording ---

    def record_request(self, verb: str, begun: float, samples: Sequence[Sample]) -> None:
        """Add the samples of a request that began at perf_counter `begun`; without a verb it was refused."""
        now = perf_counter()
        if now >= self._next_check:
            self._check_minute(now)
        if len(samples) == 1 and verb:
            key, value = samples[0]
            try:
                values, times = self._cells[key]
                taken = times[verb]
            except KeyError:
                values, times = self._cells.setdefault(key, ([], {}))
                taken = times.setdefault(verb, [])
            values.append(value)
            taken.append(int((now - begun) * 1e6))
            if len(taken) >= UNSUMMED_TIMES:
                self._add_up()
        else:
            self._record_many(verb, int((now - begun) * 1e6), samples)

    def record_group(self, begun: float, samples: Sequence[Sample], done: Sequence[tuple[str, int]]) -> None:
        """The same for requests that shared a commit, and so took equally long: each with the end of its samples."""
        now = perf_counter()
        if now >= self._next_check:
            self._check_minute(now)
        us, first = int((now - begun) * 1e6), 0
        for verb, end in done:
            self._record_many(verb, us, samples[first:end])
            first = end

    def _record_many(self, verb: str, us: int, samples: Sequence[Sample]) -> None:
        cells = self._cells
        timed: list[str] = []
        for key, value in samples:
            cell = cells.get(key)
            if cell is None:
                cell = cells.setdefault(key, ([], {}))
            cell[0].append(value)
            if verb and key[1] not in timed:
                timed.append(key[1])
                taken = cell[1].get(verb)
                if taken is None:
                    taken = cell[1].setdefault(verb, [])
                taken.append(us)
                if len(taken) >= UNSUMMED_TIMES:
                    self._add_up()

    def record(
        self, metric: str, value: float, *, table: str = "", index: str = "", detail: str = ""
    ) -> None:
        """Add a value that was measured outside of a request; `detail` is the metric's own dimension."""
        key = metric_named(metric).name, table, index, detail
        self.record_request("", 0.0, [(key, value)])

    def _check_minute(self, now: float) -> None:
        """Check whether another minute has begun: values added so far belong to the one before."""
        self._next_check = now + self._check_seconds
        moment = self._world.now()
        if not self._since <= moment < self._until:
            with self._adding:
                self._add_values()
                self._minute = minute_of(moment)
                self._since, self._until = moment_of(self._minute), moment_of(self._minute + 1)

    def _add_up(self) -> None:
        # If another thread is summing, it or a later call includes these values as well.
        if self._adding.acquire(blocking=False):
            try:
                self._add_values()
            finally:
                self._adding.release()

    def _add_values(self) -> None:
        minute = self._minute
        for key, (values, times) in list(self._cells.items()):
            taken = _drained(values)
            if taken:
                histogram = self._histogram(Series(*key), minute)
                if METRICS[key[0]].kind == "time":
                    for value in taken:
                        histogram.add_time(value)
                else:
                    histogram.add_all(taken)
            for verb, each in list(times.items()):
                counted = Counter(_drained(each))
                if counted:
                    histogram = self._histogram(Series(LATENCY, key[1], "", verb), minute)
                    for us, count in counted.items():
                        histogram.add_time(us / 1000, count)

    def _histogram(self, series: Series, minute: int) -> Histogram:
        return self._sums.setdefault((series, minute), Histogram())

    # --- into the store ---

    def is_due(self, tables: Catalog) -> bool:
        """Whether there is something to write: a minute has ended since the last flush, or that was interrupted."""
        if minute_of(self._world.now()) == self._flushed:
            return self._is_behind
        noted = any(values for values, _ in list(self._cells.values()))
        return noted or bool(self._sums) or tables is not self._catalog

    def flush(self, write: Write | None = None) -> None:
        """Write all sums, and delete points older than 14 days.

        `write` is passed by an engine that is closing, whose session is already closed.
        """
        while self.flush_batch(write):
            pass

    def flush_batch(self, write: Write | None = None) -> bool:
        """A few steps of `flush`, so that other maintenance is not delayed; False when nothing is left."""
        fn: Look = write or self._session.read
        write = write or self._session.write
        with self._flushing:
            self._flushed = minute_of(self._world.now())
            with self._adding:
                self._add_values()
            if not self._is_behind:
                self._note_gauges(*fn(_gauges_now))
            for _ in range(FLUSHED_STEPS):
                if not self._take():
                    self._is_behind = self._prune(write)
                    return self._is_behind
                self._move(write)
            self._is_behind = True
            return True

    def _take(self) -> bool:
        """Move a batch of sums aside to be written; new samples begin new sums."""
        with self._adding:
            self._moving = dict(islice(self._sums.items(), FLUSHED_POINTS))
            for key in self._moving:
                del self._sums[key]
        return bool(self._moving)

    def _move(self, write: Write) -> None:
        points = [(series, minute, histogram) for (series, minute), histogram in self._moving.items()]
        try:
            write(lambda txn: add_points(txn.rows, points))
        except BaseException:
            with self._adding:
                for (series, minute), histogram in self._moving.items():
                    if METRICS[series.metric].kind == "level":
                        self._sums.setdefault((series, minute), histogram)
                    else:
                        self._histogram(series, minute).merge(histogram)
                self._moving = {}
            raise
        with self._adding:
            for (series, _), histogram in self._moving.items():
                self._totals.setdefault(series, Histogram()).merge(histogram)
            self._moving = {}

    def _prune(self, write: Write) -> bool:
        """One step of deleting old points; returns whether there are more."""
        hour = self._flushed // 60
        if hour == self._pruned:
            return False
        before = minute_of(self._world.now() - RETENTION)
        if write(lambda txn: prune_points(txn.rows, before, PRUNED_POINTS)):
            return True
        self._pruned = hour
        return False

    def _note_gauges(self, tables: Catalog, now: dict[Series, float]) -> None:
        """Add points for gauges that changed since they were written, or were written an hour ago."""
        minute = self._flushed
        gone = {series: 0.0 for series in self._gauges if series not in now}
        with self._adding:
            for series, value in (gone | now).items():
                known, at = self._gauges.get(series, (None, 0))
                if known != value or minute - at >= GAUGE_MINUTES:
                    self._gauges[series] = value, minute
                    self._sums[series, minute] = gauge(value)
        for series in gone:
            del self._gauges[series]
        self._catalog = tables

    # --- reading ---

    def series(
        self,
        metric: str,
        *,
        table: str | None = None,
        index: str = "",
        operation: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        period: timedelta | None = MINUTE,
    ) -> list[Point]:
        """A metric over time, oldest first: one point for each period that has data (None: one for the whole time).

        Without `table` the sum over all tables, without `index` the table itself, without `operation` (or whatever
        the metric's own dimension is) the sum over all of them. By default the last three hours.
        """
        end = moment_of(minute_of(self._world.now()) + 1)
        until = min(until or end, end)
        span = PeriodRange.of(since or until - timedelta(hours=3), until, period or MINUTE)
        if period is None:
            span = span._replace(step=max(span.until - span.since, 1))
        wanted = SeriesFilter(metric_named(metric).name, table, index, operation)
        with self._flushing:
            with self._adding:
                self._add_values()
                fresh = {key: sums.copy() for key, sums in self._sums.items() if wanted.matches(key[0])}
            return self._session.read(lambda txn: list(points_in(txn.rows, wanted, span, fresh)))

    def known(self) -> list[Series]:
        """Every series that has a point."""
        with self._flushing:
            with self._adding:
                self._add_values()
                fresh = {series for series, _ in self._sums}
            stored = self._session.read(lambda txn: set(all_series(txn.rows).values()))
        return sorted(stored | fresh)

    def snapshot(self) -> MetricsSnapshot:
        """All sums since the engine was opened, and gauges as they are now."""
        with self._adding:
            self._add_values()
            totals = {series: histogram.copy() for series, histogram in self._totals.items()}
            for (series, _), histogram in chain(self._moving.items(), self._sums.items()):
                totals.setdefault(series, Histogram()).merge(histogram)
        region, now = self._session.read(lambda txn: (txn.place.region, _gauges_now(txn)[1]))
        sums = {series: each for series, each in totals.items() if METRICS[series.metric].kind != "level"}
        return MetricsSnapshot(region, sums, now)


def _drained(values: list[N]) -> list[N]:
    """Take the values out of the list. Other threads may append at the same time: only what was copied is removed."""
    count = len(values)
    if not count:
        return []
    taken = values[:count]
    del values[:count]
    return taken


def _gauges_now(seen: ReadTransaction | WriteTransaction) -> tuple[Catalog, dict[Series, float]]:
    return seen.tables, dict(gauges(seen.rows, seen.tables))
