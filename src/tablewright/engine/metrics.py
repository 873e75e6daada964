"""What the engine measures, minute by minute, kept for 14 days: CloudWatch's figures, in the store.

A request leaves marks: which figure of what, and a value. The values of each figure go into a list as they come, since
requests run on several threads and appending is done whole without a lock; whoever fills one up, or the keeper, adds
them up. Once a minute the keeper writes what has come together, so a crash loses the running minute at most; `close`
writes all there is.
Must hold: a request costs no statement and waits for no lock; a mark counts in the minute it was made in, once.
Levels (item counts, provisioned units) are written when they change, and hourly: they stand until the next point.
Elsewhere: the names (metric_names.py), sums and quantiles (metric_values.py), periods (metric_reading.py), SQL
(storage_metrics.py), Prometheus (metric_text.py), who leaves marks (writing.py, throttle.py, metric_refusals.py).
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from tablewright.engine.catalog import Catalog
from tablewright.engine.doors import Doors
from tablewright.engine.metric_levels import levels
from tablewright.engine.metric_names import LATENCY, METRICS, Key, Mark, metric_named
from tablewright.engine.metric_reading import (
    MINUTE,
    Point,
    Span,
    Sums,
    Wanted,
    level,
    minute_of,
    moment_of,
    points_in,
)
from tablewright.engine.metric_text import Told, prometheus
from tablewright.engine.metric_values import Tally
from tablewright.engine.storage_metrics import Series, add_points, all_series, prune_points
from tablewright.engine.writing import Reading, Writing
from tablewright.world import World, machine_time

__all__ = ["KEPT", "Metrics", "Point"]

KEPT = timedelta(days=14)
# How many times of one kind of request are left unsummed before the one that comes next does it.
ENOUGH = 4096
GLANCE_SECONDS = 0.02
# Small enough that a write waits a few milliseconds at most.
FLUSHED_POINTS = 100
PRUNED_POINTS = 500
FLUSHED_STEPS = 5
LEVEL_MINUTES = 60

N = TypeVar("N", int, float)
Write: TypeAlias = Callable[[Callable[[Writing], Any]], Any]
Look: TypeAlias = Callable[[Callable[[Any], Any]], Any]


class Metrics:
    """The figures of an open engine. `series` reads them, `record` adds to them, `text` tells them to Prometheus."""

    def __init__(self, doors: Doors, world: World) -> None:
        self._doors, self._world = doors, world
        # What the running minute has brought and nobody has added up yet: for each figure its values, and for each
        # verb the microseconds of the requests that left them. Lists stay where they are, so that nobody appends to
        # one that was taken away.
        self._cells: dict[Key, tuple[list[float], dict[str, list[int]]]] = {}
        self._minute = 0
        self._since = self._until = moment_of(0)
        # The machine's clock is looked at now and then; one that somebody moves, each time.
        self._between = GLANCE_SECONDS if world.now is machine_time else 0.0
        self._glance = 0.0
        self._adding = (
            threading.Lock()
        )  # whoever adds up; held for a moment, never while something is awaited
        self._flushing = threading.Lock()  # whoever moves sums into the store; readers of both wait for it
        self._sums: Sums = {}
        self._moving: Sums = {}  # on their way into the store
        self._totals: dict[Series, Tally] = {}
        self._flushed = minute_of(world.now())
        self._is_behind = False
        self._pruned = 0
        self._levels: dict[Series, tuple[float, int]] = {}
        self._catalog: Catalog | None = None

    # --- taking notes ---

    def note(self, verb: str, begun: float, marks: Sequence[Mark]) -> None:
        """Remember a request that began at that time of perf_counter; without a verb, one that was refused."""
        now = perf_counter()
        if now >= self._glance:
            self._look(now)
        if len(marks) == 1 and verb:
            key, value = marks[0]
            try:
                values, times = self._cells[key]
                taken = times[verb]
            except KeyError:
                values, times = self._cells.setdefault(key, ([], {}))
                taken = times.setdefault(verb, [])
            values.append(value)
            taken.append(int((now - begun) * 1e6))
            if len(taken) >= ENOUGH:
                self._add_up()
        else:
            self._note_many(verb, int((now - begun) * 1e6), marks)

    def note_group(self, begun: float, marks: Sequence[Mark], done: Sequence[tuple[str, int]]) -> None:
        """The same for requests that shared a commit, and so took equally long: each with the end of its marks."""
        now = perf_counter()
        if now >= self._glance:
            self._look(now)
        us, first = int((now - begun) * 1e6), 0
        for verb, end in done:
            self._note_many(verb, us, marks[first:end])
            first = end

    def _note_many(self, verb: str, us: int, marks: Sequence[Mark]) -> None:
        cells = self._cells
        timed: list[str] = []
        for key, value in marks:
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
                if len(taken) >= ENOUGH:
                    self._add_up()

    def record(
        self, metric: str, value: float, *, table: str = "", index: str = "", detail: str = ""
    ) -> None:
        """Add a value that was measured outside of a request; `detail` is the metric's own dimension."""
        key = metric_named(metric).name, table, index, detail
        self.note("", 0.0, [(key, value)])

    def _look(self, now: float) -> None:
        """See whether another minute has begun: what was noted so far belongs to the one before."""
        self._glance = now + self._between
        moment = self._world.now()
        if not self._since <= moment < self._until:
            with self._adding:
                self._add_values()
                self._minute = minute_of(moment)
                self._since, self._until = moment_of(self._minute), moment_of(self._minute + 1)

    def _add_up(self) -> None:
        # If another thread is at it, it will come to our values as well, or somebody after it.
        if self._adding.acquire(blocking=False):
            try:
                self._add_values()
            finally:
                self._adding.release()

    def _add_values(self) -> None:
        minute = self._minute
        for key, (values, times) in list(self._cells.items()):
            taken = _taken(values)
            if taken:
                tally = self._tally(Series(*key), minute)
                if METRICS[key[0]].kind == "time":
                    for value in taken:
                        tally.add_time(value)
                else:
                    tally.add_all(taken)
            for verb, each in list(times.items()):
                counted = Counter(_taken(each))
                if counted:
                    tally = self._tally(Series(LATENCY, key[1], "", verb), minute)
                    for us, count in counted.items():
                        tally.add_time(us / 1000, count)

    def _tally(self, series: Series, minute: int) -> Tally:
        key = series, minute
        tally = self._sums.get(key)
        if tally is None:
            tally = self._sums[key] = Tally()
        return tally

    # --- into the store ---

    def is_due(self, tables: Catalog) -> bool:
        """Whether there is something to write: a minute has ended since the last flush, or that was broken off."""
        if minute_of(self._world.now()) == self._flushed:
            return self._is_behind
        noted = any(values for values, _ in list(self._cells.values()))
        return noted or bool(self._sums) or tables is not self._catalog

    def flush(self, write: Write | None = None) -> None:
        """Write all that has come together, and forget what is older than 14 days.

        `write` is given by an engine that is closing, whose doors are closed already.
        """
        while self.flush_some(write):
            pass

    def flush_some(self, write: Write | None = None) -> bool:
        """A few steps of it, so that the keeper comes to its other work as well; False when nothing is left."""
        look: Look = write or self._doors.read
        write = write or self._doors.write
        with self._flushing:
            self._flushed = minute_of(self._world.now())
            with self._adding:
                self._add_values()
            if not self._is_behind:
                self._note_levels(*look(_levels_now))
            for _ in range(FLUSHED_STEPS):
                if not self._take():
                    self._is_behind = self._prune(write)
                    return self._is_behind
                self._move(write)
            self._is_behind = True
            return True

    def _take(self) -> bool:
        """Put some sums aside to be written; marks that come meanwhile begin new ones."""
        with self._adding:
            self._moving = dict(islice(self._sums.items(), FLUSHED_POINTS))
            for key in self._moving:
                del self._sums[key]
        return bool(self._moving)

    def _move(self, write: Write) -> None:
        points = [(series, minute, tally) for (series, minute), tally in self._moving.items()]
        try:
            write(lambda writing: add_points(writing.rows, points))
        except BaseException:
            with self._adding:
                for (series, minute), tally in self._moving.items():
                    if METRICS[series.metric].kind == "level":
                        self._sums.setdefault((series, minute), tally)
                    else:
                        self._tally(series, minute).merge(tally)
                self._moving = {}
            raise
        with self._adding:
            for (series, _), tally in self._moving.items():
                self._totals.setdefault(series, Tally()).merge(tally)
            self._moving = {}

    def _prune(self, write: Write) -> bool:
        """One step of forgetting; whether there is more."""
        hour = self._flushed // 60
        if hour == self._pruned:
            return False
        before = minute_of(self._world.now() - KEPT)
        if write(lambda writing: prune_points(writing.rows, before, PRUNED_POINTS)):
            return True
        self._pruned = hour
        return False

    def _note_levels(self, tables: Catalog, now: dict[Series, float]) -> None:
        """Levels that have changed since they were written, or were written an hour ago."""
        minute = self._flushed
        gone = {series: 0.0 for series in self._levels if series not in now}
        with self._adding:
            for series, value in (gone | now).items():
                known, at = self._levels.get(series, (None, 0))
                if known != value or minute - at >= LEVEL_MINUTES:
                    self._levels[series] = value, minute
                    self._sums[series, minute] = level(value)
        for series in gone:
            del self._levels[series]
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
        period: timedelta = MINUTE,
    ) -> list[Point]:
        """A figure over time, one point for each period of which something is known, the oldest first.

        Without `table` of all tables together, without `index` of the table itself, without `operation` (or whatever
        the metric's own dimension is) of all of them. The last three hours unless told.
        """
        span = Span.of(*self._times_asked(since, until), period)
        return self._read(Wanted(metric_named(metric).name, table, index, operation), span)

    def whole(
        self,
        metric: str,
        *,
        table: str | None = None,
        index: str = "",
        operation: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Point | None:
        """The same, all of the time as one point; None if nothing is known of it."""
        span = Span.of(*self._times_asked(since, until), MINUTE)
        wanted = Wanted(metric_named(metric).name, table, index, operation)
        found = self._read(wanted, span._replace(step=max(span.until - span.since, 1)))
        return found[0] if found else None

    def _times_asked(self, since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
        end = moment_of(minute_of(self._world.now()) + 1)
        until = min(until or end, end)
        return since or until - timedelta(hours=3), until

    def _read(self, wanted: Wanted, span: Span) -> list[Point]:
        with self._flushing:
            with self._adding:
                self._add_values()
                fresh = {key: _copied(tally) for key, tally in self._sums.items() if wanted.takes(key[0])}
            return self._doors.read(lambda reading: list(points_in(reading.rows, wanted, span, fresh)))

    def known(self) -> list[Series]:
        """Every series of which there is a point."""
        with self._flushing:
            with self._adding:
                self._add_values()
                fresh = {series for series, _ in self._sums}
            stored = self._doors.read(lambda reading: set(all_series(reading.rows).values()))
        return sorted(stored | fresh)

    def told(self) -> Told:
        """All figures since the engine was opened, and levels as they are now."""
        with self._adding:
            self._add_values()
            totals = {series: _copied(tally) for series, tally in self._totals.items()}
            for (series, _), tally in chain(self._moving.items(), self._sums.items()):
                totals.setdefault(series, Tally()).merge(tally)
        region, now = self._doors.read(lambda reading: (reading.place.region, _levels_now(reading)[1]))
        sums = {series: tally for series, tally in totals.items() if METRICS[series.metric].kind != "level"}
        return Told(region, sums, now)

    def text(self) -> bytes:
        """The same in Prometheus' text format."""
        return prometheus([self.told()])


def _taken(values: list[N]) -> list[N]:
    """What is in the list, and out of it from now on. Others may append meanwhile: what is copied is removed."""
    count = len(values)
    if not count:
        return []
    taken = values[:count]
    del values[:count]
    return taken


def _copied(tally: Tally) -> Tally:
    return Tally(tally.samples, tally.sum, tally.least, tally.most, dict(tally.spread))


def _levels_now(seen: Reading | Writing) -> tuple[Catalog, dict[Series, float]]:
    return seen.tables, dict(levels(seen.rows, seen.tables))
