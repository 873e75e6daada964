"""What follows a change of a policy, a family, a child, a session, a rule or the registry (PC-40).

A follower stores that a child is due for a check, so that its change is not lost, and goes on.
Elsewhere: when the followers run (jobs.py), who takes up what is due (due.py).
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tablewright.mapping import Consumer
from tablewright.mapping.consumer.records import Change
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.dispatch import Parts
from tablewright.systems.parental.enforcement.gateway_names import tell_names
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.enforcement.queue import enqueue
from tablewright.systems.parental.model import (
    EVERYTHING,
    App,
    Cause,
    Child,
    Family,
    Override,
    Policy,
    RuleMapping,
    Session,
)

log = logging.getLogger("tablewright.parental")


def consumers(parental: Parts) -> tuple[Consumer, ...]:
    """The followers of the tables: policies, families, children, sessions, rules and the registry (PC-40).

    A follower that was stopped for a day or more has missed changes. It continues all the same: its work depends on
    the current state only, and `sweep` and `verify` (regular_checks.py) cover everything.
    """
    db = parental.repository.db

    def consumer(entities: list[Any], table: str, handle: Callable[[Parts, Change[Any]], object]) -> Consumer:
        def follow(change: Change[Any]) -> None:
            handle(parental, change)

        return Consumer(db, entities, table, d.FOLLOWER, follow, skip_to_horizon=True)

    return (
        consumer([d.policies], "ParentalPolicies", on_policy),
        consumer([d.families, d.overrides], "ParentalFamilies", on_family),
        consumer([d.children], "ChildProfiles", on_child),
        consumer([d.sessions], "SubscriberSessions", on_session),
        consumer([d.rules], "FTDRuleMapping", on_rule),
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
        # An expired one has no effect when it is deleted: what is blocked changed when it ended.
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
    """A session that started, moved or ended; a heartbeat changes nothing."""

    def decides(session: Session | None) -> object:
        return session and (session.live_private_ip, session.device_id, session.is_clean)

    known = change.after or change.before
    if known is None or decides(change.before) == decides(change.after):
        return False
    _follow(parental, "session", known.child, change, known.last_seen_at)
    return True


def on_rule(parental: Parts, change: Change[RuleMapping]) -> bool:
    """A rule that is gone from the table. Swept away by its time, it is an order to clean the device (PC-S11); in any
    case the holder of its address now may be clean."""
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
    for child in children:
        _follow(parental, "app", child, change, change.at)
    return True


def _follow(parental: Parts, cause: Cause, child: str, change: Change[Any], at: datetime | None) -> None:
    """What a change of something asks for; `at` is the change's own time, finer than the stream's."""
    since = max(change.at, at or change.at) if change.at is not None else None
    enqueue(parental.repository, child, cause, since)
    parental.queues.news.set()
