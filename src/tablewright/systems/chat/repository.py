"""Reads and writes of Zoo chat's tables in the words of the domain.

Must hold: no key is built from text that cannot be an id; a conversation is read by its owner's key, consistently.
Elsewhere: patterns and entities (design/), the retries and refusals of all systems (kit/tables.py).
"""

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tablewright.design import Query, Write
from tablewright.edge.errors import Conflict
from tablewright.kit.messages import MessageTemplates, read_templates
from tablewright.kit.outbox import Mailbox
from tablewright.kit.sealed_text import seal_of
from tablewright.kit.subject_keys import SubjectKeys
from tablewright.kit.tables import Actor, Refusals, Tables
from tablewright.mapping import AlreadyExists, Db, NotUnique
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Changed, RaceLost
from tablewright.systems.chat.model import AuditEntry, Conversation, Partitions, Task
from tablewright.systems.chat.rules import SPREAD, ulid
from tablewright.world import World

MAIL = Path(__file__).parent / "pages" / "mail"
SYSTEM = Actor("system:chat", "system")
_CONVERSATION_ID = re.compile(r"conv_[0-9A-HJKMNP-TV-Z]{26}(\.10)?")


def _taken(noun: str, refused: AlreadyExists | NotUnique) -> Exception:
    what = refused.constraint if isinstance(refused, NotUnique) else refused.entity
    return Conflict("EXISTS", f"This {what.replace('_', ' ')} already exists.", "id")


REFUSALS = Refusals(
    changed=lambda _: Changed(),
    lost=lambda _: RaceLost(),
    race=Changed,
    busy=lambda: Conflict("BUSY", "This is being changed right now. Try again in a moment."),
    taken=_taken,
    page_words="pageSize must be 1 to {at_most}.",
)


def is_conversation_id(text: str) -> bool:
    return _CONVERSATION_ID.fullmatch(text) is not None


class Repository(Tables):
    """The tables of Zoo chat, and the keys of the people in them."""

    def __init__(self, db: Db, world: World, secret: bytes, keys: SubjectKeys) -> None:
        """`secret` is the key that seals the secrets in mails."""
        super().__init__(db, world, d.CHAT, REFUSALS)
        self.keys = keys
        self.outbox = Mailbox(
            d.outbox, self, MessageTemplates(read_templates(MAIL), seal_of(secret, "chat mail", world))
        )

    # --- one ---

    def conversation(self, conversation_id: str, user_id: str | None = None) -> Conversation:
        """A conversation, consistently; of this user if one is given. CONVERSATION_NOT_FOUND otherwise."""
        self.refuse_impossible(is_conversation_id(conversation_id), "CONVERSATION")
        if user_id is None:
            found = self.db.first(d.conversation_by_id(conversation_id=conversation_id))
            user_id = self.found(found, "CONVERSATION").user_id
        return self.found(
            self.db.one(d.conversations.get(user_id, conversation_id), consistent=True), "CONVERSATION"
        )

    # --- writes ---

    def new_conversation_id(self, partitions: Partitions = 1) -> str:
        """An id that sorts by the time of creation and reveals nothing of its user (ZC-D6, ZC-D15)."""
        return f"conv_{self.new_ulid()}{SPREAD if partitions == 10 else ''}"

    def new_ulid(self) -> str:
        return ulid(self.world.now(), self.world.new_id())

    def task(self, kind: str, user_id: str) -> Task:
        """Work that is due now, to be written with what it follows from."""
        now = self.now()
        return Task(task_id=self.new_id("task"), kind=kind, created_at=now, due_at=now, user_id=user_id)

    def audit(
        self,
        subject: str,
        action: str,
        actor: Actor,
        before: BaseModel | dict[str, Any] | None = None,
        after: BaseModel | dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> Write[AuditEntry]:
        """An entry of the compliance log, to be written with its change; `subject` such as `child:{id}`."""
        return d.audit.entry(self, subject, action, actor, before, after, reason)

    def compliance_log(self, subject: str) -> Query[AuditEntry]:
        return d.audit.of(subject)
