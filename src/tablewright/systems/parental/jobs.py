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
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from tablewright.mapping import Consumer, Missing, Stale
from tablewright.mapping.records import Change
from tablewright.systems.parental import design as d
from tablewright.systems.parental import planning, removing, upkeep, weekly
from tablewright.systems.parental.devices import GUARDS_DNS, Devices, is_well
from tablewright.systems.parental.errands import ON_DEVICES, Errands
from tablewright.systems.parental.firewall.driver import FirewallDriver, FirewallMistake, LearnsNames
from tablewright.systems.parental.lanes import Lanes, Place, Task, wake_now
from tablewright.systems.parental.meters import Cause
from tablewright.systems.parental.model import (
    EVERYTHING,
    App,
    Child,
    Device,
    Family,
    Override,
    Policy,
    RuleMapping,
    Session,
)
from tablewright.systems.parental.notices import Notices
from tablewright.systems.parental.planning import NEVER
from tablewright.systems.parental.reconciler import Outcome, Reconciler, Verified
from tablewright.systems.parental.registry import Registry
from tablewright.systems.parental.repository import Repository
from tablewright.systems.parental.rules import digest
from tablewright.systems.parental.sessions import Sessions

log = logging.getLogger("tablewright.parental")

# Who could not be dealt with is looked at again after this.
AFTER_TROUBLE = timedelta(minutes=1)
AT_ONCE = 100
FAMILIES_AT_ONCE = 200
# How often it is asked anew where names lead: addresses of large services move within minutes.
LOOK_UP_EVERY = timedelta(minutes=10)


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
        consumer([d.policies], "ParentalPolicies", lambda change: on_policy(parental, change)),
        consumer([d.families, d.overrides], "ParentalFamilies", lambda change: on_family(parental, change)),
        consumer([d.children], "ChildProfiles", lambda change: on_child(parental, change)),
        consumer([d.sessions], "SubscriberSessions", lambda change: on_session(parental, change)),
        consumer([d.rules], "FTDRuleMapping", lambda change: on_rule(parental, change)),
        parental.registry.follower(lambda change: on_app(parental, change)),
    )


def on_policy(parental: Parts, change: Change[Policy]) -> bool:
    """Any change of a policy but its purge; whether it was followed."""
    known = change.after or change.before
    assert known is not None
    _follow(parental, "policy", known.child, change, known.updated_at)
    return True


def on_family(parental: Parts, change: Change[Family | Override]) -> bool:
    """An exception that began or was ended; a family that allows something else."""
    before, after = change.before, change.after
    known = after or before
    if isinstance(known, Override):
        # One that ran out is no news when it is swept away: what is blocked changed when it ended.
        if not change.by_ttl:
            _follow(parental, "exception", known.child, change, known.begins_at)
        return not change.by_ttl
    if not isinstance(after, Family) or not isinstance(before, Family):
        return False
    if (before.allowed_domains, before.on_outage) == (after.allowed_domains, after.on_outage):
        return False
    for child in parental.repository.children_of(after.family_id):
        _follow(parental, "family", child.child, change, change.at)
    return True


def on_child(parental: Parts, change: Change[Child]) -> bool:
    """Another clock, a pause, or a number that was given up."""

    def decides(child: Child | None) -> object:
        return child and (child.timezone, child.paused_until, child.released_at, child.family_id)

    known = change.after or change.before
    if known is None or decides(change.before) == decides(change.after):
        return False
    _follow(parental, "child", known.child, change, known.updated_at)
    return True


def on_session(parental: Parts, change: Change[Session]) -> bool:
    """A session that began, moved or ended; a heartbeat is no news."""

    def decides(session: Session | None) -> object:
        return session and (session.live_private_ip, session.device_id, session.is_clean)

    known = change.after or change.before
    if known is None or decides(change.before) == decides(change.after):
        return False
    _follow(parental, "session", known.child, change, known.last_seen_at)
    return True


