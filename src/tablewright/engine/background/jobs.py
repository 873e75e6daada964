"""Long-running jobs beside the writer: snapshots, restores, exports, imports and bulk loads. One thread, step by step.

A job is a function `(session) -> bool`: it runs one step of the pending work of its kind and returns whether there was
any. Quick work is done in transactions of the session (session.py); slow work (compression, files, network) between
them, so that no request waits for it. While clients write, the session pauses the job (pacing.py).
Must hold: a job's progress is in the store, each write leaves the store consistent, and a step can be repeated; so a
store that is opened again continues where the last process stopped. A job that cannot continue writes FAILED and a
reason into its own record. A job that raises is logged and skipped for a while; the others continue.
Elsewhere: small steps inside a write transaction (maintenance.py); the thread (threads.py).
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tablewright.engine.background.pacing import PacedSession
from tablewright.engine.background.session import Session
from tablewright.engine.errors import fault
from tablewright.engine.history import restore, snapshots
from tablewright.engine.transfer import bulk_put, export, import_

log = logging.getLogger("tablewright.engine")

Job: TypeAlias = Callable[[Session], bool]

# Every job, in the order in which they are run.
JOBS: Sequence[Job] = (
    snapshots.make_batch,
    restore.fill_batch,
    export.export_batch,
    import_.import_batch,
    bulk_put.put_batch,
    export.forget_batch,
)


@dataclass(slots=True)
class JobScheduler:
    """Round robin: one step of each job in turn, so that a long job does not delay the others."""

    jobs: Sequence[Job]
    _next: int = 0
    # Jobs that raised: skipped until `retry_failed`.
    _failed: set[Job] = field(default_factory=set)
    # Reused, since a job continues with the session it began with.
    _session: PacedSession | None = None

    def step(self, through: Session) -> bool:
        """Run one step of the next job that has work; False when none has."""
        if self._session is None or self._session.session is not through:
            self._session = PacedSession(through)
        session = self._session
        session.begin()
        for _ in self.jobs:
            job = self.jobs[self._next % len(self.jobs)]
            self._next += 1
            if job not in self._failed and job(session):
                return True
        return False

    def mark_failed(self, error: Exception) -> None:
        """Log the error of the job that ran last, and skip that job from now on."""
        log.error("background job failed", extra=fault(error))
        self._failed.add(self.jobs[(self._next - 1) % len(self.jobs)])

    def retry_failed(self) -> bool:
        """Run failed jobs again; returns whether there were any."""
        had_failed = bool(self._failed)
        self._failed.clear()
        return had_failed
