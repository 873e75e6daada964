"""How popular the animals are, by day: chats, messages, thumbs, summaries (ZC-19, ZC-57, ZC-D43).

Counted from the stream, never by reading all chats.
Must hold: each change is counted once, however often the stream shows it. A conversation that is copied by the
migration counts on the day it was begun. Numbers without people.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.mapping import Consumer
from tablewright.mapping.consumer.records import Change
from tablewright.systems.chat import design as d
from tablewright.systems.chat.model import Conversation, Message, Summary
from tablewright.systems.chat.repository import Repository
from tablewright.systems.chat.zoo_model import AnimalDay

NAME = "popularity"
KEPT = timedelta(days=365)


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
        animal_id, at, added = self._counted(change)
        if added and animal_id:
            self._repository.db.write(
                self._write(animal_id, at, added), once=f"{NAME}/{change.event_id}", result={}
            )

    def _counted(self, change: Change[Any]) -> tuple[str, datetime, Mapping[str, int]]:
        before, after = change.before, change.after
        if isinstance(after, Conversation):
            known = before if isinstance(before, Conversation) else None
            more = after.message_count - (known.message_count if known else 0)
            added = {"conversations": 0 if known else 1, "messages": max(0, more)}
            return after.animal_id, after.last_activity, {name: n for name, n in added.items() if n}
        if isinstance(after, Message) and isinstance(before, Message) and before.thumb != after.thumb:
            return self._animal_of(after), after.timestamp, _thumbs(before.thumb, after.thumb)
        if isinstance(after, Summary) and before is None:
            left = int(after.metadata.compression_ratio * 10_000)
            return self._animal_of(after), after.timestamp, {"summaries": 1, "compression": left}
        return "", self._repository.now(), {}

    def _animal_of(self, part: Message | Summary) -> str:
        header = self._repository.db.one(d.conversations.get(part.user_id, part.conversation_id))
        return header.animal_id if header is not None else ""

    def _write(self, animal_id: str, at: datetime, added: Mapping[str, int]) -> Write[AnimalDay]:
        start = AnimalDay(animal_id=animal_id, day=at.date(), expires_at=at + KEPT)
        return (
            d.animal_days.upsert(start)
            .at(lambda it: it.conversations).add(added.get("conversations", 0))
            .at(lambda it: it.messages).add(added.get("messages", 0))
            .at(lambda it: it.thumbs_up).add(added.get("up", 0))
            .at(lambda it: it.thumbs_down).add(added.get("down", 0))
            .at(lambda it: it.summaries).add(added.get("summaries", 0))
            .at(lambda it: it.compression).add(added.get("compression", 0))
        )  # fmt: skip

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


def _thumbs(before: str | None, after: str | None) -> dict[str, int]:
    added = {"up": 0, "down": 0}
    if before is not None:
        added[before] -= 1
    if after is not None:
        added[after] += 1
    return {name: number for name, number in added.items() if number}
