"""The front door: `call(verb, request)`, each write in one transaction, many writes in one commit.

Must hold: an answer to a write leaves only after its commit; a request that is refused has changed nothing;
any number of threads may call. Whoever gets the writer's lock runs all writes that are waiting and commits
them together, so that callers share the price of reaching the disk.
Elsewhere: what a verb does (operations/), how bytes reach the disk (storage.py).
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic, perf_counter, sleep
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

import orjson

from tablewright.engine import chores, forks, replica_peers
from tablewright.engine.autoscaling import Autoscaling
from tablewright.engine.catalog import Catalog, load
from tablewright.engine.doors import Closed, Doors, EngineClosed
from tablewright.engine.errors import (
    ServiceError,
    fault,
    internal_error,
    invalid,
    serialization,
    unknown_operation,
)
from tablewright.engine.journal import microseconds, pen, pen_at
from tablewright.engine.labours import KINDS, Turns
from tablewright.engine.metric_names import Mark
from tablewright.engine.metric_reading import minute_of
from tablewright.engine.metric_refusals import disowned, failure, lost, refusal
from tablewright.engine.metrics import Metrics
from tablewright.engine.operations import READING, VERBS, Read, Write
from tablewright.engine.pacing import UNAWAITED, Pace
from tablewright.engine.shapes import Request, check
from tablewright.engine.statements import only_reads
from tablewright.engine.storage import Storage
from tablewright.engine.throttle import Throttle
from tablewright.engine.transfers.bucket_routes import routed
from tablewright.engine.verify import mistakes
from tablewright.engine.writing import Outcome, Place, Reading, Writing
from tablewright.expressions import BadExpression
from tablewright.values import BadValue, WrongJson
from tablewright.values.codec import NOT_UTF8
from tablewright.world import World, real_world

log = logging.getLogger("tablewright.engine")

Work: TypeAlias = Callable[[Writing], bytes]
Context = TypeVar("Context", Reading, Writing)
T = TypeVar("T")

CLOSED = "this engine is closed; open the store again"
CHECKPOINT_SECONDS = 0.1
FLUSH_SECONDS = 5.0
RETRY_SECONDS = 1.0
REST_SECONDS = 0.001


class _RefusedTooLate(Exception):
    """A verb refused a request after it had begun to write: a fault of ours."""


class _Ticket:
    """A write that waits for its turn."""

    __slots__ = ("outcome", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.outcome: Outcome | None = None


class Group:
    """Writes that have run and wait for their commit. Nothing may be answered before `finish`."""

    def __init__(self, engine: "Engine", writing: Writing | None, outcomes: list[Outcome]) -> None:
        self._engine, self._writing = engine, writing
        self.outcomes = outcomes

    def finish(self) -> list[Outcome]:
        """Commit, on whichever thread; the outcomes are true from here on."""
        if not self._engine._commit(self._writing):
            self.outcomes = [internal_error() for _ in self.outcomes]
        return self.outcomes


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

    def __init__(
        self,
        storage: Storage,
        world: World,
        place: Place,
        ttl_seconds: float,
        ttl_lag: timedelta,
        throttling: bool = False,
    ) -> None:
        self._storage, self._world, self.place = storage, world, place
        self._ttl_seconds, self._ttl_lag = ttl_seconds, ttl_lag
        self._turn = 0
        # The tables as they were when the store was opened; what was under way goes on from here.
        self.found: Catalog = load(storage.writes)
        self._tables: Catalog = self.found
        self._pen = pen(storage.writes)
        self._unsure = False
        self._waiting: deque[_Ticket] = deque()
        self._written = 0  # writes there have ever been, the engine's own included
        self._closed = False
        self._is_inherited = False
        self._wake = threading.Event()
        self._wake.set()
        self._doors = _Doors(self)
        self._throttle = Throttle(lambda: microseconds(world.now())) if throttling else None
        self.metrics = Metrics(self._doors, world)
        self.autoscaling = Autoscaling(self._doors)
        # One round of following other regions, if there are any (regions.py); whether anything came of it.
        self.follow: Callable[[], bool] | None = None
        self._turns = Turns(KINDS)
        self._labouring = threading.Lock()
        self._owed = threading.Event()
        self._owed.set()
        self._keeper = threading.Thread(target=self._keep, name="tablewright-keeper", daemon=True)
        self._labourer = threading.Thread(target=self._labour, name="tablewright-labourer", daemon=True)
        self._keeper.start()
        self._labourer.start()
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
        outcome = self._wait_for(_work(verb, request))
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    @property
    def tables(self) -> Catalog:
        """The tables as they stand after the last commit."""
        return self._tables

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
        self._refuse_closed()
        tables = self._tables
        marks: list[Mark] = []
        begun = perf_counter()
        try:
            if self._storage.in_memory:
                # There is one connection only, so readers take their turn with the writer.
                with self._storage.writing:
                    reading = Reading(
                        self._storage.writes, tables, self.place, self._world, self._throttle, marks
                    )
                    answer = _served(operation, operation.run, reading, request)
            else:
                rows = self._storage.lend()
                try:
                    reading = Reading(rows, tables, self.place, self._world, self._throttle, marks)
                    answer = _served(operation, operation.run, reading, request)
                finally:
                    self._storage.give_back(rows)
        except ServiceError as mistake:
            marks += refusal(verb, request.get("TableName"), mistake)
            self.metrics.note("", begun, marks)
            raise
        except Exception as error:
            self._refuse_closed()
            if tables is self._tables:
                log.error("read failed", extra=fault(error))
                self.metrics.note("", begun, [failure(verb, request.get("TableName"))])
                raise internal_error() from error
            # A table was dropped between our look at the catalog and our look at its rows: look again.
            return self._read(verb, operation, request)
        if marks:
            self.metrics.note(verb, begun, marks)
        return answer

    # --- writes ---

    def _wait_for(self, work: Work) -> Outcome:
        ticket = _Ticket(work)
        self._waiting.append(ticket)
        with self._storage.writing:
            if ticket.outcome is None:
                self._run_waiting()
        # None: whoever took it from the queue was interrupted before it ran.
        return ticket.outcome or internal_error()

    def _run_waiting(self) -> None:
        tickets = []
        while self._waiting:
            tickets.append(self._waiting.popleft())
        self._written += len(tickets)
        # The others whose turn this was have no outcome then, come here in turn and are told the same.
        self._refuse_closed()
        try:
            writing, outcomes = self._run([ticket.work for ticket in tickets])
            if not self._end(writing):
                outcomes = [internal_error() for _ in outcomes]
        except BaseException:
            outcomes = [internal_error() for _ in tickets]
            # In memory readers share the writer's connection: what nobody was promised must not be seen.
            self._storage.rollback()
            raise
        finally:
            for ticket, outcome in zip(tickets, outcomes, strict=True):
                ticket.outcome = outcome

    def start_group(self, work: Sequence[tuple[str, Request]], *, wait: bool = False) -> Group | None:
        """Run writes on this thread, to be committed together by `finish`.

        None if another thread is writing and we are not to wait for it.
        """
        if not self._storage.writing.acquire(blocking=wait):
            return None
        try:
            self._refuse_closed()
            self._written += len(work)
            writing, outcomes = self._run([_work(verb, request) for verb, request in work])
        except BaseException:
            self._storage.rollback()
            self._storage.writing.release()
            raise
        return Group(self, writing, outcomes)

    def _commit(self, writing: Writing | None) -> bool:
        try:
            return self._end(writing)
        finally:
            self._storage.writing.release()

    def _run(self, works: Sequence[Work]) -> tuple[Writing | None, list[Outcome]]:
        """Run writes in one open transaction. The lock is held, so nobody closes the store meanwhile."""
        writing = self._begin()
        outcomes = writing.outcomes
        try:
            for work in works:
                changes = self._storage.changes()
                try:
                    outcomes.append(work(writing))
                except ServiceError as mistake:
                    if self._storage.changes() != changes:
                        raise _RefusedTooLate from mistake
                    outcomes.append(mistake)
            writing.flush()
        except Exception as error:
            # A fault of ours in one write must not take the others with it: each gets a transaction of its own.
            self._storage.rollback()
            if len(works) > 1:
                return None, [self._run_alone(work) for work in works]
            log.error("write failed", extra=fault(error))
            if writing.failed is not None:
                self.metrics.note("", writing.begun, [failure(*writing.failed)])
            return None, [internal_error()]
        except BaseException:
            self._storage.rollback()
            raise
        return writing, outcomes

    def _run_alone(self, work: Work) -> Outcome:
        writing, outcomes = self._run([work])
        return outcomes[0] if self._end(writing) else internal_error()

    def _begin(self) -> Writing:
        if self._unsure:
            self._look_again()
        now = pen_at(self._pen, self._world.now())
        self._storage.begin()
        return Writing(
            self._storage.writes, self._tables, self._world, self.place, now, throttle=self._throttle
        )

    def _end(self, writing: Writing | None) -> bool:
        """Commit; False if the disk refused. The lock is held. What is not to be acknowledged after all is told so."""
        if writing is None:
            return True
        self._unsure = True
        try:
            self._storage.commit()
        except Exception as error:
            log.error("commit failed", extra=fault(error))
            self._storage.rollback()
            self.metrics.note("", writing.begun, lost(writing.marks, writing.done))
            return False
        self._pen = writing.pen
        if writing.marks:
            self.metrics.note_group(writing.begun, writing.marks, writing.done)
        if writing.tables is not self._tables:
            self._tables = writing.tables
            self._wake.set()
            self._owed.set()
        elif writing.is_owing:
            self._owed.set()
        self._unsure = False
        if writing.leased:
            self._disown_lapsed(writing)
        return True

    def _disown_lapsed(self, writing: Writing) -> None:
        tables = writing.disown_lapsed()
        if tables:
            log.warning("a lease ran out before the commit", extra={"tables": sorted(tables)})
            self.metrics.note("", writing.begun, disowned(writing.marks, writing.done, tables))

    def _look_again(self) -> None:
        """A commit was broken off, by Ctrl-C or a full disk: only the store knows whether it took place."""
        self._storage.rollback()
        self._tables = load(self._storage.writes)
        self._pen = pen(self._storage.writes)
        self._unsure = False

    # --- the keeper: checkpoints and chores, beside everything else ---

    def _keep(self) -> None:
        pause = min(self._ttl_seconds, FLUSH_SECONDS if self._storage.in_memory else CHECKPOINT_SECONDS)
        next_look = monotonic() + self._ttl_seconds
        pace = Pace(lambda: self._written)
        while not self._closed:
            owed = self._wake.wait(pause)
            if owed:
                self._wake.clear()
            is_time = monotonic() >= next_look
            if is_time:
                next_look = monotonic() + self._ttl_seconds
            try:
                is_busy = owed or is_time
                while is_busy and not self._closed:
                    pace.step()
                    is_busy = self._do_chore(is_time)
                    # So that whoever waits for the writer gets it in between.
                    pace.rest(1 if owed else UNAWAITED)
                    self._shorten_log()
                self._shorten_log()
                if self.metrics.is_due(self._tables):
                    self._keep_figures()
            except EngineClosed:
                return
            except Exception as error:
                log.error("keeping the store failed", extra=fault(error))
                sleep(RETRY_SECONDS)
                self._wake.set()

    def _keep_figures(self) -> None:
        """Write the figures of the minutes that have ended, and let provisioned units follow them."""
        if not self.metrics.flush_some():
            self.autoscaling.adjust(minute_of(self._world.now()))

    def _shorten_log(self) -> None:
        if self._storage.log_is_long:
            self._storage.checkpoint()

    def _do_chore(self, due: bool = False) -> bool:
        """One step of what the store owes, of what time brings as well if `due`; False when there is nothing."""
        self._turn += due
        outcome = self._wait_for(_due_chore(self._ttl_lag, self._turn) if due else _chore)
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome == b"more"

    # --- the labourer: long work in steps of its own ---

    def _labour(self) -> None:
        while not self._closed:
            self._owed.wait(self._ttl_seconds)
            self._owed.clear()
            while not self._closed and self._try_labour():
                sleep(REST_SECONDS)
            if self._turns.forgive() and not self._closed:
                sleep(RETRY_SECONDS)
                self._owed.set()

    def _try_labour(self) -> bool:
        # Together, or the blame could fall on a kind that somebody else has stepped since.
        with self._labouring:
            try:
                return self._turns.step(self._doors)
            except EngineClosed:
                return False
            except Exception as error:
                self._turns.blame(error)
                return True

    def _do_labour(self) -> bool:
        """One step of long work; False when there is none. It may take as long as it likes."""
        with self._labouring:
            return self._turns.step(self._doors)

    def settle(self) -> None:
        """Wait until nothing is owed and nothing is due.

        New indexes are filled, dropped tables are removed, backups and restores are done; expired items are swept,
        shards rolled and the journal pruned by the time it is now; what can be had of other regions was taken over.
        Long work that throws is thrown here.
        """
        while (
            self._do_chore(due=True)
            or self._do_labour()
            or self._turns.forgive()  # what the labourer passes over is owed all the same
            or (self.follow is not None and self.follow())
        ):
            pass
        self.metrics.flush()
        self.autoscaling.adjust(minute_of(self._world.now()))

    # --- the end ---

    def verify(self) -> list[str]:
        """Every broken invariant of the store, as a sentence; none is the normal answer."""
        self._refuse_closed()
        with self._storage.writing:
            return mistakes(self._storage.writes)

    def close(self) -> None:
        """Finish what is being written and close the store. Closing twice is closing once."""
        if self._is_inherited:
            return
        is_first, self._closed = not self._closed, True
        self._wake.set()
        self._owed.set()
        for thread in (self._keeper, self._labourer):
            if threading.current_thread() is not thread:
                thread.join()
        self._doors.close()
        if is_first:
            self._keep_last_figures()
        self._storage.close()
        if self.place.buckets is not None:
            self.place.buckets.close()

    def _keep_last_figures(self) -> None:
        try:
            self.metrics.flush(self._write_last)
        except Exception as error:  # a full disk, say: no reason to stay open
            log.error("keeping the figures failed", extra=fault(error))

    def _write_last(self, deed: Callable[[Writing], T]) -> T:
        """A write of our own, when nobody else may write any more."""
        with self._storage.writing:
            writing = self._begin()
            answer = deed(writing)
            if not self._end(writing):
                raise OSError("the store could not be written to")
            return answer

    def _refuse_closed(self) -> None:
        if self._closed:
            raise EngineClosed(forks.FORKED if self._is_inherited else CLOSED)

    def disinherit(self) -> None:
        """In a forked child: the engine is the parent's (forks.py)."""
        self._is_inherited = not self._closed
        self._closed = True
        self._storage.disinherit()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
        engine._refuse_closed()
        storage, tables = engine._storage, engine._tables
        if storage.in_memory:
            with storage.writing:
                return look(Reading(storage.writes, engine._tables, engine.place, engine._world))
        rows = storage.lend()
        try:
            with rows.snapshot():
                return look(Reading(rows, tables, engine.place, engine._world))
        except Exception:
            # A table was dropped between our look at the catalog and our look at its rows: look again.
            if tables is engine._tables:
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

        outcome = self._engine._wait_for(work)
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


def _chore(writing: Writing) -> bytes:
    return b"more" if chores.do_some(writing) else b"done"


def _due_chore(ttl_lag: timedelta, turn: int) -> Work:
    def chore(writing: Writing) -> bytes:
        is_more = chores.do_some(writing) or chores.do_due(writing, ttl_lag, turn)
        writing.done.append(("", len(writing.marks)))
        return b"more" if is_more else b"done"

    return chore