def on_rule(parental: Parts, change: Change[RuleMapping]) -> bool:
    """A rule that is gone from the table. Swept away by its time, it is an order to clean the device (PC-S11); in any
    case whoever has its address now may be clean."""
    gone = change.before
    if change.kind != "REMOVE" or gone is None:
        return False
    if change.by_ttl and gone.status != "removed":
        log.warning("rule outlived its session", extra={"device": gone.ftd_device_id, "rule": gone.rule_name})
        now = parental.repository.now()
        order = gone.moved(
            status="removing",
            # It was on the device, for all we know.
            attempt=max(gone.attempt, 1),
            next_try_at=now,
            error="its session ended without a word",
            failing_since=gone.failing_since or now,
            last_verified=NEVER,
            expires_at=now,
        )
        parental.repository.db.get_or_create(d.rules.create(order))
        _follow(parental, "session", gone.child, change, now)
    for session in parental.repository.db.all(d.sessions_of_address(private_ip=gone.private_ip)):
        if not session.is_clean and session.child != gone.child:
            _follow(parental, "session", session.child, change, session.started_at)
    return True


def on_app(parental: Parts, change: Change[App]) -> bool:
    """Another entry in the registry: everybody for whom the app is blocked, first those who have a rule (PC-S12)."""
    known = change.after or change.before
    if known is None:
        return False
    names = (known.app_name, EVERYTHING)
    children: dict[str, None] = {}
    for device in parental.devices.all():
        for rule in parental.repository.db.all(d.rules_of_device(device_id=device.device_id)):
            if rule.app_name in names:
                children[rule.child] = None
    children.update(dict.fromkeys(parental.registry.affected(known.app_name).children))
    if change.after is not None:
        tell_names(parental, change.after.domains)
    for child in children if parental.lanes.is_open else ():
        wake_now(parental.repository, child)
    _look_at(parental, children, cause="app", since=dict.fromkeys(children, change.at), is_news=True)
    return True


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
                    refresh_names(parental)
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
    _look_at(parental, due, cause="window", since=due)
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
            _keep_guard(parental, device)
    since = {rule.child: rule.failing_since for rule in due}
    _look_at(parental, since, hurry, cause="retry", since=since)
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
    _look_at(parental, dict.fromkeys(one.child for one in over))
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
    _look_at(parental, dict.fromkeys(child.child for child in stretch.children))
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


def run_notices(parental: Parts) -> int:
    """What families are to be told by now; how many were."""
    return parental.notices.failures() + weekly.run(parental.repository)


# --- names ---


def refresh_names(parental: Parts) -> None:
    """Have gateways guard DNS as they shall, tell them the registry's names, and let them look up where those lead."""
    for device in parental.devices.all():
        _keep_guard(parental, device)
    tell_names(parental, [name for app in parental.registry.all() for name in app.domains])
    look_up_again(parental)


def tell_names(parental: Parts, names: Iterable[str]) -> int:
    """Names that may be blocked, to devices that have to know them before; how many devices took them by now."""
    told = tuple(dict.fromkeys(names))
    if not told:
        return 0
    # Others' names are other work: in a lane neither may stand for both.
    return _each_gateway(parental, f"learn {digest(*told)}", lambda driver: driver.learn(told))


def look_up_again(parental: Parts) -> int:
    """Where names lead, asked anew by devices that block addresses; how many devices did by now."""
    return _each_gateway(parental, "look up again", lambda driver: driver.look_up_again())


def _keep_guard(parental: Parts, device: Device) -> None:
    """Also where nothing changed: somebody else may have changed it on the device."""
    if device.kind not in GUARDS_DNS or not device.enabled:
        return
    id, now = device.device_id, parental.repository.now()
    ask = partial(_ask_guard, parental, id)
    if parental.lanes.is_open:
        parental.lanes.take(Task(f"guard: {id}", since=now, run=ask), (id,))
    else:
        ask()


def _ask_guard(parental: Parts, device_id: str) -> None:
    try:
        parental.devices.keep_guard(device_id)
    except FirewallMistake as mistake:
        log.warning(
            "gateway not told its guard", extra={"device": device_id, "mistake": type(mistake).__name__}
        )


