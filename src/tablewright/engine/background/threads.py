"""The background threads of an engine: maintenance, jobs and scrub.

Maintenance runs in small write transactions: pending work (an index to backfill, a dropped table to delete) and
scheduled work (expired items, shards, the journal's end), then WAL checkpoints and metrics. Jobs are long-running.
Must hold: whatever raises is logged and tried again later; the threads live as long as the engine.
Elsewhere: the maintenance steps (maintenance.py), the jobs (jobs.py), the pauses (pacing.py).
"""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from time import monotonic, sleep

from tablewright.engine.background import maintenance
from tablewright.engine.background.jobs import JOBS, JobScheduler
from tablewright.engine.background.pacing import NO_DEADLINE, Pacer
from tablewright.engine.background.session import EngineClosed, Session
from tablewright.engine.errors import fault
from tablewright.engine.group_commit import GroupCommit
from tablewright.engine.metrics.collector import MetricsCollector
from tablewright.engine.metrics.query import minute_of
from tablewright.engine.storage.sqlite import Storage
from tablewright.engine.throughput.autoscaling import Autoscaling
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.verify.scrub import Scrub
from tablewright.world import World

log = logging.getLogger("tablewright.engine")

CHECKPOINT_SECONDS = 0.1
FLUSH_SECONDS = 5.0
RETRY_SECONDS = 1.0
REST_SECONDS = 0.001
# A store is first scrubbed this long after it was opened; one that is not due is checked again after this.
SCRUB_SECONDS = 60.0
# The pause after a step of the scrub, in multiples of the step.
SCRUB_REST = 9


