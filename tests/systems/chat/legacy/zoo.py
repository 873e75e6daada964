"""A zoo with chats of the first version, and an operator who does not wait."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from tests.systems.chat.place import Place

from tablewright.client import pages
from tablewright.kit.tables import Actor
from tablewright.mapping.migrate import is_up_to_date
from tablewright.systems.chat.legacy.conversion import dated, new_id
from tablewright.systems.chat.legacy.legacy import Legacy, open_legacy
from tablewright.systems.chat.legacy.model import V1Conversation
from tablewright.systems.chat.rules import stamp
from tablewright.values import Item

ADMIN = Actor("ada", "administrator")


@dataclass(frozen=True)
class Zoo:
    """Zoo chat with its first version, in a time that only tests move."""

    at: Place
    legacy: Legacy

    @property
    def table(self) -> str:
        return self.at.db.physical("conversation")

    def put(self, *items: Item) -> None:
        for item in items:
            self.at.call("PutItem", {"TableName": self.table, "Item": item})

    def items(self, table: str = "conversation") -> list[Item]:
        request = {"TableName": self.at.db.physical(table), "ConsistentRead": True}
        return [item for page in pages(self.at.call, "Scan", request) for item in page["Items"]]

    def v1(self) -> dict[str, V1Conversation]:
        found = [self.legacy.v1.find(item["conversationId"]["S"]) for item in self.items()]
        return {one.conversation_id: one for one in found if one is not None}

    def follow(self) -> None:
        """Copy and follow until nothing is left to do."""
        operator, context = self.legacy.operator, self.legacy.context
        while not operator.advance("me").is_idle or not is_up_to_date(context, context.state()):
            context.sleep(0.01)

    def copy(self) -> None:
        self.legacy.operator.prepare(ADMIN)
        self.legacy.operator.start(ADMIN)
        self.follow()

    def cut_over(self) -> None:
        self.copy()
        report = self.legacy.operator.verify(ADMIN)
        assert report.is_right, report
        self.legacy.operator.cut_over(ADMIN)

    def hashes_in_v1(self) -> dict[str, list[str]]:
        """A digest of each message, by the id of its conversation in the second version."""
        return {
            new_id(one): [_digest(at, id, m.role, m.text) for _, at, id, m in dated(one)]
            for one in self.v1().values()
        }

    def hashes_in_v2(self) -> dict[str, list[str]]:
        chat, found = self.at.chat, dict[str, list[str]]()
        for item in self.items("conversation-v2"):
            if item["SK"]["S"].startswith("CONV#") and "legacyConversationId" in item:
                header = chat.conversations.get(item["conversationId"]["S"], item["userId"]["S"])
                found[header.conversation_id] = [
                    _digest(m.timestamp, m.message_id, m.role, m.text) for m in chat.messages.all(header)
                ]
        return found


def _digest(at: datetime, id: str, role: str, text: str) -> str:
    return hashlib.sha256(f"{stamp(at)}\n{id}\n{role}\n{text}".encode()).hexdigest()


def zoo_of(at: Place) -> Zoo:
    """The first version of a place, with a clock instead of waits."""
    chat = at.chat

    def nap(seconds: float) -> None:
        at.clock.move(timedelta(seconds=seconds))

    legacy = open_legacy(
        chat.repository,
        chat.periods,
        chat.conversations,
        chat.messages,
        chat.objects,
        chat.settings.most_characters,
        chat.guardrails,
        chat.review,
        steady=lambda: at.clock.now().timestamp(),
        sleep=nap,
    )
    return Zoo(replace(at, chat=replace(chat, legacy=legacy)), legacy)


def v1_item(id: str, user: str, messages: int = 0, *, start: datetime, size: int = 20, **more: Any) -> Item:
    """A conversation as a program of the first version wrote it: a message each second."""
    listed = [
        {
            "M": {
                "messageId": {"S": f"{id}-{number}"},
                "role": {"S": "assistant" if number % 2 else "user"},
                "text": {"S": f"{number} ".ljust(size, "x")},
                "timestamp": {"S": stamp(start + timedelta(seconds=number))},
                "metadata": {"M": {"tokens": {"N": "7"}, "latency": {"N": "120"}, "mood": {"S": "glad"}}},
            }
        }
        for number in range(messages)
    ]
    item: Item = {
        "conversationId": {"S": id},
        "userId": {"S": user},
        "animalId": {"S": "panda_01"},
        "animalName": {"S": "Pan Pan"},
        "messageCount": {"N": str(messages)},
        "startTime": {"S": stamp(start)},
        "status": {"S": "active"},
        "messages": {"L": listed},
    }
    return item | more
