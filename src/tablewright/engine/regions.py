"""Several regions as stores of one process, or of several, and the lines between them.

    with Regions.open("data", home="us-east-1", also=["eu-west-1"]) as regions:
        regions["us-east-1"].call("UpdateTable", {"TableName": "pets", "ReplicaUpdates": [...]})

The home region's store is the directory itself, so that a store that had one region only is one still; each other
region has a store below it. A region in another process is a peer: somebody to ask (wire/peers.py).
Must hold: each region asks the others for what was written there, on a line of its own, so that one that does not
answer keeps nobody waiting for the rest; closing leaves nothing half done.
Elsewhere: the lines (replica_lines.py), what is asked and taken over (replica_pulls.py), promoting and comparing
(replica_control.py).
"""

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

import orjson

from tablewright.engine.catalog import Catalog
from tablewright.engine.doors import EngineClosed
from tablewright.engine.engine import Engine
from tablewright.engine.errors import ServiceError, fault
from tablewright.engine.journal import microseconds
from tablewright.engine.replica_lease import Lease
from tablewright.engine.replica_lines import Ask, Line, PeerUnreachable
from tablewright.engine.replica_pulls import Arrivals, visit
from tablewright.engine.replicas import Lag, lags
from tablewright.engine.shapes import Request
from tablewright.engine.storage import REGIONS
from tablewright.engine.verify_replicas import read_marks, read_too_far
from tablewright.world import machine_time

log = logging.getLogger("tablewright.regions")

PERIOD = 0.1
RETRY_SECONDS = 1.0
# The least lease that is worth while: it is renewed every PERIOD.
LEASE_SECONDS = 1.0


class RegionsMistake(ValueError):
    """Regions that cannot be: a name that is none, or one that comes twice, or a store that is another region's."""


