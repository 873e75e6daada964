"""Steps that change a family's address or a child's number, or release a number (PC-D23, PC-D24).

Each function does what is left of a task and may be repeated at any point; it returns what it waits for if it could not
do all. Must hold: a record is copied before the original is deleted, so a crash leaves both and never none; counts,
policies and exceptions move in one transaction, so they exist once, and beside those already made under the new id.
Elsewhere: the caller, and how often it runs (tasks.py).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tablewright.design import Write
from tablewright.mapping import AlreadyExists, Missing, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental.family.rounds import purge_of
from tablewright.systems.parental.model import CHILD, Action, AuditEntry, FamilyTask, Metric, Override, Policy
from tablewright.systems.parental.policy import policies_by_app
from tablewright.systems.parental.policy.overrides import next_id
from tablewright.systems.parental.policy.policies import next_policy_id
from tablewright.systems.parental.repository import SYSTEM, Repository

# What is done for a child so that nothing of it stays on devices.
Reconcile: TypeAlias = Callable[[str], object]
RULES_LEFT = "firewall rules to be removed"
RENUMBERED = "policy renumbered"


class Moving:
    """What follows a new address or number."""

    def __init__(self, repository: Repository, reconcile: Reconcile) -> None:
        self._repository, self._reconcile = repository, reconcile

    # --- e-mail (PC-D23) ---

    def email(self, task: FamilyTask) -> str | None:
        db, new = self._repository.db, task.target
        children = self._repository.children_of(task.family_id, released=True)
        left = 0
        for child in children:
            if child.parent_email == task.source:
                db.write(d.children.change(child, child.model_copy(update={"parent_email": new})))
                left += 1
            for policy in self._repository.policies_of(child.child, deleted=True):
                if policy.parent_email == task.source:
                    db.write(d.policies.change(policy, policy.model_copy(update={"parent_email": new})))
                    left += 1
        keys = {child.child for child in children}
        for metric in list(db.all(d.metrics_of_parent(parent_email=task.source))):
            # The same address may have another family too.
            if metric.child in keys:
                move = d.metrics.update(metric.child, metric.date, metric.app_name)
                db.write(move.at(lambda m: m.parent_email).set(new))
                left += 1
        return "writes with the old address" if left else None

    # --- number (PC-D24) ---

    def release(self, task: FamilyTask) -> str | None:
        return off_devices(self._repository, self._reconcile, task.child)

    def number(self, task: FamilyTask) -> str | None:
        """Everything of a child under its new name; the old one is left with nothing."""
        db, old, new = self._repository.db, task.source, task.target
        for policy in self._repository.policies_of(old, deleted=True):
            self._move_policy(policy, task)
        purges = list(db.all(d.purges_of_child(child=old)))
        self._batch(d.purges.discard(old, purge.policy_id) for purge in purges)
        gone = list(db.all(d.uses_of_child(child=old)))
        self._batch(d.uses.discard(old, use.app) for use in gone)
        for override in list(db.all(d.overrides_of_child(child=old))):
            self._move_override(override, new)
        audit = list(db.all(d.audit.of(task.family_id)))
        renamed = _renamed(audit, task)
        actions = list(db.all(d.actions_of_child(child=old)))
        self._batch(d.actions.put(_moved_action(action, new, renamed)) for action in actions)
        self._batch(d.actions.discard(old, action.occurred_at, action.action_id) for action in actions)
        for metric in list(db.all(d.metrics_of_child(child=old))):
            self._move(metric, new)
        for entry in audit:
            whose, mark, about = entry.subject.partition("/")
            if whose == old:
                subject = f"{new}{mark}{renamed.get(about, about)}"
                db.write(d.audit.entries.put(entry.model_copy(update={"subject": subject})))
        for message in list(db.all(d.outbox.of(task.family_id))):
            if old in message.children:
                keys = [new if one == old else one for one in message.children]
                self._repository.try_write(
                    d.outbox.messages.change(message, message.model_copy(update={"children": keys}))
                )
        waits_for = off_devices(self._repository, self._reconcile, old)
        former = list(db.all(d.former_rules_of_child(child=old)))
        self._batch(d.former_rules.put(one.model_copy(update={"child": new})) for one in former)
        stays = list(db.all(d.stays_of_child(child=old)))
        self._batch(d.stays.put(one.model_copy(update={"child": new})) for one in stays)
        self._batch(d.stays.discard(one.private_ip, one.until, old, one.session_id) for one in stays)
        if waits_for is None:
            for session in list(db.all(d.sessions_of_child(child=old))):
                self._repository.try_write(d.sessions.delete(session))
        return waits_for

    def _batch(self, writes: Iterable[Write[Any]]) -> None:
        in_batches(self._repository, writes)

    def _move_policy(self, policy: Policy | None, task: FamilyTask) -> None:
        """A policy under the new name of its child; under another number, which is recorded, if its own is
        taken."""
        db, child = self._repository.db, task.target
        policy_id = None if policy is None else policy.policy_id
        while policy is not None:
            policies_by_app.note(self._repository, child, policy.blocked_apps)
            moved = policy.model_copy(update={"child": child, "policy_id": policy_id})
            writes: list[Write[Any]] = [d.policies.create(moved), d.policies.delete(policy)]
            if moved.status == "deleted":
                writes.append(d.purges.put(purge_of(moved)))
            if moved.policy_id != policy.policy_id:
                subject = f"{child}/{moved.policy_id}"
                writes.append(
                    self._repository.audit(task.family_id, subject, RENUMBERED, SYSTEM, policy, moved)
                )
            try:
                db.write(*writes)
                return
            except AlreadyExists:
                policy_id = next_policy_id(self._repository.policies_of(child, deleted=True), policy)
            except (Missing, Stale):
                # It was changed or moved at the same time: read it again.
                policy = db.one(d.policy_by_id(child=policy.child, policy_id=policy.policy_id))

    def _move_override(self, override: Override, child: str) -> None:
        """An exception under the new id of its child; under another number if its own is taken."""
        db, moved = self._repository.db, override.model_copy(update={"child": child})
        while True:
            try:
                db.write(d.overrides.create(moved), d.overrides.delete(override))
                return
            except (Missing, Stale):
                return  # another process moved it
            except AlreadyExists:
                there = db.all(d.overrides_of_child(child=child))
                moved = moved.model_copy(update={"override_id": next_id(there, self._repository.now())})

    def _move(self, metric: Metric, child: str) -> None:
        """A day's counts to another name; added to what was counted there already, once."""
        db = self._repository.db
        start = metric.model_copy(update={"child": child, "blocked_count": 0, "hourly": {}})
        db.get_or_create(d.metrics.create(start))
        if metric.timestamp_first is not None:
            first = d.metrics.update(child, metric.date, metric.app_name)
            db.write(first.at(lambda m: m.timestamp_first).lowest(metric.timestamp_first))
        if metric.timestamp_last is not None:
            last = d.metrics.update(child, metric.date, metric.app_name)
            db.write(last.at(lambda m: m.timestamp_last).highest(metric.timestamp_last))
        add = d.metrics.update(child, metric.date, metric.app_name)
        add = add.at(lambda m: m.blocked_count).add(metric.blocked_count)
        for hour, count in metric.hourly.items():
            add = add.at(lambda m, hour=hour: m.hourly[hour]).add(count)  # type: ignore[misc]  # a bound loop variable
        # Together: counts that moved are not here any more, so they cannot move again.
        db.write(add, d.metrics.delete(metric))