class BackgroundThreads:
    """The threads of an engine, from `start` to `stop`. Scheduled work is looked for every `ttl_seconds`."""

    def __init__(
        self,
        session: Session,
        storage: Storage,
        writer: GroupCommit,
        world: World,
        metrics: MetricsCollector,
        autoscaling: Autoscaling,
        scrub: Scrub,
        ttl_seconds: float,
        ttl_lag: timedelta,
    ) -> None:
        self._session, self._storage, self._writer, self._world = session, storage, writer, world
        self._metrics, self._autoscaling, self._scrub = metrics, autoscaling, scrub
        self._ttl_seconds, self.ttl_lag = ttl_seconds, ttl_lag
        self._turn = 0
        self._is_over = False
        self._over = threading.Event()
        self.jobs = JobScheduler(JOBS)
        self._job_lock = threading.Lock()
        self._wake, self._jobs_pending = threading.Event(), threading.Event()
        self.wake()
        loops = {"maintenance": self._run_maintenance, "jobs": self._run_jobs}
        if not storage.in_memory:  # there is no file that could be damaged
            loops["scrub"] = self._run_scrub
        self._threads = [
            threading.Thread(target=loop, name=f"tablewright-{name}", daemon=True)
            for name, loop in loops.items()
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """There may be pending maintenance and pending jobs."""
        self._wake.set()
        self._jobs_pending.set()

    def wake_jobs(self) -> None:
        self._jobs_pending.set()

    def stop(self) -> None:
        """End the threads, except the calling one. May be called more than once."""
        self._is_over = True
        self._over.set()
        self.wake()
        for thread in self._threads:
            if thread.ident is not None and threading.current_thread() is not thread:
                thread.join()

    def close_in_child(self) -> None:
        """In a forked child these threads do not exist."""
        self._is_over = True

    # --- maintenance, WAL checkpoints, metrics ---

    def _run_maintenance(self) -> None:
        pause = min(self._ttl_seconds, FLUSH_SECONDS if self._storage.in_memory else CHECKPOINT_SECONDS)
        next_scheduled = monotonic() + self._ttl_seconds
        pacer = Pacer(lambda: self._writer.written)
        while not self._is_over:
            is_pending = self._wake.wait(pause)
            if is_pending:
                self._wake.clear()
            is_scheduled = monotonic() >= next_scheduled
            if is_scheduled:
                next_scheduled = monotonic() + self._ttl_seconds
            try:
                # Separately: a maintenance step that always fails must not let the log grow without end.
                succeeded = self._attempt(partial(self._run_steps, pacer, is_pending, is_scheduled))
                succeeded = self._attempt(self._checkpoint_log) and succeeded
                succeeded = self._attempt(self._flush_metrics) and succeeded
            except EngineClosed:
                return
            if not succeeded:
                sleep(RETRY_SECONDS)
                self._wake.set()

    def _attempt(self, work: Callable[[], None]) -> bool:
        try:
            work()
            return True
        except EngineClosed:
            raise
        except Exception as error:
            log.error("maintenance failed", extra=fault(error))
            return False

    def _run_steps(self, pacer: Pacer, is_pending: bool, is_scheduled: bool) -> None:
        has_more = is_pending or is_scheduled
        while has_more and not self._is_over:
            pacer.step()
            has_more = self.run_maintenance_step(is_scheduled)
            # Threads that wait for the write lock get it in between.
            pacer.rest(1 if is_pending else NO_DEADLINE)
            self._checkpoint_log()

    def _flush_metrics(self) -> None:
        """Write the metrics of the minutes that have ended, then let provisioned units follow them."""
        if not self._metrics.is_due(self._writer.tables):
            return
        if not self._metrics.flush_batch():
            self._autoscaling.adjust(minute_of(self._world.now()))

    def _checkpoint_log(self) -> None:
        if self._storage.log_is_long:
            self._storage.checkpoint()

    def run_maintenance_step(self, due: bool = False) -> bool:
        """Run one maintenance step (index backfill, table drop); with `due` also TTL, shard rollover and pruning.

        False when there was nothing to do.
        """
        self._turn += due

        def step(txn: WriteTransaction) -> bool:
            is_pending = maintenance.run_pending_step(txn)
            return is_pending or (due and maintenance.run_scheduled_step(txn, self.ttl_lag, self._turn))

        return self._session.write(step)

    # --- jobs ---

    def _run_jobs(self) -> None:
        while not self._is_over:
            self._jobs_pending.wait(self._ttl_seconds)
            self._jobs_pending.clear()
            while not self._is_over and self.try_job_step():
                sleep(REST_SECONDS)
            if self.jobs.retry_failed() and not self._is_over:
                sleep(RETRY_SECONDS)
                self._jobs_pending.set()

    def try_job_step(self) -> bool:
        """Run one step of a job; a job that raises is skipped from then on. False when there was nothing to do."""
        # Under one lock: otherwise `mark_failed` could mark a job that another thread has stepped since.
        with self._job_lock:
            try:
                return self.jobs.step(self._session)
            except EngineClosed:
                return False
            except Exception as error:
                self.jobs.mark_failed(error)
                return True

    def run_job_step(self) -> bool:
        """Run one step of a job, however long it takes; its errors are raised. False when there was nothing to do."""
        with self._job_lock:
            return self.jobs.step(self._session)

    # --- scrub ---

    def _run_scrub(self) -> None:
        rest = SCRUB_SECONDS
        while not self._over.wait(rest):
            began = monotonic()
            try:
                has_more = self._scrub.is_due() and self._scrub.step()
            except EngineClosed:
                return
            except Exception as error:
                log.error("scrub failed", extra=fault(error))
                has_more = False
            rest = SCRUB_REST * (monotonic() - began) if has_more else SCRUB_SECONDS

    # --- all of it ---

    def settle(self) -> None:
        """Do all pending and scheduled work on the calling thread."""
        while (
            self.run_maintenance_step(due=True)
            or self.run_job_step()
            or self.jobs.retry_failed()  # jobs that the thread skips are pending all the same
        ):
            pass
        self._metrics.flush()
        self._autoscaling.adjust(minute_of(self._world.now()))
