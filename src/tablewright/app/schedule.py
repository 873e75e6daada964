"""Background work while the app is up: jobs with a period, and followers that run until they are stopped.

The last run of a job is stored, so a daily job is daily however often the app is restarted; a run is claimed before it
starts, so two processes on one database do not both run it. A run that did not end, because its process was killed, is
made again a minute later, and after each further one that does not end twice as late, at most after the period; a
process that still runs a job has its lease. A job that works on the memory of its process is run by each of them, and
once more when one stops.
Must hold: a job that fails is logged, runs again at its next time, and affects nothing else; close() ends every thread.
What a job publishes, and whether it failed, become metrics of its system (alarms/published.py).
Elsewhere: what a job is (kit/jobs.py), which there are (a system's jobs.py), jobs that people start (manual_jobs.py).
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeAlias

from tablewright.app.design import Turn, turns
from tablewright.app.leases import Leases
from tablewright.engine.errors import fault
from tablewright.kit.jobs import Follower, Job
from tablewright.mapping import AlreadyExists, Db, Stale
from tablewright.world import World

log = logging.getLogger("tablewright.app")

LOOK_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
STOP_SECONDS = 30.0
# When a run that did not end is made again; of a job with a shorter period the next one is soon enough.
AGAIN_AFTER, SHORT_PERIOD = timedelta(minutes=1), timedelta(minutes=10)
# (system, values by metric)
Publish: TypeAlias = Callable[[str, Mapping[str, float]], None]


@dataclass(frozen=True, slots=True)
class Due:
    """A job with when it last had its turn."""

    system: str
    job: Job[Any]
    last: Turn | None

    @property
    def next(self) -> datetime | None:
        """When its turn comes; None for at once."""
        return self.last.at + self.job.every if self.last is not None else None


def _unpublished(system: str, values: Mapping[str, float]) -> None:
    return None


class Schedule:
    """All jobs and followers of the systems in one process. `start` it, close it."""

    def __init__(
        self, db: Db, world: World, publish: Publish = _unpublished, *, leases: Leases | None = None
    ) -> None:
        """With `leases`, other processes have the same jobs."""
        self._db, self._world, self._publish, self._leases = db, world, publish, leases
        self._ran: dict[tuple[str, str], datetime] = {}
        self._jobs: list[tuple[str, Job[Any], Any]] = []
        self._followers: list[tuple[str, Follower[Any], Any]] = []
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()

    def add(self, system: str, work: Sequence[Job[Any] | Follower[Any]], service: Any = None) -> None:
        """Take on what a system has to do; each is run with its service."""
        for each in work:
            if isinstance(each, Job):
                self._jobs.append((system, each, service))
            else:
                self._followers.append((system, each, service))

    @property
    def followers(self) -> Sequence[tuple[str, Follower[Any]]]:
        return tuple((system, follower) for system, follower, _ in self._followers)

    def listed(self) -> list[Due]:
        """Every job with its last turn."""
        return [Due(system, job, self._last(system, job)) for system, job, _ in self._jobs]

    def run_due(self) -> list[str]:
        """Give each job whose time has come its turn, on this thread; their names."""
        ran = []
        for system, job, service in self._jobs:
            if self._stop.is_set():
                break
            if self._take(system, job, service):
                ran.append(f"{system}.{job.name}")
        return ran

    def start(self) -> None:
        """Begin, in threads of its own."""
        for system, follower, service in self._followers:
            self._begin(partial(self._follow, system, follower, service), f"{system}-{follower.name}")
        if self._jobs:
            self._begin(self._watch, "schedule")

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(STOP_SECONDS)
        for system, job, service in self._jobs:
            if self._threads and self._leases is not None and job.of_process:
                self._run(system, job, service)

    # --- parts ---

    def _begin(self, target: Callable[[], None], name: str) -> None:
        thread = threading.Thread(target=target, name=f"tablewright-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                self.run_due()
            except Exception as mistake:
                log.error("the schedule failed", extra=fault(mistake))
            self._stop.wait(LOOK_SECONDS)

    def _follow(self, system: str, follower: Follower[Any], service: Any) -> None:
        pause = FIRST_PAUSE
        while not self._stop.is_set():
            begun = self._world.now()
            try:
                follower.run(service, self._stop)
            except Exception as mistake:
                log.error(
                    "a follower failed", extra={"system": system, "job": follower.name, **fault(mistake)}
                )
            if self._world.now() - begun > timedelta(seconds=LONGEST_PAUSE):
                pause = FIRST_PAUSE
            if self._stop.wait(pause):
                return
            pause = min(pause * 2, LONGEST_PAUSE)

    def _last(self, system: str, job: Job[Any]) -> Turn | None:
        return self._db.one(turns.get(system, job.name), consistent=True)

    def _take(self, system: str, job: Job[Any], service: Any) -> bool:
        """Run a job if it is due and no other process claimed the run."""
        if self._leases is not None and job.of_process:
            return self._take_here(system, job, service)
        now, last = self._world.now(), self._last(system, job)
        # Also if the last run is in the future (the clock was wrong): the job would otherwise wait until then.
        is_due = last is None or abs(now - last.at) >= job.every
        if not is_due and not _was_interrupted(last, job, now):
            return False
        if self._leases is None or job.every < SHORT_PERIOD:
            return self._claim_and_run(system, job, service, last)
        lease = self._leases.take(f"job {system} {job.name}")
        if lease is None:
            # Another process still runs it. If it is due all the same, that one may hang.
            return is_due and self._claim_and_run(system, job, service, last)
        with self._leases.kept(lease, self._stop):
            return self._claim_and_run(system, job, service, last)

    def _claim_and_run(self, system: str, job: Job[Any], service: Any, last: Turn | None) -> bool:
        """False if another process claimed the run."""
        now = self._world.now()
        turn = Turn(
            system=system,
            job=job.name,
            at=now,
            interrupted=last.interrupted + 1 if last is not None and last.took_ms is None else 0,
            version=last.version if last else 0,
        )
        try:
            claim = turns.change(last, turn) if last is not None else turns.create(turn)
            self._db.write(claim)
        except (Stale, AlreadyExists):
            return False
        taken = claim.item
        assert taken is not None
        error = self._run(system, job, service)
        took = (self._world.now() - now) // timedelta(milliseconds=1)
        with suppress(Stale):  # it took longer than its period, and another process claimed the next run
            ended = {"took_ms": took, "error": error, "interrupted": 0}
            self._db.write(turns.change(taken, taken.model_copy(update=ended)))
        return True

    def _take_here(self, system: str, job: Job[Any], service: Any) -> bool:
        """Run a job of this process if it is due here."""
        now, last = self._world.now(), self._ran.get((system, job.name))
        if last is not None and abs(now - last) < job.every:
            return False
        self._ran[system, job.name] = now
        self._run(system, job, service)
        return True

    def _run(self, system: str, job: Job[Any], service: Any) -> str | None:
        """Run a job; the kind of error it ended with, if it did."""
        error: str | None = None
        try:
            result = job.run(service)
            if job.publishes and isinstance(result, Mapping):
                self._publish(system, result)
        except Exception as mistake:
            error = type(mistake).__name__
            log.error("a job failed", extra={"system": system, "job": job.name, **fault(mistake)})
        if job.failures:
            self._publish(system, {job.failures: 0.0 if error is None else 1.0})
        return error


def _was_interrupted(last: Turn | None, job: Job[Any], now: datetime) -> bool:
    """Whether a run did not end and it is time for another one."""
    if last is None or last.took_ms is not None or job.every < SHORT_PERIOD:
        return False
    return now - last.at >= AGAIN_AFTER * (1 << min(last.interrupted, 20))
