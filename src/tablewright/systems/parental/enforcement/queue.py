"""Work that calls firewalls: a queue and a thread for each set of firewalls, so that a slow one delays no others.

What is to be done is in the tables: which child is due for a check, since when and why (`enqueue`), and which rules
wait for another attempt. A queue has what this process took up of it. Must hold: a child is in one queue, once; a child
that is due again while it is checked stays due (reconciler.py), so it is taken up again; queues are bounded, and what
finds no room is found again in the tables; closing ends the threads.
Elsewhere: what is done for a child (dispatch.py), who takes up what is due (due.py).
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from tablewright.kit.tables import RACES
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import Cause, Wake
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

# The devices a child is to do with, sorted.
DeviceIds: TypeAlias = tuple[str, ...]
ROOM = 20_000
# So many queues are worked on at once; that many devices have to hang before others wait for them.
THREADS = 64
CLOSE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Check:
    """Why a child is checked, and since when it is due. Devices in `skip_backoff` are asked before their pause ends."""

    cause: Cause = "retry"
    since: datetime | None = None
    skip_backoff: frozenset[str] = frozenset()

    def joined(self, later: "Check") -> "Check":
        return replace(self, skip_backoff=self.skip_backoff | later.skip_backoff)


# A child to be checked, or anything else that calls firewalls.
Work: TypeAlias = Check | Callable[[], object]
CheckAll: TypeAlias = Callable[[Mapping[str, Check]], None]
# How many children at a time: several where one deployment serves them all.
BatchSize: TypeAlias = Callable[[DeviceIds], int]


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many wait for a device or are at it, and since when the first of them is due."""

    count: int = 0
    since: datetime | None = None


@dataclass(slots=True)
class _Queue:
    waiting: dict[str, Work] = field(default_factory=dict)
    at_work: dict[str, Work] = field(default_factory=dict)


