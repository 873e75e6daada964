"""It says that it is a computer program: at the first message, and every three hours with a break (ZC-X25).

Must hold: a notice is decided and counted in the transaction of the message it belongs to, so that two tabs, or a
request that is sent again, do not count it twice (ZC-S17).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from tablewright.design import Write
from tablewright.systems.chat import design as d
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.rules import RetentionPeriods
from tablewright.systems.chat.zoo_model import Disclosure

EVERY = timedelta(hours=3)
# After a longer silence a talk begins again, and a break is not needed.
SILENCE = timedelta(minutes=30)
AI_NOTICE = (
    "Just so you know: I am a computer program that plays an animal, not a real animal and not a person. "
    "I can make mistakes. Please do not tell me your name, address or other private things."
)
BREAK_NOTICE = (
    "You have been chatting for a long time. Remember that I am a computer program. How about a break: drink some "
    "water, stretch, or go outside?"
)


@dataclass(frozen=True, slots=True)
class Notice:
    """What is said before a reply."""

    kind: Literal["ai", "break"]
    text: str


@dataclass(frozen=True, slots=True)
class Due:
    """The notice that belongs to a message, if one does, and the write that remembers it."""

    notice: Notice | None
    write: Write[Disclosure]


class Disclosures:
    """When users were last told."""

    def __init__(self, repository: Repository, periods: RetentionPeriods) -> None:
        self._repository, self._periods = repository, periods

    def known(self, user_id: str) -> Disclosure | None:
        """When a user was last told. To be read before the conversation: a message that is stored in between is
        then seen there, or refuses the write of `due`; it is never taken for none."""
        return self._repository.db.one(d.disclosures.get(user_id), consistent=True)

    def due(self, user_id: str, known: Disclosure | None, *, first_message: bool) -> Due:
        """What is due with the next message; `first_message` is the first of a conversation."""
        now = self._repository.now()
        notice = notice_due(known, now, first_message=first_message)
        after = self._after(user_id, known, now, notice)
        return Due(notice, d.disclosures.change(known, after) if known else d.disclosures.create(after))

    def _after(
        self, user_id: str, known: Disclosure | None, now: datetime, notice: Notice | None
    ) -> Disclosure:
        start = known or Disclosure(
            user_id=user_id,
            last_notice_at=now,
            last_message_at=now,
            created=now,
            modified=now,
            expires_at=now,
        )
        update = {
            "last_message_at": max(now, start.last_message_at),
            "modified": now,
            "expires_at": self._periods.until("active_conversation", now),
        }
        if notice is not None:
            update["last_notice_at"] = now
            counter = "breaks" if notice.kind == "break" else "notices"
            return start.model_copy(update={**update, counter: getattr(start, counter) + 1})
        return start.model_copy(update=update)


def notice_due(known: Disclosure | None, now: datetime, *, first_message: bool) -> Notice | None:
    """The notice of a message at this moment. A clock that went back says nothing twice."""
    if known is None or first_message:
        return Notice("ai", AI_NOTICE)
    if now - known.last_notice_at < EVERY:
        return None
    is_going_on = now - known.last_message_at <= SILENCE
    return Notice("break", BREAK_NOTICE) if is_going_on else Notice("ai", AI_NOTICE)
