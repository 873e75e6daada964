"""Jobs that run without a request: followers of changes, checks of devices, clean-up, notices.

Each job may run at any time and any number of times, in any number of processes: they all end in
`reconciler.reconcile`, which may too. While `enforcement/due.py` runs, firewalls are called in queues
(enforcement/queue.py); otherwise a job calls them directly. Every public function here is in JOBS,
or makes them (`work`).
Elsewhere: the scheduler (app/schedule.py), what the jobs call (enforcement/regular_checks.py, enforcement/dispatch.py,
family/tasks.py, family/notices.py), what follows a change (enforcement/on_change.py).
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial

from tablewright.kit.jobs import Follower, Job
from tablewright.mapping import Consumer
from tablewright.systems.parental import seed
from tablewright.systems.parental.blocked import log_readers, weekly_report
from tablewright.systems.parental.blocked.event_files import deliver_all
from tablewright.systems.parental.blocked.events import Batch
from tablewright.systems.parental.blocked.log_readers import Listen
from tablewright.systems.parental.enforcement import due, monitoring
from tablewright.systems.parental.enforcement.alarm_metrics import metrics_of
from tablewright.systems.parental.enforcement.dispatch import Parts, run_tasks
from tablewright.systems.parental.enforcement.on_change import consumers
from tablewright.systems.parental.enforcement.regular_checks import reap_sessions, sweep, verify
from tablewright.systems.parental.family import rounds
from tablewright.systems.parental.parental import Parental

log = logging.getLogger("tablewright.parental")


def purge_policies(parental: Parts) -> int:
    """Purge policies that were deleted 30 days ago (PC-D30); returns how many."""
    return rounds.purge_policies(parental.repository)


def forget_what_was_parked(parental: Parts) -> int:
    """Delete changes that were parked for a month; returns how many."""
    return rounds.forget_what_was_parked(parental.repository)


def erase_again(parental: Parts) -> int:
    """Erase again the children on the list of the erased that a restore brought back; returns how many."""
    back = parental.tasks.erase_again()
    if back:
        log.warning("erased before and back after a restore", extra={"count": back})
    return back


def run_notices(parental: Parts) -> int:
    """Send the notices that are due; returns how many."""
    return parental.notices.failures() + weekly_report.run(parental.repository)


def read_event_files(parental: Parental) -> int:
    """Count what sensors have appended to `events/*.jsonl` in the system's directory."""

    def take(batch: Batch) -> None:
        parental.notices.blocked_often(parental.ingest.take(batch).touched)

    return 0 if parental.inbox is None else deliver_all(parental.inbox, take)


def publish_metrics(parental: Parental) -> dict[str, float]:
    """How late and how well rules are enforced, for the alarms of the design."""
    return metrics_of(monitoring.read(parental, consumers(parental)))


# --- when ---

_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
JOBS: tuple[Job[Parental], ...] = (
    Job("tasks", _MINUTE, run_tasks, "Runs erasures, number changes and address changes."),
    Job("restored", _HOUR, erase_again, "Re-applies erasures after a restore."),
    Job("sessions", _MINUTE, reap_sessions, "Ends sessions without a heartbeat."),
    Job("notices", 5 * _MINUTE, run_notices, "Sends alerts and weekly reports."),
    Job("verify", 10 * _MINUTE, verify, "Compares each firewall with our records."),
    Job("files", _MINUTE, read_event_files, "Counts blocked requests from sensor files.", of_process=True),
    Job("purge", _HOUR, purge_policies, "Purges rules deleted 30 days ago."),
    Job("parked", _HOUR, forget_what_was_parked, "Deletes changes parked for a month."),
    Job("sweep", _MINUTE, sweep, "Checks all children, some at a time."),
    Job(
        "metrics",
        5 * _MINUTE,
        publish_metrics,
        "Measures how rules are enforced, for alarms.",
        publishes=True,
    ),
)
# Jobs that call firewalls, or check children.
ON_FIREWALLS = frozenset(("tasks", "sessions", "verify", "sweep"))
_DEMO = Job("demo", _HOUR, seed.keep_alive, "Keeps the demo's children on the network.")


def work(parental: Parental) -> Sequence[Job[Parental] | Follower[Parental]]:
    """Everything that runs without a request, including the demo's job if there is a demo.

    Where another process drives the firewalls, that one also follows changes and runs the jobs that end in a call.
    """
    if not parental.devices.are_driven_here:
        return tuple(job for job in JOBS if job.name not in ON_FIREWALLS)
    demo = (_DEMO,) if seed.is_there(parental) else ()
    return (*_followers(parental), *JOBS, *demo)


def _followers(parental: Parental) -> Iterator[Follower[Parental]]:
    for consumer in consumers(parental):
        yield _follower(consumer)
    yield Follower(
        "windows and retries",
        due.watch,
        "Opens and closes time windows, ends exceptions, retries failures and refreshes DNS names.",
    )
    if parental.listen is not None:
        yield Follower(
            "blocked connections of gateways",
            partial(_listen, parental.listen),
            "Counts what gateways blocked, for the parents' dashboard.",
        )


def _follower(consumer: Consumer) -> Follower[Parental]:
    about = "Applies these changes to firewalls."
    return Follower(f"changes of {consumer.table}", lambda _, stop: consumer.run(stop), about)


def _listen(listen: Listen, parental: Parental, stop: threading.Event) -> None:
    log_readers.watch(parental, listen, stop)