def _each_gateway(parental: Parts, name: str, work: Callable[[LearnsNames], object]) -> int:
    """Each in its own lane, if there are lanes, for one may be slow."""
    done = 0
    for device in parental.devices.all():
        id, now = device.device_id, parental.repository.now()
        if not device.enabled or parental.devices.needs_no_names(id):
            continue
        ask = partial(_ask_gateway, parental, id, work)
        if parental.lanes.is_open:
            parental.lanes.take(Task(f"{name}: {id}", since=now, run=ask), (id,))
        else:
            done += ask()
    return done


def _ask_gateway(parental: Parts, device_id: str, work: Callable[[LearnsNames], object]) -> bool:
    """Whether it has to know names, and was asked."""

    def asked(driver: FirewallDriver) -> None:
        if isinstance(driver, LearnsNames):
            work(driver)

    try:
        # Others are not even asked: that would be taken for a sign of life.
        is_one = parental.devices.learns_names(device_id)
        if is_one:
            parental.devices.call(device_id, asked)
        return is_one
    except FirewallMistake as mistake:
        log.warning(
            "gateway does not know names", extra={"device": device_id, "mistake": type(mistake).__name__}
        )
        return False


# --- parts ---


def _follow(parental: Parts, cause: Cause, child: str, change: Change[Any], at: datetime | None) -> None:
    """What a change of something asks for; `at` is the change's own time, finer than the stream's."""
    since = max(change.at, at or change.at) if change.at is not None else None
    if parental.lanes.is_open:
        # First in the table: once this returns, the change is not told again.
        wake_now(parental.repository, child)
        parental.lanes.take(Task(child, cause, since), is_news=True)
        return
    outcome = parental.reconciler.reconcile(child)
    _measure(parental, cause, {child: outcome}, {child: since})


def _look_at(
    parental: Parts,
    children: Iterable[str],
    hurry: frozenset[str] = frozenset(),
    *,
    cause: Cause = "retry",
    since: Mapping[str, datetime | None] | None = None,
    is_news: bool = False,
) -> None:
    """Children for whom there may be something to do: in their lanes, or here where there are none."""
    tasks = [Task(child, cause, (since or {}).get(child), hurry) for child in children]
    if not parental.lanes.is_open:
        work(parental, tasks)
        return
    for task in tasks:
        parental.lanes.take(task, is_news=is_news)


def at_once(parental: Parts, place: Place) -> int:
    """How many children are dealt with together: several, if a device has to be deployed for them to take effect."""
    try:
        return AT_ONCE if any(parental.devices.needs_deploy(device_id) for device_id in place) else 1
    except FirewallMistake:
        return 1


def work(parental: Parts, tasks: Sequence[Task]) -> None:
    """Do what there is to do, in a lane or in place."""
    for task in tasks:
        if task.run is not None:
            task.run()
    for kind in dict.fromkeys((task.cause, task.hurry) for task in tasks if task.run is None):
        some = {task.key: task.since for task in tasks if (task.cause, task.hurry) == kind}
        for child in reconcile_each(parental, some, kind[1], cause=kind[0], since=some):
            _wake_later(parental, child)


def _measure(
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
    hurry: frozenset[str] = frozenset(),
    *,
    cause: Cause = "retry",
    since: Mapping[str, datetime | None] | None = None,
) -> list[str]:
    """Many children, some at a time so that a deployment serves several; those that could not be dealt with.

    `since` says of children from when on it was to be so, for the meters.
    """
    keys, failed = list(dict.fromkeys(children)), []
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        try:
            outcomes = parental.reconciler.reconcile_all(some, hurry)
            _measure(parental, cause, outcomes, since or {})
        except Exception:
            # One of them is trouble: each by itself, so that the others are not.
            failed += [key for key in some if not _is_reconciled(parental, key, hurry)]
    return failed


def _is_reconciled(parental: Parts, key: str, hurry: frozenset[str]) -> bool:
    try:
        parental.reconciler.reconcile(key, hurry)
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