class _Follower:
    """One region reading along another, in a thread of its own."""

    def __init__(self, engine: Engine, line: Line) -> None:
        self._engine, self.line = engine, line
        self._arrivals = Arrivals()
        self._visiting = threading.Lock()
        self._stop = threading.Event()
        self._is_reachable = True
        self._refusal: str | None = None  # what the other region says to us, if it says no
        self._thread: threading.Thread | None = None

    def start(self, period: float) -> None:
        name = f"tablewright-{self.line.reader}-follows-{self.line.source}"
        self._thread = threading.Thread(target=self._run, args=(period,), name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def join(self) -> None:
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._thread.join()

    def visit(self) -> bool:
        """One round; False when nothing came of it, or the other region does not answer."""
        engine, line = self._engine, self.line
        before = microseconds(engine.now() - line.delay) if line.delay else None
        with self._visiting:
            try:
                has_done = visit(engine.doors, line.source, line, before, self._arrivals)
            except PeerUnreachable as trouble:
                if self._is_reachable:
                    log.warning("region unreachable", extra={"region": line.source, "why": str(trouble)})
                self._is_reachable = False
                return False
        if not self._is_reachable:
            log.warning("region reachable again", extra={"region": line.source})
        self._is_reachable, self._refusal = True, None
        return has_done

    def _run(self, period: float) -> None:
        while not self._stop.is_set():
            pause = period
            try:
                while not self._stop.is_set() and self.visit():
                    pass
                pause = period if self._is_reachable else max(period, RETRY_SECONDS)
            except EngineClosed:
                return
            except ServiceError as refusal:
                if self._refusal != refusal.message:
                    why = {"mistake": refusal.name, "why": refusal.message}
                    log.error("region refused", extra={"region": self.line.source, **why})
                self._refusal = refusal.message
                pause = RETRY_SECONDS
            except Exception as error:
                log.error("following failed", extra={"region": self.line.source, **fault(error)})
                pause = RETRY_SECONDS
            self._stop.wait(pause)


class Regions:
    """Engines of several regions, each following the others; close it, or use it as a context.

    `peers` are regions elsewhere. Without a `period` nobody follows anybody until `settle` is called. With a `lease` a
    writer that is out of touch with the others for so many seconds takes no writes (replica_lease.py); it is to be the
    same in every region.
    """

    def __init__(
        self,
        engines: Mapping[str, Engine],
        home: str,
        peers: Mapping[str, Ask] | None = None,
        period: float | None = PERIOD,
        lease: float | None = None,
    ) -> None:
        self.engines, self.home, self.peers = dict(engines), home, dict(peers or {})
        _refuse_names([*self.engines, *self.peers])
        self._followers = [
            _Follower(engine, Line(reader, source, ask))
            for reader, engine in self.engines.items()
            for source, ask in self._sources(reader)
        ]
        for region, engine in self.engines.items():
            mine = [line for line in self.lines() if line.reader == region]
            engine.place = replace(
                engine.place,
                neighbours=self._neighbours(region),
                lines=mine,
                lease=None if lease is None else _lease(engine, lease),
            )
            engine.follow = self._follow_of(region)
        if period is not None:
            for follower in self._followers:
                follower.start(period)

    @classmethod
    def open(
        cls,
        path: str | Path = ":memory:",
        *,
        home: str = "us-east-1",
        also: Sequence[str] = (),
        peers: Mapping[str, Ask] | None = None,
        period: float | None = PERIOD,
        lease: float | None = None,
        **options: Any,
    ) -> Self:
        """Open the home region's store and one for each further region; `options` go to every engine."""
        _refuse_names([home, *also, *(peers or {})])
        with ExitStack() as stack:
            engines = {
                region: stack.enter_context(
                    Engine.open(store_of(path, home, region), region=region, **options)
                )
                for region in (home, *also)
            }
            for region, engine in engines.items():
                refuse_elsewhere(engine, store_of(path, home, region))
            regions = cls(engines, home, peers, period, lease)
            stack.pop_all()
            return regions

    def _sources(self, reader: str) -> Iterator[tuple[str, Ask]]:
        for region, engine in self.engines.items():
            if region != reader:
                yield region, asking(engine)
        yield from self.peers.items()

    def _neighbours(self, region: str) -> dict[str, Callable[[], Catalog | None]]:
        here = {other: _catalog_of(engine) for other, engine in self.engines.items() if other != region}
        return {**here, **{other: lambda: None for other in self.peers}}

    def _follow_of(self, region: str) -> Callable[[], bool]:
        mine = [one for one in self._followers if one.line.reader == region]
        # A list, not any(): each of them is to be visited.
        return lambda: any([follower.visit() for follower in mine])

    # --- the regions ---

    def __getitem__(self, region: str) -> Engine:
        return self.engines[region]

    def __iter__(self) -> Iterator[str]:
        return iter(self.engines)

    def line(self, reader: str, source: str) -> Line:
        """The line on which one region reads from another."""
        for follower in self._followers:
            if (follower.line.reader, follower.line.source) == (reader, source):
                return follower.line
        raise KeyError(f"{reader} does not read from {source}")

    def lines(self) -> list[Line]:
        return [follower.line for follower in self._followers]

    def ask(self, region: str) -> Ask:
        """How to ask a region: of this process, or of another."""
        return asking(self.engines[region]) if region in self.engines else self.peers[region]

    def lag(self) -> list[Lag]:
        """How far behind every region is with what was written in those of this process."""
        return [
            lag
            for engine in self.engines.values()
            for lag in engine.doors.read(lambda reading: lags(reading.rows, reading.tables, reading.now()))
        ]

    def settle(self) -> None:
        """Wait until no region of this process can learn anything from another, and none owes or is due anything."""
        while any([follower.visit() for follower in self._followers]):
            for engine in self.engines.values():
                engine.settle()
        for engine in self.engines.values():
            engine.settle()
        if any([follower.visit() for follower in self._followers]):
            self.settle()

    def verify(self) -> list[str]:
        """Every broken invariant of each store, and of what one says of another."""
        broken = [f"{region}: {text}" for region, engine in self.engines.items() for text in engine.verify()]
        marks = [
            mark
            for engine in self.engines.values()
            for mark in engine.doors.read(
                lambda reading: list(read_marks(reading.rows, reading.tables.values()))
            )
        ]
        return broken + list(read_too_far(marks))

    def close(self) -> None:
        """Stop following, then close every store."""
        for follower in self._followers:
            follower.stop()
        for follower in self._followers:
            follower.join()
        for engine in self.engines.values():
            engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _lease(engine: Engine, seconds: float) -> Lease:
    if seconds < LEASE_SECONDS:
        raise RegionsMistake(f"a lease is {LEASE_SECONDS:g} seconds or more, not {seconds:g}")
    is_real = engine.doors.read(lambda reading: reading.world.now is machine_time)
    # A clock that somebody moves is the only one there is.
    return Lease(seconds, engine.now, monotonic if is_real else lambda: engine.now().timestamp())


def asking(engine: Engine) -> Ask:
    """How to ask an engine of this process. Through JSON, so that nothing is shared that would not be over a wire."""

    def ask(verb: str, request: Request) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = orjson.loads(engine.peer(verb, orjson.loads(orjson.dumps(request))))
        except EngineClosed as closed:
            raise PeerUnreachable(f"{engine.place.region} is closed") from closed
        return answer

    return ask


def _catalog_of(engine: Engine) -> Callable[[], Catalog | None]:
    return lambda: engine.tables


def store_of(path: str | Path, home: str, region: str) -> str | Path:
    """Where a region's store is."""
    if str(path) == ":memory:" or region == home:
        return path
    return Path(path) / REGIONS / region


def _refuse_names(names: Sequence[str]) -> None:
    for name in names:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            raise RegionsMistake(f"{name!r} is no region; write it as us-east-1")
        if names.count(name) > 1:
            raise RegionsMistake(f"the region {name} comes twice; each has one store")


def home_of(engine: Engine) -> str | None:
    """The region of a store, as its oldest table has it in its ARN; None while it has no table."""
    oldest = min(engine.tables.values(), key=lambda table: table.number, default=None)
    return oldest.arn.split(":")[3] if oldest is not None else None


def refuse_elsewhere(engine: Engine, path: str | Path) -> None:
    """Refuse a store of another region than the one it was opened for: new tables would have the wrong ARN."""
    region, named = home_of(engine), engine.place.region
    if region not in (None, named):
        raise RegionsMistake(
            f"the store in {path} is {region}'s, not {named}'s: `engine serve --region {region}` serves it; or name "
            "another directory"
        )
