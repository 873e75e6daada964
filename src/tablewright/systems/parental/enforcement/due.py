"""Windows that open and close, and retries, as they come due; while this runs, firewalls are called in lanes.

A follower notes in the table that a child is to be looked at, so that its change is not lost, and goes on. Must hold:
neither a child that cannot be dealt with nor a firewall that is slow keeps anybody else waiting.
Elsewhere: lanes (queue.py), what is done for a child (reconciler.py), the schedule (jobs.py).
"""

import logging
import threading
from datetime import datetime, timedelta
from functools import partial

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import gateway_names, plan
from tablewright.systems.parental.enforcement.dispatch import Parts, batch_size, look_at, work
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.firewall import removal
from tablewright.systems.parental.firewall.devices import is_well
from tablewright.systems.parental.model import Device, RuleMapping

log = logging.getLogger("tablewright.parental")

# How often it is asked again where names lead: addresses of large services move within minutes.
LOOK_UP_EVERY = timedelta(minutes=10)


def watch(parental: Parts, stop: threading.Event, pause: float = 1.0) -> None:
    """Windows and retries, as they come due, until `stop` is set; firewalls are called in lanes.

    Gateways are told the names of the registry at the start, and look up again now and then where those lead.
    """
    lanes = parental.lanes
    look_up_at: datetime | None = None
    # Their previous state is not known.
    lanes.ill.update(device.device_id for device in parental.devices.all())
    with (
        parental.reconciler.keeping_claims(),
        lanes.open(partial(work, parental), partial(batch_size, parental)),
    ):
        while not stop.is_set():
            try:
                open_windows(parental)
                retry(parental)
                if look_up_at is None or parental.repository.now() >= look_up_at:
                    gateway_names.refresh_names(parental)
                    look_up_at = parental.repository.now() + LOOK_UP_EVERY
            except Exception as mistake:
                # The lanes stay open: to close them is to wait for the slowest of all firewalls.
                log.error("what is due was not found", extra={"mistake": type(mistake).__name__})
            stop.wait(pause)


def open_windows(parental: Parts) -> int:
    """Everybody for whom what is blocked changes by now (PC-42), or who is to be looked at for another reason; how many
    there were."""
    repository = parental.repository
    now = repository.now()
    wakes = repository.db.all(d.wakes_due(since=parental.lanes.due_since(now), until=now))
    due = {wake.child: wake.at for wake in wakes}
    look_at(parental, due, cause="window", since=due)
    return len(due)


def retry(parental: Parts) -> int:
    """Retry what failed, and rules of a crashed process (PC-44); returns how many children were checked."""
    return sum([_retry(parental, device) for device in parental.devices.all()])


def _retry(parental: Parts, device: Device) -> int:
    ill, id, now = parental.lanes.ill, device.device_id, parental.repository.now()
    if device.leaving_at is not None:
        ill.discard(id)
        removal.step(parental.repository, parental.devices, device)
        return 0
    if not device.enabled:
        ill.add(id)
        return 0
    waiting = _unsettled(parental, device)
    skip_backoff = frozenset[str]()
    due = [rule for rule in waiting if plan.is_due(rule, now)]
    if not is_well(device):
        # One of them finds out whether it is well again.
        ill.add(id)
    elif id in ill:
        # It is back, or was switched on: no rule waits for the end of its pause.
        ill.discard(id)
        due, skip_backoff = waiting, frozenset((id,))
        if device.guard != device.guard_kept:
            gateway_names.keep_guard(parental, device)
    since = {rule.child: rule.failing_since for rule in due}
    look_at(parental, since, skip_backoff, cause="retry", since=since)
    return len(since)


def _unsettled(parental: Parts, device: Device) -> list[RuleMapping]:
    """The rules of a device that are in doubt: they sort before all others."""
    query = d.rules_of_device(device_id=device.device_id, until=NEVER)
    return [rule for rule in parental.repository.db.all(query) if rule.status != "failed"]
