"""A child about whom every kind of record is kept."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from hashlib import sha256
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint
from tests.systems.chat.place import Place

from tablewright.systems.chat import design as d
from tablewright.systems.chat.adapters.langgraph_checkpoints import UserCheckpointSaver
from tablewright.systems.chat.adapters.langgraph_store import UserStore
from tablewright.systems.chat.adapters.openai_agents import UserSession
from tablewright.systems.chat.adapters.strands import UserStorage
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.legacy.model import V1Conversation, V1Message, V1Session
from tablewright.systems.chat.memory.contexts import Entry
from tablewright.systems.chat.model import Draft, LegacyAlias, Memory, MessageRange, Summary
from tablewright.systems.chat.rules import stamp
from tablewright.systems.chat.zoo_model import ReviewFlag

SECRET_WORD = "bamboozle"
_LONG = SECRET_WORD + "x" * 300_000


def fill(at: Place, child: User) -> list[str]:
    """Everything; returns the list of threads that are removed from an outside model from now on."""
    removed: list[str] = []
    at.chat.privacy._remove_thread = removed.append
    _talk(at, child)
    _remember(at, child)
    _use_agents(at, child)
    _use_first_version(at, child)
    return removed


def _talk(at: Place, child: User) -> None:
    chat = at.talk(child)
    at.chat.conversations.set_thread(chat, "thread-1")
    messages = at.say(chat, f"a {SECRET_WORD}")
    at.chat.messages.append(at.again(chat), [Draft(role="user", text=_LONG)])
    now, user_id = at.chat.repository.now(), child.user_id
    until = at.chat.periods.until("context_summary", now)
    times: dict[str, Any] = {"created": now, "modified": now, "expires_at": until}
    sealed = at.chat.repository.keys.seal(user_id, "summary/s1", f"about a {SECRET_WORD}")
    covered = MessageRange(
        start_message_id=messages[0].message_id, end_message_id=messages[1].message_id, message_count=2
    )
    summary = Summary(
        user_id=user_id, conversation_id=chat.conversation_id, batch_id="batch_001", summary_id="s1",
        summary_text=sealed, message_range=covered, timestamp=now, **times,
    )  # fmt: skip
    alias = LegacyAlias(
        legacy_conversation_id="conv_panda_kim_1",
        user_id=user_id,
        conversation_id=chat.conversation_id,
        **times,
    )
    at.db.write(d.summaries.create(summary), d.aliases.create(alias))
    header = at.again(chat)
    known = header.model_copy(update={"legacy_conversation_id": "conv_panda_kim_1"})
    at.db.write(d.conversations.change(header, known))
    at.db.write(d.review_flags.create(_flag(at, child, chat.conversation_id, messages[0].message_id)))
    at.chat.contexts.merge(user_id, "interests", [Entry("animal", SECRET_WORD, Decimal("0.9"))])


def _flag(at: Place, child: User, conversation_id: str, message_id: str) -> ReviewFlag:
    now = at.chat.repository.now()
    return ReviewFlag(
        flag_id="flag-1", user_id=child.user_id, conversation_id=conversation_id, message_id=message_id,
        message_at=stamp(now), animal_id="panda_01", kind="guardrail", severity="low", created=now,
        expires_at=at.chat.periods.until("parent_access_logs", now),
    )  # fmt: skip


def _remember(at: Place, child: User) -> None:
    now, user_id = at.chat.repository.now(), child.user_id
    text = at.chat.repository.keys.seal(user_id, "memory/m1", f"likes a {SECRET_WORD}")
    memory = Memory(
        user_id=user_id, conversation_id="conv_1", sequence=1, number=1, memory_id="m1", kind="fact",
        about_animal="panda_01", text=text, embedding=(1.0, *(0.0,) * 255), embedding_kind=at.chat.embedder.kind,
        message_ids=["1"], created=now, modified=now, expires_at=at.chat.periods.until("educational_progress", now),
    )  # fmt: skip
    at.db.write(d.memories.create(memory))


def _use_agents(at: Place, child: User) -> None:
    saver = UserCheckpointSaver(at.chat, child.user_id)
    config: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": ""}}
    for step in range(30):
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": f"{SECRET_WORD} {step}"}
        config = saver.put(config, checkpoint, {"source": "loop", "step": step}, {"messages": "1"})
    saver.put_writes(config, [("__interrupt__", SECRET_WORD)], "task-1")
    store = UserStore(at.chat, child.user_id)
    store.put(("likes",), "animal", {"text": SECRET_WORD})
    store.put(("likes",), "large", {"text": SECRET_WORD + "".join(_noise(n) for n in range(16_000))})
    asyncio.run(UserStorage(at.chat, child.user_id).write("session/1", SECRET_WORD.encode()))
    asyncio.run(
        UserSession(at.chat, child.user_id, "s1").add_items([{"role": "user", "content": SECRET_WORD}])
    )


def _noise(number: int) -> str:
    """Text that cannot be compressed to less than half."""
    return sha256(f"{number}".encode()).hexdigest()


def _use_first_version(at: Place, child: User) -> None:
    message = V1Message(role="user", text=SECRET_WORD)
    old = V1Conversation(
        conversation_id="conv_v1", user_id=child.user_id, animal_id="panda", messages=[message]
    )
    session = V1Session(
        user_id=child.user_id, conversation_id="conv_v1", animal_id="panda", start_time="2030-01-01T00:00:00Z"
    )
    at.db.write(d.v1_conversations.create(old), d.v1_sessions.put(session))
