"""Proof of deletions: an entry in the compliance log for every item that was deleted because its time was up (ZC-25).

The stream says what the service has deleted by TTL. Once a day the tables are read for what expired more than 72 hours
ago and is still there; that is deleted here, with the same entries (ZC-D29, ZC-D30).
Must hold: an item that is deleted has one entry, however often its change is delivered; an entry has no words of a
chat; the object of a long text is removed with its message.
Elsewhere: deletions that a person asks for (talk/conversations.py, erasure.py), the figures of a check (quality.py).
"""

import logging
from contextlib import suppress
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from tablewright.design import Entity, Write
from tablewright.mapping import AlreadyExists, Consumer
from tablewright.mapping.consumer.records import Change
from tablewright.systems.chat import design as d
from tablewright.systems.chat.model import AuditEntry, Message
from tablewright.systems.chat.repository import SYSTEM, Repository
from tablewright.systems.chat.rules import OVERDUE
from tablewright.systems.chat.talk.texts import Texts

log = logging.getLogger("tablewright.chat")
ACTION = "expired and deleted"
# What of an item is in its entry.
_IDS = ("conversation_id", "message_id", "batch_id", "category", "memory_id")
_PROVEN: tuple[Entity[Any, Any], ...] = (
    d.conversations,
    d.messages,
    d.spread_messages,
    d.summaries,
    d.contexts,
    d.memories,
)


class Deletions:
    """Follows deletions by TTL, and deletes what TTL has left."""

    def __init__(self, repository: Repository, texts: Texts) -> None:
        self._repository, self._texts = repository, texts

    def consumer(self) -> Consumer:
        """The consumer of the stream of conversations."""
        table = d.conversation_table.table.name
        return Consumer(self._repository.db, list(_PROVEN), table, "chat deletions", self._on_change)

    def _on_change(self, change: Change[Any]) -> None:
        if change.kind == "REMOVE" and change.by_ttl and change.before is not None:
            at = change.at or self._repository.now()
            self._prove(change.shape.tag, change.before, f"ttl-{change.event_id}", at)

    def _prove(self, tag: str, item: BaseModel, audit_id: str, at: datetime) -> None:
        with suppress(AlreadyExists):  # delivered before
            self._repository.db.write(self._entry(tag, item, audit_id, at))
        if isinstance(item, Message):
            self._texts.remove(item)

    def _entry(self, tag: str, item: BaseModel, audit_id: str, at: datetime) -> Write[AuditEntry]:
        known = {name: str(getattr(item, name)) for name in _IDS if hasattr(item, name)}
        ended = getattr(item, "expires_at", at)
        return d.audit.entries.create(
            AuditEntry(
                subject=f"child:{getattr(item, 'user_id', '')}",
                audit_at=at,
                audit_id=audit_id,
                actor=SYSTEM.name,
                role=SYSTEM.role,
                action=ACTION,
                before={"record": tag, **known, "expiredAt": ended.isoformat()},
            )
        )

    # --- what TTL has left ---

    def sweep_metrics(self) -> dict[str, float]:
        """`sweep`, and how many items it deleted as the metric of the design (ZC-D29)."""
        return {d.OVERDUE_ITEMS: self.sweep()}

    def sweep(self) -> int:
        """Delete what expired more than 72 hours ago; how many items. More than none is a fault of the TTL."""
        now, removed = self._repository.now(), 0
        for entity, item in self._repository.db.overdue(_PROVEN, now - OVERDUE):
            removed += self._remove(entity, item, now)
        if removed:
            log.warning("expired items were still stored", extra={"items": removed})
        return removed

    def _remove(self, entity: Entity[Any, Any], item: Any, now: datetime) -> bool:
        """Delete an item with its entry, unless it was written again since it was read."""
        key = {name: getattr(item, name) for name in entity.shape.parameters}
        write = entity.discard(**key).when(lambda stored: stored.expires_at == item.expires_at)
        entry = self._entry(entity.tag, item, f"swept-{_name(entity, item)}", now)
        if not self._repository.try_write(write, entry):
            return False
        if isinstance(item, Message):
            self._texts.remove(item)
        return True


def _name(entity: Entity[Any, Any], item: BaseModel) -> str:
    """What an item is called in its entry's id: the parts of its key."""
    return "-".join(str(getattr(item, name)) for name in entity.shape.parameters)
