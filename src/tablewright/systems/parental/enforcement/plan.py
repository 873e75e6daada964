"""What to do so that devices block what should be blocked: pure functions of wanted and existing rules.

`wanted` says which rules there should be, `plan` which steps lead there, `statuses` the state of each app for a parent
(PC-X6). Must hold: a rule is wanted once however many policies ask for it (PC-D35); one that another process is just at
is left to them; whatever is not settled comes up again, however often this is asked.
Elsewhere: doing it (reconciler.py), what is blocked (policy/effective.py), what a rule says (firewall/compiler.py).
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from tablewright.systems.parental.firewall import compiler
from tablewright.systems.parental.firewall.driver import Rule
from tablewright.systems.parental.model import (
    EVERYTHING,
    ActionKind,
    App,
    Device,
    Outage,
    Policy,
    RuleMapping,
    Session,
)
from tablewright.systems.parental.policy.effective import Effective, Why, asked

# When a rule was verified that is in doubt: such rules come first in the list of their device, and are few.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=2), timedelta(minutes=5)
MISSED_HEARTBEATS = 3
# How far the expiry of a rule may lag behind that of its session before it is worth a write.
SLACK = timedelta(hours=1)
# What parents read where a device fails. Its own words are for operators, who find them beside the rule.
NOT_NOW = "the firewall can't apply it at the moment"
NOT_TAKEN = "the firewall refuses it, and the network operator has to check why"
State = Literal["enforced", "pending", "failed", "no session"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A wanted rule: for an address, on a device. Without `rule` nothing of it may be enforced; `why_not`.

    `unmet`: what of it was asked for and is not in the rule, in sentences."""

    rule_id: str
    app: str
    session: Session
    why: Why
    rule: Rule | None
    why_not: str = ""
    unmet: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        return self.session.device_id, self.session.private_ip


@dataclass(frozen=True, slots=True)
class Ensure:
    """Ask a device for a rule. `mapping` is what is known of it already."""

    action: ActionKind
    wanted: Wanted
    rule: Rule
    mapping: RuleMapping | None


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a rule away. `is_ours`: the child still has the address, so this unblocks the child and not another."""

    action: ActionKind
    mapping: RuleMapping
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. `touched` are rules that stay as they are on the device, with what is to be noted of them.

    `blocks_wait`, `unblocks_wait`: something is not done and its time has not come.
    """

    ensures: tuple[Ensure, ...] = ()
    removes: tuple[Remove, ...] = ()
    touched: tuple[tuple[RuleMapping, RuleMapping], ...] = ()
    blocks_wait: bool = False
    unblocks_wait: bool = False


@dataclass(frozen=True, slots=True)
class AppStatus:
    """The confirmed state of an app. `wanted` False: it should be unblocked, and is
    still blocked. `unmet`: what of it is not blocked though it was asked for, in sentences (PC-S14)."""

    app: str
    state: State
    wanted: bool = True
    reason: str = ""
    policy_ids: tuple[str, ...] = ()
    override_id: str | None = None
    since: datetime | None = None
    unmet: tuple[str, ...] = ()


# --- sessions ---


def is_stale(session: Session, now: datetime) -> bool:
    """Whether a session that was not closed is over all the same: it missed three heartbeats, or it has run out."""
    if now >= session.expires_at:
        return True
    promised = session.heartbeat_seconds
    return promised is not None and now - session.last_seen_at > MISSED_HEARTBEATS * timedelta(
        seconds=promised
    )


def is_open(session: Session, now: datetime) -> bool:
    return session.live_private_ip is not None and not is_stale(session, now)


def is_behind(session: Session, device: Device | None) -> bool:
    """Whether a session is behind this firewall: one that is not being removed, and no other of the same name."""
    return device is not None and device.leaving_at is None and device.added_at == session.device_since


# --- wanted rules ---


def rule_id(secret: bytes, child: str, app: str, address: str, device_id: str) -> str:
    """The one name under which a rule is claimed: two who want the same rule meet there (PC-X8)."""
    told = "\0".join((child, app, address, device_id)).encode()
    return f"ftd_rule_{hmac.new(secret, told, hashlib.sha256).hexdigest()[:20]}"


def label_of(app: str) -> str:
    """What counters and logs of a device call an app."""
    return "everything" if app == EVERYTHING else re.sub(r"[^A-Za-z0-9_\-. ]", "-", app)


