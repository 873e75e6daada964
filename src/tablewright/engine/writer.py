"""The one that writes: each write in one transaction, many writes in one commit.

Whoever gets the writer's lock runs all writes that are waiting and commits them together, so that callers share the
price of reaching the disk.
Must hold: an outcome is told only after its commit; a write that is refused has changed nothing; a fault in one does
not take the others with it; after a commit that was broken off only the store is believed.
Elsewhere: what a write does (operations/), how bytes reach the disk (storage.py), whose call it is (engine.py).
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from tablewright.engine.catalog import Catalog, load
from tablewright.engine.errors import ServiceError, fault, internal_error
from tablewright.engine.journal import pen, pen_at
from tablewright.engine.storage import Storage
from tablewright.engine.throttle import Throttle
from tablewright.engine.writing import Outcome, Place, Writing
from tablewright.world import World

log = logging.getLogger("tablewright.engine")

Work: TypeAlias = Callable[[Writing], bytes]
T = TypeVar("T")


class Watcher(Protocol):
    """Who is told what became of writes, with the writer's lock held."""

    def refuse_closed(self) -> None:
        """Raise if there is to be no more writing."""

    def committed(self, writing: Writing, is_new_catalog: bool) -> None: ...

    def not_committed(self, writing: Writing) -> None:
        """The disk has refused."""

    def failed(self, writing: Writing) -> None:
        """A fault of ours; nothing of it is left."""


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

    def __init__(self, writer: "Writer", writing: Writing | None, outcomes: list[Outcome]) -> None:
        self._writer, self._writing = writer, writing
        self.outcomes = outcomes

    def finish(self) -> list[Outcome]:
        """Commit, on whichever thread; the outcomes are true from here on."""
        if not self._writer.commit(self._writing):
            self.outcomes = [internal_error() for _ in self.outcomes]
        return self.outcomes


class Writer:
    """The writer of a store. `tables` are as they stand after the last commit; any number of threads may come."""

    def __init__(
        self, storage: Storage, world: World, place: Place, throttle: Throttle | None, watcher: Watcher
    ) -> None:
        self._storage, self._world, self._throttle = storage, world, throttle
        self.place = place
        self._watcher = watcher
        self.tables: Catalog = load(storage.writes)
        self.written = 0  # writes there have ever been, the engine's own included
        self._pen = pen(storage.writes)
        self._unsure = False
        self._waiting: deque[_Ticket] = deque()

    def wait_for(self, work: Work) -> Outcome:
        """The outcome of a write, once it is committed, or refused."""
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
        self.written += len(tickets)
        # The others whose turn this was have no outcome then, come here in turn and are told the same.
        self._watcher.refuse_closed()
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

    def start_group(self, works: Sequence[Work], *, wait: bool) -> Group | None:
        """Run writes on this thread, to be committed together by `finish`.

        None if another thread is writing and we are not to wait for it.
        """
        if not self._storage.writing.acquire(blocking=wait):
            return None
        try:
            self._watcher.refuse_closed()
            self.written += len(works)
            writing, outcomes = self._run(works)
        except BaseException:
            self._storage.rollback()
            self._storage.writing.release()
            raise
        return Group(self, writing, outcomes)

    def commit(self, writing: Writing | None) -> bool:
        """End a group; False if the disk refused."""
        try:
            return self._end(writing)
        finally:
            self._storage.writing.release()

    def write_last(self, deed: Callable[[Writing], T]) -> T:
        """A write of the engine's own, when nobody else may write any more."""
        with self._storage.writing:
            writing = self._begin()
            answer = deed(writing)
            if not self._end(writing):
                raise OSError("the store could not be written to")
            return answer

    # --- one transaction; the lock is held, so nobody closes the store meanwhile ---

    def _run(self, works: Sequence[Work]) -> tuple[Writing | None, list[Outcome]]:
        """Run writes in one open transaction."""
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
            self._watcher.failed(writing)
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
            self._storage.writes, self.tables, self._world, self.place, now, throttle=self._throttle
        )

    def _end(self, writing: Writing | None) -> bool:
        """Commit; False if the disk refused."""
        if writing is None:
            return True
        self._unsure = True
        try:
            self._storage.commit()
        except Exception as error:
            log.error("commit failed", extra=fault(error))
            self._storage.rollback()
            self._watcher.not_committed(writing)
            return False
        self._pen = writing.pen
        is_new_catalog = writing.tables is not self.tables
        self.tables = writing.tables
        self._unsure = False
        self._watcher.committed(writing, is_new_catalog)
        return True

    def _look_again(self) -> None:
        """A commit was broken off, by Ctrl-C or a full disk: only the store knows whether it took place."""
        self._storage.rollback()
        self.tables = load(self._storage.writes)
        self._pen = pen(self._storage.writes)
        self._unsure = False
