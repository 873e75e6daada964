"""Two threads beside the requests: the keeper does chores in small steps, the labourer long work in steps of its own.

Chores are what the store owes (an index to be filled, a table to be removed) and what time brings (expired items,
shards, the journal's end); they are writes like others, and give way to those. Must hold: whatever throws is told to
the log and tried again later, and the threads live as long as the engine.
Elsewhere: the chores (chores.py), the labours (labours.py), how long to rest (pacing.py).
"""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from time import monotonic, sleep
from typing import Protocol

from tablewright.engine import chores
from tablewright.engine.autoscaling import Autoscaling
from tablewright.engine.doors import Doors, EngineClosed
from tablewright.engine.errors import ServiceError, fault
from tablewright.engine.labours import KINDS, Turns
from tablewright.engine.metric_reading import minute_of
from tablewright.engine.metrics import Metrics
from tablewright.engine.pacing import UNAWAITED, Pace
from tablewright.engine.storage import Storage
from tablewright.engine.writer import Work, Writer
from tablewright.engine.writing import Writing
from tablewright.world import World

log = logging.getLogger("tablewright.engine")

CHECKPOINT_SECONDS = 0.1
FLUSH_SECONDS = 5.0
RETRY_SECONDS = 1.0
REST_SECONDS = 0.001


class Kept(Protocol):
    """What there is to keep: an engine, as the threads see it."""

    metrics: Metrics
    autoscaling: Autoscaling
    follow: Callable[[], bool] | None

    @property
    def doors(self) -> Doors: ...


class Keeper:
    """The threads of an engine, from `start` to `stop`. What is due is looked for every `ttl_seconds`."""

    def __init__(
        self,
        kept: Kept,
        storage: Storage,
        writer: Writer,
        world: World,
        ttl_seconds: float,
        ttl_lag: timedelta,
    ) -> None:
        self._kept, self._storage, self._writer, self._world = kept, storage, writer, world
        self._ttl_seconds, self.ttl_lag = ttl_seconds, ttl_lag
        self._turn = 0
        self._is_over = False
        self.turns = Turns(KINDS)
        self._labouring = threading.Lock()
        self._wake, self._owed = threading.Event(), threading.Event()
        self.wake()
        self._threads = [
            threading.Thread(target=self._keep, name="tablewright-keeper", daemon=True),
            threading.Thread(target=self._labour, name="tablewright-labourer", daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """There may be chores, and labours."""
        self._wake.set()
        self._owed.set()

    def wake_labourer(self) -> None:
        self._owed.set()

    def stop(self) -> None:
        """End both threads, but for the one we are on; twice is once."""
        self._is_over = True
        self.wake()
        for thread in self._threads:
            if thread.ident is not None and threading.current_thread() is not thread:
                thread.join()

    def disinherit(self) -> None:
        """In a forked child there are no threads."""
        self._is_over = True

    # --- chores, figures, and the log's length ---

    def _keep(self) -> None:
        pause = min(self._ttl_seconds, FLUSH_SECONDS if self._storage.in_memory else CHECKPOINT_SECONDS)
        next_look = monotonic() + self._ttl_seconds
        pace = Pace(lambda: self._writer.written)
        while not self._is_over:
            owed = self._wake.wait(pause)
            if owed:
                self._wake.clear()
            is_time = monotonic() >= next_look
            if is_time:
                next_look = monotonic() + self._ttl_seconds
            try:
                # Each by itself: a chore that always fails must not let the log grow without end.
                is_well = self._tried(partial(self._do_chores, pace, owed, is_time))
                is_well = self._tried(self._shorten_log) and is_well
                is_well = self._tried(self._keep_figures) and is_well
            except EngineClosed:
                return
            if not is_well:
                sleep(RETRY_SECONDS)
                self._wake.set()

    def _tried(self, work: Callable[[], None]) -> bool:
        try:
            work()
            return True
        except EngineClosed:
            raise
        except Exception as error:
            log.error("keeping the store failed", extra=fault(error))
            return False

    def _do_chores(self, pace: Pace, owed: bool, is_time: bool) -> None:
        is_busy = owed or is_time
        while is_busy and not self._is_over:
            pace.step()
            is_busy = self.do_chore(is_time)
            # So that whoever waits for the writer gets it in between.
            pace.rest(1 if owed else UNAWAITED)
            self._shorten_log()

    def _keep_figures(self) -> None:
        """Write the figures of the minutes that have ended, and let provisioned units follow them."""
        if not self._kept.metrics.is_due(self._writer.tables):
            return
        if not self._kept.metrics.flush_some():
            self._kept.autoscaling.adjust(minute_of(self._world.now()))

    def _shorten_log(self) -> None:
        if self._storage.log_is_long:
            self._storage.checkpoint()

    def do_chore(self, due: bool = False) -> bool:
        """One step of what the store owes, of what time brings as well if `due`; False when there is nothing."""
        self._turn += due
        outcome = self._writer.wait_for(_due_chore(self.ttl_lag, self._turn) if due else _chore)
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome == b"more"

    # --- long work ---

    def _labour(self) -> None:
        while not self._is_over:
            self._owed.wait(self._ttl_seconds)
            self._owed.clear()
            while not self._is_over and self.try_labour():
                sleep(REST_SECONDS)
            if self.turns.forgive() and not self._is_over:
                sleep(RETRY_SECONDS)
                self._owed.set()

    def try_labour(self) -> bool:
        """One step of long work, where one that throws is passed over; False when there is none."""
        # Together, or the blame could fall on a kind that somebody else has stepped since.
        with self._labouring:
            try:
                return self.turns.step(self._kept.doors)
            except EngineClosed:
                return False
            except Exception as error:
                self.turns.blame(error)
                return True

    def do_labour(self) -> bool:
        """One step of long work; False when there is none. It may take as long as it likes, and throw."""
        with self._labouring:
            return self.turns.step(self._kept.doors)

    # --- all of it ---

    def settle(self) -> None:
        """Do everything that is owed and due, on this thread."""
        kept = self._kept
        while (
            self.do_chore(due=True)
            or self.do_labour()
            or self.turns.forgive()  # what the labourer passes over is owed all the same
            or (kept.follow is not None and kept.follow())
        ):
            pass
        kept.metrics.flush()
        kept.autoscaling.adjust(minute_of(self._world.now()))


def _chore(writing: Writing) -> bytes:
    return b"more" if chores.do_some(writing) else b"done"


def _due_chore(ttl_lag: timedelta, turn: int) -> Work:
    def chore(writing: Writing) -> bytes:
        is_more = chores.do_some(writing) or chores.do_due(writing, ttl_lag, turn)
        writing.done.append(("", len(writing.marks)))
        return b"more" if is_more else b"done"

    return chore
