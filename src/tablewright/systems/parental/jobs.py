"""What happens by itself: what follows a change, windows that open and close, retries, checks of devices, clean-up.

Each job may be run at any time and any number of times, in any number of processes: they all end in
`reconciler.reconcile`, which may too. While `watch` runs, firewalls are asked in lanes (lanes.py): a follower notes in
the table that a child is to be looked at, so that its change is not lost, and goes on. Without `watch`, who finds
something to do does it in place. Must hold: neither a child that cannot be dealt with nor a firewall that is slow keeps
anybody else waiting.
Elsewhere: when they run (the app's schedule), what they call (reconciler.py, errands.py, notices.py).
"""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from tablewright.mapping import Consumer
from tablewright.mapping.consumer.records import Change
from tablewright.systems.parental import design as d
from tablewright.systems.parental import following, gateways, planning, removing, upkeep, weekly
from tablewright.systems.parental.devices import is_well
from tablewright.systems.parental.errands import ON_DEVICES
from tablewright.systems.parental.firewall.driver import FirewallMistake
from tablewright.systems.parental.lanes import Task
from tablewright.systems.parental.looking import Parts, at_once, look_at, work
from tablewright.systems.parental.model import (
    Device,
    RuleMapping,
)
from tablewright.systems.parental.planning import NEVER
from tablewright.systems.parental.reconciler import Verified

log = logging.getLogger("tablewright.parental")

FAMILIES_AT_ONCE = 200
# How often it is asked anew where names lead: addresses of large services move within minutes.
LOOK_UP_EVERY = timedelta(minutes=10)


# --- what follows a change ---


def followers(parental: Parts) -> tuple[Consumer, ...]:
    """Who follows the tables' changes: of policies, families, children, sessions, rules and the registry (PC-40).

    After a day or more away some changes are lost to them. They go on all the same: what follows from a change follows
    from how things are, and `sweep` and `verify` look at everything.
    """
    db = parental.repository.db

    def consumer(entities: list[Any], table: str, handle: Callable[[Change[Any]], object]) -> Consumer:
        def follow(change: Change[Any]) -> None:
            handle(change)

        return Consumer(db, entities, table, d.FOLLOWER, follow, skip_to_horizon=True)

    return (
        consumer([d.policies], "ParentalPolicies", lambda change: following.on_policy(parental, change)),
        consumer(
            [d.families, d.overrides],
            "ParentalFamilies",
            lambda change: following.on_family(parental, change),
        ),
        consumer([d.children], "ChildProfiles", lambda change: following.on_child(parental, change)),
        consumer([d.sessions], "SubscriberSessions", lambda change: following.on_session(parental, change)),
        consumer([d.rules], "FTDRuleMapping", lambda change: following.on_rule(parental, change)),
        parental.registry.follower(lambda change: following.on_app(parental, change)),
    )


# --- each second, each minute ---


def watch(parental: Parts, stop: threading.Event, pause: float = 1.0) -> None:
    """Windows and retries, as they come due, until told to stop; meanwhile firewalls are asked in lanes.

    Gateways are told the names of the registry at the start, and look up again now and then where those lead.
    """
    lanes = parental.lanes
    look_up_at: datetime | None = None
    # Nobody knows how they were before.
    lanes.ill.update(device.device_id for device in parental.devices.all())
    with (
        parental.reconciler.keeping_claims(),
        lanes.open(partial(work, parental), partial(at_once, parental)),
    ):
        while not stop.is_set():
            try:
                open_windows(parental)
                retry(parental)
                if look_up_at is None or parental.repository.now() >= look_up_at:
                    gateways.refresh_names(parental)
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
    """What failed and may be tried again, and what somebody died over (PC-44); how many children were looked at."""
    return sum([_retry(parental, device) for device in parental.devices.all()])


def _retry(parental: Parts, device: Device) -> int:
    ill, id, now = parental.lanes.ill, device.device_id, parental.repository.now()
    if device.leaving_at is not None:
        ill.discard(id)
        removing.step(parental.repository, parental.devices, device)
        return 0
    if not device.enabled:
        ill.add(id)
        return 0
    waiting = _unsettled(parental, device)
    hurry = frozenset[str]()
    due = [rule for rule in waiting if planning.is_due(rule, now)]
    if not is_well(device):
        # One of them finds out whether it is well again.
        ill.add(id)
    elif id in ill:
        # It is back, or was switched on: nobody waits for the end of their pause.
        ill.discard(id)
        due, hurry = waiting, frozenset((id,))
        if device.guard != device.guard_kept:
            gateways.keep_guard(parental, device)
    since = {rule.child: rule.failing_since for rule in due}
    look_at(parental, since, hurry, cause="retry", since=since)
    return len(since)


