"""Makes firewalls block what shall be blocked: the one thing that streams, sessions, windows, retries and checks call.

`reconcile(child)` may be called by anybody at any time. For each rule: claim it in the table, ask the device, note how
it went, with one entry in the history for each attempt (PC-19). Must hold: nothing is asked of a device that was not
claimed before, so nothing is on a device that nobody knows of; a rule leaves the table after it has left the device;
whoever finished something looks again, because what was wanted may have changed meanwhile; a rule that somebody died
over comes up again when the claim runs out.
Elsewhere: what is to be done (planning.py), devices that fail (devices.py), who calls (jobs.py).
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from tablewright.design import Write
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.systems.parental import compiler, evaluator, planning
from tablewright.systems.parental import design as d
from tablewright.systems.parental.devices import Devices, NoSuchDevice, NotAsked
from tablewright.systems.parental.errors import NotThere
from tablewright.systems.parental.evaluator import Effective
from tablewright.systems.parental.firewall.driver import (
    DeviceRule,
    FirewallDriver,
    FirewallMistake,
    RateLimited,
    Rejected,
    Rule,
)
from tablewright.systems.parental.model import (
    Action,
    ActionKind,
    ActionStatus,
    App,
    Child,
    Family,
    Policy,
    RuleMapping,
    Session,
    Wake,
)
from tablewright.systems.parental.planning import NEVER, AppStatus, Ensure, Remove, Wanted, label_of
from tablewright.systems.parental.repository import Repository

__all__ = ["Outcome", "Reconciler", "Verified", "label_of"]

log = logging.getLogger("tablewright.parental")

# How long somebody may be at a rule: longer than a device takes to answer, and a deployment to be done.
CLAIM, DEPLOY_CLAIM = timedelta(minutes=2), timedelta(minutes=20)
ROUNDS = 5
REFRESH = timedelta(minutes=5)


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
class Outcome:
    """What came of it. `unsettled`: how many rules are not yet as they shall be; `is_clean`: no address of the child
    has a rule of somebody else; `next_change`: when it has to be looked at again by itself."""

    child: str
    done: tuple[Done, ...] = ()
    unsettled: int = 0
    is_clean: bool = True
    next_change: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A device compared with the table."""

    seen: int = 0
    adopted: int = 0
    missing: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class _State:
    """A child as it is in the tables."""

    key: str
    at: datetime
    wake: Wake | None
    child: Child | None
    family: Family | None
    policies: Sequence[Policy]
    sessions: Sequence[Session]
    stale: Sequence[Session]
    rules: Sequence[RuleMapping]
    effective: Effective
    wanted: Sequence[Wanted]

    @property
    def places(self) -> list[tuple[str, str]]:
        return [(one.device_id, one.private_ip) for one in self.sessions]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Something that was asked of a device, and what it answered."""

    action: ActionKind
    claimed: RuleMapping
    rule: Rule | None
    began: datetime
    ended: datetime
    answer: DeviceRule | None = None
    mistake: FirewallMistake | None = None


class Reconciler:
    """Brings devices and tables to what is wanted. Any number of threads and processes may call."""

    def __init__(self, repository: Repository, registry: Apps, devices: Devices, secret: bytes) -> None:
        self._repository, self._registry, self._devices = repository, registry, devices
        self._secret, self._db = secret, repository.db

    def reconcile(self, child: str, hurry: frozenset[str] = frozenset()) -> Outcome:
        """Do what is to be done for a child, now; on devices in `hurry` without waiting for the end of a pause."""
        return self.reconcile_all([child], hurry)[child]

    def reconcile_all(
        self, children: Iterable[str], hurry: frozenset[str] = frozenset()
    ) -> dict[str, Outcome]:
        """The same for many: what needs a deployment gets one for all of them."""
        return self._reconcile(dict.fromkeys(children), hurry, cleans=True)

    def status(self, child: str) -> list[AppStatus]:
        """How it stands with each app, from what is and not from what is meant (PC-X6)."""
        state = self._read(child)
        return planning.statuses(state.effective, state.wanted, state.rules, state.places)

    def retry(self, child: str, rule_id: str) -> Outcome:
        """Try a rule again now, also one that its device refused."""
        mapping = self._db.one(d.rules.get(child, rule_id), consistent=True)
        if mapping is None:
            raise NotThere("RULE")
        if mapping.status == "failed":
            again = mapping.moved(status="pending", next_try_at=self._now())
            self._try_write(d.rules.change(mapping, again))
        return self.reconcile(child, frozenset((mapping.ftd_device_id,)))

    def verify(self, device_id: str) -> Verified:
        """Compare a device with the table: mend what is missing or different, remove what nobody knows (PC-43)."""
        # The device first: what is on it by now was claimed before, so it is in the table when that is read.
        there = self._devices.call(device_id, lambda driver: driver.list())
        deploys = self._devices.needs_deploy(device_id)
        by_name = {rule.name: rule for rule in there}
        known = list(self._db.all(d.rules_of_device(device_id=device_id)))
        adopted = missing = 0
        for mapping in known:
            rule = by_name.get(mapping.rule_name)
            adopts = not deploys or (rule is not None and _is_in_force(rule))
            match self._compare(mapping, rule, adopts=adopts):
                case "adopted":
                    adopted += 1
                case "missing":
                    missing += 1
        names = {mapping.rule_name for mapping in known}
        strays = [rule for rule in there if rule.name not in names and not self._is_known(rule)]
        for stray in strays:
            log.warning("unknown rule removed", extra={"device": device_id, "rule": stray.name})
            self._devices.call(device_id, lambda driver, id=stray.id: driver.remove(id))  # type: ignore[misc]  # binds the loop's value
        if strays and deploys:
            self._devices.call(device_id, lambda driver: driver.deploy())
        self.reconcile_all({mapping.child for mapping in known})
        return Verified(len(there), adopted, missing, len(strays))

    # --- rounds ---

    def _reconcile(
        self, children: Iterable[str], hurry: frozenset[str], *, cleans: bool
    ) -> dict[str, Outcome]:
        keys = list(children)
        outcomes = {key: Outcome(key) for key in keys}
        for round in range(ROUNDS):
            waiting: list[_Attempt] = []
            again = []
            # Only once in a hurry: what failed again has to wait like everything else.
            hurried = hurry if round == 0 else frozenset[str]()
            for key in keys:
                outcome, has_more = self._round(key, hurried, waiting, cleans=cleans)
                before = outcomes[key]
                outcomes[key] = replace(outcome, done=(*before.done, *outcome.done))
                if has_more:
                    again.append(key)
            for attempt in self._deployed(waiting):
                key = attempt.claimed.child
                self._finish(attempt)
                outcomes[key] = replace(outcomes[key], done=(*outcomes[key].done, _done(attempt)))
            keys = again
            if not keys:
                break
        return outcomes

    def _round(
        self, key: str, hurry: frozenset[str], waiting: list[_Attempt], *, cleans: bool
    ) -> tuple[Outcome, bool]:
        """Look, and do what there is to do; whether to look again. What needs a deployment is put to `waiting`."""
        state = self._read(key)
        if state.stale:
            self._close(state.stale, state.at)
        is_clean = self._clean(state) if cleans else all(one.is_clean for one in state.sessions)
        plan = planning.plan(state.wanted, state.rules, state.places, state.at, hurry)
        for before, after in plan.touched:
            self._try_write(d.rules.change(before, after))
        phases = planning.in_order(plan, state.family.on_outage if state.family is not None else "keep")
        attempts = self._do(phases.first, waiting)
        went_well = len(attempts) == len(phases.first) and all(one.mistake is None for one in attempts)
        if phases.goes_on or went_well:
            attempts += self._do(phases.second, waiting)
        is_moved = self._set_wake(state)
        left = [*plan.ensures, *plan.removes]
        unsettled = len(left) - sum(one.mistake is None for one in attempts)
        unsettled += plan.blocks_wait + plan.unblocks_wait
        held = {one.claimed.rule_id for one in waiting}
        done = tuple(_done(one) for one in attempts if one.claimed.rule_id not in held)
        outcome = Outcome(key, done, unsettled, is_clean, state.effective.next_change)
        return outcome, bool(attempts) or bool(state.stale) or not is_moved

    def _do(self, steps: Sequence[Ensure | Remove], waiting: list[_Attempt]) -> list[_Attempt]:
        """The attempts that were made; steps that somebody else has claimed meanwhile are theirs."""
        made = []
        for step in steps:
            claimed = self._claim(step)
            if claimed is None:
                continue
            attempt = self._ask(step, claimed)
            made.append(attempt)
            if attempt.mistake is None and self._waits_for_deployment(attempt):
                waiting.append(self._held_longer(attempt))
            else:
                self._finish(attempt)
        return made

    def _waits_for_deployment(self, attempt: _Attempt) -> bool:
        is_asked = attempt.rule is not None or attempt.claimed.attempt > 0
        is_known = attempt.answer is not None and _is_in_force(attempt.answer)
        return is_asked and not is_known and self._devices.needs_deploy(attempt.claimed.ftd_device_id)

    def _held_longer(self, attempt: _Attempt) -> _Attempt:
        """A deployment may take its time; until then nobody else need be at the rule."""
        after = attempt.claimed.moved(next_try_at=attempt.ended + DEPLOY_CLAIM)
        write = d.rules.change(attempt.claimed, after)
        if not self._try_write(write) or write.item is None:
            return attempt
        return replace(attempt, claimed=write.item)

    def _deployed(self, attempts: Sequence[_Attempt]) -> list[_Attempt]:
        """What was changed, put into effect: one deployment for each device."""
        finished = []
        mistakes: dict[str, FirewallMistake | None] = {}
        for attempt in attempts:
            device_id = attempt.claimed.ftd_device_id
            if device_id not in mistakes:
                try:
                    self._devices.call(device_id, lambda driver: driver.deploy())
                    mistakes[device_id] = None
                except FirewallMistake as mistake:
                    mistakes[device_id] = mistake
            finished.append(replace(attempt, ended=self._now(), mistake=mistakes[device_id]))
        return finished

    # --- reading ---

    def _read(self, key: str) -> _State:
        db, now = self._db, self._now()
        # First, and written last only if nobody wrote it meanwhile: who saw less must not have the last word.
        wake = db.one(d.wake_of_child(child=key))
        child = db.one(d.child_by_key(child=key))
        sessions = list(db.all(d.sessions_of_child(child=key)))
        rules = list(db.all(d.rules_of_child(child=key)))
        is_here = child is not None and child.released_at is None
        live = [one for one in sessions if planning.is_open(one, now)] if is_here else []
        stale = [one for one in sessions if one.live_private_ip is not None and one not in live]
        nothing = Effective(now, {}, (), False, None)
        if child is None or not is_here:
            return _State(key, now, wake, child, None, (), live, stale, rules, nothing, ())
        family = db.one(d.families.get(child.family_id), consistent=True)
        policies = self._repository.policies_of(key)
        overrides = self._repository.overrides_of(key)
        effective = evaluator.effective(child, policies, overrides, now)
        allowed = family.allowed_domains if family is not None else []
        wanted = planning.wanted(self._secret, key, effective, policies, live, allowed, self._registry.app)
        return _State(key, now, wake, child, family, policies, live, stale, rules, effective, wanted)

    # --- one rule ---

    def _claim(self, step: Ensure | Remove) -> RuleMapping | None:
        """Make a rule ours for a while; None if somebody was faster."""
        write = self._claim_write(step)
        if not self._try_write(write):
            return None
        return write.item

    def _claim_write(self, step: Ensure | Remove) -> Write[RuleMapping]:
        now, before = self._now(), step.mapping
        until = now + CLAIM
        if isinstance(step, Remove):
            attempt = step.mapping.attempt if step.mapping.status == "removing" else 0
            after = step.mapping.moved(
                status="removing",
                # Where the device was never asked for the rule it is not asked to remove it (see _ask).
                attempt=attempt + 1 if planning.was_asked(step.mapping) else 0,
                next_try_at=until,
                error=None,
                last_verified=NEVER,
            )
            return d.rules.change(step.mapping, after)
        session, rule = step.wanted.session, step.rule
        wished = {
            "policy_ids": list(step.wanted.why.policy_ids),
            "session_id": session.session_id,
            "expires_at": session.expires_at,
            "digest": rule.digest,
            "status": "pending",
            "next_try_at": until,
            "error": None,
            "last_verified": NEVER,
        }
        if before is not None:
            is_again = before.status == "pending" and before.digest == rule.digest
            # Counting begins anew with another wish; but what was asked for once may be on the device.
            attempt = before.attempt if is_again else min(before.attempt, 1)
            return d.rules.change(before, before.moved(**wished, attempt=attempt + 1))
        device = self._db.one(d.devices.get(session.device_id))
        new = RuleMapping(
            child=session.child,
            rule_id=step.wanted.rule_id,
            rule_name=rule.name,
            privateIP=session.private_ip,
            app_name=step.wanted.app,
            policy_ids=list(step.wanted.why.policy_ids),
            ftd_device_id=session.device_id,
            access_policy_id=device.access_policy_id if device is not None else "",
            session_id=session.session_id,
            digest=rule.digest,
            attempt=1,
            next_try_at=until,
            created_at=now,
            last_verified=NEVER,
            expires_at=session.expires_at,
        )
        return d.rules.create(new.moved())

    def _ask(self, step: Ensure | Remove, claimed: RuleMapping) -> _Attempt:
        """Ask the device. What it or the way to it did wrong is part of the answer."""
        began = self._now()
        rule = step.rule if isinstance(step, Ensure) else None
        answer: DeviceRule | None = None
        mistake: FirewallMistake | None = None
        try:
            if rule is not None:
                answer = self._devices.call(claimed.ftd_device_id, lambda driver: driver.ensure(rule))
            elif claimed.attempt > 0:
                self._devices.call(claimed.ftd_device_id, _removing(claimed))
        except NoSuchDevice as gone:
            # Nothing can be on a device that is no more.
            mistake = gone if rule is not None else None
        except FirewallMistake as found:
            mistake = found
        return _Attempt(step.action, claimed, rule, began, self._now(), answer, mistake)

    def _finish(self, attempt: _Attempt) -> None:
        """Note how it went."""
        claimed = attempt.claimed
        if attempt.mistake is not None:
            self._note_failure(attempt, attempt.mistake)
            return
        self._resolve(claimed)
        action = d.actions.create(_action(attempt, self._action_id(attempt), "success"))
        if attempt.rule is None:
            change = d.rules.delete(claimed)
        else:
            assert attempt.answer is not None
            after = claimed.moved(
                status="active",
                device_rule_id=attempt.answer.id,
                attempt=0,
                next_try_at=None,
                failing_since=None,
                last_verified=attempt.ended,
            )
            change = d.rules.change(claimed, after)
        is_silent = attempt.rule is None and claimed.attempt == 0
        writes: list[Write[Any]] = [change] if is_silent else [change, action]
        if not self._try_write(*writes) and not is_silent:
            # The claim ran out and another has the rule now; what was done was done all the same.
            self._try_write(action)

    def _note_failure(self, attempt: _Attempt, mistake: FirewallMistake) -> None:
        claimed, now = attempt.claimed, attempt.ended
        was_asked = not isinstance(mistake, NotAsked)
        tried = claimed.attempt if was_asked else claimed.attempt - 1
        refused = isinstance(mistake, Rejected) and attempt.rule is not None
        after = claimed.moved(
            status="failed" if refused else claimed.status,
            attempt=max(tried, 1 if attempt.rule is None else 0),
            next_try_at=None if refused else self._next_try(mistake, claimed.attempt, now),
            error=str(mistake),
            failing_since=claimed.failing_since or now,
        )
        writes: list[Write[Any]] = [d.rules.change(claimed, after)]
        status: ActionStatus = "failed" if was_asked else "pending"
        # Where nobody was asked, once is enough to say that something waits.
        if was_asked or claimed.failing_since is None:
            writes.append(d.actions.create(_action(attempt, self._action_id(attempt), status)))
        if not self._try_write(*writes) and len(writes) > 1:
            self._try_write(writes[1])

    def _next_try(self, mistake: FirewallMistake, attempt: int, now: datetime) -> datetime:
        jitter = self._repository.world.jitter()
        if isinstance(mistake, NotAsked):
            return mistake.until + planning.FIRST_PAUSE * jitter
        pause = planning.back_off(attempt, jitter)
        if isinstance(mistake, RateLimited):
            pause = max(pause, timedelta(seconds=mistake.retry_after))
        return now + pause

    def _resolve(self, mapping: RuleMapping) -> None:
        """What failed of a rule before is no open matter any more (PC-S6)."""
        if mapping.failing_since is None:
            return
        query = d.actions_of_child(child=mapping.child, since=mapping.failing_since)
        for action in list(self._db.all(query)):
            if action.rule_id == mapping.rule_id and action.status_key is not None:
                key = (action.child, action.occurred_at, action.action_id)
                self._try_write(d.actions.update(*key).at(lambda one: one.status_key).remove())

    # --- addresses of others (PC-D22) ---

    def _clean(self, state: _State) -> bool:
        """See that no rule of another child names an address of ours; whether that is so."""
        is_clean = True
        for session in state.sessions:
            if session.is_clean:
                continue
            others = self._foreign(session)
            if others:
                owners = {one.child: None for one in others}
                self._reconcile(owners, frozenset((session.device_id,)), cleans=False)
                others = self._foreign(session)
            if others:
                log.warning("address not clean", extra={"device": session.device_id, "rules": len(others)})
                is_clean = False
            else:
                self._try_write(d.sessions.change(session, session.model_copy(update={"is_clean": True})))
        return is_clean

    def _foreign(self, session: Session) -> list[RuleMapping]:
        return [
            one
            for one in self._db.all(d.rules_of_address(private_ip=session.private_ip))
            if one.child != session.child and one.ftd_device_id == session.device_id
        ]

    def _close(self, sessions: Sequence[Session], at: datetime) -> None:
        for one in sessions:
            over = one.model_copy(update={"live_private_ip": None, "ended_at": at})
            self._try_write(d.sessions.change(one, over))

    # --- verifying ---

    def _compare(self, mapping: RuleMapping, rule: DeviceRule | None, *, adopts: bool) -> str:
        """One rule of the table and what the device has of it."""
        now = self._now()
        is_same = rule is not None and rule.digest == mapping.digest
        if mapping.status == "active" and rule is not None and is_same:
            if now - mapping.last_verified >= REFRESH or mapping.device_rule_id != rule.id:
                after = mapping.moved(last_verified=now, device_rule_id=rule.id)
                self._try_write(d.rules.change(mapping, after))
            return "seen"
        if mapping.status == "active":
            return self._doubt(mapping, rule, now)
        if not (adopts and is_same and mapping.status == "pending" and not planning.is_held(mapping, now)):
            return "waits"
        # Somebody died, or the answer was lost, after the device had taken it (PC-S7).
        assert rule is not None
        self._resolve(mapping)
        after = mapping.moved(
            status="active", device_rule_id=rule.id, attempt=0, next_try_at=None, error=None,
            failing_since=None, last_verified=now,
        )  # fmt: skip
        found = _Attempt("verify", mapping, None, now, now, rule)
        action = _action(found, self._repository.new_timed_id(now), "success")
        return "adopted" if self._try_write(d.rules.change(mapping, after), d.actions.create(action)) else ""

    def _doubt(self, mapping: RuleMapping, rule: DeviceRule | None, now: datetime) -> str:
        """A rule that should be there and is not: it is made again, by whoever reconciles the child next."""
        words = (
            "the rule was gone from the firewall" if rule is None else "the rule on the firewall was another"
        )
        after = mapping.moved(
            status="pending", device_rule_id=None if rule is None else rule.id, next_try_at=now, error=words,
            failing_since=now, last_verified=NEVER,
        )  # fmt: skip
        found = _Attempt("verify", mapping, None, now, now, rule, FirewallMistake(words))
        action = _action(found, self._repository.new_timed_id(now), "failed")
        return "missing" if self._try_write(d.rules.change(mapping, after), d.actions.create(action)) else ""

    def _is_known(self, rule: DeviceRule) -> bool:
        """Whether a rule that the index does not show belongs to whoever has its address: indexes lag behind."""
        holders = {one.child for one in self._db.all(d.sessions_of_address(private_ip=rule.source))}
        return any(
            mapping.rule_name == rule.name
            for child in holders
            for mapping in self._db.all(d.rules_of_child(child=child))
        )

    # --- parts ---

    def _set_wake(self, state: _State) -> bool:
        """When to look again by itself; False if somebody else set that meanwhile, so that we have to look again."""
        at = state.effective.next_change if state.sessions else None
        wake = state.wake
        if at == (wake.at if wake is not None else None):
            return True
        if at is None:
            assert wake is not None
            return self._try_write(d.wakes.delete(wake))
        new = Wake(child=state.key, at=at)
        return self._try_write(d.wakes.change(wake, new) if wake is not None else d.wakes.create(new))

    def _try_write(self, *writes: Write[Any]) -> bool:
        """Write, unless somebody else was faster."""
        try:
            self._db.write(*writes)
            return True
        except (AlreadyExists, Stale, Missing, ConditionNotMet):
            return False

    def _action_id(self, attempt: _Attempt) -> str:
        return self._repository.new_timed_id(attempt.ended)

    def _now(self) -> datetime:
        return self._repository.now()


def _is_in_force(rule: DeviceRule) -> bool:
    """Whether a device that has to be deployed says that a rule needs that no more."""
    return rule.details.get("inForce") == "yes"


def _removing(mapping: RuleMapping) -> Callable[[FirewallDriver], None]:
    """Remove a rule by its id; by its name, where the device never told us the id."""

    def work(driver: FirewallDriver) -> None:
        if mapping.device_rule_id is not None:
            driver.remove(mapping.device_rule_id)
            return
        for rule in driver.list(mapping.rule_name):
            if rule.name == mapping.rule_name:
                driver.remove(rule.id)

    return work


def _done(attempt: _Attempt) -> Done:
    mapping = attempt.claimed
    error = None if attempt.mistake is None else str(attempt.mistake)
    return Done(attempt.action, mapping.app_name, mapping.private_ip, mapping.ftd_device_id, error)


def _action(attempt: _Attempt, action_id: str, status: ActionStatus) -> Action:
    """The entry of the history."""
    mapping = attempt.claimed
    device_rule = attempt.answer.id if attempt.answer is not None else mapping.device_rule_id
    response = {"deviceId": mapping.ftd_device_id, **({"ruleId": device_rule} if device_rule else {})}
    return Action(
        child=mapping.child,
        occurred_at=attempt.ended,
        action_id=action_id,
        action=attempt.action,
        app_name=mapping.app_name,
        privateIP=mapping.private_ip,
        rule_id=mapping.rule_id,
        policy_ids=mapping.policy_ids,
        status=status,
        status_key=None if status == "success" else status,
        error_message=None if attempt.mistake is None else str(attempt.mistake),
        ftd_response=response,
        applied=compiler.applied(attempt.rule) if attempt.rule is not None else {},
        duration_ms=(attempt.ended - attempt.began) // timedelta(milliseconds=1),
        attempt=max(mapping.attempt, 1),
    )