def wanted(
    secret: bytes,
    child: str,
    effective: Effective,
    policies: Sequence[Policy],
    sessions: Iterable[Session],
    allowed_domains: Sequence[str],
    app_of: Callable[[str], App | None],
) -> list[Wanted]:
    """Every wanted rule. Of several sessions with one address the newest counts."""
    places = {
        (one.device_id, one.private_ip): one for one in sorted(sessions, key=lambda one: one.started_at)
    }
    found = []
    for name, why in effective.blocked.items():
        app = None if name == EVERYTHING else app_of(name)
        entries = asked(name, why, policies)
        allowed = [*allowed_domains]
        if name == EVERYTHING:
            # What an exception frees must get through the wall around everything.
            for freed in effective.allowed:
                allowed += compiler.domains_of(app_of(freed), asked(freed, Why(override_id=""), policies))
        unmet = tuple(one.sentence for one in compiler.unmet(app, entries, allowed))
        for device_id, address in sorted(places):
            shown = compiler.rule_name(secret, child, name, address)
            rule = compiler.compile_rule(app, entries, allowed, address, shown, label_of(name))
            why_not = "" if rule is not None else _why_not(compiler.left_out(app, entries, allowed))
            id = rule_id(secret, child, name, address, device_id)
            left = unmet if rule is not None else ()
            found.append(Wanted(id, name, places[device_id, address], why, rule, why_not, left))
    return found


def _why_not(left: Sequence[compiler.LeftOut]) -> str:
    if not left:
        return "we don't know where this app's traffic goes"
    return "; ".join(f"{one.value}: {one.why}" for one in left[:3])


# --- what to do ---


def back_off(attempt: int, jitter: float) -> timedelta:
    """How long to wait after so many failures: 2 s, doubling to 5 min, each a little less so that not all come at once
    (PC-44)."""
    doubled = FIRST_PAUSE * (1 << min(max(attempt, 1) - 1, 20))
    return min(doubled, LONGEST_PAUSE) * (1 - jitter / 4)


def is_held(mapping: RuleMapping, now: datetime) -> bool:
    """Whether a process holds a rule now, or did until it died a moment ago."""
    return mapping.error is None and mapping.next_try_at is not None and mapping.next_try_at > now


def is_due(mapping: RuleMapping, now: datetime) -> bool:
    """Whether what failed may be tried again."""
    if mapping.status == "failed":
        return False
    return mapping.next_try_at is None or mapping.next_try_at <= now


def plan(
    rules: Sequence[Wanted],
    mappings: Sequence[RuleMapping],
    places: Iterable[tuple[str, str]],
    now: datetime,
    skip_backoff: frozenset[str] = frozenset(),
) -> Plan:
    """The steps from existing to wanted rules. `places`: the devices and addresses the child has now; on the devices in
    `skip_backoff` no rule waits for the end of a pause."""
    here = frozenset(places)
    there = {one.rule_id: one for one in mappings}
    blocks, unblocks = _Queue(), _Queue()
    ensures: list[Ensure] = []
    removes: list[Remove] = []
    touched = []
    for one in rules:
        mapping = there.get(one.rule_id)
        if one.rule is None or (mapping is not None and _is_settled(one, one.rule, mapping)):
            if one.rule is not None and mapping is not None and mapping.status == "active":
                after = _noted(mapping, one)
                touched += [(mapping, after)] if after != mapping else []
        elif blocks.takes(mapping, _may_block(mapping, now, skip_backoff)):
            action: ActionKind = "reassign" if _moves(one, mappings, here) else "block"
            ensures.append(Ensure(action, one, one.rule, mapping))
    kept = {one.rule_id for one in rules if one.rule is not None}
    for mapping in mappings:
        if mapping.rule_id in kept or mapping.status == "removed":
            continue
        if unblocks.takes(mapping, _may_unblock(mapping, now, skip_backoff)):
            is_ours = (mapping.ftd_device_id, mapping.private_ip) in here
            moved = not is_ours and any(one.app == mapping.app_name for one in rules)
            removes.append(Remove("reassign" if moved else "unblock", mapping, is_ours))
    return Plan(tuple(ensures), tuple(removes), tuple(touched), blocks.waits, unblocks.waits)


def on_device(plan: Plan, device_id: str) -> Plan:
    """What of a plan is to be done on one device; the rest waits."""
    ensures = tuple(one for one in plan.ensures if one.wanted.session.device_id == device_id)
    removes = tuple(one for one in plan.removes if one.mapping.ftd_device_id == device_id)
    return replace(
        plan,
        ensures=ensures,
        removes=removes,
        blocks_wait=plan.blocks_wait or ensures != plan.ensures,
        unblocks_wait=plan.unblocks_wait or removes != plan.removes,
    )


@dataclass(slots=True)
class _Queue:
    """Remembers whether something that is not done has to wait."""

    waits: bool = False

    def takes(self, mapping: RuleMapping | None, may_go: bool) -> bool:
        self.waits = self.waits or not may_go
        return may_go


def _is_settled(one: Wanted, rule: Rule, mapping: RuleMapping) -> bool:
    """There, or refused for good as it is."""
    return mapping.digest == rule.digest and mapping.status in ("active", "failed")


def _may_block(mapping: RuleMapping | None, now: datetime, skip_backoff: frozenset[str]) -> bool:
    if mapping is None:
        return True
    if is_held(mapping, now):
        return False
    # What waits after a failure waits on; anything else is another wish than the last one.
    return mapping.status != "pending" or is_due(mapping, now) or mapping.ftd_device_id in skip_backoff


