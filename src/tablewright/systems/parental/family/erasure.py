"""Erasure of a child, and of a whole family, in steps that may be repeated (PC-X12).

Must hold: the record of a child goes last, so that no other child can be given its id before; of a family the guardians
go first, so that they can no longer act for it, and its own record last. What a follower could not deal with and parked
goes as well: it holds whole items. Each erasure is on the list of the erased (erased_list.py) before it is finished.
Elsewhere: who calls, and how often (tasks.py); who may, and until when it can be undone (privacy.py, deletion.py).
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from tablewright.design import Write
from tablewright.kit.erased import ErasedList
from tablewright.kit.tables import Actor
from tablewright.mapping import forget_parked_saying
from tablewright.systems.parental import design as d
from tablewright.systems.parental import rules
from tablewright.systems.parental.family import erased_list
from tablewright.systems.parental.family.number_change import Reconcile, in_batches, off_devices
from tablewright.systems.parental.model import AuditEntry, Child, FamilyTask, Message
from tablewright.systems.parental.repository import Repository

CHILDREN_LEFT = "children that are being erased"
SETTLING = "writes that started before it"


class Erasing:
    """What is done of an erasure."""

    def __init__(self, repository: Repository, reconcile: Reconcile, erased: ErasedList) -> None:
        self._repository, self._reconcile, self._erased = repository, reconcile, erased

    def open(self, family_id: str) -> list[FamilyTask]:
        """What is not finished for a family."""
        return open_tasks(self._repository, family_id)

    def last(self, task: FamilyTask) -> list[Write[Any]]:
        """The writes that finish a task."""
        db = self._repository.db
        writes: list[Write[Any]] = []
        if task.kind in ("erase", "number"):
            # Only now: while the record exists, no other child can be given the same id.
            child = db.one(d.child_by_key(child=task.child))
            writes += [d.children.delete(child)] if child is not None else []
        if task.kind == "family":
            family = db.one(d.families.get(task.family_id), consistent=True)
            is_closed = family is not None and family.closed_at is not None
            if family is not None and is_closed:
                writes += [d.families.delete(family), d.reports.discard(family.family_id)]
            others = [one for one in self.open(task.family_id) if one.task_id != task.task_id]
            writes += [d.tasks.cancel(one.task_id) for one in others]
        return writes

    # --- a child ---

    def child(self, task: FamilyTask) -> str | None:
        """Everything of a child but its rules first: a device that is away must not keep the rest from going."""
        db, key = self._repository.db, task.child
        child = db.one(d.child_by_key(child=key))
        if child is not None:
            self._erased.note(erased_list.child_entry(child))
        self._discard(
            d.policies.discard(key, one.policy_id) for one in db.all(d.policies_of_child(child=key))
        )
        self._discard(d.uses.discard(key, one.app) for one in db.all(d.uses_of_child(child=key)))
        self._discard(d.purges.discard(key, one.policy_id) for one in db.all(d.purges_of_child(child=key)))
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
        waits_for = off_devices(self._repository, self._reconcile, key)
        if waits_for is None:
            for session in list(db.all(d.sessions_of_child(child=key))):
                self._repository.try_write(d.sessions.delete(session))
        self._discard(
            d.stays.discard(one.private_ip, one.until, one.child, one.session_id)
            for one in db.all(d.stays_of_child(child=key))
        )
        # The attempts to clean the devices were written down as well.
        self._discard(
            d.former_rules.discard(one.rule_name) for one in db.all(d.former_rules_of_child(child=key))
        )
        self._discard(
            d.actions.discard(key, one.occurred_at, one.action_id)
            for one in db.all(d.actions_of_child(child=key))
        )
        words = (key, task.source, task.target)
        self._forget(task.family_id, [word for word in words if word])
        if child is not None:
            self._forget_number(child)
        return waits_for

    def _forget(self, family_id: str, words: list[str]) -> None:
        """Remove a number and a name from a family's audit entries and messages."""
        db = self._repository.db
        for entry in list(db.all(d.audit.of(family_id))):
            clean = scrubbed(entry, words)
            if clean != entry:
                db.write(d.audit.entries.put(clean))
        for message in list(db.all(d.outbox.of(family_id))):
            if _mentions(message, words):
                db.write(d.outbox.discard(message))
        self._forget_parked(words)

    def _forget_parked(self, words: list[str]) -> None:
        for table in d.PARENTAL.tables.values():
            if table.stream is not None:
                forget_parked_saying(
                    self._repository.db, table.name, d.FOLLOWER, lambda text: _names(words, [text])
                )

    def _forget_number(self, child: Child) -> None:
        db = self._repository.db
        db.write(d.codes.challenges.discard(child.family_id, child.phone))
        # The number may be another child's by now, and so are the events from then on.
        holder = self._repository.child_of_phone(child.phone)
        since = None if holder is None else holder.created_at
        for kept in list(db.all(d.quarantined())):
            events = [
                event for event in kept.events if child.phone not in event.values() or _is_later(event, since)
            ]
            if not events:
                db.write(d.quarantine.discard(kept.quarantine_id))
            elif len(events) < len(kept.events):
                db.write(d.quarantine.put(kept.model_copy(update={"events": events})))

    # --- a family ---

    def family(self, task: FamilyTask) -> str | None:
        """Everything of a family, once it cannot be undone any more."""
        db, family_id = self._repository.db, task.family_id
        family = db.one(d.families.get(family_id), consistent=True)
        now = self._repository.now()
        if family is None or family.closes_at is None or family.closes_at > now:
            return None  # already deleted, or kept by its owner: nothing to do
        if family.closed_at is None:
            # From here on it cannot be kept: by its version, one of two concurrent calls is refused.
            db.write(d.families.change(family, family.model_copy(update={"closed_at": now})))
        self._erased.note(erased_list.family_entry(family_id))
        for guardian in self._repository.guardians_of(family_id):
            db.write(d.guardians.discard(family_id, guardian.subject))
        for invitation in list(db.all(d.invitations_of_family(family_id=family_id))):
            db.write(d.invitations.discard(invitation.invitation_id))
        children = self._repository.children_of(family_id, released=True)
        for child in children:
            begin(self._repository, child.child, Actor(task.actor, "parent"))
        if children:
            return CHILDREN_LEFT
        if now < task.settles_at:
            return SETTLING  # the family is told by messages that have to leave before they go
        self._discard(d.codes.discard(one) for one in db.all(d.proofs_of_family(family_id=family_id)))
        self._discard(d.outbox.discard(one) for one in db.all(d.outbox.of(family_id)))
        self._discard(
            d.audit.entries.discard(family_id, one.audit_at, one.audit_id)
            for one in db.all(d.audit.of(family_id))
        )
        self._forget_parked([family_id])
        return None

    # --- a guardian ---

    def guardian(self, task: FamilyTask) -> str | None:
        """A guardian who left does not come back with a restored copy."""
        self._erased.note(task.target)
        return None

    # --- after a restore ---

    def again(self) -> list[FamilyTask]:
        """Start every erasure of the list whose subject is in the tables; returns the tasks."""
        return erased_list.again(self._repository, self._erased.ids(), begin)

    def _discard(self, writes: Iterable[Write[Any]]) -> None:
        in_batches(self._repository, writes)


