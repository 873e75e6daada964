"""Jobs that run without a request: followers of changes, checks of devices, clean-up, notices.

Each job may run at any time and any number of times, in any number of processes: they all end in
`reconciler.reconcile`, which may too. While `enforcement/due.py` runs, firewalls are called in queues
(enforcement/queue.py); otherwise a job calls them directly. Every public function here is in JOBS,
or makes them (`work`, `consumers`).
Elsewhere: the scheduler (app/schedule.py), what the jobs call (enforcement/reconciler.py, family/tasks.py,
family/notices.py).
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from tablewright.kit.jobs import Follower, Job
from tablewright.kit.rounds import Stretch
from tablewright.mapping import Consumer
from tablewright.mapping.consumer.records import Change
from tablewright.systems.parental import design as d
from tablewright.systems.parental import seed
from tablewright.systems.parental.blocked import log_readers, weekly_report
from tablewright.systems.parental.blocked.event_files import deliver_all
from tablewright.systems.parental.blocked.events import Batch
from tablewright.systems.parental.blocked.log_readers import Listen
from tablewright.systems.parental.enforcement import due, monitoring, on_change, plan
from tablewright.systems.parental.enforcement.alarm_metrics import metrics_of
from tablewright.systems.parental.enforcement.device_audit import Verified
from tablewright.systems.parental.enforcement.dispatch import Parts, check_children, on_device
from tablewright.systems.parental.enforcement.queue import Check
from tablewright.systems.parental.family import rounds
from tablewright.systems.parental.family.tasks import ON_DEVICES
from tablewright.systems.parental.firewall import removal
from tablewright.systems.parental.firewall.driver import FirewallMistake
from tablewright.systems.parental.model import Family
from tablewright.systems.parental.parental import Parental

log = logging.getLogger("tablewright.parental")

FAMILIES_AT_ONCE = 200


# --- what follows a change ---


def consumers(parental: Parts) -> tuple[Consumer, ...]:
    """The followers of the tables: policies, families, children, sessions, rules and the registry (PC-40).

    A follower that was stopped for a day or more has missed changes. It continues all the same: its work depends on
    the current state only, and `sweep` and `verify` cover everything.
    """
    db = parental.repository.db

    def consumer(entities: list[Any], table: str, handle: Callable[[Change[Any]], object]) -> Consumer:
        def follow(change: Change[Any]) -> None:
            handle(change)

        return Consumer(db, entities, table, d.FOLLOWER, follow, skip_to_horizon=True)

    return (
        consumer([d.policies], "ParentalPolicies", lambda change: on_change.on_policy(parental, change)),
        consumer(
            [d.families, d.overrides],
            "ParentalFamilies",
            lambda change: on_change.on_family(parental, change),
        ),
        consumer([d.children], "ChildProfiles", lambda change: on_change.on_child(parental, change)),
        consumer([d.sessions], "SubscriberSessions", lambda change: on_change.on_session(parental, change)),
        consumer([d.rules], "FTDRuleMapping", lambda change: on_change.on_rule(parental, change)),
        parental.registry.follower(lambda change: on_change.on_app(parental, change)),
    )


# --- scheduled jobs ---


def verify(parental: Parts) -> dict[str, Verified]:
    """Compare every device with the table (PC-43); a device that does not respond is left to the next run.

    Each device is compared in its own queue, if queues are open, and this returns before the comparison.
    """
    ids = [device.device_id for device in parental.devices.all() if device.enabled]
    found = {id: on_device(parental, id, "compare", partial(_verify, parental, id)) for id in ids}
    return {id: one for id, one in found.items() if one is not None}


def _verify(parental: Parts, device_id: str) -> Verified | None:
    try:
        return parental.reconciler.verify(device_id)
    except FirewallMistake as mistake:
        log.warning("device not verified", extra={"device": device_id, "mistake": type(mistake).__name__})
        return None


def reap_sessions(parental: Parts) -> int:
    """End sessions that missed three heartbeats and still have rules on a device; returns how many.

    Sessions without rules have no effect: the next check of the child ends them.
    """
    repository = parental.repository
    now = repository.now()
    named: dict[tuple[str, str], None] = {}
    for device in parental.devices.all():
        for rule in repository.db.all(d.rules_of_device(device_id=device.device_id)):
            named[rule.child, rule.session_id] = None
    sessions = repository.db.many([d.sessions.get(*key) for key in named], consistent=True)
    over = [one for one in sessions if one is not None and one.live_private_ip and plan.is_stale(one, now)]
    closed = parental.sessions.close(over, now)
    check_children(parental, {one.child: Check("session", now) for one in over})
    return closed


def sweep(parental: Parts, at_most: int = FAMILIES_AT_ONCE) -> int:
    """Check all children, some per call and all within a day, for changes that no stream delivered. Returns how many
    children were checked; the next call continues after them."""
    repository = parental.repository
    children: dict[str, None] = {}

    def visit(family: Family) -> None:
        for child in repository.children_of(family.family_id, released=True):
            children[child.child] = None
            rounds.mend(repository, child)
            removal.forget_sessions_nowhere(repository, child.child)

    def then(families: Sequence[Family]) -> None:
        rounds.mend_families(repository, families)
        check_children(parental, dict.fromkeys(children, Check()))

    def among(after: str | None) -> Stretch[Family]:
        return rounds.next_families(repository, after, at_most)

    d.rounds.run(repository.db, "sweep", among, visit, then=then)
    return len(children)


def purge_policies(parental: Parts) -> int:
    """Purge policies that were deleted 30 days ago (PC-D30); returns how many."""
    return rounds.purge_policies(parental.repository)


def forget_what_was_parked(parental: Parts) -> int:
    """Delete changes that were parked for a month; returns how many."""
    return rounds.forget_what_was_parked(parental.repository)


def run_tasks(parental: Parts) -> int:
    """Run one step of every background task that is due; returns how many finished here. Tasks that call firewalls run
    in the queue of their child, if queues are open."""
    worker = parental.tasks.worker
    if not parental.queues.is_open:
        return worker.run_due()
    finished = 0
    for task in worker.due():
        if task.kind in ON_DEVICES:
            parental.queues.put(f"task {task.task_id}", partial(worker.run, task.task_id), child=task.child)
        else:
            finished += worker.run(task.task_id)
    return finished


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
