"""Lanes: which children wait for which firewalls. Each set of devices has a lane, with a thread while it has work.

A child is in the lane of exactly the devices it is to do with, so a slow device delays only the children that need
it. Must hold: a child is in one place at a time, so nothing is done for it by two threads of this process at
once, and what comes up during that is processed afterwards; a lane is bounded, and a child that finds it full loses
nothing, because what is to be done is in the tables before (`enqueue`); close() ends the threads.
Elsewhere: what is done (reconciler.py), what puts children here and finds them again after the process died
(jobs.py).
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.meters import Cause
from tablewright.systems.parental.model import Wake
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

# The devices a child is to do with, sorted.
Place: TypeAlias = tuple[str, ...]
ROOM = 20_000
# So many lanes are at work at once; that many devices have to hang before others wait for them.
THREADS = 64
CLOSE_SECONDS = 20.0
# Who waited longer than this may be to do with other devices by now.
SETTLED_SECONDS = 1.0
# What is due is read from the beginning so often, and in between from a while ago on: what waits is known.
EVERYTHING_EVERY, A_WHILE = timedelta(seconds=30), timedelta(minutes=2)
WRITES = 20


@dataclass(frozen=True, slots=True)
class Task:
    """A child to be looked at, since when and why; on devices in `skip_backoff` without waiting for the end of a pause.

    With `run` it is other work with devices, and `key` its name; `of` is the child it is for, if it is for one.
    """

    key: str
    cause: Cause = "retry"
    since: datetime | None = None
    skip_backoff: frozenset[str] = frozenset()
    run: Callable[[], object] | None = None
    of: str | None = None
    put_at: float = 0.0

    @property
    def child(self) -> str | None:
        """Whose devices it waits for; None if its place was given."""
        return self.key if self.run is None else self.of

    def joined(self, later: "Task") -> "Task":
        """Both in one: the cause is that of the first."""
        return replace(
            self, skip_backoff=self.skip_backoff | later.skip_backoff, since=self.since or later.since
        )


Work: TypeAlias = Callable[[Sequence[Task]], None]
# How many at a time in a lane: several where a deployment serves them all.
BatchSize: TypeAlias = Callable[[Place], int]


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many wait for a device or are at it, and since when it was to be done for the first of them."""

    count: int = 0
    since: datetime | None = None


class Lanes:
    """The lanes of a process. While they are not open, who has something to do does it in place."""

    def __init__(self, repository: Repository) -> None:
        # Devices that were off or failing at the last check: when one is back, waiting children are due at once.
        self.ill: set[str] = set()
        self._repository = repository
        self._crew: DeviceQueues | None = None
        self._looked: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self._crew is not None

    @contextmanager
    def open(self, work: Work, batch_size: BatchSize = lambda _: 1) -> Iterator[None]:
        """Have everything done by `work` in lanes until the end of the block; what waits then is left."""
        crew = DeviceQueues(work, batch_size, self.place_of)
        self._crew, self._looked = crew, None
        try:
            yield
        finally:
            self._crew = None
            crew.close()

    def take(self, task: Task, place: Place | None = None, *, is_news: bool = False) -> bool:
        """Put a child into its lane; False if the lane is full or lanes are closed.

        Work that is for no child needs its `place`. Who is there already stays there. With `is_news`, who is just being
        looked at is looked at once more.
        """
        crew = self._crew
        if crew is None:
            return False
        if not is_news and crew.has(task):
            return True
        if place is None:
            place = self.place_of(task.child or task.key)
        return crew.put(place, replace(task, put_at=time.monotonic()), is_news=is_news)

    def place_of(self, child: str) -> Place:
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
        crew = self._crew
        return crew.backlog(device_id) if crew is not None else Backlog()

    def due_since(self, now: datetime) -> datetime | None:
        """From when on to read what is due; None for all of it."""
        if self._crew is not None and self._looked is not None and now - self._looked < EVERYTHING_EVERY:
            return now - A_WHILE
        self._looked = now
        return None


def enqueue(repository: Repository, child: str) -> None:
    """Note in the table that a child is to be looked at now: if the process dies before that, it comes up again.

    Also where it is due already: the process that is working on it then sees the new request and checks again.
    """
    for tried in range(WRITES):
        wake, now = repository.db.one(d.wake_of_child(child=child)), repository.now()
        if wake is None:
            write = d.wakes.create(Wake(child=child, at=now))
        else:
            write = d.wakes.change(wake, wake.model_copy(update={"at": min(wake.at, now)}))
        if repository.try_write(write):
            return
        repository.pause(tried)
    raise TimeoutError("others noted when to look at a child every time; the change is followed again later")


# --- parts ---


@dataclass(slots=True)
class _Lane:
    waiting: dict[str, Task] = field(default_factory=dict)
    at_work: dict[str, Task] = field(default_factory=dict)
    thread: threading.Thread | None = None