def _is_later(event: Mapping[str, str], since: datetime | None) -> bool:
    """Whether an event that was kept is from that moment on; one that does not say when is not."""
    try:
        return since is not None and datetime.fromisoformat(event.get("at", "")) >= since
    except (ValueError, TypeError):
        return False


def open_tasks(repository: Repository, family_id: str) -> list[FamilyTask]:
    found = d.tasks.open(repository.db)
    return [task for task in found if task.family_id == family_id]


def begin(repository: Repository, key: str, actor: Actor) -> FamilyTask:
    """The task that erases a child, started if there is none.

    The child first, so that nothing new can begin for it. Its name goes in the same moment.
    """
    before = repository.child(key)
    running = [one for one in open_tasks(repository, before.family_id) if key in (one.child, one.target)]
    if erasing := next((one for one in running if one.kind == "erase"), None):
        return erasing
    # What is on its way here from a number the child had goes as well, from where it is.
    former = [one.source for one in running if one.kind == "number" and one.target == key]
    rows = [before, *(one for old in former if (one := repository.db.one(d.child_by_key(child=old))))]
    task = repository.task(
        "erase", before.family_id, actor, child=key, source=before.phone,
        target=before.child_name,
    )  # fmt: skip
    more = [
        repository.task(
            "erase", before.family_id, actor, child=old,
            source=old.partition("~")[0], target=before.child_name,
        )
        for old in former
    ]  # fmt: skip
    repository.write(
        "CHILD",
        *(d.children.change(one, _erased(repository, one)) for one in rows),
        *(d.tasks.add(one) for one in (task, *more)),
        *(d.tasks.cancel(one.task_id) for one in running),
        repository.audit(before.family_id, rules.ERASED, "child erased", actor),
    )
    return task


def _erased(repository: Repository, child: Child) -> Child:
    """What is left of a child until nothing of it is on any device: by which name it is there."""
    now = repository.later_than(child.updated_at)
    return child.model_copy(
        update={
            "held_phone": None,
            "released_at": child.released_at or now,
            "erased_at": now,
            "child_name": rules.ERASED,
            "parent_email": rules.ERASED,
            "paused_until": None,
            "updated_at": now,
        }
    )


def scrubbed(entry: AuditEntry, words: list[str]) -> AuditEntry:
    """What happened and when, without the child: its number, its name, what was written about it."""
    subject = entry.subject.partition("/")[0]
    is_theirs = subject in words
    values = json.dumps([*entry.before.values(), *entry.after.values()], ensure_ascii=False)
    if not is_theirs and not _names(words, [entry.subject, entry.reason or "", values]):
        return entry
    return entry.model_copy(
        update={
            "subject": rules.ERASED,
            "before": {},
            "after": {},
            "reason": rules.ERASED if entry.reason else None,
        }
    )


def is_about(message: Message, child: Child) -> bool:
    """Whether a message is about a child, or went to its number. Names say nothing: a child may be called "Code"."""
    return child.child in message.children or message.recipient == child.phone


def _mentions(message: Message, words: list[str]) -> bool:
    """Whether anything in a message names a child that is being erased; rather one message too many."""
    texts = [message.recipient, *message.children, *message.values.values()]
    return _names(words, [*texts, message.subject or "", message.body or ""])


def _names(words: list[str], texts: list[str]) -> bool:
    """Whether a text has one of the words, as a word: Al is not in Sally."""
    wanted = "|".join(re.escape(word) for word in words)
    return any(re.search(rf"(?<!\w)(?:{wanted})(?!\w)", text, re.IGNORECASE) for text in texts)
