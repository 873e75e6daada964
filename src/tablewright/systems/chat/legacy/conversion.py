"""Between both versions: one item of the first becomes a header, an item for each message, and an alias; and back.

The same item always becomes the same items. New ids come from the old one: a ULID of the start time and a uuid5, so ids
are in the order of creation. A message without an id gets a uuid5 of its number, one without a time the time of the
message before it (ZC-S12). Times in a conversation strictly increase in the second version: a message that is not later
than the one before it is moved just behind it (ZC-D44). Every ttl comes from the time of a message, not from that of
the migration (ZC-D22). Metadata that the second version has no name for become an annotation, for the way back.
Elsewhere: seals and items (migration.py), what has expired (preparation.py).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import JsonValue

from tablewright.systems.chat.legacy.model import V1Conversation, V1Message, V1Status
from tablewright.systems.chat.model import (
    Conversation,
    ConversationMetadata,
    LegacyAlias,
    Message,
    MessageMetadata,
)
from tablewright.systems.chat.repository import is_conversation_id
from tablewright.systems.chat.rules import HEADER_AHEAD, MICROSECOND, RetentionPeriods, stamp, ulid
from tablewright.world import derived_id

NAMESPACE = "https://quest.zoo.example/conversation"
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_FIGURES = ("tokens", "latency")
# Marks an annotation that holds metadata of the first version, as JSON.
LEGACY_NOTE = "v1:"
# The metadata of the first version that hold the flags of a message.
_FLAGS = "guardrailFlags"
# Of an item of the first version: 400 KB, with room for attributes and a message more.
MOST_BYTES = 380_000


# --- ids and times ---


def new_id(conversation: V1Conversation) -> str:
    """The id in the second version; an id of the second version is kept."""
    old = conversation.conversation_id
    if is_conversation_id(old):
        return old
    return f"conv_{ulid(start_of(conversation), derived_id(NAMESPACE, old))}"


def moment_of(text: str | None) -> datetime | None:
    """A time as programs wrote it, in UTC also without a zone; None if it is none (ZC-D36)."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def start_of(conversation: V1Conversation) -> datetime:
    """When a conversation began: its start time, or that of its first message."""
    times = (conversation.start_time, *(message.timestamp for message in conversation.messages))
    return next((found for text in times if (found := moment_of(text)) is not None), _BEGINNING)


def dated(conversation: V1Conversation) -> Iterator[tuple[int, datetime, str, V1Message]]:
    """Each message with its number, its time and its id in the second version."""
    least = _BEGINNING
    for number, message in enumerate(conversation.messages, conversation.first_number):
        given = moment_of(message.timestamp) or max(least, start_of(conversation))
        at = max(given.astimezone(UTC), least)
        id = message.message_id or derived_id(NAMESPACE, f"{conversation.conversation_id}/{number}")
        yield number, at, id, message
        least = at + MICROSECOND


# --- to the second version ---


def header_of(conversation: V1Conversation, periods: RetentionPeriods) -> Conversation:
    """The header of a conversation while it is copied: nothing can be written to it in the second version yet."""
    messages = list(dated(conversation))
    start = start_of(conversation)
    last = messages[-1][1] if messages else start
    return Conversation(
        user_id=conversation.user_id,
        conversation_id=new_id(conversation),
        animal_id=conversation.animal_id,
        animal_name=conversation.animal_name or conversation.animal_id,
        family_id=conversation.family_id,
        message_count=max(conversation.message_count, len(messages)),
        last_sequence=messages[-1][0] if messages else conversation.message_count,
        reply_count=sum(message.role == "assistant" for *_, message in messages),
        start_time=start,
        last_activity=last,
        last_message=stamp(last) if messages else "",
        end_time=moment_of(conversation.end_time),
        status="copying",
        status_in_v1=conversation.status,
        thread_id=conversation.thread_id,
        metadata=_figures([message for *_, message in messages]),
        legacy_conversation_id=conversation.conversation_id,
        created=start,
        modified=last,
        expires_at=periods.until("active_conversation", last) + HEADER_AHEAD,
    )


def _figures(messages: Sequence[V1Message]) -> ConversationMetadata:
    waits = [_whole(message.metadata.get("latency")) for message in messages if message.role == "assistant"]
    return ConversationMetadata(
        total_tokens=sum(_whole(message.metadata.get("tokens")) for message in messages),
        average_response_time=sum(waits) // len(waits) if waits else 0,
    )


