"""The engine: `call(verb, request)`.

Must hold: a write is answered only after its commit; a request that is refused has changed nothing; any number of
threads may call.
Elsewhere: what a verb does (api/), how writes share a commit (group_commit.py), background work
(background/threads.py).
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import orjson

from tablewright.engine.api.dispatch import respond, work_of
from tablewright.engine.api.operation import ReadOperation, WriteOperation
from tablewright.engine.api.registry import READ_ONLY, VERBS
from tablewright.engine.api.shapes import Request
from tablewright.engine.background import forks
from tablewright.engine.background.session import Closable, EngineClosed, Session
from tablewright.engine.background.threads import BackgroundThreads
from tablewright.engine.catalog import Catalog
from tablewright.engine.errors import ServiceError, fault, internal_error
from tablewright.engine.group_commit import GroupCommit, PendingCommit, Watcher
from tablewright.engine.journal import microseconds
from tablewright.engine.metrics.collector import MetricsCollector
from tablewright.engine.metrics.errors import failure_sample, lost_commit_samples, refused_samples
from tablewright.engine.metrics.names import Sample
from tablewright.engine.partiql.statements import only_reads
from tablewright.engine.read_budget import Bounded, ExceedsBudget, ReadBudget
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.storage.sqlite import Storage
from tablewright.engine.throughput.autoscaling import Autoscaling
from tablewright.engine.throughput.token_buckets import Throttle
from tablewright.engine.transaction import EngineContext, ReadTransaction, WriteTransaction
from tablewright.engine.transfer.bucket_routes import routed
from tablewright.engine.verify.invariants import mistakes
from tablewright.engine.verify.scrub import Scrub
from tablewright.world import World, real_world

log = logging.getLogger("tablewright.engine")

T = TypeVar("T")

CLOSED = "this engine is closed; open the store again"


class Engine:
    """An open DynamoDB-compatible database.

    `Engine.open(path)` keeps its store in the directory `path`; without one it lives in memory.
    `durability="durable"` loses no answered write when the power fails; `"relaxed"` loses none when the
    process is killed. Scheduled work (sweeping expired items, rolling shards, pruning the journal) is done every
    `ttl_seconds`; expired items stay for `ttl_lag`, as the service lets them stay for hours. Backups,
    restores and other long work are done by a thread of their own. With `throttling` what is faster than the
    provisioned, or the on-demand, throughput is refused (throughput/token_buckets.py). `metrics` is what was measured.
    `buckets` is the directory that exports go to and imports come from (`<path>/buckets` if none is named), or
    `s3:` for S3 (transfer/buckets.py); `elsewhere` are those that lie in another place, by their names. A store in
    memory can begin as the `image` of another one.
    """

    VERBS = VERBS
    BACKGROUND = BackgroundThreads

    def __init__(
        self,
        storage: Storage,
        world: World,
        place: EngineContext,
        ttl_seconds: float,
        ttl_lag: timedelta,
        throttling: bool = False,
    ) -> None:
        self._storage, self._world = storage, world
        self._throttle = Throttle(lambda: microseconds(world.now())) if throttling else None
        self._writer = GroupCommit(storage, world, place, self._throttle, self._watcher())
        # The catalog when the store was opened; unfinished work continues from it.
        self.found: Catalog = self._writer.tables
        self._closed = False
        self._is_inherited = False
        self._session = _EngineSession(self)
        self.metrics = MetricsCollector(self._session, world)
        self.autoscaling = Autoscaling(self._session)
        self.scrub = Scrub(self._session, storage.damaged, lambda: self._closed)
        self.background = self.BACKGROUND(
            self._session,
            storage,
            self._writer,
            world,
            self.metrics,
            self.autoscaling,
            self.scrub,
            ttl_seconds,
            ttl_lag,
        )
        self.background.start()
        forks.register(self)

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
        image: bytes | None = None,
    ) -> "Engine":
        if ttl_seconds <= 0 or ttl_lag < timedelta(0):
            raise ValueError("ttl_seconds is more than 0, ttl_lag not less than 0")
        if buckets is None and str(path) != ":memory:":
            buckets = Path(path) / "buckets"
        place = EngineContext(region)
        place = replace(place, buckets=routed(buckets, elsewhere or {}, region, place.account))
        storage = Storage(path, durability, image)
        return cls(storage, world or real_world(), place, ttl_seconds, ttl_lag, throttling)

    # --- calls ---

    def call(self, verb: str, request: Request) -> dict[str, Any]:
        """The response to a request, both in the wire's JSON form; refusals are raised as ServiceError."""
        text = self.answer(verb, request)
        answer: dict[str, Any] = orjson.loads(text) if text else {}
        return answer

    def answer(self, verb: str, request: Request, effort: ReadBudget | None = None) -> bytes:
        """The same, as the JSON text a server would send; a read whose effort is bounded may raise ExceedsBudget."""
        operation = VERBS.get(verb)
        if operation is None:
            what = f"This engine has no operation {verb}" if verb else ""
            raise ServiceError("UnknownOperationException", what)
        if verb in READ_ONLY and only_reads(request):
            operation = READ_ONLY[verb]
        if isinstance(operation, ReadOperation):
            return self._read(verb, operation, request, effort)
        outcome = self._writer.wait_for(work_of(verb, operation, request))
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    @property
    def tables(self) -> Catalog:
        """The catalog after the last commit."""
        return self._writer.tables

    @property
    def place(self) -> EngineContext:
        """The region and account of the engine, and the other regions of the process (replication/regions.py)."""
        return self._writer.place

    @place.setter
    def place(self, place: EngineContext) -> None:
        self._writer.place = place

    @property
    def session(self) -> Session:
        """How work that is not a request accesses the store (background/session.py)."""
        return self._session

    def now(self) -> datetime:
        return self._world.now()

    def writes(self, verb: str) -> bool:
        """Whether a verb may change anything and so has to go through the writer."""
        return isinstance(VERBS.get(verb), WriteOperation)

    def only_reads(self, verb: str, request: Request) -> bool:
        """Whether a request of a verb that may write (PartiQL's may) writes nothing, and so needs no writer."""
        return verb in READ_ONLY and only_reads(request)

    @property
    def commit_blocks(self) -> bool:
        """Whether a commit waits for the disk."""
        return self._storage.commit_blocks

    def _read(
        self, verb: str, operation: ReadOperation, request: Request, effort: ReadBudget | None
    ) -> bytes:
        self.refuse_closed()
        if self._throttle is not None and verb != "GetItem" and isinstance(effort, Bounded):
            raise ExceedsBudget  # what it has used by the time it stops would be counted twice
        tables, place = self._writer.tables, self._writer.place
        samples: list[Sample] = []
        begun = perf_counter()
        answer: bytes | None
        try:
            storage, end = self._storage, None
            if storage.in_memory:
                # There is one connection only, so readers take their turn with the writer.
                rows: RowReader = storage.writes
                end = _Turn(storage.write_lock).end
            else:
                rows = storage.acquire_reader()
            try:
                txn = ReadTransaction(rows, tables, place, self._world, self._throttle, samples, effort, end)
                answer = respond(operation, txn, request)
            except ExceedsBudget:
                answer = None  # the exception, and the walk in it, end before the rows are lent again
            finally:
                if end is None:
                    storage.release_reader(rows)
                else:
                    end()
        except ServiceError as mistake:
            samples += refused_samples(verb, request.get("TableName"), mistake)
            self.metrics.record_request("", begun, samples)
            raise
        except Exception as error:
            self.refuse_closed()
            if tables is self.tables:
                log.error("read failed", extra=fault(error))
                self.metrics.record_request("", begun, [failure_sample(verb, request.get("TableName"))])
                raise internal_error() from error
            # A table was dropped after the catalog was read and before its rows were: read again.
            return self._read(verb, operation, request, effort)
        if answer is None:
            raise ExceedsBudget
        if samples:
            self.metrics.record_request(verb, begun, samples)
        return answer

    def start_group(self, work: Sequence[tuple[str, Request]], *, wait: bool = False) -> PendingCommit | None:
        """Run writes on this thread, to be committed together by `finish`.

        None if another thread is writing and `wait` is false.
        """
        return self._writer.start_group(
            [work_of(verb, VERBS[verb], request) for verb, request in work], wait=wait
        )

    def changes(self) -> int:
        """How many rows were ever changed: as long as it is the same, nothing was written."""
        # In memory a job may be using the only connection: SQLite refuses a second thread.
        with self._storage.write_lock:
            return self._storage.changes()

    def settle(self) -> None:
        """Wait until no background work is pending or due.

        New indexes are filled, dropped tables are removed, backups and restores are done; expired items are swept,
        shards rolled and the journal pruned by the present time. An exception of a job is raised here.
        """
        self.background.settle()

    def _watcher(self) -> Watcher:
        """Figures, and waking the background threads."""

        def committed(txn: WriteTransaction, is_new_catalog: bool) -> None:
            if txn.samples:
                self.metrics.record_group(txn.begun, txn.samples, txn.done)
            if is_new_catalog:
                self.background.wake()
            elif txn.has_background_work:
                self.background.wake_jobs()

        def not_committed(txn: WriteTransaction) -> None:
            self.metrics.record_request("", txn.begun, lost_commit_samples(txn.samples, txn.done))

        def failed(txn: WriteTransaction) -> None:
            if txn.failed is not None:
                self.metrics.record_request("", txn.begun, [failure_sample(*txn.failed)])

        return Watcher(self.refuse_closed, committed, not_committed, failed)

    # --- the end ---

    def verify(self) -> list[str]:
        """Every broken invariant of the store, as a sentence; none is the normal answer."""
        self.refuse_closed()
        with self._storage.write_lock:
            return mistakes(self._storage.writes)

    def image(self) -> bytes:
        """All of a store in memory, for `Engine.open(image=...)`: tests fill one store and begin with copies of it."""
        self.refuse_closed()
        return self._storage.image()

    def close(self) -> None:
        """Finish what is being written and close the store. Closing twice is closing once."""
        if self._is_inherited:
            return
        is_first, self._closed = not self._closed, True
        self.background.stop()
        self._session.close()
        if is_first:
            self._keep_last_figures()
        self._storage.close()
        if self.place.buckets is not None:
            self.place.buckets.close()

    def _keep_last_figures(self) -> None:
        try:
            self.metrics.flush(self._writer.write_last)
        except Exception as error:  # a full disk, for example: no reason to stay open
            log.error("keeping the figures failed", extra=fault(error))

    def refuse_closed(self) -> None:
        """Raise EngineClosed if it is."""
        if self._closed:
            raise EngineClosed(forks.FORKED if self._is_inherited else CLOSED)

    def close_in_child(self) -> None:
        """In a forked child: the engine is the parent's (background/forks.py)."""
        self._is_inherited = not self._closed
        self._closed = True
        self.background.close_in_child()
        self._storage.close_in_child()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Turn:
    """A reader's hold of the only connection of a store in memory. It may end before the read does."""

    __slots__ = ("_lock",)

    def __init__(self, lock: threading.Lock) -> None:
        lock.acquire()
        self._lock: threading.Lock | None = lock

    def end(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()


class _EngineSession:
    """How jobs access an engine (background/session.py)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.memory: dict[str, Any] = {}

    def close(self) -> None:
        """Close what jobs keep open between two steps."""
        for kept in self.memory.values():
            if isinstance(kept, Closable):
                kept.close()

    def read(self, fn: Callable[[ReadTransaction], T]) -> T:
        engine = self._engine
        engine.refuse_closed()
        storage, tables = engine._storage, engine.tables
        if storage.in_memory:
            with storage.write_lock:
                return fn(ReadTransaction(storage.writes, engine.tables, engine.place, engine._world))
        rows = storage.acquire_reader()
        try:
            with rows.snapshot():
                found = fn(ReadTransaction(rows, tables, engine.place, engine._world))
            if tables is engine.tables:
                return found
        except Exception:
            if tables is engine.tables:
                raise
        finally:
            storage.release_reader(rows)
        # A table was changed after the catalog was read and before its rows were: its rows may be newer than the
        # catalog (of a writer that was opened since, say), or gone. Read again.
        return self.read(fn)

    def write(self, fn: Callable[[WriteTransaction], T]) -> T:
        answers: list[T] = []

        def work(txn: WriteTransaction) -> bytes:
            answers.append(fn(txn))
            txn.done.append(("", len(txn.samples)))
            return b"done"

        outcome = self._engine._writer.wait_for(work)
        if isinstance(outcome, ServiceError):
            raise outcome
        return answers[-1]
