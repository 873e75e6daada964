"""Several regions in one process: a store for each, and the lines on which they follow each other.

    with Regions.open("data", home="us-east-1", also=["eu-west-1"]) as regions:
        regions["us-east-1"].call("UpdateTable", {"TableName": "pets", "ReplicaUpdates": [...]})
        regions.cut("us-east-1", "eu-west-1")

A line can be cut and slowed down, for tests and drills; that is not stored.
Must hold: one step of following is made at a time; closing leaves nothing half done.
Elsewhere: a step (follow.py), changing the writer (failover.py), where the stores are (storage/region_stores.py).
"""

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self

from tablewright.engine.background.session import EngineClosed
from tablewright.engine.engine import Engine
from tablewright.engine.errors import fault
from tablewright.engine.journal import microseconds
from tablewright.engine.metrics.replica_status import Lag, lags
from tablewright.engine.replication.follow import follow
from tablewright.engine.storage.region_stores import refuse_elsewhere, refuse_names, store_of
from tablewright.engine.verify.replication import read_too_far, table_marks

log = logging.getLogger("tablewright.regions")

PERIOD = 0.1
RETRY_SECONDS = 1.0


@dataclass(slots=True)
class Link:
    """The line on which `reader` follows `source`; a write that is younger than `lag` is not read yet."""

    reader: str
    source: str
    is_cut: bool = False
    lag: timedelta = timedelta(0)


class Regions:
    """The engines of several regions, following each other every `period` seconds, or in `settle` only (None)."""

    def __init__(self, engines: Mapping[str, Engine], home: str, period: float | None = PERIOD) -> None:
        refuse_names(list(engines))
        self.engines, self.home = dict(engines), home
        self.lines = [Link(reader, source) for reader in engines for source in engines if reader != source]
        catalogs = {region: partial(getattr, engine, "tables") for region, engine in engines.items()}
        for region, engine in engines.items():
            others = {other: catalog for other, catalog in catalogs.items() if other != region}
            engine.place = replace(engine.place, regions=others)
        self.following = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if period is not None and self.lines:
            name = "tablewright-regions"
            self._thread = threading.Thread(target=self._run, args=(period,), name=name, daemon=True)
            self._thread.start()

    @classmethod
    def open(
        cls,
        path: str | Path = ":memory:",
        *,
        home: str = "us-east-1",
        also: Sequence[str] = (),
        period: float | None = PERIOD,
        **options: Any,
    ) -> Self:
        """Open the home region's store and one for each further region; `options` go to every engine."""
        refuse_names([home, *also])
        with ExitStack() as stack:
            engines = {}
            for region in (home, *also):
                store = store_of(path, home, region)
                engines[region] = stack.enter_context(Engine.open(store, region=region, **options))
                refuse_elsewhere(engines[region].tables, region, store)
            regions = cls(engines, home, period)
            stack.pop_all()
            return regions

    # --- the regions and the lines between them ---

    def __getitem__(self, region: str) -> Engine:
        return self.engines[region]

    def __iter__(self) -> Iterator[str]:
        return iter(self.engines)

    def line(self, reader: str, source: str) -> Link:
        """The line on which one region follows another."""
        return next(line for line in self.lines if (line.reader, line.source) == (reader, source))

    def cut(self, *regions: str, is_cut: bool = True) -> None:
        """Cut both lines between two regions; of one region, all its lines."""
        for line in self.lines:
            if {*regions} <= {line.reader, line.source}:
                line.is_cut = is_cut

    def mend(self, *regions: str) -> None:
        """Undo `cut`."""
        self.cut(*regions, is_cut=False)

    def lag(self) -> list[Lag]:
        """How far behind every region is with each other's writes."""
        return [lag for engine in self.engines.values() for lag in engine.session.read(lags)]

    # --- following ---

    def follow(self) -> bool:
        """One step on every line; True if it changed anything."""
        return any([self.step(line) for line in self.lines])  # a list: every line takes its step

    def step(self, line: Link) -> bool:
        """One step on a line, unless it is cut or one of its regions is closed; True if it changed anything."""
        reader, source = self.engines[line.reader], self.engines[line.source]
        before = microseconds(reader.now() - line.lag) if line.lag else None
        with self.following:
            try:
                return not line.is_cut and follow(reader, source, before)
            except EngineClosed:
                return False

    def settle(self) -> None:
        """Wait until no region has anything left to read from another, and none has background work."""
        is_changed = True
        while is_changed:
            while self.follow():
                pass
            for engine in self.engines.values():
                engine.settle()
            is_changed = self.follow()

    def _run(self, period: float) -> None:
        while not self._stop.is_set():
            pause = period
            try:
                while not self._stop.is_set() and self.follow():
                    pass
            except Exception as error:
                log.error("following failed", extra=fault(error))
                pause = max(period, RETRY_SECONDS)
            self._stop.wait(pause)

    # --- the end ---

    def verify(self) -> list[str]:
        """Every broken invariant of each store, and of what one says of another."""
        broken = [f"{region}: {text}" for region, engine in self.engines.items() for text in engine.verify()]
        marks = [
            mark
            for engine in self.engines.values()
            for mark in engine.session.read(lambda one: list(table_marks(one.rows, one.tables.values())))
        ]
        return broken + list(read_too_far(marks))

    def close(self) -> None:
        """Stop following, then close every store."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        for engine in self.engines.values():
            engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
