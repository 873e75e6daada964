"""Children for whom there may be something to do: looked at in lanes where those are open, in place where they are not.

Must hold: neither a child that cannot be dealt with nor a firewall that is slow keeps anybody else waiting.
Elsewhere: the lanes (queue.py), what is done for a child (reconciler.py), who asks for it (jobs.py, on_change.py).
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from tablewright.mapping import Missing, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.meters import Cause
from tablewright.systems.parental.enforcement.queue import Lanes, Place, Task
from tablewright.systems.parental.enforcement.reconciler import Outcome, Reconciler
from tablewright.systems.parental.enforcement.sessions import Sessions
from tablewright.systems.parental.family.notices import Notices
from tablewright.systems.parental.family.tasks import Errands
from tablewright.systems.parental.firewall.devices import Devices
from tablewright.systems.parental.firewall.driver import FirewallMistake
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

# Who could not be dealt with is looked at again after this.
AFTER_TROUBLE = timedelta(minutes=1)
BATCH_SIZE = 100


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
    def lanes(self) -> Lanes: ...
    @property
    def errands(self) -> Errands: ...
    @property
    def notices(self) -> Notices: ...


def look_at(
    parental: Parts,
    children: Iterable[str],
    skip_backoff: frozenset[str] = frozenset(),
    *,
    cause: Cause = "retry",
    since: Mapping[str, datetime | None] | None = None,
    is_news: bool = False,
) -> None:
    """Children for whom there may be something to do: in their lanes, or here where there are none."""
    tasks = [Task(child, cause, (since or {}).get(child), skip_backoff) for child in children]
    if not parental.lanes.is_open:
        work(parental, tasks)
        return
    for task in tasks:
        parental.lanes.take(task, is_news=is_news)


def batch_size(parental: Parts, place: Place) -> int:
    """How many children are dealt with together: several, if a device has to be deployed for them to take effect."""
    try:
        return BATCH_SIZE if any(parental.devices.needs_deploy(device_id) for device_id in place) else 1
    except FirewallMistake:
        return 1


def work(parental: Parts, tasks: Sequence[Task]) -> None:
    """Do what there is to do, in a lane or in place."""
    for task in tasks:
        if task.run is not None:
            task.run()
    for kind in dict.fromkeys((task.cause, task.skip_backoff) for task in tasks if task.run is None):
        some = {task.key: task.since for task in tasks if (task.cause, task.skip_backoff) == kind}
        for child in reconcile_each(parental, some, kind[1], cause=kind[0], since=some):
            _wake_later(parental, child)


def measure(
    parental: Parts, cause: Cause, outcomes: Mapping[str, Outcome], since: Mapping[str, datetime | None]
) -> None:
    """How long it took from when it was to be so until it was."""
    now = parental.repository.now()
    for child, outcome in outcomes.items():
        began = since.get(child)
        for done in outcome.done:
            if began is not None and done.error is None:
                parental.devices.meters.enforced(done.device_id, cause, (now - began).total_seconds())


def reconcile_each(
    parental: Parts,
    children: Iterable[str],
    skip_backoff: frozenset[str] = frozenset(),
    *,
    cause: Cause = "retry",
    since: Mapping[str, datetime | None] | None = None,
) -> list[str]:
    """Many children, some at a time so that a deployment serves several; those that could not be dealt with.

    `since` says of children from when on it was to be so, for the meters.
    """
    keys, failed = list(dict.fromkeys(children)), []
    for start in range(0, len(keys), BATCH_SIZE):
        some = keys[start : start + BATCH_SIZE]
        try:
            outcomes = parental.reconciler.reconcile_all(some, skip_backoff)
            measure(parental, cause, outcomes, since or {})
        except Exception:
            # One of them fails: each alone, so that the others do not.
            failed += [key for key in some if not _is_reconciled(parental, key, skip_backoff)]
    return failed


def _is_reconciled(parental: Parts, key: str, skip_backoff: frozenset[str]) -> bool:
    try:
        parental.reconciler.reconcile(key, skip_backoff)
        return True
    except Exception as mistake:
        log.error("child not dealt with", extra={"mistake": type(mistake).__name__})
        return False


def _wake_later(parental: Parts, key: str) -> None:
    """Not at once again: a child that is trouble would be tried every second."""
    repository = parental.repository
    wake = repository.db.one(d.wake_of_child(child=key))
    if wake is None or wake.at > repository.now():
        return
    later = wake.model_copy(update={"at": repository.now() + AFTER_TROUBLE})
    try:
        repository.db.write(d.wakes.change(wake, later))
    except (Stale, Missing):
        return