def _unsettled(parental: Parts, device: Device) -> list[RuleMapping]:
    """The rules of a device that are in doubt: they sort before all others."""
    query = d.rules_of_device(device_id=device.device_id, until=NEVER)
    return [rule for rule in parental.repository.db.all(query) if rule.status != "failed"]


# --- now and then ---


def verify(parental: Parts) -> dict[str, Verified]:
    """Compare every device with the table (PC-43); a device that does not answer is left to the next time.

    In lanes each is compared in its own, and nothing is found yet when this returns.
    """
    found = {}
    for device in parental.devices.all():
        id = device.device_id
        if not device.enabled:
            continue
        if parental.lanes.is_open:
            task = Task(f"compare {id}", since=parental.repository.now(), run=partial(_verify, parental, id))
            parental.lanes.take(task, (id,))
            continue
        one = _verify(parental, id)
        if one is not None:
            found[id] = one
    return found


def _verify(parental: Parts, device_id: str) -> Verified | None:
    try:
        return parental.reconciler.verify(device_id)
    except FirewallMistake as mistake:
        log.warning("device not verified", extra={"device": device_id, "mistake": type(mistake).__name__})
        return None


def reap_sessions(parental: Parts) -> int:
    """End sessions that missed three heartbeats and still have rules on a device; how many ended.

    Those without rules harm nobody: whoever looks at the child ends them.
    """
    repository = parental.repository
    now = repository.now()
    named: dict[tuple[str, str], None] = {}
    for device in parental.devices.all():
        for rule in repository.db.all(d.rules_of_device(device_id=device.device_id)):
            named[rule.child, rule.session_id] = None
    sessions = repository.db.many([d.sessions.get(*key) for key in named], consistent=True)
    over = [
        one for one in sessions if one is not None and one.live_private_ip and planning.is_stale(one, now)
    ]
    closed = parental.sessions.close(over, now)
    look_at(parental, dict.fromkeys(one.child for one in over))
    return closed


def sweep(parental: Parts, at_most: int = FAMILIES_AT_ONCE) -> int:
    """Everybody, some at a time and all within a day, whether or not something happened: for changes that no stream
    told of. How many children were looked at now; the next call goes on after them."""
    repository = parental.repository
    stretch = upkeep.next_stretch(repository, "sweep", at_most)
    if stretch is None:
        return 0
    upkeep.mend_families(repository, stretch.families)
    for child in stretch.children:
        upkeep.mend(repository, child)
        removing.forget_sessions_nowhere(repository, child.child)
    look_at(parental, dict.fromkeys(child.child for child in stretch.children))
    upkeep.walked(repository, stretch)
    return len(stretch.children)


def purge_policies(parental: Parts) -> int:
    """Policies that were deleted 30 days ago go for good (PC-D30); how many went."""
    return upkeep.purge_policies(parental.repository)


def forget_what_was_parked(parental: Parts) -> int:
    """Changes that could not be followed for a month; how many went."""
    return upkeep.forget_what_was_parked(parental.repository)


def run_errands(parental: Parts) -> int:
    """A step of every errand whose time has come; how many were finished here. Those that ask firewalls do so in their
    child's lane, if there are lanes."""
    if not parental.lanes.is_open:
        return parental.errands.run()
    finished = 0
    for errand in parental.errands.due():
        if errand.kind in ON_DEVICES:
            run = partial(parental.errands.take_up, errand.errand_id)
            name, now = f"errand {errand.errand_id}", parental.repository.now()
            parental.lanes.take(Task(name, since=now, run=run, of=errand.child))
        else:
            finished += parental.errands.step(errand)
    return finished


def erase_again(parental: Parts) -> int:
    """Erase again those on the list of the erased whom a restored table brought back; how many there were."""
    back = parental.errands.erase_again()
    if back:
        log.warning("erased before and back after a restore", extra={"count": back})
    return back


def run_notices(parental: Parts) -> int:
    """What families are to be told by now; how many were."""
    return parental.notices.failures() + weekly.run(parental.repository)