class DeviceQueues:
    """The threads and what waits for them, from one opening to its end."""

    def __init__(self, work: Work, batch_size: BatchSize, place_of: Callable[[str], Place]) -> None:
        self._work, self._batch_size, self._place_of = work, batch_size, place_of
        self._lock = threading.Lock()
        self._lanes: dict[Place, _Lane] = {}
        self._where: dict[str, Place] = {}
        # Who is to be looked at once more after what is being done for them.
        self._again: dict[str, tuple[Place, Task]] = {}
        self._is_closed = False

    def has(self, task: Task) -> bool:
        """Whether they wait or are at work, with all the haste that is asked for now."""
        with self._lock:
            place = self._where.get(task.key)
            if place is None:
                return False
            lane = self._lanes[place]
            known = lane.waiting.get(task.key) or lane.at_work[task.key]
            return task.skip_backoff <= known.skip_backoff

    def put(self, place: Place, task: Task, *, is_news: bool) -> bool:
        with self._lock:
            return self._put(place, task, is_news=is_news)

    def backlog(self, device_id: str) -> Backlog:
        with self._lock:
            lanes = [lane for place, lane in self._lanes.items() if device_id in place]
            tasks = [task for lane in lanes for task in (*lane.waiting.values(), *lane.at_work.values())]
        since = [task.since for task in tasks if task.since is not None]
        return Backlog(len(tasks), min(since, default=None))

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            threads = [lane.thread for lane in self._lanes.values() if lane.thread is not None]
        until = time.monotonic() + CLOSE_SECONDS
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0.0))
        left = sum(thread.is_alive() for thread in threads)
        if left:
            log.warning("firewalls still being asked at the end", extra={"lanes": left})

    # --- with the lock ---

    def _put(self, place: Place, task: Task, *, is_news: bool) -> bool:
        if self._is_closed:
            return False
        known = self._where.get(task.key)
        if known is not None:
            lane = self._lanes[known]
            if task.key in lane.at_work:
                if is_news or not task.skip_backoff <= lane.at_work[task.key].skip_backoff:
                    _, before = self._again.get(task.key, (place, task))
                    self._again[task.key] = place, before.joined(task)
                return True
            if known == place:
                lane.waiting[task.key] = lane.waiting[task.key].joined(task)
                return True
            task = lane.waiting.pop(task.key).joined(task)
        elif len(self._where) >= ROOM:
            return False
        self._where[task.key] = place
        self._lanes.setdefault(place, _Lane()).waiting[task.key] = task
        self._start_worker(place)
        return True

    def _start_worker(self, place: Place) -> None:
        """A thread for a lane that has none, if there may be one more."""
        lane = self._lanes[place]
        if lane.thread is None and sum(one.thread is not None for one in self._lanes.values()) < THREADS:
            name = f"tablewright-lane-{'-'.join(place)}"
            lane.thread = threading.Thread(target=self._run, args=(place,), name=name, daemon=True)
            lane.thread.start()

    def _next(self, place: Place, batch_size: int) -> list[Task]:
        """The next task of a lane; None if the lane is to end, and then its thread goes to another lane."""
        lane = self._lanes[place]
        if self._is_closed or not lane.waiting:
            # Before the lock is released: the next `take` finds no thread and starts one.
            lane.thread = None
            if not lane.waiting:
                del self._lanes[place]
            for other in [] if self._is_closed else list(self._lanes):
                self._start_worker(other)
            return []
        taken: list[Task] = []
        for task in lane.waiting.values():
            if len(taken) >= batch_size or (taken and task.run is not None):
                break
            taken.append(task)
            if task.run is not None:
                break
        for task in taken:
            lane.at_work[task.key] = lane.waiting.pop(task.key)
        return taken

    def _done(self, place: Place, tasks: Sequence[Task], moved: dict[str, Place]) -> None:
        lane = self._lanes[place]
        for task in tasks:
            del lane.at_work[task.key]
            del self._where[task.key]
            if task.key in moved:
                self._put(moved[task.key], task, is_news=True)
            if task.key in self._again:
                self._put(*self._again.pop(task.key), is_news=True)

    # --- without ---

    def _run(self, place: Place) -> None:
        batch_size = self._batch_size(place)
        while True:
            with self._lock:
                tasks = self._next(place, batch_size)
            if not tasks:
                return
            moved: dict[str, Place] = {}
            try:
                moved = self._elsewhere(place, tasks)
                here = [task for task in tasks if task.key not in moved]
                if here:
                    self._work(here)
            except Exception as mistake:
                # They are due still: who looks for what is due finds them again.
                log.error("a lane failed", extra={"mistake": type(mistake).__name__})
            finally:
                with self._lock:
                    self._done(place, tasks, moved)

    def _elsewhere(self, place: Place, tasks: Sequence[Task]) -> dict[str, Place]:
        """Those that waited here for a while and are to do with other devices by now, and with which."""
        now = time.monotonic()
        old = [(task.key, task.child) for task in tasks if now - task.put_at > SETTLED_SECONDS]
        places = {key: self._place_of(child) for key, child in old if child is not None}
        return {key: found for key, found in places.items() if found != place}
