"""One rule on one device: claimed in the table, asked of the device, and how it went noted (PC-19, PC-44, PC-X8).

Must hold: nothing is asked of a device that was not claimed before, so nothing unknown is on a device; a
rule leaves the table after it has left the device; each attempt has one entry in the history, and an earlier
failure is closed once it went well. What a process died over is taken up when its claim has run out.
Elsewhere: which rules (plan.py), the order of it all (reconciler.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Write, absent
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import plan
from tablewright.systems.parental.enforcement.plan import NEVER, Ensure, Remove
from tablewright.systems.parental.firewall import compiler
from tablewright.systems.parental.firewall.devices import Devices, NoSuchDevice, NotAsked
from tablewright.systems.parental.firewall.driver import (
    DeviceRule,
    FirewallDriver,
    FirewallMistake,
    RateLimited,
    Rejected,
    Rule,
)
from tablewright.systems.parental.model import Action, ActionKind, ActionStatus, FormerRule, RuleMapping
from tablewright.systems.parental.repository import Repository

# How long a process may hold a rule: longer than a device takes to answer, and a deployment to be done.
CLAIM, DEPLOY_CLAIM = timedelta(minutes=2), timedelta(minutes=20)


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something that was asked of a device, and what it answered."""

    action: ActionKind
    claimed: RuleMapping
    rule: Rule | None
    began: datetime
    ended: datetime
    answer: DeviceRule | None = None
    mistake: FirewallMistake | None = None


class Attempts:
    """Makes attempts. Any number of threads and processes may call."""

    def __init__(self, repository: Repository, devices: Devices) -> None:
        self._repository, self._devices = repository, devices

    def do(self, steps: Sequence[Ensure | Remove], waiting: list[Attempt]) -> list[Attempt]:
        """The attempts that were made; steps that another process has claimed are left to it."""
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
                self.finish(attempt)
        return made

    def _waits_for_deployment(self, attempt: Attempt) -> bool:
        is_asked = attempt.rule is not None or attempt.claimed.attempt > 0
        is_known = attempt.answer is not None and is_in_force(attempt.answer)
        return is_asked and not is_known and self._devices.needs_deploy(attempt.claimed.ftd_device_id)

    def _held_longer(self, attempt: Attempt) -> Attempt:
        """A deployment may take its time; until then no other process needs the rule."""
        after = attempt.claimed.moved(next_try_at=attempt.ended + DEPLOY_CLAIM)
        write = d.rules.change(attempt.claimed, after)
        if not self._repository.try_write(write) or write.item is None:
            return attempt
        return replace(attempt, claimed=write.item)

    def deployed(self, attempts: Sequence[Attempt]) -> list[Attempt]:
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
            finished.append(replace(attempt, ended=self._repository.now(), mistake=mistakes[device_id]))
        return finished

    def _claim(self, step: Ensure | Remove) -> RuleMapping | None:
        """Claim a rule for a while; None if another process was faster."""
        write = self._claim_write(step)
        return write.item if self._repository.try_write(write, *_may_be_made(step)) else None

    def _claim_write(self, step: Ensure | Remove) -> Write[RuleMapping]:
        now, before = self._repository.now(), step.mapping
        until = now + CLAIM
        if isinstance(step, Remove):
            attempt = step.mapping.attempt if step.mapping.status == "removing" else 0
            after = step.mapping.moved(
                status="removing",
                # Where the device was never asked for the rule it is not asked to remove it (see _ask).
                attempt=attempt + 1 if plan.was_asked(step.mapping) else 0,
                next_try_at=until,
                error=None,
                last_verified=NEVER,
            )
            return rule_write(step.mapping, after)
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
            # Counting starts again with another wish; but what was asked for once may be on the device.
            attempt = before.attempt if is_again else min(before.attempt, 1)
            return rule_write(before, before.moved(**wished, attempt=attempt + 1))
        device = self._repository.db.one(d.devices.get(session.device_id))
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

    def _ask(self, step: Ensure | Remove, claimed: RuleMapping) -> Attempt:
        """Ask the device. What it or the way to it did wrong is part of the answer."""
        began = self._repository.now()
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
        return Attempt(step.action, claimed, rule, began, self._repository.now(), answer, mistake)

    def finish(self, attempt: Attempt) -> None:
        """Note how it went."""
        claimed = attempt.claimed
        if attempt.mistake is not None:
            self._note_failure(attempt, attempt.mistake)
            return
        resolve(self._repository, claimed)
        action = d.actions.create(action_of(attempt, self._action_id(attempt), "success"))
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
                confirmed_at=attempt.ended,
                last_verified=attempt.ended,
            )
            change = rule_write(claimed, after)
        is_silent = attempt.rule is None and claimed.attempt == 0
        writes: list[Write[Any]] = [change] if is_silent else [change, action]
        if attempt.rule is None and not is_silent:
            writes.append(d.former_rules.put(former_of(claimed, attempt.ended)))
        if not self._repository.try_write(*writes) and not is_silent:
            # The claim ran out and another has the rule now; what was done was done all the same.
            self._repository.try_write(action)

    def _note_failure(self, attempt: Attempt, mistake: FirewallMistake) -> None:
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
        writes: list[Write[Any]] = [rule_write(claimed, after)]
        status: ActionStatus = "failed" if was_asked else "pending"
        # If no device was asked, one entry is enough to say that something waits.
        if was_asked or claimed.failing_since is None:
            writes.append(d.actions.create(action_of(attempt, self._action_id(attempt), status)))
        if not self._repository.try_write(*writes) and len(writes) > 1:
            self._repository.try_write(writes[1])

    def _next_try(self, mistake: FirewallMistake, attempt: int, now: datetime) -> datetime:
        jitter = self._repository.world.jitter()
        if isinstance(mistake, NotAsked):
            return mistake.until + plan.FIRST_PAUSE * jitter
        pause = plan.back_off(attempt, jitter)
        if isinstance(mistake, RateLimited):
            pause = max(pause, timedelta(seconds=mistake.retry_after))
        return now + pause

    def _action_id(self, attempt: Attempt) -> str:
        return self._repository.new_timed_id(attempt.ended)


