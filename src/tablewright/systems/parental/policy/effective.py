"""What is blocked for a child at a moment, why, and when that changes next: pure functions of what parents wrote.

How it is decided, for each app and for everything (`*`):

1. Policies add up: an app is wanted blocked if any policy in force lists it (PC-41, PC-D35). In force: active, or
   paused until a time that has passed; and one of its windows holds on the clock of its zone, else the child's. A
   policy without windows is always in force. Drafts, deleted and paused policies do nothing.
2. A paused child is free of its policies until the time given; what an exception blocks stays blocked.
3. Exceptions beat policies and pauses while they run. Of several for one app, those for everything included, the one
   that began last has the last word: "block everything now" ends an older "allow YouTube", and "allow YouTube" opens
   a way out of an older "block everything". Begun in the same moment, the one for the app beats the one for
   everything, then allow beats block.
4. What a family always allows is taken out of the rules themselves (firewall/compiler.py).

Must hold: from `at` up to `next_change` nothing of the answer changes, and at `next_change` something does. Policies
are taken as they are now, also for moments past: what really happened is in the history.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tablewright.systems.parental.model import EVERYTHING, BlockedApp, Child, Override, Policy
from tablewright.systems.parental.policy.windows import Week, edges, is_inside, week, zone

# Windows come again each week and clocks change within the year: where edges show nothing for so long, only the end
# of an exception or of a pause can.
_STILL = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Why:
    """What blocks an app: the policies that list it, and the exception that says so, if there is one."""

    policy_ids: tuple[str, ...] = ()
    override_id: str | None = None


@dataclass(frozen=True, slots=True)
class Effective:
    """What holds at a moment. `blocked` has `*` when everything is; `allowed` are apps that would be blocked now,
    were it not for an exception or the pause: where everything is blocked, these still pass."""

    at: datetime
    blocked: Mapping[str, Why]
    allowed: tuple[str, ...]
    everything: bool
    next_change: datetime | None


class Span(NamedTuple):
    """An app is blocked from a moment up to another, for one and the same reason."""

    start: datetime
    end: datetime
    app: str
    why: Why


def effective(
    child: Child, policies: Sequence[Policy], overrides: Sequence[Override], at: datetime
) -> Effective:
    """What is blocked at a moment, and the moment (UTC, exact) at which that changes; None if it never does."""
    states = _states(child, policies, overrides, at)
    moment, state = next(states)
    later = next(states, None)
    return Effective(
        moment, state.blocked, state.allowed, EVERYTHING in state.blocked, None if later is None else later[0]
    )


def next_visible(
    child: Child, policies: Sequence[Policy], overrides: Sequence[Override], at: datetime
) -> Effective | None:
    """What holds when next another set of apps is blocked, for whatever reason: what a parent calls a change.

    None if it is always the same set, or if only reasons change for the next 400 days.
    """
    states = _states(child, policies, overrides, at)
    now = next(states)[1].blocked.keys()
    for moment, state in states:
        if state.blocked.keys() != now:
            return effective(child, policies, overrides, moment)
        if moment - at.astimezone(UTC) > _STILL:
            return None
    return None


def timeline(
    child: Child, policies: Sequence[Policy], overrides: Sequence[Override], start: datetime, end: datetime
) -> list[Span]:
    """What is blocked when between two moments, in order of beginning."""
    begun: dict[str, tuple[datetime, Why]] = {}
    spans: list[Span] = []
    until = end.astimezone(UTC)
    for moment, state in _states(child, policies, overrides, start):
        at = min(moment, until)
        for app, (since, why) in list(begun.items()):
            if at == until or state.blocked.get(app) != why:
                spans.append(Span(since, at, app, why))
                del begun[app]
        if at == until:
            break
        for app, why in state.blocked.items():
            begun.setdefault(app, (at, why))
    spans += [Span(since, until, app, why) for app, (since, why) in begun.items()]
    return sorted(spans, key=lambda span: (span.start, span.app))


def in_their_time(child: Child, policies: Sequence[Policy], at: datetime) -> frozenset[str]:
    """The policies whose time it is, also where a pause of the child or an exception lifts what they block; none once
    the child's number was given up."""
    if child.released_at is not None:
        return frozenset()
    return frozenset(plan.policy.policy_id for plan in _plans(child, policies) if plan.is_in_force(at))


def asked(name: str, why: Why, policies: Sequence[Policy]) -> list[BlockedApp]:
    """What policies say of an app that is blocked, for the compiler; never empty.

    An exception means the app as the family knows it: what any of its policies adds to it, in force or not.
    """
    known = [one for one in policies if one.status not in ("draft", "deleted")]
    meant = (
        known if why.override_id is not None else [one for one in known if one.policy_id in why.policy_ids]
    )
    entries = [entry for one in meant for entry in one.blocked_apps if entry.app_name == name]
    # An exception that blocks everything blocks every port of it, whatever a policy narrows it to.
    if not entries or (name == EVERYTHING and why.override_id is not None):
        return [BlockedApp(app_name=name)]
    return entries


