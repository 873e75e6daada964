"""What Zoo chat's tests say to it: a place with everything around it, a few people, conversations with messages."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.systems.talk import Caller

from tablewright import Engine
from tablewright.client import Call
from tablewright.edge import Issuer
from tablewright.edge.errors import CallerError
from tablewright.mapping import Db
from tablewright.systems.chat import design as d
from tablewright.systems.chat.chat import Chat
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Conversation, Draft, Message
from tablewright.systems.chat.talk.review import SEVERITIES
from tablewright.systems.chat.zoo_model import ReviewFlag
from tablewright.testing import Clock
from tablewright.world import World

Json = dict[str, Any]

START = datetime(2030, 2, 4, 10, tzinfo=UTC)
AUDIENCE = "chat"
SECRET = b"one secret for mails and the keys of people"
EVERYTHING = ["collect_and_use", "disclosure", "profiling"]


def uuid_world(world: World) -> World:
    """The same world with UUIDs as ids: the same ones in each run."""
    numbers = count(1)
    return replace(world, new_id=lambda: str(uuid.UUID(int=next(numbers) + (4 << 76) + (2 << 62))))


@dataclass(frozen=True)
class Place:
    """Zoo chat and what lies around it."""

    chat: Chat
    db: Db
    call: Call
    clock: Clock
    issuer: Issuer
    engine: Engine | None
    world: World
    home: Path
    way: str = "embedded"

    def child(self, user_id: str = "u_9", **fields: Any) -> User:
        """A child of ten whose parent has consented to everything; stored as it is, without a family."""
        known: Json = {
            "user_id": user_id,
            "role": "student",
            "name": user_id,
            "birth_date": date(2019, 6, 1),
            "scopes": EVERYTHING,
            "consent_generation": 1,
            "created_at": self.clock.now(),
        }
        user = User(**{**known, **fields})
        self.db.write(d.users.create(user))
        return user

    def person(self, user_id: str, role: str, **fields: Any) -> User:
        """A parent, zookeeper or administrator."""
        return self.child(user_id, role=role, birth_date=None, scopes=[], **fields)

    def talk(self, user: User, animal_id: str = "panda_01") -> Conversation:
        """A new conversation."""
        return self.chat.conversations.create(user, animal_id)

    def say(self, conversation: Conversation, *turns: str) -> list[Message]:
        """Turns in which the animal repeats what the child said: two messages each."""
        found: list[Message] = []
        for text in turns:
            drafts = [Draft(role="user", text=text), Draft(role="assistant", text=f"You said: {text}")]
            found += self.chat.messages.append(self.again(conversation), drafts)
        return found

    def draft(self, text: str) -> Draft:
        """A message of the child."""
        return Draft(role="user", text=text)

    def again(self, conversation: Conversation) -> Conversation:
        """The conversation as it is now."""
        return self.chat.conversations.get(conversation.conversation_id, conversation.user_id)

    def later(self, **passed: float) -> None:
        self.clock.move(timedelta(**passed))


class Api(Caller[User]):
    """The API of Zoo chat, as a user."""

    prefix = f"/{AUDIENCE}/v1"

    def token(self, by: User) -> str:
        roles = () if by.role == "parent" else (by.role,)
        return self._issuer.issue(
            by.user_id,
            audience=AUDIENCE,
            lifetime=timedelta(hours=1),
            roles=roles,
            email=by.email or f"{by.user_id}@family.example",
        )


@contextmanager
def refuses(code: str) -> Iterator[None]:
    """The block must be refused by Zoo chat with this code."""
    with pytest.raises(CallerError) as mistake:
        yield
    assert mistake.value.code == code, mistake.value.message


def open_flags(chat: Chat) -> list[ReviewFlag]:
    """All flags that are open, the most severe first."""
    return [flag for each in SEVERITIES for flag in chat.review.queue(each, "open", 100, None, "").items]
