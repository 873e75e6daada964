"""Removal of a firewall: the plan, and the steps that delete its records.

A device that is gone for good would be waited for by everything that has rules there, the erasure of a child too. It is
marked first, by its version, and from then on nothing new comes to it; then its rules go, each with an entry in the
history that says it was given up; the device itself goes last. Must hold: after a crash another process continues
(`step`, called by jobs.py); nothing is asked of the device any more, so what it has it may keep, and the plan says how
much that is. Elsewhere: sessions behind it that had no rules count for nothing any more (plan.is_behind), and go
when their family is next walked by (regular_checks.sweep).
"""

import logging
from dataclasses import dataclass
from typing import Any

from tablewright.design import Write
from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import plan as plans
from tablewright.systems.parental.enforcement.address_reuse import alert_id
from tablewright.systems.parental.enforcement.apply import resolve, settle
from tablewright.systems.parental.enforcement.queue import enqueue
from tablewright.systems.parental.firewall.devices import Devices
from tablewright.systems.parental.model import Action, Device, RuleMapping, Session
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

GIVEN_UP = "given up: the firewall was removed, and may still have this rule"


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """What goes with a device. `left`: rules it may still have, and will keep; `waiting`: rules it was never asked for;
    `children`: whose rules these are; `sessions`: how many sessions they were made for."""

    device: Device
    left: int
    waiting: int
    children: int
    sessions: int


def plan(repository: Repository, devices: Devices, device_id: str) -> RemovalPlan:
    """What removing a device would give up."""
    device = devices.get(device_id)
    rules = _rules(repository, device_id)
    left = sum(plans.was_asked(rule) for rule in rules)
    sessions = [one for one in _sessions(repository, rules) if one.live_private_ip is not None]
    return RemovalPlan(device, left, len(rules) - left, len({rule.child for rule in rules}), len(sessions))


def remove(
    repository: Repository, devices: Devices, device_id: str, actor: Actor, expected: int | None = None
) -> int:
    """Remove a device that is switched off; how many rules it may still have. DEVICE_IN_USE if it is on."""
    device = devices.leave(device_id, expected)
    log.warning("firewall removed", extra={"device": device_id, "by": actor.name})
    return step(repository, devices, device)


def step(repository: Repository, devices: Devices, device: Device) -> int:
    """What is left to do for a device that is leaving; how many rules were given up that it may still have."""
    given_up = 0
    rules = _rules(repository, device.device_id)
    for session in _sessions(repository, rules):
        forget_session(repository, session)
    for rule in rules:
        given_up += _give_up(repository, rule)
    # A rule was claimed at the same time: the next step finds it.
    if not _rules(repository, device.device_id):
        devices.forget(device)
    for child in {rule.child: None for rule in rules}:
        enqueue(repository, child)
    return given_up


def forget_session(repository: Repository, session: Session) -> None:
    """A session behind a device that is no more: the network tells where the child is with its next start."""
    if session.unclean_since is not None:
        settle(repository, session.child, alert_id(session), session.unclean_since)
    repository.try_write(d.sessions.delete(session))


def forget_sessions_nowhere(repository: Repository, child: str) -> None:
    """The sessions of a child behind removed devices. One of which only the end is known stays."""
    for session in list(repository.db.all(d.sessions_of_child(child=child))):
        if not session.private_ip:
            continue
        device = repository.db.one(d.devices.get(session.device_id), consistent=True)
        if device is None or device.added_at != session.device_since:
            forget_session(repository, session)


def _rules(repository: Repository, device_id: str) -> list[RuleMapping]:
    return list(repository.db.all(d.rules_of_device(device_id=device_id)))


def _sessions(repository: Repository, rules: list[RuleMapping]) -> list[Session]:
    """The sessions behind the device that rules were made for."""
    places = {(rule.child, rule.session_id): rule.ftd_device_id for rule in rules}
    found = repository.db.many([d.sessions.get(*key) for key in places], consistent=True)
    return [one for one in found if one is not None and one.device_id == places[one.child, one.session_id]]


def _give_up(repository: Repository, rule: RuleMapping) -> bool:
    """Delete a rule's record; True if the device may still have the rule. One that was changed since is left."""
    may_be_there = plans.was_asked(rule)
    writes: list[Write[Any]] = [d.rules.delete(rule)]
    if may_be_there:
        now = repository.now()
        response = {"deviceId": rule.ftd_device_id}
        entry = Action(
            child=rule.child,
            occurred_at=now,
            action_id=repository.new_timed_id(now),
            action="unblock",
            app_name=rule.app_name,
            privateIP=rule.private_ip,
            rule_id=rule.rule_id,
            policy_ids=rule.policy_ids,
            # It failed, but is not an open failure either: nothing can be done about it here.
            status="failed",
            error_message=GIVEN_UP,
            ftd_response={**response, "ruleId": rule.device_rule_id} if rule.device_rule_id else response,
            attempt=max(rule.attempt, 1),
        )
        writes.append(d.actions.create(entry))
    if not repository.try_write(*writes):
        return False
    resolve(repository, rule)
    return may_be_there
