"""Children that are due for a check, and retries, as they come due; while this runs, each set of firewalls has a queue.

Elsewhere: queues (queue.py), who makes a child due (on_change.py), what is done for it (reconciler.py), the schedule
(jobs.py).
"""

import logging
import threading
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import gateway_names, plan
from tablewright.systems.parental.enforcement.dispatch import Parts, batch_size, check_all, check_children
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.enforcement.queue import ROOM, Check
from tablewright.systems.parental.firewall import removal
from tablewright.systems.parental.firewall.devices import is_well
from tablewright.systems.parental.model import Device, RuleMapping

log = logging.getLogger("tablewright.parental")

# How often it is asked again where names lead: addresses of large services move within minutes.
LOOK_UP_EVERY = timedelta(minutes=10)
# Changes that come within this are taken up together.
TOGETHER_SECONDS = 0.05


def watch(parental: Parts, stop: threading.Event, pause: float = 1.0) -> None:
    """Checks and retries, as they come due, until `stop` is set; firewalls are called in their queues.

    Gateways are told the names of the registry at the start, and look up again now and then where those lead.
    """
    queues = parental.queues
    look_up_at: datetime | None = None
    # Their previous state is not known.
    queues.failing.update(device.device_id for device in parental.devices.all())
    with queues.open(partial(check_all, parental), partial(batch_size, parental)):
        while not stop.is_set():
            queues.news.clear()
            try:
                check_due(parental)
                retry(parental)
                if look_up_at is None or parental.repository.now() >= look_up_at:
                    gateway_names.refresh_names(parental)
                    look_up_at = parental.repository.now() + LOOK_UP_EVERY
            except Exception as mistake:
                # The queues stay open: to close them is to wait for the slowest of all firewalls.
                log.error("what is due was not found", extra={"mistake": type(mistake).__name__})
            queues.news.wait(pause)
            stop.wait(min(pause, TOGETHER_SECONDS))


def check_due(parental: Parts) -> int:
    """Check the children for whom something changes by now (PC-42) or has changed; returns how many."""
    repository = parental.repository
    wakes = islice(repository.db.all(d.wakes_due(until=repository.now())), ROOM)
    due = {wake.child: Check(wake.cause, wake.at) for wake in wakes}
    check_children(parental, due)
    return len(due)


def retry(parental: Parts) -> int:
    """Retry what failed, and rules of a crashed process (PC-44); returns how many children were checked."""
    return sum([_retry(parental, device) for device in parental.devices.all()])


def _retry(parental: Parts, device: Device) -> int:
    failing, id, now = parental.queues.failing, device.device_id, parental.repository.now()
    if device.leaving_at is not None:
        failing.discard(id)
        removal.step(parental.repository, parental.devices, device)
        return 0
    if not device.enabled:
        failing.add(id)
        return 0
    if not is_well(device):
        # One of its rules finds out whether it is well again.
        failing.add(id)
    # It is back, or was switched on: no rule waits for the end of its pause.
    is_back = is_well(device) and id in failing
    if is_back and device.guard != device.guard_kept:
        gateway_names.keep_guard(parental, device)
    skip_backoff = frozenset((id,)) if is_back else frozenset[str]()
    due = [rule for rule in _unsettled(parental, device) if is_back or plan.is_due(rule, now)]
    checks = {rule.child: Check("retry", rule.failing_since, skip_backoff) for rule in due}
    if check_children(parental, checks) and is_back:
        failing.discard(id)
    return len(checks)


def _unsettled(parental: Parts, device: Device) -> list[RuleMapping]:
    """The rules of a device that are in doubt: they sort before all others."""
    query = d.rules_of_device(device_id=device.device_id, until=NEVER)
    return [rule for rule in parental.repository.db.all(query) if rule.status != "failed"]
