"""How popular the animals are, by day: chats, messages, thumbs, summaries (ZC-19, ZC-57, ZC-D43).

Counted from the stream, never by reading all chats.
Must hold: a conversation that is copied by the migration counts on the day it was begun. Numbers without people.
Elsewhere: counting a change once (kit/counters.py).
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from tablewright.kit.counters import Counters, Numbers, additions
from tablewright.mapping import Change, Consumer
from tablewright.systems.chat import design as d
from tablewright.systems.chat.model import Conversation, Message, Summary
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.zoo_model import AnimalDay

NAME = "popularity"
KEPT = timedelta(days=365)
COUNTS = Counters(d.animal_days, NAME)


@dataclass(frozen=True, slots=True)
class Popular:
    """An animal with its sums over some days."""

    animal_id: str
    conversations: int = 0
    messages: int = 0
    thumbs_up: int = 0
    thumbs_down: int = 0
    summaries: int = 0
    compression: int = 0


class Popularity:
    """Counters by animal and day."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def consumer(self) -> Consumer:
        """The consumer of the stream of conversations."""
        table = d.conversation_table.table.name
        return Consumer(
            self._repository.db,
            [d.conversations, d.messages, d.spread_messages, d.summaries],
            table,
            f"chat {NAME}",
            self.handle,
        )

    def handle(self, change: Change[Any]) -> None:
        """Count one change of a conversation, a message or a summary; again is the same as once."""
        after, added = change.after, _added(change)
        if after is not None and added and (animal_id := self._animal_of(after)):
            at = after.last_activity if isinstance(after, Conversation) else after.timestamp
            start = AnimalDay(animal_id=animal_id, day=at.date(), expires_at=at + KEPT)
            COUNTS.count(self._repository.db, change, d.animal_days.upsert(start), added)

    def _animal_of(self, part: Conversation | Message | Summary) -> str:
        if isinstance(part, Conversation):
            return part.animal_id
        header = self._repository.db.one(d.conversations.get(part.user_id, part.conversation_id))
        return header.animal_id if header is not None else ""

    # --- reads ---

    def days(self, animal_id: str, since: date | None = None, until: date | None = None) -> list[AnimalDay]:
        """The days of an animal, the oldest first."""
        return list(self._repository.db.all(d.days_of_animal(animal_id=animal_id, since=since, until=until)))

    def ranking(self, animal_ids: list[str], since: date, until: date) -> list[Popular]:
        """The animals with the most messages first."""
        sums = [_sum(animal_id, self.days(animal_id, since, until)) for animal_id in animal_ids]
        return sorted(sums, key=lambda each: (-each.messages, each.animal_id))


def _sum(animal_id: str, days: list[AnimalDay]) -> Popular:
    return Popular(
        animal_id,
        sum(day.conversations for day in days),
        sum(day.messages for day in days),
        sum(day.thumbs_up for day in days),
        sum(day.thumbs_down for day in days),
        sum(day.summaries for day in days),
        sum(day.compression for day in days),
    )


def _added(change: Change[Any]) -> Numbers:
    """What a change adds; nothing that is deleted is taken away."""
    match change.after:
        case Conversation():
            added = additions(change, lambda talk: {"conversations": 1, "messages": talk.message_count})
            return {name: number for name, number in added.items() if number > 0}
        case Message() if change.before is not None:
            return additions(change, lambda message: {f"thumbs_{message.thumb}": 1} if message.thumb else {})
        case Summary(metadata=metadata) if change.before is None:
            return {"summaries": 1, "compression": int(metadata.compression_ratio * 10_000)}
        case _:
            return {}