def rule_write(before: RuleMapping, after: RuleMapping, by: str = "system") -> Write[RuleMapping]:
    """A change of a rule, of its status too if the machine has the move."""
    is_move = before.status != after.status
    return d.rules.move(before, after, by=by) if is_move else d.rules.change(before, after)


def _may_be_made(step: Ensure | Remove) -> list[Write[Any]]:
    """What a rule rests on, in the transaction of its claim: the address is still the child's, or the rule would block
    its holder by now (PC-D22), and the firewall is not being removed."""
    if isinstance(step, Remove):
        return []
    session = step.wanted.session
    holds: list[Write[Any]] = [
        d.sessions.check(session.child, session.session_id).when(
            lambda one: (one.live_private_ip == session.private_ip) & (one.device_id == session.device_id)
        )
    ]
    if step.mapping is None:
        holds.append(d.devices.check(session.device_id).when(lambda one: absent(one.leaving_at)))
    return holds


def resolve(repository: Repository, mapping: RuleMapping) -> None:
    """Close the earlier failures of a rule (PC-S6)."""
    if mapping.failing_since is not None:
        settle(repository, mapping.child, mapping.rule_id, mapping.failing_since)


def settle(repository: Repository, child: str, rule_id: str, since: datetime) -> None:
    """Take what failed of a rule since a moment out of the list of open matters."""
    for action in list(repository.db.all(d.actions_of_child(child=child, since=since))):
        if action.rule_id == rule_id and action.status_key is not None:
            key = (action.child, action.occurred_at, action.action_id)
            repository.try_write(d.actions.update(*key).at(lambda one: one.status_key).remove())


def former_of(mapping: RuleMapping, at: datetime) -> FormerRule:
    """What stays known of a rule that left its device, for events that are told of late (blocked/ingest.py)."""
    return FormerRule(
        child=mapping.child,
        rule_name=mapping.rule_name,
        privateIP=mapping.private_ip,
        app_name=mapping.app_name,
        ended_at=at,
    )


def is_in_force(rule: DeviceRule) -> bool:
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


def action_of(attempt: Attempt, action_id: str, status: ActionStatus) -> Action:
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
