"""Makes firewalls block what should be blocked: called by streams, sessions, windows, retries and checks.

`reconcile(child)` may be called at any time, in any process. Must hold: after a step the child is checked again,
because what is wanted may have changed; a rule whose process died comes up again when its claim expires.
Elsewhere: what is to be done (plan.py), doing it (apply.py), others' rules for an address (address_reuse.py),
devices compared with the table (device_audit.py), devices that fail (firewall/devices.py), who calls (dispatch.py,
regular_checks.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from tablewright.edge.errors import NotFound
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import address_stays
from tablewright.systems.parental.enforcement import plan as plans
from tablewright.systems.parental.enforcement.address_reuse import ALERT, Addresses
from tablewright.systems.parental.enforcement.apply import Attempt, Attempts
from tablewright.systems.parental.enforcement.device_audit import Verified, Verifying
from tablewright.systems.parental.enforcement.plan import AppStatus, Wanted
from tablewright.systems.parental.enforcement.queue import enqueue
from tablewright.systems.parental.firewall.devices import Devices
from tablewright.systems.parental.model import (
    ActionKind,
    App,
    Child,
    Family,
    Policy,
    RuleMapping,
    Session,
    Wake,
)
from tablewright.systems.parental.policy import effective as effective_policy
from tablewright.systems.parental.policy.effective import Effective
from tablewright.systems.parental.repository import Repository

ROUNDS = 5
GOES_ON = "new connections are blocked; connections that were already open continue until they end"


class Apps(Protocol):
    """What is asked of the registry."""

    def app(self, name: str) -> App | None: ...


@dataclass(frozen=True, slots=True)
class Done:
    """One attempt, as it went."""

    action: ActionKind
    app: str
    address: str
    device_id: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _State:
    """A child as it is in the tables. `alarmed`: sessions that ended while their address was not clean."""

    key: str
    at: datetime
    wake: Wake | None
    child: Child | None
    family: Family | None
    policies: Sequence[Policy]
    sessions: Sequence[Session]
    stale: Sequence[Session]
    alarmed: Sequence[Session]
    rules: Sequence[RuleMapping]
    effective: Effective
    wanted: Sequence[Wanted]

    @property
    def places(self) -> list[tuple[str, str]]:
        return [(one.device_id, one.private_ip) for one in self.sessions]


class Reconciler:
    """Brings devices and tables to what is wanted. Any number of threads and processes may call."""

    def __init__(self, repository: Repository, registry: Apps, devices: Devices, secret: bytes) -> None:
        self._repository, self._registry, self._devices = repository, registry, devices
        self._secret, self._db = secret, repository.db
        self._attempts = Attempts(repository, devices)
        self._verifying = Verifying(repository, devices, self._mend)
        self._addresses = Addresses(repository, self._free)

    def reconcile(self, child: str, skip_backoff: frozenset[str] = frozenset()) -> tuple[Done, ...]:
        """Do what is to be done for a child, now; devices in `skip_backoff` do not wait for the end of a pause.

        Returned are the attempts.
        """
        return self.reconcile_all([child], skip_backoff)[child]

    def reconcile_all(
        self, children: Iterable[str], skip_backoff: frozenset[str] = frozenset()
    ) -> dict[str, tuple[Done, ...]]:
        """The same for many: what needs a deployment gets one for all of them."""
        return self._reconcile(dict.fromkeys(children), skip_backoff)

    def status(self, child: str) -> list[AppStatus]:
        """How it stands with each app, from what is and not from what is meant (PC-X6)."""
        state = self._read(child)
        found = plans.statuses(state.effective, state.wanted, state.rules, state.places)
        if all(self._devices.ends_connections(device_id) for device_id, _ in {*state.places}):
            return found
        return [replace(one, reason=GOES_ON) if one.state == "enforced" else one for one in found]

    def retry(self, child: str, rule_id: str) -> tuple[Done, ...]:
        """Try a rule again now, also one that its device refused; a device that rests after failures is asked too."""
        if rule_id.startswith(ALERT):
            return self.reconcile(child)  # rules in the way of an address never wait for a pause
        mapping = self._db.one(d.rules.get(child, rule_id), consistent=True)
        if mapping is None:
            raise NotFound("RULE")
        if mapping.status == "failed":
            again = mapping.moved(status="pending", next_try_at=self._now())
            self._repository.try_write(d.rules.move(mapping, again, by="operator"))
        self._devices.try_now(mapping.ftd_device_id)
        return self.reconcile(child, frozenset((mapping.ftd_device_id,)))

    def verify(self, device_id: str) -> Verified:
        """Compare a device with the table: restore what is missing or different, remove unknown rules (PC-43)."""
        return self._verifying.verify(device_id)

    # --- rounds ---

    def _reconcile(
        self,
        children: Iterable[str],
        skip_backoff: frozenset[str],
        *,
        cleans: bool = True,
        only: str | None = None,
    ) -> dict[str, tuple[Done, ...]]:
        """With `only`, just the steps on that device; the rest follows later, because another may be slow."""
        keys = list(children)
        done: dict[str, tuple[Done, ...]] = dict.fromkeys(keys, ())
        for round in range(ROUNDS):
            # Only once in a hurry: what failed again has to wait like everything else.
            hurried = skip_backoff if round == 0 else frozenset[str]()
            waiting: list[Attempt] = []
            keys = self._rounds(keys, hurried, waiting, done, cleans=cleans, only=only)
            if not keys:
                break
        return done

    def _rounds(
        self,
        keys: Sequence[str],
        skip_backoff: frozenset[str],
        waiting: list[Attempt],
        done: dict[str, tuple[Done, ...]],
        *,
        cleans: bool,
        only: str | None,
    ) -> list[str]:
        """A round for each, and the deployments it takes; those to look at again."""
        again = []
        for key in keys:
            more, has_more = self._round(key, skip_backoff, waiting, cleans=cleans, only=only)
            done[key] += more
            if has_more:
                again.append(key)
        for attempt in self._attempts.deployed(waiting):
            self._attempts.finish(attempt)
            done[attempt.claimed.child] += (_done(attempt),)
        return again

    def _round(
        self,
        key: str,
        skip_backoff: frozenset[str],
        waiting: list[Attempt],
        *,
        cleans: bool,
        only: str | None,
    ) -> tuple[tuple[Done, ...], bool]:
        """Look, and do what there is to do; whether to look again. What needs a deployment is put to `waiting`."""
        state = self._read(key)
        if state.stale:
            self._close(state.stale, state.at)
        self._addresses.forget(state.alarmed)
        if cleans:
            self._addresses.clean(state.sessions)
        whole = plans.plan(state.wanted, state.rules, state.places, state.at, skip_backoff)
        plan = whole if only is None else plans.on_device(whole, only)
        for before, after in plan.touched:
            self._repository.try_write(d.rules.change(before, after))
        phases = plans.in_order(plan, state.family.on_outage if state.family is not None else "keep")
        attempts = self._attempts.do(phases.first, waiting)
        went_well = len(attempts) == len(phases.first) and all(one.mistake is None for one in attempts)
        if phases.goes_on or went_well:
            attempts += self._attempts.do(phases.second, waiting)
        if only is None:
            is_moved = self._set_wake(state)
        else:
            is_moved = True
            if plan != whole:
                enqueue(self._repository, key)
        held = {one.claimed.rule_id for one in waiting}
        done = tuple(_done(one) for one in attempts if one.claimed.rule_id not in held)
        return done, bool(attempts) or bool(state.stale) or not is_moved

    # --- reading ---

    def _read(self, key: str) -> _State:
        db, now = self._db, self._now()
        # Read first, and written last only if unchanged: a process that saw less must not overwrite.
        wake = db.one(d.wake_of_child(child=key))
        child = db.one(d.child_by_key(child=key))
        sessions = list(db.all(d.sessions_of_child(child=key)))
        rules = list(db.all(d.rules_of_child(child=key)))
        is_here = child is not None and child.released_at is None
        live = self._behind(one for one in sessions if plans.is_open(one, now)) if is_here else []
        stale = [one for one in sessions if one.live_private_ip is not None and one not in live]
        alarmed = [one for one in sessions if one.unclean_since is not None and one.live_private_ip is None]
        nothing = Effective(now, {}, (), False, None)
        if child is None or not is_here:
            return _State(key, now, wake, child, None, (), live, stale, alarmed, rules, nothing, ())
        family = db.one(d.families.get(child.family_id), consistent=True)
        policies = self._repository.policies_of(key)
        overrides = self._repository.overrides_of(key)
        effective = effective_policy.effective(child, policies, overrides, now)
        allowed = family.allowed_domains if family is not None else []
        wanted = plans.wanted(self._secret, key, effective, policies, live, allowed, self._registry.app)
        return _State(key, now, wake, child, family, policies, live, stale, alarmed, rules, effective, wanted)

    def _behind(self, sessions: Iterable[Session]) -> list[Session]:
        """The sessions whose firewall is there: a rule for another could only fail."""
        found = list(sessions)
        ids = list({one.device_id: None for one in found})
        known = self._db.many([d.devices.get(id) for id in ids], consistent=True)
        there = dict(zip(ids, known, strict=True))
        return [one for one in found if plans.is_behind(one, there[one.device_id])]

    # --- parts ---

    def _free(self, children: Iterable[str], device_id: str) -> None:
        """Reconcile the children that are in the way of another, but not those in their way."""
        self._reconcile(children, frozenset((device_id,)), cleans=False, only=device_id)

    def _mend(self, children: Iterable[str], device_id: str) -> None:
        """Do what is to be done on a device that was compared."""
        self._reconcile(dict.fromkeys(children), frozenset(), only=device_id)

    def _close(self, sessions: Sequence[Session], at: datetime) -> None:
        for one in sessions:
            self._repository.try_write(*address_stays.ending(one, at))

    def _set_wake(self, state: _State) -> bool:
        """Store the next check; False if another process stored one first, so that we have to check again."""
        at = state.effective.next_change if state.sessions else None
        wake = state.wake
        if at == (wake.at if wake is not None else None):
            return True
        if at is None:
            assert wake is not None
            return self._repository.try_write(d.wakes.delete(wake))
        new = Wake(child=state.key, at=at)
        return self._repository.try_write(
            d.wakes.change(wake, new) if wake is not None else d.wakes.create(new)
        )

    def _now(self) -> datetime:
        return self._repository.now()


def _done(attempt: Attempt) -> Done:
    mapping = attempt.claimed
    error = None if attempt.mistake is None else str(attempt.mistake)
    return Done(attempt.action, mapping.app_name, mapping.private_ip, mapping.ftd_device_id, error)