# --- one moment ---


@dataclass(frozen=True, slots=True)
class _State:
    blocked: Mapping[str, Why]
    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A policy with its windows and zone read."""

    policy: Policy
    week: Week
    zone: ZoneInfo

    def is_live(self, at: datetime) -> bool:
        """Whether its windows count at all."""
        until = self.policy.paused_until
        return self.policy.status == "active" or (
            self.policy.status == "paused" and until is not None and until <= at
        )

    def is_in_force(self, at: datetime) -> bool:
        return self.is_live(at) and is_inside(self.week, self.zone, at)


def _plans(child: Child, policies: Sequence[Policy]) -> list[_Plan]:
    return [
        _Plan(policy, week(policy.time_windows), zone(policy.timezone or child.timezone))
        for policy in policies
        if policy.status == "active" or (policy.status == "paused" and policy.paused_until is not None)
    ]


def _state(child: Child, plans: Sequence[_Plan], overrides: Sequence[Override], at: datetime) -> _State:
    wanted = _wanted(plans, at)
    words = _last_words(overrides, at)
    is_paused = child.paused_until is not None and at < child.paused_until
    blocked: dict[str, Why] = {}
    freed: list[str] = []
    # Everything first: what an app's own exception frees depends on it.
    for name in (EVERYTHING, *sorted({*wanted, *words} - {EVERYTHING})):
        by_policies = wanted.get(name, ())
        standing = () if is_paused else by_policies
        word = _last_word(words, name)
        if word is None and standing:
            blocked[name] = Why(standing)
        elif word is not None and word.kind == "block" and (standing or word.app_name == name):
            blocked[name] = Why(standing, word.override_id)
        elif _is_freed(word, is_wanted=bool(by_policies), everything=EVERYTHING in blocked):
            freed.append(name)
    return _State(blocked, tuple(freed))


def _wanted(plans: Sequence[_Plan], at: datetime) -> Mapping[str, tuple[str, ...]]:
    """Each app that policies in force list, and which do."""
    found: dict[str, set[str]] = {}
    for plan in plans:
        if plan.is_in_force(at):
            for entry in plan.policy.blocked_apps:
                found.setdefault(entry.app_name, set()).add(plan.policy.policy_id)
    return {name: tuple(sorted(ids)) for name, ids in found.items()}


def _last_words(overrides: Sequence[Override], at: datetime) -> Mapping[str, Override]:
    """For each name that exceptions name, the one that counts."""
    running = (one for one in overrides if one.begins_at <= at < one.until)
    return {one.app_name: one for one in sorted(running, key=_rank)}


def _last_word(words: Mapping[str, Override], name: str) -> Override | None:
    found = [words[one] for one in {name, EVERYTHING} if one in words]
    return max(found, key=_rank, default=None)


def _rank(override: Override) -> tuple[datetime, bool, bool, str]:
    # The id comes last, so that the answer does not hang on the order in which they were read.
    return (
        override.begins_at, override.app_name != EVERYTHING, override.kind == "allow", override.override_id
    )  # fmt: skip


def _is_freed(word: Override | None, *, is_wanted: bool, everything: bool) -> bool:
    """Of an app that is not blocked by name: whether it would be, but for an exception or the pause."""
    if word is None or word.kind == "block":
        return is_wanted and not everything
    return is_wanted or everything


# --- one moment after the other ---


def _states(
    child: Child, policies: Sequence[Policy], overrides: Sequence[Override], start: datetime
) -> Iterator[tuple[datetime, _State]]:
    """What holds at `start`, then each later moment at which that changes, with what holds from then on."""
    if start.tzinfo is None:
        raise ValueError("a moment must have a time zone")
    begin = start.astimezone(UTC)
    plans = _plans(child, policies)
    live = [one for one in overrides if one.until > begin]
    last: _State | None = None
    # Between these moments no exception begins or ends and nothing is paused or resumed.
    for end in (*_moments(child, plans, live, begin), None):
        shown = begin
        for moment in _candidates(plans, begin):
            if (end is not None and moment >= end) or moment - shown > _STILL:
                break
            state = _state(child, plans, live, moment)
            if state != last:
                last, shown = state, moment
                yield moment, state
        if end is not None:
            begin = end


def _moments(
    child: Child, plans: Sequence[_Plan], overrides: Sequence[Override], after: datetime
) -> list[datetime]:
    found = {moment for one in overrides for moment in (one.begins_at, one.until)}
    pauses = (child.paused_until, *(plan.policy.paused_until for plan in plans))
    found.update(moment for moment in pauses if moment is not None)
    return sorted({moment.astimezone(UTC) for moment in found if moment > after})


def _candidates(plans: Sequence[_Plan], begin: datetime) -> Iterator[datetime]:
    """`begin`, and every later edge of a window that counts at `begin`, each moment once."""
    yield begin
    last = begin
    live = [plan for plan in plans if plan.is_live(begin)]
    for moment in heapq.merge(*(edges(plan.week, plan.zone, begin) for plan in live)):
        if moment != last:
            last = moment
            yield moment