def messages_of(conversation: V1Conversation, periods: RetentionPeriods) -> list[Message]:
    """The messages of a conversation, with open texts."""
    owner, conversation_id = conversation.user_id, new_id(conversation)
    return [
        Message(
            user_id=owner,
            conversation_id=conversation_id,
            message_id=message_id,
            role="assistant" if message.role == "assistant" else "user",
            text=message.text,
            timestamp=at,
            sequence=number,
            flags=_flags_in(message.metadata),
            metadata=metadata_of(message.metadata),
            created=at,
            modified=at,
            expires_at=periods.until("active_conversation", at),
        )
        for number, at, message_id, message in dated(conversation)
    ]


def alias_of(header: Conversation, periods: RetentionPeriods) -> LegacyAlias:
    """By which the conversation is found under its old id; it outlives the messages that it may lead to."""
    assert header.legacy_conversation_id is not None
    return LegacyAlias(
        legacy_conversation_id=header.legacy_conversation_id,
        user_id=header.user_id,
        conversation_id=header.conversation_id,
        created=header.created,
        modified=header.modified,
        expires_at=periods.until("context_summary", header.last_activity) + HEADER_AHEAD,
    )


def _whole(value: JsonValue) -> int:
    return int(value) if isinstance(value, int | float) and value >= 0 else 0


def flags_note(flags: Sequence[str]) -> dict[str, JsonValue]:
    """The flags of a message as metadata of the first version: what was escalated stays so after the cut-over."""
    return {_FLAGS: list(flags)} if flags else {}


def _flags_in(noted: Mapping[str, JsonValue]) -> list[str]:
    found = noted.get(_FLAGS)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def metadata_of(noted: Mapping[str, JsonValue]) -> MessageMetadata:
    """Tokens and latency are figures; an assistant's id has its place; the rest becomes an annotation."""
    rest = {
        name: value
        for name, value in noted.items()
        if not (name in _FIGURES and _whole(value) == value)
        and name not in ("annotations", "assistantId", _FLAGS)
    }
    known = noted.get("annotations")
    annotations = [str(one) for one in known] if isinstance(known, list) else []
    if rest:
        annotations.append(LEGACY_NOTE + json.dumps(rest, sort_keys=True))
    assistant = noted.get("assistantId")
    return MessageMetadata(
        tokens=_whole(noted.get("tokens")),
        latency=_whole(noted.get("latency")),
        annotations=annotations,
        assistant_id=assistant if isinstance(assistant, str) else None,
    )


# --- and back ---


def v1_of(header: Conversation, messages: Sequence[Message]) -> V1Conversation | None:
    """A conversation as the first version has it; None if it was never there.

    Only complete messages of the user and the animal; of more than an item holds, the newest.
    """
    if header.legacy_conversation_id is None:
        return None
    kept = [message for message in messages if message.role in ("user", "assistant")]
    listed = newest_that_fit([v1_message(message) for message in kept if message.state == "complete"])
    status = header.status_in_v1 if header.status == "copying" else _V1_STATUS[header.status]
    return V1Conversation(
        conversation_id=header.legacy_conversation_id,
        user_id=header.user_id,
        animal_id=header.animal_id,
        animal_name=header.animal_name,
        message_count=max(header.message_count, len(listed)),
        start_time=stamp(header.start_time),
        end_time=stamp(header.end_time) if header.end_time else None,
        status=status or "active",
        messages=listed,
        thread_id=header.thread_id,
        entity_type="conversation",
        family_id=header.family_id,
        summary_count=header.summary_count,
        ttl=int(header.expires_at.timestamp()),
        metadata=cast(dict[str, JsonValue], header.metadata.model_dump(mode="json", by_alias=True)),
    )


_V1_STATUS: Mapping[str, V1Status] = {"active": "active", "archived": "archived", "summarized": "archived"}


def v1_message(message: Message) -> V1Message:
    known: dict[str, Any] = flags_note(message.flags)
    figures = {"tokens": message.metadata.tokens, "latency": message.metadata.latency}
    known |= {name: value for name, value in figures.items() if value}
    for note in message.metadata.annotations:
        if note.startswith(LEGACY_NOTE):
            known |= json.loads(note.removeprefix(LEGACY_NOTE))
        else:
            known.setdefault("annotations", []).append(note)
    if message.metadata.assistant_id:
        known["assistantId"] = message.metadata.assistant_id
    return V1Message(
        message_id=message.message_id,
        role=message.role,
        text=message.text,
        timestamp=stamp(message.timestamp),
        metadata=known,
    )


def newest_that_fit(messages: Sequence[V1Message]) -> list[V1Message]:
    """The newest messages that fit into an item."""
    size, found = 0, list[V1Message]()
    for message in reversed(messages):
        size += 200 + len(message.text.encode()) + len(json.dumps(message.metadata))
        if size > MOST_BYTES:
            break
        found.append(message)
    return found[::-1]