def _may_unblock(mapping: RuleMapping, now: datetime, skip_backoff: frozenset[str]) -> bool:
    if is_held(mapping, now):
        return False
    return mapping.status != "removing" or is_due(mapping, now) or mapping.ftd_device_id in skip_backoff


def _moves(one: Wanted, mappings: Sequence[RuleMapping], here: frozenset[tuple[str, str]]) -> bool:
    """Whether a rule follows the child from another address, which it has left (PC-37)."""
    return any(
        old.app_name == one.app
        and old.session_id == one.session.session_id
        and (old.ftd_device_id, old.private_ip) not in here
        for old in mappings
    )


def _noted(mapping: RuleMapping, one: Wanted) -> RuleMapping:
    """Who wants a rule and how long, brought up to date."""
    lags = abs(one.session.expires_at - mapping.expires_at) > SLACK
    return mapping.model_copy(
        update={
            "policy_ids": list(one.why.policy_ids),
            "session_id": one.session.session_id,
            "expires_at": one.session.expires_at if lags else mapping.expires_at,
        }
    )


@dataclass(frozen=True, slots=True)
class Phases:
    """Steps in two halves; the second is done if the first went well, or if it `goes_on` anyway."""

    first: tuple[Ensure | Remove, ...]
    second: tuple[Ensure | Remove, ...]
    goes_on: bool


def in_order(plan: Plan, outage: Outage) -> Phases:
    """In which order, and what waits for what, where devices fail (PC-X9).

    Always blocks first, so that a rule for a new address is there before the old one goes. What names an address that
    is not the child's any more goes in any case. `keep`: each change is made when it can be, what could not be changed
    stays as it is. `closed`: nothing is freed while something that should be blocked is not. `open`: nothing more is
    blocked while something that should be free is not.
    """
    foreign = tuple(one for one in plan.removes if not one.is_ours)
    ours = tuple(one for one in plan.removes if one.is_ours)
    if outage == "open":
        moved = tuple(one for one in plan.ensures if one.action == "reassign")
        new = tuple(one for one in plan.ensures if one.action != "reassign")
        return Phases((*moved, *foreign, *ours), () if plan.unblocks_wait else new, goes_on=False)
    if outage == "closed":
        return Phases((*plan.ensures, *foreign), () if plan.blocks_wait else ours, goes_on=False)
    return Phases(plan.ensures, plan.removes, goes_on=True)


# --- how it stands ---


def statuses(
    effective: Effective,
    rules: Sequence[Wanted],
    mappings: Sequence[RuleMapping],
    places: Iterable[tuple[str, str]],
) -> list[AppStatus]:
    """The state of each app that should be blocked, or should not be but is.

    While everything is blocked, a rule of a single app that is left over frees nothing by going: it is not listed.
    """
    here = frozenset(places)
    there = {one.rule_id: one for one in mappings}
    found = [
        _status(name, why, [one for one in rules if one.app == name], there)
        for name, why in effective.blocked.items()
    ]
    left: dict[str, RuleMapping] = {}
    for one in mappings:
        is_here = (one.ftd_device_id, one.private_ip) in here
        # What was never asked of the device blocks nothing.
        is_free = one.app_name not in effective.blocked and (
            not effective.everything or one.app_name in effective.allowed
        )
        if is_here and is_free and one.status != "removed" and was_asked(one):
            left.setdefault(one.app_name, one)
    found += [
        AppStatus(
            name, "pending", False, NOT_NOW if one.error else "it is being unblocked", since=one.failing_since
        )
        for name, one in sorted(left.items())
    ]
    return found


def was_asked(mapping: RuleMapping) -> bool:
    """Whether a device may have this rule: it was asked for it at least once."""
    return mapping.attempt > 0 or mapping.device_rule_id is not None or mapping.status == "active"


def _status(name: str, why: Why, rules: Sequence[Wanted], there: Mapping[str, RuleMapping]) -> AppStatus:
    def told(state: State, reason: str = "", since: datetime | None = None) -> AppStatus:
        unmet = tuple(dict.fromkeys(sentence for one in rules for sentence in one.unmet))
        return AppStatus(name, state, True, reason, why.policy_ids, why.override_id, since, unmet)

    if not rules:
        return told("no session")
    for one in rules:
        if one.rule is None:
            return told("failed", one.why_not)
    known = [there.get(one.rule_id) for one in rules]
    for mapping in known:
        if mapping is not None and mapping.status == "failed":
            return told("failed", NOT_TAKEN, mapping.failing_since)
    for one, mapping in zip(rules, known, strict=True):
        is_there = mapping is not None and mapping.status == "active"
        if mapping is None or not is_there or one.rule is None or mapping.digest != one.rule.digest:
            failing = mapping is not None and mapping.error is not None
            since = mapping.failing_since if mapping is not None else None
            return told("pending", NOT_NOW if failing else "on its way", since)
    # Not blocked until the last of them was; what an older release confirmed does not say when.
    confirmed = [one.confirmed_at for one in known if one is not None and one.confirmed_at is not None]
    return told("enforced", since=max(confirmed) if len(confirmed) == len(known) else None)
