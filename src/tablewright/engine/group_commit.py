"""Group commit: the writes that are waiting share one transaction and one commit.

The thread that gets the writer's lock runs all waiting writes and commits them together, so that callers share the
cost of a disk sync.
Must hold: an outcome is returned only after its commit; a write that is refused has changed nothing; a fault in one
write does not affect the others; after a commit that was interrupted the state is read from the store again.
Elsewhere: what a write does (api/), how bytes reach the disk (storage/sqlite.py), the calls (engine.py).
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from tablewright.engine.catalog import Catalog, load
from tablewright.engine.errors import ServiceError, fault, internal_error
from tablewright.engine.journal import last_position, position_at
from tablewright.engine.storage.sqlite import Storage
from tablewright.engine.throughput.token_buckets import Throttle
from tablewright.engine.transaction import EngineContext, Outcome, WriteTransaction
from tablewright.world import World

log = logging.getLogger("tablewright.engine")

Work: TypeAlias = Callable[[WriteTransaction], bytes]
T = TypeVar("T")


class Watcher(NamedTuple):
    """The engine's callbacks about the outcome of writes; called with the writer's lock held."""

    refuse_closed: Callable[[], None]
    committed: Callable[[WriteTransaction, bool], None]  # with whether the catalog is new
    not_committed: Callable[[WriteTransaction], None]  # the commit failed, on a full disk for example
    failed: Callable[[WriteTransaction], None]  # a fault of the engine: the write was rolled back


class _RefusedTooLate(Exception):
    """A verb refused a request after it had begun to write: a fault of the engine."""


class _WaitingWrite:
    """A write that waits for its turn."""

    __slots__ = ("outcome", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.outcome: Outcome | None = None


class PendingCommit:
    """Writes that have run and wait for their commit. No response may be sent before `finish`."""

    def __init__(self, writer: "GroupCommit", txn: WriteTransaction | None, outcomes: list[Outcome]) -> None:
        self._writer, self._writing = writer, txn
        self.outcomes = outcomes

    def finish(self) -> list[Outcome]:
        """Commit, on any thread; the outcomes, which are final from here on."""
        if not self._writer.commit(self._writing):
            self.outcomes = [internal_error() for _ in self.outcomes]
        return self.outcomes


class GroupCommit:
    """The writer of a store. `tables` is the catalog after the last commit; any number of threads may call."""

    def __init__(
        self,
        storage: Storage,
        world: World,
        place: EngineContext,
        throttle: Throttle | None,
        watcher: Watcher,
    ) -> None:
        self._storage, self._world, self._throttle = storage, world, throttle
        self.place = place
        self._watcher = watcher
        self.tables: Catalog = load(storage.writes)
        self.written = 0  # how many writes there were, the engine's own included
        self._position = last_position(storage.writes)
        self._unsure = False
        self._waiting: deque[_WaitingWrite] = deque()

    def wait_for(self, work: Work) -> Outcome:
        """The outcome of a write, once it is committed, or refused."""
        waiting = _WaitingWrite(work)
        self._waiting.append(waiting)
        with self._storage.write_lock:
            if waiting.outcome is None:
                self._run_waiting()
        # None: the thread that took it from the queue was interrupted before it ran.
        return internal_error() if waiting.outcome is None else waiting.outcome

    def _run_waiting(self) -> None:
        writes = []
        while self._waiting:
            writes.append(self._waiting.popleft())
        self.written += len(writes)
        # If it raises, the other waiting threads have no outcome, come here in turn and raise the same.
        self._watcher.refuse_closed()
        try:
            txn, outcomes = self._run([write.work for write in writes])
            if not self._end(txn):
                outcomes = [internal_error() for _ in outcomes]
        except BaseException:
            outcomes = [internal_error() for _ in writes]
            # In memory readers share the writer's connection: they must not see what was not committed.
            self._storage.rollback()
            raise
        finally:
            for write, outcome in zip(writes, outcomes, strict=True):
                write.outcome = outcome

    def start_group(self, works: Sequence[Work], *, wait: bool) -> PendingCommit | None:
        """Run writes on this thread, to be committed together by `finish`.

        None if another thread is writing and `wait` is false.
        """
        if not self._storage.write_lock.acquire(blocking=wait):
            return None
        try:
            self._watcher.refuse_closed()
            self.written += len(works)
            txn, outcomes = self._run(works)
        except BaseException:
            self._storage.rollback()
            self._storage.write_lock.release()
            raise
        return PendingCommit(self, txn, outcomes)

    def commit(self, txn: WriteTransaction | None) -> bool:
        """End a group; False if the commit failed."""
        try:
            return self._end(txn)
        finally:
            self._storage.write_lock.release()

    def write_last(self, fn: Callable[[WriteTransaction], T]) -> T:
        """A write of the engine's own while it is being closed, when no other write is accepted."""
        with self._storage.write_lock:
            txn = self._begin()
            answer = fn(txn)
            if not self._end(txn):
                raise OSError("the store could not be written to")
            return answer

    # --- one transaction; the lock is held, so the store is not closed before it ends ---

    def _run(self, works: Sequence[Work]) -> tuple[WriteTransaction | None, list[Outcome]]:
        """Run writes in one open transaction."""
        txn = self._begin()
        outcomes: list[Outcome] = []
        try:
            for work in works:
                changes = self._storage.changes()
                try:
                    outcomes.append(work(txn))
                except ServiceError as refusal:
                    if self._storage.changes() != changes:
                        raise _RefusedTooLate from refusal
                    outcomes.append(refusal)
            txn.flush()
        except Exception as error:
            # A fault in one write must not affect the others: each gets a transaction of its own.
            self._storage.rollback()
            if len(works) > 1:
                return None, [self._run_alone(work) for work in works]
            log.error("write failed", extra=fault(error))
            self._watcher.failed(txn)
            return None, [internal_error()]
        except BaseException:
            self._storage.rollback()
            raise
        return txn, outcomes

    def _run_alone(self, work: Work) -> Outcome:
        txn, outcomes = self._run([work])
        return outcomes[0] if self._end(txn) else internal_error()

    def _begin(self) -> WriteTransaction:
        if self._unsure:
            self._reload()
        now = position_at(self._position, self._world.now())
        self._storage.begin()
        return WriteTransaction(
            self._storage.writes, self.tables, self._world, self.place, now, throttle=self._throttle
        )

    def _end(self, txn: WriteTransaction | None) -> bool:
        """Commit; False if the commit failed."""
        if txn is None:
            return True
        self._unsure = True
        try:
            self._storage.commit()
        except Exception as error:
            log.error("commit failed", extra=fault(error))
            self._storage.rollback()
            self._watcher.not_committed(txn)
            return False
        self._position = txn.position
        is_new_catalog = txn.tables is not self.tables
        self.tables = txn.tables
        self._unsure = False
        self._watcher.committed(txn, is_new_catalog)
        return True

    def _reload(self) -> None:
        """Read the catalog and the position again after an interrupted commit, which may have succeeded."""
        self._storage.rollback()
        self.tables = load(self._storage.writes)
        self._position = last_position(self._storage.writes)
        self._unsure = False
