"""Long work that is finished whatever happens: a new e-mail address, a new number, a number given up, a child erased.

An errand is written with the change it follows from. Each run of it does what is left to do, in steps that may be
repeated; a crash, a device that is away or another process in the middle of it cost a repetition, nothing else. Must
hold: an errand goes only after a run that found nothing left, some time after it began, because others may have written
by what they knew before (an ingester keeps children in memory for a while).
Elsewhere: what starts them (families.py, privacy.py), when they run (jobs.py).
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from tablewright.design import Write
from tablewright.mapping import Missing, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental import rules
from tablewright.systems.parental.model import AuditEntry, Child, Errand, ErrandKind, Message, Metric
from tablewright.systems.parental.repository import Actor, Repository

log = logging.getLogger("tablewright.parental")

SETTLES = timedelta(minutes=10)
_RULES_LEFT = "rules on a device"
# What is done for a child so that nothing of it stays on devices.
Reconcile = Callable[[str], object]


def new(
    repository: Repository,
    kind: ErrandKind,
    family_id: str,
    actor: Actor,
    *,
    child: str = "",
    source: str = "",
    target: str = "",
) -> Errand:
    """An errand, to be written with what it follows from."""
    now = repository.now()
    return Errand(
        errand_id=repository.new_id("errand"),
        kind=kind,
        family_id=family_id,
        child=child,
        source=source,
        target=target,
        actor=actor.name,
        started_at=now,
        settles_at=now + SETTLES,
    )


class Errands:
    """Carries errands on."""

    def __init__(self, repository: Repository, reconcile: Reconcile) -> None:
        self._repository, self._reconcile = repository, reconcile

    def run(self) -> int:
        """A step of every errand; how many were finished."""
        return sum([self.step(errand) for errand in list(self._repository.db.all(d.open_errands()))])

    def open(self, family_id: str) -> list[Errand]:
        """What is not finished for a family."""
        found = self._repository.db.all(d.open_errands())
        return [errand for errand in found if errand.family_id == family_id]

    def step(self, errand: Errand) -> bool:
        """Do what is left of one; whether it is finished. A failure is told to the log and tried again later."""
        try:
            waits_for = self._WORK[errand.kind](self, errand)
        except Exception as error:
            # One errand that fails must not keep the others from being done.
            log.warning("errand failed", extra={"kind": errand.kind, "mistake": type(error).__name__})
            waits_for = type(error).__name__
        if waits_for is None and self._repository.now() >= errand.settles_at:
            self._finish(errand)
            return True
        after = errand.model_copy(update={"tried": errand.tried + 1, "waits_for": waits_for})
        try:
            self._repository.db.write(d.errands.change(errand, after))
        except (Stale, Missing):
            log.debug("errand is another's")  # another process was at it: it has done the same
        return False

    def _finish(self, errand: Errand) -> None:
        writes: list[Write[Any]] = [d.errands.discard(errand.errand_id)]
        if errand.kind in ("erase", "number"):
            # Only now: while the record is there, nobody else can be given the same name.
            child = self._repository.db.one(d.child_by_key(child=errand.child))
            if child is not None:
                writes.append(d.children.delete(child))
        self._repository.db.write(*writes)

    # --- e-mail (PC-D23) ---

    def _email(self, errand: Errand) -> str | None:
        db, new = self._repository.db, errand.target
        children = self._repository.children_of(errand.family_id, released=True)
        left = 0
        for child in children:
            if child.parent_email == errand.source:
                db.write(d.children.change(child, child.model_copy(update={"parent_email": new})))
                left += 1
            for policy in self._repository.policies_of(child.child, deleted=True):
                if policy.parent_email == errand.source:
                    db.write(d.policies.change(policy, policy.model_copy(update={"parent_email": new})))
                    left += 1
        keys = {child.child for child in children}
        for metric in list(db.all(d.metrics_of_parent(parent_email=errand.source))):
            # The same address may have another family too.
            if metric.child in keys:
                move = d.metrics.update(metric.child, metric.date, metric.app_name)
                db.write(move.at(lambda m: m.parent_email).set(new))
                left += 1
        return "others who may still write the old address" if left else None

    # --- number (PC-D24) ---

    def _release(self, errand: Errand) -> str | None:
        return self._off_devices(errand.child)

    def _off_devices(self, child: str) -> str | None:
        """Nothing of a child on any device; what it waits for if that could not be done."""
        self._reconcile(child)
        self._repository.db.write(d.wakes.discard(child))
        left = list(self._repository.db.all(d.rules_of_child(child=child)))
        gone = [rule for rule in left if rule.status == "removed"]
        self._discard(d.rules.discard(rule.child, rule.rule_id) for rule in gone)
        return _RULES_LEFT if len(left) > len(gone) else None

    def _number(self, errand: Errand) -> str | None:
        """Everything of a child under its new name; the old one is left with nothing."""
        db, old, new = self._repository.db, errand.source, errand.target
        for policy in self._repository.policies_of(old, deleted=True):
            # First there, then not here: a crash in between leaves both, and only the new one counts.
            db.get_or_create(d.policies.create(policy.model_copy(update={"child": new})))
            db.write(d.policies.discard(old, policy.policy_id))
        for override in list(db.all(d.overrides_of_child(child=old))):
            db.write(
                d.overrides.put(override.model_copy(update={"child": new})),
                d.overrides.discard(old, override.override_id),
            )
        actions = list(db.all(d.actions_of_child(child=old)))
        self._batch(d.actions.put(action.model_copy(update={"child": new})) for action in actions)
        self._discard(d.actions.discard(old, action.occurred_at, action.action_id) for action in actions)
        for metric in list(db.all(d.metrics_of_child(child=old))):
            self._move(metric, new)
        for entry in list(db.all(d.audit_of_family(family_id=errand.family_id))):
            if entry.subject.partition("/")[0] == old:
                subject = f"{new}{entry.subject[len(old) :]}"
                db.write(d.audit.put(entry.model_copy(update={"subject": subject})))
        waits_for = self._off_devices(old)
        if waits_for is None:
            sessions = list(db.all(d.sessions_of_child(child=old)))
            self._discard(d.sessions.discard(old, session.session_id) for session in sessions)
        return waits_for

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

    # --- erasing (PC-X12) ---

    def _erase(self, errand: Errand) -> str | None:
        """Everything of a child but its rules first: a device that is away must not keep the rest from going."""
        db, key = self._repository.db, errand.child
        child = db.one(d.child_by_key(child=key))
        self._discard(
            d.policies.discard(key, one.policy_id) for one in db.all(d.policies_of_child(child=key))
        )
        self._discard(
            d.overrides.discard(key, one.override_id) for one in db.all(d.overrides_of_child(child=key))
        )
        self._discard(
            d.actions.discard(key, one.occurred_at, one.action_id)
            for one in db.all(d.actions_of_child(child=key))
        )
        self._discard(
            d.metrics.discard(key, one.date, one.app_name) for one in db.all(d.metrics_of_child(child=key))
        )
        waits_for = self._off_devices(key)
        if waits_for is None:
            self._discard(
                d.sessions.discard(key, one.session_id) for one in db.all(d.sessions_of_child(child=key))
            )
        # The attempts to clean the devices were written down as well.
        self._discard(
            d.actions.discard(key, one.occurred_at, one.action_id)
            for one in db.all(d.actions_of_child(child=key))
        )
        words = (key, errand.source, errand.target)
        self._forget(errand.family_id, [word for word in words if word])
        if child is not None:
            self._forget_number(child)
        return waits_for

    def _forget(self, family_id: str, words: list[str]) -> None:
        """Take somebody's number and name out of what a family's records and messages say."""
        db = self._repository.db
        for entry in list(db.all(d.audit_of_family(family_id=family_id))):
            clean = scrubbed(entry, words)
            if clean != entry:
                db.write(d.audit.put(clean))
        for message in list(db.all(d.messages_of_family(family_id=family_id))):
            if mentions(message, words):
                db.write(d.messages.discard(message.message_id))

    def _forget_number(self, child: Child) -> None:
        db = self._repository.db
        db.write(d.challenges.discard(child.family_id, child.phone))
        if self._repository.child_of_phone(child.phone) is not None:
            return  # the number is another child's by now, and so are events that nobody knew
        for kept in list(db.all(d.quarantined())):
            events = [event for event in kept.events if child.phone not in event.values()]
            if not events:
                db.write(d.quarantine.discard(kept.quarantine_id))
            elif len(events) < len(kept.events):
                db.write(d.quarantine.put(kept.model_copy(update={"events": events})))

    # --- parts ---

    def _discard(self, writes: Iterable[Write[Any]]) -> None:
        self._batch(writes)

    def _batch(self, writes: Iterable[Write[Any]]) -> None:
        """Puts and discards in any order; what the store had no time for is left to the next run."""
        left = self._repository.db.batch(list(writes))
        if left:
            raise TimeoutError(f"{len(left)} writes were not taken; the next run takes them up")

    _WORK: Mapping[ErrandKind, Callable[["Errands", Errand], str | None]] = {
        "email": _email,
        "number": _number,
        "release": _release,
        "erase": _erase,
    }


def scrubbed(entry: AuditEntry, words: list[str]) -> AuditEntry:
    """What happened and when, without the child: its number, its name, what was written about it."""
    subject = entry.subject.partition("/")[0]
    is_theirs = subject in words
    values = [*entry.before.values(), *entry.after.values()]
    if not is_theirs and not _names(words, [entry.subject, entry.reason or "", *values]):
        return entry
    return entry.model_copy(
        update={
            "subject": rules.ERASED,
            "before": {},
            "after": {},
            "reason": rules.ERASED if entry.reason else None,
        }
    )


def mentions(message: Message, words: list[str]) -> bool:
    return _names(words, [message.recipient, message.subject, message.body])


def _names(words: list[str], texts: list[str]) -> bool:
    """Whether a text has one of the words, as a word: Al is not in Sally."""
    wanted = "|".join(re.escape(word) for word in words)
    return any(re.search(rf"(?<!\w)(?:{wanted})(?!\w)", text, re.IGNORECASE) for text in texts)
