"""The front door: `call(verb, request)`.

Must hold: an answer to a write leaves only after its commit; a request that is refused has changed nothing;
any number of threads may call.
Elsewhere: what a verb does (operations/), how writes share a commit (writer.py), what is done beside the requests
(keeper.py).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, TypeVar

import orjson

from tablewright.engine import forks, replica_peers
from tablewright.engine.autoscaling import Autoscaling
from tablewright.engine.catalog import Catalog
from tablewright.engine.doors import Closed, Doors, EngineClosed
from tablewright.engine.errors import (
    ServiceError,
    fault,
    internal_error,
    invalid,
    serialization,
    unknown_operation,
)
from tablewright.engine.journal import microseconds
from tablewright.engine.keeper import Keeper
from tablewright.engine.metric_names import Mark
from tablewright.engine.metric_refusals import disowned, failure, lost, refusal
from tablewright.engine.metrics import Metrics
from tablewright.engine.operations import READING, VERBS, Read, Write
from tablewright.engine.shapes import Request, check
from tablewright.engine.statements import only_reads
from tablewright.engine.storage import Storage
from tablewright.engine.throttle import Throttle
from tablewright.engine.transfers.bucket_routes import routed
from tablewright.engine.verify import mistakes
from tablewright.engine.writer import Group, Work, Writer
from tablewright.engine.writing import Place, Reading, Writing
from tablewright.expressions import BadExpression
from tablewright.values import BadValue, WrongJson
from tablewright.values.codec import NOT_UTF8
from tablewright.world import World, real_world

log = logging.getLogger("tablewright.engine")

Context = TypeVar("Context", Reading, Writing)
T = TypeVar("T")

CLOSED = "this engine is closed; open the store again"


class Engine:
    """An open DynamoDB-compatible database.

    `Engine.open(path)` keeps its store in the directory `path`; without one it lives in memory.
    `durability="durable"` loses no answered write even when the power goes; `"relaxed"` loses none when the
    process does. What time brings (expired items swept, shards rolled, the journal pruned) is done every
    `ttl_seconds`; items that have expired stay for `ttl_lag`, as the service lets them stay for hours. Backups,
    restores and other long work are done by a thread of their own. With `throttling` what is faster than the
    provisioned, or the on-demand, throughput is refused (throttle.py). `metrics` is what was measured.
    `buckets` is the directory that exports go to and imports come from (`<path>/buckets` if none is named), or
    `s3:` for S3 (transfers/buckets.py); `elsewhere` are those that lie in another place, by their names.
    """

    VERBS = VERBS
    KEEPER = Keeper

    def __init__(
        self,
        storage: Storage,
        world: World,
        place: Place,
        ttl_seconds: float,
        ttl_lag: timedelta,
        throttling: bool = False,
    ) -> None:
        self._storage, self._world = storage, world
        self._throttle = Throttle(lambda: microseconds(world.now())) if throttling else None
        self._writer = Writer(storage, world, place, self._throttle, _Watching(self))
        # The tables as they were when the store was opened; what was under way goes on from here.
        self.found: Catalog = self._writer.tables
        self._closed = False
        self._is_inherited = False
        self._doors = _Doors(self)
        self.metrics = Metrics(self._doors, world)
        self.autoscaling = Autoscaling(self._doors)
        # One round of following other regions, if there are any (regions.py); whether anything came of it.
        self.follow: Callable[[], bool] | None = None
        self.keeper = self.KEEPER(self, storage, self._writer, world, ttl_seconds, ttl_lag)
        self.keeper.start()
        forks.watch(self)

    @classmethod
    def open(
        cls,
        path: str | Path = ":memory:",
        *,
        durability: str = "durable",
        world: World | None = None,
        region: str = "us-east-1",
        ttl_seconds: float = 10.0,
        ttl_lag: timedelta = timedelta(0),
        throttling: bool = False,
        buckets: str | Path | None = None,
        elsewhere: Mapping[str, str | Path] | None = None,
    ) -> "Engine":
        if ttl_seconds <= 0 or ttl_lag < timedelta(0):
            raise ValueError("ttl_seconds is more than 0, ttl_lag not less than 0")
        if buckets is None and str(path) != ":memory:":
            buckets = Path(path) / "buckets"
        place = Place(region)
        place = replace(place, buckets=routed(buckets, elsewhere or {}, region, place.account))
        return cls(Storage(path, durability), world or real_world(), place, ttl_seconds, ttl_lag, throttling)

    # --- calls ---

    def call(self, verb: str, request: Request) -> dict[str, Any]:
        """Answer a request in the wire's JSON form; mistakes are raised as ServiceError."""
        answer: dict[str, Any] = orjson.loads(self.answer(verb, request))
        return answer

    def answer(self, verb: str, request: Request) -> bytes:
        """The same, as the JSON text a server would send."""
        operation = VERBS.get(verb)
        if operation is None:
            raise unknown_operation(verb)
        if self.only_reads(verb, request):
            operation = READING[verb]
        if isinstance(operation, Read):
            return self._read(verb, operation, request)
        outcome = self._writer.wait_for(_work(verb, request))
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    @property
    def tables(self) -> Catalog:
        """The tables as they stand after the last commit."""
        return self._writer.tables

    @property
    def place(self) -> Place:
        """Where this is, and what is near (regions.py)."""
        return self._writer.place

    @place.setter
    def place(self, place: Place) -> None:
        self._writer.place = place

    @property
    def doors(self) -> Doors:
        """The way to the store for work that is not a request (doors.py)."""
        return self._doors

    def now(self) -> datetime:
        return self._world.now()

    def peer(self, verb: str, request: Request) -> bytes:
        """Answer another region, or who looks after replicas: the verbs of replica_peers.py."""
        return replica_peers.answer(self._doors, verb, request)

    def writes(self, verb: str) -> bool:
        """Whether a verb may change anything and so has to go through the writer."""
        return isinstance(VERBS.get(verb), Write)

    def only_reads(self, verb: str, request: Request) -> bool:
        """Whether a request of a verb that may write (PartiQL's may) writes nothing, and so needs no writer."""
        return verb in READING and only_reads(request)

    @property
    def commit_blocks(self) -> bool:
        """Whether a commit waits for the disk."""
        return self._storage.commit_blocks

    def _read(self, verb: str, operation: Read, request: Request) -> bytes:
        self.refuse_closed()
        tables, place = self._writer.tables, self._writer.place
        marks: list[Mark] = []
        begun = perf_counter()
        try:
            if self._storage.in_memory:
                # There is one connection only, so readers take their turn with the writer.
                with self._storage.writing:
                    reading = Reading(self._storage.writes, tables, place, self._world, self._throttle, marks)
                    answer = _served(operation, operation.run, reading, request)
            else:
                rows = self._storage.lend()
                try:
                    reading = Reading(rows, tables, place, self._world, self._throttle, marks)
                    answer = _served(operation, operation.run, reading, request)
                finally:
                    self._storage.give_back(rows)
        except ServiceError as mistake:
            marks += refusal(verb, request.get("TableName"), mistake)
            self.metrics.note("", begun, marks)
            raise
        except Exception as error:
            self.refuse_closed()
            if tables is self.tables:
                log.error("read failed", extra=fault(error))
                self.metrics.note("", begun, [failure(verb, request.get("TableName"))])
                raise internal_error() from error
            # A table was dropped between our look at the catalog and our look at its rows: look again.
            return self._read(verb, operation, request)
        if marks:
            self.metrics.note(verb, begun, marks)
        return answer

    def start_group(self, work: Sequence[tuple[str, Request]], *, wait: bool = False) -> Group | None:
        """Run writes on this thread, to be committed together by `finish`.

        None if another thread is writing and we are not to wait for it.
        """
        return self._writer.start_group([_work(verb, request) for verb, request in work], wait=wait)

    def settle(self) -> None:
        """Wait until nothing is owed and nothing is due.

        New indexes are filled, dropped tables are removed, backups and restores are done; expired items are swept,
        shards rolled and the journal pruned by the time it is now; what can be had of other regions was taken over.
        Long work that throws is thrown here.
        """
        self.keeper.settle()

    # --- the end ---

    def verify(self) -> list[str]:
        """Every broken invariant of the store, as a sentence; none is the normal answer."""
        self.refuse_closed()
        with self._storage.writing:
            return mistakes(self._storage.writes)

    def close(self) -> None:
        """Finish what is being written and close the store. Closing twice is closing once."""
        if self._is_inherited:
            return
        is_first, self._closed = not self._closed, True
        self.keeper.stop()
        self._doors.close()
        if is_first:
            self._keep_last_figures()
        self._storage.close()
        if self.place.buckets is not None:
            self.place.buckets.close()

    def _keep_last_figures(self) -> None:
        try:
            self.metrics.flush(self._writer.write_last)
        except Exception as error:  # a full disk, say: no reason to stay open
            log.error("keeping the figures failed", extra=fault(error))

    def refuse_closed(self) -> None:
        """Raise EngineClosed if it is."""
        if self._closed:
            raise EngineClosed(forks.FORKED if self._is_inherited else CLOSED)

    def disinherit(self) -> None:
        """In a forked child: the engine is the parent's (forks.py)."""
        self._is_inherited = not self._closed
        self._closed = True
        self.keeper.disinherit()
        self._storage.disinherit()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Watching:
    """What an engine makes of the outcomes of its writes: figures, and work for the keeper."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def refuse_closed(self) -> None:
        self._engine.refuse_closed()

    def committed(self, writing: Writing, is_new_catalog: bool) -> None:
        engine = self._engine
        if writing.marks:
            engine.metrics.note_group(writing.begun, writing.marks, writing.done)
        if is_new_catalog:
            engine.keeper.wake()
        elif writing.is_owing:
            engine.keeper.wake_labourer()
        if writing.leased:
            self._disown_lapsed(writing)

    def _disown_lapsed(self, writing: Writing) -> None:
        """What is not to be acknowledged after all is told so."""
        tables = writing.disown_lapsed()
        if tables:
            log.warning("a lease ran out before the commit", extra={"tables": sorted(tables)})
            marks = disowned(writing.marks, writing.done, tables)
            self._engine.metrics.note("", writing.begun, marks)

    def not_committed(self, writing: Writing) -> None:
        self._engine.metrics.note("", writing.begun, lost(writing.marks, writing.done))

    def failed(self, writing: Writing) -> None:
        if writing.failed is not None:
            self._engine.metrics.note("", writing.begun, [failure(*writing.failed)])


class _Doors:
    """The labourer's way into an engine (doors.py)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.memory: dict[str, Any] = {}

    def close(self) -> None:
        """Close what labours keep open between two steps."""
        for kept in self.memory.values():
            if isinstance(kept, Closed):
                kept.close()

    def read(self, look: Callable[[Reading], T]) -> T:
        engine = self._engine
        engine.refuse_closed()
        storage, tables = engine._storage, engine.tables
        if storage.in_memory:
            with storage.writing:
                return look(Reading(storage.writes, engine.tables, engine.place, engine._world))
        rows = storage.lend()
        try:
            with rows.snapshot():
                return look(Reading(rows, tables, engine.place, engine._world))
        except Exception:
            # A table was dropped between our look at the catalog and our look at its rows: look again.
            if tables is engine.tables:
                raise
        finally:
            storage.give_back(rows)
        return self.read(look)

    def write(self, deed: Callable[[Writing], T]) -> T:
        answers: list[T] = []

        def work(writing: Writing) -> bytes:
            answers.append(deed(writing))
            writing.done.append(("", len(writing.marks)))
            return b"done"

        outcome = self._engine._writer.wait_for(work)
        if isinstance(outcome, ServiceError):
            raise outcome
        return answers[-1]


def _work(verb: str, request: Request) -> Work:
    operation = VERBS[verb]
    assert isinstance(operation, Write)

    def work(writing: Writing) -> bytes:
        try:
            answer = _served(operation, operation.run, writing, request)
        except ServiceError as mistake:
            writing.marks += refusal(verb, request.get("TableName"), mistake)
            writing.done.append(("", len(writing.marks)))
            raise
        except Exception:
            writing.failed = verb, request.get("TableName")
            raise
        if writing.marks:
            writing.done.append((verb, len(writing.marks)))
        return answer

    return work


def _served(
    operation: Read | Write,
    run: Callable[[Context, Request], dict[str, Any]],
    context: Context,
    request: Request,
) -> bytes:
    """The request checked against its shape, run and answered; mistakes in the service's type and words."""
    try:
        check(operation.shape, operation.fits, request)
        return orjson.dumps(run(context, request))
    except (BadValue, BadExpression) as mistake:
        raise invalid(str(mistake)) from None
    except WrongJson as mistake:
        raise serialization(str(mistake)) from None
    except UnicodeEncodeError:
        raise serialization(NOT_UTF8) from None
