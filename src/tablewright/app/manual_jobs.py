"""Long-running jobs that people start: they run in threads, report their progress, and are recorded in the store.

Progress is in memory and stored every two seconds, so a page can be reloaded; after a restart a job that was running is
marked as interrupted. Processes that share tables hold a lease for each job they run: one without is interrupted.
Must hold: one job of a kind and title at a time, in all processes: one whose lease is lost ends with its next step;
close() ends every thread.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from pydantic import JsonValue

from tablewright.app.design import ProcessLease, Work, WorkState, recent_work, work_by_id, works
from tablewright.app.leases import Leases
from tablewright.app.progress import ProgressSnapshot
from tablewright.engine.errors import fault
from tablewright.kit.system import Progress
from tablewright.mapping import Db, WriteRefused
from tablewright.world import World

log = logging.getLogger("tablewright.app")

Job: TypeAlias = Callable[[Progress], JsonValue]
WRITTEN_EVERY = 2.0
STOP_SECONDS = 30.0
# What a state is called on pages, and its tone.
STATES = {
    "RUNNING": ("running", "busy"),
    "DONE": ("done", "good"),
    "FAILED": ("failed", "bad"),
    "INTERRUPTED": ("interrupted", "warn"),
}


class WorkStopped(Exception):
    """The process is ending, and this job with it."""


class Works:
    """All long work of this process; close it."""

    def __init__(self, db: Db, world: World, leases: Leases | None = None) -> None:
        """`leases`: other processes have the same table."""
        self._db, self._world, self._leases = db, world, leases
        self._live: dict[str, Work] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._close_interrupted()

    def start(self, kind: str, title: str, job: Job, *, by: str) -> Work:
        """Begin, unless the same is running already; what is returned can be looked up by its id."""
        with self._lock:
            for work in self._live.values():
                if work.is_running and (work.kind, work.title) == (kind, title):
                    return work
            if self._stopping.is_set():
                raise WorkStopped("the server is shutting down; start it and try again")
            now = self._world.now()
            work = Work(id=self._world.new_id(), kind=kind, title=title, by=by, started=now, updated=now)
            lease = self._leases.take(_lease_of(work), work.id) if self._leases is not None else None
            if self._leases is not None and lease is None:
                return self._elsewhere(kind, title)
            self._record(work, lease)
            self._live[work.id] = work
            thread = threading.Thread(
                target=self._run, args=(work, job, lease), name=f"tablewright-{kind}", daemon=True
            )
            self._threads[work.id] = thread
            thread.start()
            return work

    def find(self, id: str) -> Work | None:
        """The job with its current progress."""
        live = self._live.get(id)
        found = live or self._db.one(work_by_id(id=id))
        return found if found is None or live is not None else self._as_of_now(found)

    def recent(self, count: int = 10) -> list[Work]:
        """The newest first."""
        page = self._db.page(recent_work(), size=count)
        return [self._live.get(work.id) or self._as_of_now(work) for work in page.items]

    def wait(self, id: str, seconds: float = 30.0) -> None:
        """Until this work is done, if this process does it."""
        thread = self._threads.get(id)
        if thread is not None:
            thread.join(seconds)

    def close(self) -> None:
        self._stopping.set()
        for thread in list(self._threads.values()):
            thread.join(STOP_SECONDS)

    # --- parts ---

    def _record(self, work: Work, lease: ProcessLease | None) -> None:
        """Write that a job begins; if that fails, another process may begin it at once."""
        try:
            self._db.write(works.create(work))
        except Exception:
            if self._leases is not None and lease is not None:
                with suppress(Exception):  # its time ends it
                    self._leases.release(lease)
            raise

    def _close_interrupted(self) -> None:
        """Jobs recorded as running stopped with their process, unless another one has their lease."""
        now = self._as_of_now if self._leases is not None else self._interrupted
        for work in self._db.all(recent_work()):
            now(work)

    def _as_of_now(self, work: Work) -> Work:
        """A job of another process; one that runs without a lease was interrupted."""
        if self._leases is None or not work.is_running or self._leases.is_held(_lease_of(work), work.id):
            return work
        with suppress(WriteRefused):  # it ended in this moment
            return self._interrupted(work)
        return self._db.one(work_by_id(id=work.id)) or work

    def _interrupted(self, work: Work) -> Work:
        if not work.is_running:
            return work
        after = work.model_copy(update={"state": "INTERRUPTED"})
        self._db.write(works.move(work, after, by="restart"))
        return after

    def _elsewhere(self, kind: str, title: str) -> Work:
        """The job of another process."""
        for work in self._db.all(recent_work()):
            if work.is_running and (work.kind, work.title) == (kind, title):
                return work
        raise WorkStopped("another process is starting or ending the same job; try again in a minute")

    def _run(self, work: Work, job: Job, lease: ProcessLease | None) -> None:
        if self._leases is None or lease is None:
            self._do(work, job, threading.Event())
            return
        with self._leases.kept(lease, threading.Event()) as lost:
            self._do(work, job, lost)

    def _do(self, work: Work, job: Job, lost: threading.Event) -> None:
        reporter = _Reporter(self, work, lost)
        state: WorkState = "DONE"
        result: JsonValue = None
        error: str | None = None
        try:
            result = job(reporter)
        except WorkStopped:
            state = "INTERRUPTED"
        except Exception as mistake:
            state, error = "FAILED", f"{type(mistake).__name__}: {mistake}"
            log.error("work failed", extra={"kind": work.kind, "work": work.id, **fault(mistake)})
        self._finish(reporter.written, self._live[work.id], state, result, error)

    def _finish(
        self, written: Work, live: Work, state: WorkState, result: JsonValue, error: str | None
    ) -> None:
        done = live.total if state == "DONE" and live.total is not None else live.done
        ended = live.model_copy(
            update={
                "state": state,
                "done": done,
                "result": result,
                "error": error,
                "updated": self._world.now(),
            }
        )
        try:
            self._db.write(works.move(written, ended, by="worker"))
        except Exception as mistake:
            log.error("work's end not written", extra={"kind": live.kind, "work": live.id, **fault(mistake)})
        self._live[live.id] = ended

    def _note(self, id: str, done: int, total: int | None, what: str) -> Work:
        if self._stopping.is_set():
            raise WorkStopped
        live = self._live[id].model_copy(
            update={"done": done, "total": total, "unit": what, "updated": self._world.now()}
        )
        self._live[id] = live
        return live


class _Reporter:
    """The Progress of one job: keeps each step, stores some."""

    def __init__(self, owner: Works, work: Work, lost: threading.Event) -> None:
        self._owner, self.written, self._lost = owner, work, lost
        self._last = time.monotonic()

    def __call__(self, done: int, total: int | None, what: str) -> None:
        if self._lost.is_set():
            raise WorkStopped
        live = self._owner._note(self.written.id, done, total, what)
        if time.monotonic() - self._last >= WRITTEN_EVERY:
            self._last = time.monotonic()
            self._owner._db.write(works.change(self.written, live))
            self.written = live


def _lease_of(work: Work) -> str:
    return f"work {work.kind} {work.title}"


def progress_of(work: Work, world: World) -> ProgressSnapshot:
    """How far it is, and how fast it got there."""
    until = world.now() if work.is_running else work.updated
    return ProgressSnapshot(work.done, work.total, (until - work.started).total_seconds())
