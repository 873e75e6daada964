"""Whose data is kept, and where it is: children, and families with their guardians (PC-X12).

Must hold: the record of a child goes last, in the transaction that ends its erasure, so that no other child can be
given its id before; of a family the guardians go first, so that they can no longer act for it, and its own record last.
What a follower could not deal with and parked goes as well: it holds whole items.
Elsewhere: the runs of an erasure (erasure.py), export and erasure of parts (kit/subjects.py).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tablewright.kit.erased import ErasedList
from tablewright.kit.subjects import Left, Part, Step, Subject
from tablewright.mapping import forget_parked_saying
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.family.erased_list import child_entry, family_entry
from tablewright.systems.parental.model import AuditEntry, Child, FamilyTask, Message
from tablewright.systems.parental.repository import Repository

# Erased first, so that they can no longer act for the family.
MEMBERS = ("guardian", "invitation")
_IN_THE_FAMILY = "the family's own page shows it; an export is of one child"
_ENDS_WITH_ITS_TASK = "goes last, in the transaction that ends the erasure; it has no name by then"


@dataclass(frozen=True, slots=True)
class ChildData:
    """A child to be exported or erased. `words` name it in texts; `has_rules`: devices still have something of it."""

    key: str
    family_id: str
    phone: str
    words: tuple[str, ...]
    entry: str
    has_rules: bool = False


def exported(child: Child) -> ChildData:
    words = (child.child, child.phone, child.child_name)
    return ChildData(child.child, child.family_id, child.phone, words, child_entry(child))


def erased(task: FamilyTask, child: Child | None, *, has_rules: bool) -> ChildData:
    """The child of a task. Its record has no name any more, and may be gone if a table was restored."""
    words = tuple(word for word in (task.child, task.source, task.target) if word)
    entry = child_entry(child) if child is not None else f"child.{task.family_id}.{task.task_id}"
    phone = child.phone if child is not None else task.source
    return ChildData(task.child, task.family_id, phone, words, entry, has_rules)


class FamilySubjects:
    """The subjects of parental controls."""

    def __init__(self, repository: Repository, erased: ErasedList) -> None:
        self._repository, self.erased = repository, erased
        outbox = repository.outbox
        self.child: Subject[ChildData] = Subject(
            "child",
            repository,
            lambda child: child.key,
            (
                Part(d.child_by_key, "child", keep=_ENDS_WITH_ITS_TASK),
                Part(d.policies_of_child, "policies"),
                Part(d.overrides_of_child, "overrides"),
                Part(d.actions_of_child, "enforcement"),
                Part(d.metrics_of_child, "metrics"),
                # A firewall that is away is cleaned by what they say.
                Part(d.sessions_of_child, "sessions", only=lambda child, _: not child.has_rules),
                Part(d.stays_of_child, "formerAddresses"),
                Part(d.rules_of_child, "rules", keep="until its firewall has confirmed that it is removed"),
                Part(d.former_rules_of_child, "formerRules"),
                Part(d.uses_of_child, hidden="the apps that the policies name"),
                Part(d.purges_of_child, hidden="when a deleted policy goes for good"),
                Part(
                    d.audit.by_owner,
                    "audit",
                    key=lambda child: child.family_id,
                    only=lambda child, entry: _nameless(entry, child.words) != entry,
                    redact=lambda child, entry: _nameless(entry, child.words),
                ),
                Part(
                    d.outbox.owned,
                    "messages",
                    key=lambda child: child.family_id,
                    only=lambda child, message: is_about(message, child),
                    # It names other children by their key.
                    show=lambda message: outbox.exported(message, "children"),
                ),
                Part(
                    d.outbox.owned,
                    key=lambda child: child.family_id,
                    only=lambda child, message: _mentions(message, child.words),
                    hidden="only says its name",
                ),
                Part(
                    d.proofs_of_family,
                    key=lambda child: child.family_id,
                    only=lambda child, proof: proof.phone == child.phone,
                    hidden="a code that works for a quarter of an hour",
                ),
                Step("quarantined", self._forget_events, (d.quarantine,), "not counted for a child yet"),
                Step("parked", lambda child: self._forget_parked(child.words)),
                Left((d.wakes,), "removed with the rules; only says when to look at the child again"),
                Left((d.tasks.entity,), "long work, the erasure itself too; empty once it is finished"),
            ),
            erased,
            lambda child: child.entry,
        )
        self.family: Subject[str] = Subject(
            "family",
            repository,
            lambda family_id: family_id,
            (
                Part(d.guardians_of_family, hidden=_IN_THE_FAMILY),
                Part(d.invitations_of_family, hidden=_IN_THE_FAMILY),
                Part(d.proofs_of_family, hidden="codes that work for a quarter of an hour"),
                Part(d.outbox.owned, hidden=_IN_THE_FAMILY),
                Part(d.audit.by_owner, hidden=_IN_THE_FAMILY),
                Step("parked", lambda family_id: self._forget_parked([family_id])),
                Left((d.families, d.reports), _ENDS_WITH_ITS_TASK),
            ),
            erased,
            family_entry,
        )

    def _forget_parked(self, words: Sequence[str]) -> int:
        tables = (table.name for table in d.PARENTAL.tables.values() if table.stream is not None)
        db = self._repository.db
        return sum(
            forget_parked_saying(db, name, d.FOLLOWER, lambda text: _names(words, [text])) for name in tables
        )

    def _forget_events(self, child: ChildData) -> int:
        """Remove the events of a number from quarantine; of those after it was given to another child, none."""
        db, changed = self._repository.db, 0
        holder = self._repository.child_of_phone(child.phone)
        since = None if holder is None else holder.created_at
        for kept in list(db.all(d.quarantined())):
            events = [
                event for event in kept.events if child.phone not in event.values() or _is_later(event, since)
            ]
            if len(events) < len(kept.events):
                left = kept.model_copy(update={"events": events})
                db.write(d.quarantine.put(left) if events else d.quarantine.discard(kept.quarantine_id))
                changed += 1
        return changed


def _is_later(event: Mapping[str, str], since: datetime | None) -> bool:
    """Whether an event that was kept is from that moment on; one that does not say when is not."""
    try:
        return since is not None and datetime.fromisoformat(event.get("at", "")) >= since
    except (ValueError, TypeError):
        return False


def _nameless(entry: AuditEntry, words: Sequence[str]) -> AuditEntry:
    """What happened and when, without the child: its number, its name, what was written about it."""
    is_theirs = entry.subject.partition("/")[0] in words
    values = json.dumps([*entry.before.values(), *entry.after.values()], ensure_ascii=False)
    if not is_theirs and not _names(words, [entry.subject, entry.reason or "", values]):
        return entry
    return entry.model_copy(
        update={
            "subject": field_rules.ERASED,
            "before": {},
            "after": {},
            "reason": field_rules.ERASED if entry.reason else None,
        }
    )


def is_about(message: Message, child: ChildData) -> bool:
    """Whether a message is about a child, or went to its number. Names say nothing: a child may be called "Code"."""
    return child.key in message.children or message.recipient == child.phone


def _mentions(message: Message, words: Sequence[str]) -> bool:
    """Whether anything in a message names a child that is being erased; rather one message too many."""
    texts = [message.recipient, *message.children, *message.values.values()]
    return _names(words, [*texts, message.subject or "", message.body or ""])


def _names(words: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a text has one of the words, as a word: Al is not in Sally."""
    wanted = "|".join(re.escape(word) for word in words)
    return any(re.search(rf"(?<!\w)(?:{wanted})(?!\w)", text, re.IGNORECASE) for text in texts)
