"""Children due for a check, and tasks: queued for their firewalls where queues are open, done in place otherwise.

Must hold: neither a child that cannot be dealt with nor a firewall that is slow keeps anybody else waiting.
Elsewhere: the queues (queue.py), what is done for a child (reconciler.py), who asks for it (due.py).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Protocol, TypeVar

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.queue import Check, DeviceIds, DeviceQueues
from tablewright.systems.parental.enforcement.reconciler import Done, Reconciler
from tablewright.systems.parental.enforcement.sessions import Sessions
from tablewright.systems.parental.family.notices import Notices
from tablewright.systems.parental.family.tasks import ON_DEVICES, FamilyTasks
from tablewright.systems.parental.firewall.devices import Devices
from tablewright.systems.parental.firewall.driver import FirewallMistake
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

# A child that could not be dealt with is checked again after this.
AFTER_TROUBLE = timedelta(minutes=1)
BATCH_SIZE = 100
T = TypeVar("T")


class Parts(Protocol):
    """What jobs need of parental controls."""

    @property
    def repository(self) -> Repository: ...
    @property
    def registry(self) -> Registry: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def devices(self) -> Devices: ...
    @property
    def reconciler(self) -> Reconciler: ...
    @property
    def queues(self) -> DeviceQueues: ...
    @property
    def tasks(self) -> FamilyTasks: ...
    @property
    def notices(self) -> Notices: ...


def check_children(parental: Parts, checks: Mapping[str, Check]) -> bool:
    """Check children: in the queues of their firewalls, or here where those are closed. False if one found no room."""
    if not parental.queues.is_open:
        check_all(parental, checks)
        return True
    return all([parental.queues.put(child, check) for child, check in checks.items()])


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


def on_device(parental: Parts, device_id: str, name: str, ask: Callable[[], T]) -> T | None:
    """Ask one device something: in its queue, which returns before the answer, or here where queues are closed."""
    if not parental.queues.is_open:
        return ask()
    parental.queues.put(f"{name}: {device_id}", ask, (device_id,))
    return None


def batch_size(parental: Parts, place: DeviceIds) -> int:
    """How many children are checked together: several, if a device has to be deployed for them to take effect."""
    try:
        return BATCH_SIZE if any(parental.devices.needs_deploy(device_id) for device_id in place) else 1
    except FirewallMistake:
        return 1


def check_all(parental: Parts, checks: Mapping[str, Check]) -> None:
    """Check children now, some at a time so that a deployment serves several."""
    for skip_backoff in dict.fromkeys(check.skip_backoff for check in checks.values()):
        children = [child for child, check in checks.items() if check.skip_backoff == skip_backoff]
        for start in range(0, len(children), BATCH_SIZE):
            some = children[start : start + BATCH_SIZE]
            _measure(parental, checks, _reconciled(parental, some, skip_backoff))


def _reconciled(
    parental: Parts, children: Sequence[str], skip_backoff: frozenset[str]
) -> Mapping[str, Sequence[Done]]:
    try:
        return parental.reconciler.reconcile_all(children, skip_backoff)
    except Exception as mistake:
        if len(children) > 1:
            # One of them fails: each alone, so that the others do not.
            alone = [_reconciled(parental, [child], skip_backoff) for child in children]
            return {child: done for each in alone for child, done in each.items()}
        log.error("child not dealt with", extra={"mistake": type(mistake).__name__})
        _check_later(parental, children[0])
        return {}


def _measure(parental: Parts, checks: Mapping[str, Check], done: Mapping[str, Sequence[Done]]) -> None:
    """How long it took from when a child was due until it was done."""
    now = parental.repository.now()
    for child, attempts in done.items():
        check = checks[child]
        for one in attempts:
            if check.since is not None and one.error is None:
                seconds = (now - check.since).total_seconds()
                parental.devices.meters.enforced(one.device_id, check.cause, seconds)


def _check_later(parental: Parts, child: str) -> None:
    """Not at once again: a child that is trouble would be tried every second."""
    repository = parental.repository
    wake = repository.db.one(d.wake_of_child(child=child))
    if wake is not None and wake.at <= repository.now():
        later = wake.model_copy(update={"at": repository.now() + AFTER_TROUBLE})
        repository.try_write(d.wakes.change(wake, later))