def _renamed(audit: Iterable[AuditEntry], task: FamilyTask) -> dict[str, str]:
    """The policies that have another number since they moved, as the record of it has them."""
    return {
        str(entry.before["policyId"]): str(entry.after["policyId"])
        for entry in audit
        if entry.action == RENUMBERED
        and (entry.before.get(CHILD), entry.after.get(CHILD)) == (task.source, task.target)
    }


def _moved_action(action: Action, child: str, renamed: Mapping[str, str]) -> Action:
    policy_ids = [renamed.get(one, one) for one in action.policy_ids]
    return action.model_copy(update={"child": child, "policy_ids": policy_ids})


def off_devices(repository: Repository, reconcile: Reconcile, child: str) -> str | None:
    """Nothing of a child on any device; what it waits for if that could not be done."""
    reconcile(child)
    repository.db.write(d.wakes.discard(child))
    left = list(repository.db.all(d.rules_of_child(child=child)))
    gone = [rule for rule in left if rule.status == "removed"]
    in_batches(repository, (d.rules.discard(rule.child, rule.rule_id) for rule in gone))
    return RULES_LEFT if len(left) > len(gone) else None


def in_batches(repository: Repository, writes: Iterable[Write[Any]]) -> None:
    """Puts and discards in any order; what the store had no time for is left to the next run."""
    left = repository.db.batch(list(writes))
    if left:
        raise TimeoutError(f"{len(left)} writes were not taken; the next run takes them up")