class DeviceQueues:
    """The queues of a process. While they are not open, work is done in place by who has it."""

    def __init__(self, repository: Repository) -> None:
        # Devices that were off or failing at the last check: when one is back, its rules are due at once.
        self.failing: set[str] = set()
        self.news = threading.Event()
        self._repository = repository
        self._lock, self._slots = threading.Lock(), threading.Semaphore(THREADS)
        self._queues: dict[DeviceIds, _Queue] = {}
        self._places: dict[str, DeviceIds] = {}
        self._threads: set[threading.Thread] = set()
        self._open: tuple[CheckAll, BatchSize] | None = None

    @property
    def is_open(self) -> bool:
        return self._open is not None

    @contextmanager
    def open(self, check_all: CheckAll, batch_size: BatchSize = lambda _: 1) -> Iterator[None]:
        """Work on what is put here until the end of the block; what waits then is left."""
        self._open = check_all, batch_size
        try:
            yield
        finally:
            self._open = None
            self._join()

    def put(self, key: str, work: Work, place: DeviceIds | None = None, *, child: str | None = None) -> bool:
        """Queue a child, or work with a name for the devices of a child or a place; False if that is not done.

        What waits already is not queued twice. What is being worked on counts as queued, unless it is a child and this
        is in more of a hurry.
        """
        with self._lock:
            if key in self._places:
                return self._join_known(key, work)
        # Not with the lock: it reads.
        where = self.place_of(child or key) if place is None else place
        with self._lock:
            if key in self._places:
                return self._join_known(key, work)
            if self._open is None or len(self._places) >= ROOM:
                return False
            self._places[key] = where
            if where not in self._queues:
                self._queues[where] = _Queue()
                self._start(where, *self._open)
            self._queues[where].waiting[key] = work
        return True

    def place_of(self, child: str) -> DeviceIds:
        """The devices a child is to do with: where it is, and where rules of it are."""
        db = self._repository.db
        here = {
            one.device_id
            for one in db.all(d.sessions_of_child(child=child))
            if one.live_private_ip is not None
        }
        left = {one.ftd_device_id for one in db.all(d.rules_of_child(child=child)) if one.status != "removed"}
        return tuple(sorted(here | left))

    def backlog(self, device_id: str) -> Backlog:
        """What waits for a device in this process."""
        with self._lock:
            queues = [queue for place, queue in self._queues.items() if device_id in place]
            work = [one for queue in queues for one in (*queue.waiting.values(), *queue.at_work.values())]
        since = [one.since for one in work if isinstance(one, Check) and one.since is not None]
        return Backlog(len(work), min(since, default=None))

    # --- with the lock ---

    def _join_known(self, key: str, work: Work) -> bool:
        queue = self._queues[self._places[key]]
        known = queue.waiting.get(key) or queue.at_work[key]
        if not isinstance(known, Check) or not isinstance(work, Check):
            return True
        if key in queue.waiting:
            queue.waiting[key] = known.joined(work)
            return True
        return work.skip_backoff <= known.skip_backoff

    def _start(self, place: DeviceIds, check_all: CheckAll, batch_size: BatchSize) -> None:
        name = f"tablewright-queue-{'-'.join(place)}"
        thread = threading.Thread(
            target=self._run, args=(place, check_all, batch_size), name=name, daemon=True
        )
        self._threads.add(thread)
        thread.start()

    def _next(self, place: DeviceIds, batch_size: int) -> dict[str, Work]:
        """What to do next: so many children, or one other thing. Nothing if the queue ends here."""
        queue = self._queues[place]
        if self._open is None or not queue.waiting:
            for key in self._queues.pop(place).waiting:
                del self._places[key]
            self._threads.discard(threading.current_thread())
            return {}
        for key, work in list(queue.waiting.items()):
            if queue.at_work and (len(queue.at_work) >= batch_size or not isinstance(work, Check)):
                break
            queue.at_work[key] = queue.waiting.pop(key)
            if not isinstance(work, Check):
                break
        return dict(queue.at_work)

    # --- without ---

    def _run(self, place: DeviceIds, check_all: CheckAll, batch_size: BatchSize) -> None:
        with self._slots:
            at_most = batch_size(place)
            while True:
                with self._lock:
                    work = self._next(place, at_most)
                if not work:
                    return
                try:
                    checks = {key: one for key, one in work.items() if isinstance(one, Check)}
                    if checks:
                        check_all(checks)
                    for one in work.values():
                        if not isinstance(one, Check):
                            one()
                except Exception as mistake:
                    # They are due still, and taken up again.
                    log.error("work on firewalls failed", extra={"mistake": type(mistake).__name__})
                finally:
                    with self._lock:
                        self._queues[place].at_work.clear()
                        for key in work:
                            del self._places[key]

    def _join(self) -> None:
        until = time.monotonic() + CLOSE_SECONDS
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0.0))
        left = sum(thread.is_alive() for thread in threads)
        if left:
            log.warning("firewalls still being asked at the end", extra={"queues": left})


def enqueue(
    repository: Repository, child: str, cause: Cause = "retry", since: datetime | None = None
) -> None:
    """Store that a child is due for a check, and since when: from then on the check is done whatever happens.

    Also where it is due already: the process that is checking it then sees the new request and checks again.
    """

    def attempt() -> None:
        wake, now = repository.db.one(d.wake_of_child(child=child)), repository.now()
        at = min(since or now, now)
        if wake is None:
            write = d.wakes.create(Wake(child=child, at=at, cause=cause))
        elif wake.at <= now:
            write = d.wakes.change(wake, wake.model_copy(update={"at": min(wake.at, at)}))
        else:
            write = d.wakes.change(wake, wake.model_copy(update={"at": at, "cause": cause}))
        repository.db.write(write)

    words = "others noted when to check a child every time; the change is followed again later"
    repository.retried(None, attempt, on=RACES, busy=TimeoutError(words))
