"""Checks that need no change: devices compared with the table, sessions without heartbeats, every child within a day.

They find what no stream delivered and what a device lost. Must hold: each may run at any time, in any number of
processes, since all end in `reconciler.reconcile` or `reconciler.verify`; a device that does not respond does not
delay the others.
Elsewhere: when they run (jobs.py), children that are due (due.py), the comparison of one device (device_audit.py).
"""

import logging
from collections.abc import Sequence
from functools import partial

from tablewright.kit.rounds import Stretch
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import plan
from tablewright.systems.parental.enforcement.device_audit import Verified
from tablewright.systems.parental.enforcement.dispatch import Parts, check_children, on_device
from tablewright.systems.parental.enforcement.queue import Check
from tablewright.systems.parental.family import rounds
from tablewright.systems.parental.firewall import removal
from tablewright.systems.parental.firewall.driver import FirewallMistake
from tablewright.systems.parental.model import Family

log = logging.getLogger("tablewright.parental")

FAMILIES_AT_ONCE = 200


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
