"""Leases: what one process at a time may do, where several share the tables.

    with leases.held("mail portal", stop) as lost:      # waits until no other process has it
        work(lost)                                      # ends when `lost` is set

A lease lasts 30 seconds and is renewed by a thread while it is held; a process that stops gives it back, one that dies
keeps it until its time is over. Must hold: one process at a time has a lease, if none is stopped for longer than it
lasts; a lease is changed by its owner alone, or taken when its time is over; its owner learns in time that it is over,
also while the tables do not answer.
Processes compare `until` with their own clocks: these must agree to a few seconds.
Elsewhere: the shards of stream consumers (mapping/consumer/leases.py), turns of jobs (schedule.py).
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from tablewright.app.design import ProcessLease, process_leases
from tablewright.engine.errors import fault
from tablewright.mapping import AlreadyExists, Db, Missing, Stale
from tablewright.world import World

log = logging.getLogger("tablewright.app")

TERM = timedelta(seconds=30)
# How often a process that waits for a lease asks for it.
ASK_SECONDS = 1.0
# How long one waits that must have it to start: longer than a process which died keeps it.
PATIENCE = TERM + timedelta(seconds=5)


class Leases:
    """The leases of one process. Threads may share it."""

    def __init__(self, db: Db, world: World, term: timedelta = TERM) -> None:
        self._db, self._world, self._term = db, world, term
        self._process = world.new_id()

    def take(self, name: str, owner: str = "") -> ProcessLease | None:
        """The lease, if no one has it. `owner` is this process unless it is said."""
        now = self._world.now()
        before = self._db.one(process_leases.get(name), consistent=True)
        if before is not None and before.until > now:
            return None
        after = ProcessLease(
            name=name,
            owner=owner or self._process,
            until=now + self._term,
            version=before.version if before is not None else 0,
        )
        return self._written(before, after)

    def taken_in_time(self, name: str) -> ProcessLease | None:
        """The lease, also that of a process which died a moment ago; None if another process keeps it."""
        end = time.monotonic() + PATIENCE.total_seconds()
        lease = self.take(name)
        while lease is None and time.monotonic() < end:
            time.sleep(ASK_SECONDS)
            lease = self.take(name)
        return lease

    def is_held(self, name: str, owner: str) -> bool:
        """Whether this owner has the lease now."""
        found = self._db.one(process_leases.get(name), consistent=True)
        return found is not None and found.owner == owner and found.until > self._world.now()

    def release(self, lease: ProcessLease) -> None:
        """Give it back; nothing happens if another has it."""
        self._written(lease, lease.model_copy(update={"until": self._world.now()}))

    @contextmanager
    def held(self, name: str, stop: threading.Event) -> Iterator[threading.Event]:
        """Wait for the lease and keep it; the event is set when it is lost, or when `stop` is.

        If `stop` is set while it waits, the event is set from the beginning.
        """
        lease = self.take(name)
        while lease is None and not stop.wait(ASK_SECONDS):
            lease = self.take(name)
        if lease is None:
            yield stop
            return
        with self.kept(lease, stop) as lost:
            yield lost

    @contextmanager
    def kept(self, lease: ProcessLease, stop: threading.Event) -> Iterator[threading.Event]:
        """Renew a lease that was taken until the block ends, then give it back."""
        renewal = _Renewal(self, lease, stop)
        renewal.begin()
        try:
            yield renewal.lost
        finally:
            renewal.end()

    # --- parts ---

    def renewed(self, lease: ProcessLease) -> ProcessLease | None:
        """The lease for another term; None if another process has it."""
        return self._written(lease, lease.model_copy(update={"until": self._world.now() + self._term}))

    def _written(self, before: ProcessLease | None, after: ProcessLease) -> ProcessLease | None:
        write = process_leases.create(after) if before is None else process_leases.change(before, after)
        try:
            self._db.write(write)
        except (AlreadyExists, Stale, Missing):
            return None
        return write.item

    @property
    def pause(self) -> float:
        """Seconds between two renewals: one may fail."""
        return self._term.total_seconds() / 4

    def is_over(self, lease: ProcessLease) -> bool:
        """Whether another process may have it by now: a tenth of the term before, because clocks differ."""
        return self._world.now() >= lease.until - self._term / 10


class _Renewal:
    """Renews one lease in a thread. A second one sets `lost`: a renewal may wait for its answer for a minute."""

    def __init__(self, leases: Leases, lease: ProcessLease, stop: threading.Event) -> None:
        self._leases, self._lease, self._stop = leases, lease, stop
        self.lost, self._ended = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"tablewright-lease-{lease.name}", daemon=True)
            for work in (self._renew_often, self._watch)
        ]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        try:
            self._leases.release(self._lease)
        except Exception as error:  # its time ends it
            log.warning("a lease was not given back", extra={"lease": self._lease.name, **fault(error)})

    def _watch(self) -> None:
        while not self._ended.wait(min(0.2, self._leases.pause)):
            if self._stop.is_set() or self._leases.is_over(self._lease):
                self.lost.set()

    def _renew_often(self) -> None:
        while not self._ended.wait(self._leases.pause):
            self._renew()

    def _renew(self) -> None:
        try:
            renewed = self._leases.renewed(self._lease)
        except Exception as error:  # the tables do not answer: the lease holds until its time is over
            log.warning("a lease was not renewed", extra={"lease": self._lease.name, **fault(error)})
            return
        if renewed is None:
            log.warning("a lease was lost", extra={"lease": self._lease.name})
            self.lost.set()
        else:
            self._lease = renewed
