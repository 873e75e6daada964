"""Long-running jobs that people start: they run in threads, report their progress, and are recorded in the store.

Progress is in memory and stored every two seconds, so a page can be reloaded; after a restart a job that was running is
marked as interrupted.
Must hold: one job of a kind and title at a time; close() ends every thread.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from pydantic import JsonValue

from tablewright.app.design import Work, WorkState, recent_work, work_by_id, works
from tablewright.app.progress import ProgressSnapshot
from tablewright.engine.errors import fault
from tablewright.kit.system import Progress
from tablewright.mapping import Db
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

    def __init__(self, db: Db, world: World) -> None:
        self._db, self._world = db, world
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
            self._live[work.id] = work
            thread = threading.Thread(
                target=self._run, args=(work, job), name=f"tablewright-{kind}", daemon=True
            )
            self._threads[work.id] = thread
            self._db.write(works.create(work))
            thread.start()
            return work

    def find(self, id: str) -> Work | None:
        """The job with its current progress."""
        return self._live.get(id) or self._db.one(work_by_id(id=id))

    def recent(self, count: int = 10) -> list[Work]:
        """The newest first."""
        page = self._db.page(recent_work(), size=count)
        return [self._live.get(work.id, work) for work in page.items]

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

    def _close_interrupted(self) -> None:
        """No other process uses the store, so jobs recorded as running stopped with the last process."""
        for work in self._db.all(recent_work()):
            if work.is_running:
                after = work.model_copy(update={"state": "INTERRUPTED"})
                self._db.write(works.move(work, after, by="restart"))

    def _run(self, work: Work, job: Job) -> None:
        reporter = _Reporter(self, work)
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

    def __init__(self, owner: Works, work: Work) -> None:
        self._owner, self.written = owner, work
        self._last = time.monotonic()

    def __call__(self, done: int, total: int | None, what: str) -> None:
        live = self._owner._note(self.written.id, done, total, what)
        if time.monotonic() - self._last >= WRITTEN_EVERY:
            self._last = time.monotonic()
            self._owner._db.write(works.change(self.written, live))
            self.written = live


def progress_of(work: Work, world: World) -> ProgressSnapshot:
    """How far it is, and how fast it got there."""
    until = world.now() if work.is_running else work.updated
    return ProgressSnapshot(work.done, work.total, (until - work.started).total_seconds())
