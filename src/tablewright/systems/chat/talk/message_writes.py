"""The writes of which appends, replies and removals are made, with their conditions. Pure: nothing is written here.

Must hold: a write that counts messages is refused if another message or a summary came since its header was read; what
is being moved between versions is not changed (legacy/router.py).
Elsewhere: transactions and their retries (messages.py).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import NotFound
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import BeingMoved, Erased, NoConsent
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.model import Conversation, Message, MessageMetadata, RetentionClass
from tablewright.systems.chat.rules import HEADER_AHEAD, moment, stamp
from tablewright.systems.chat.talk.message_places import messages_in

# --- conditions ---


def user_check(user_id: str, consent: int | None) -> Write[User]:
    """Makes a transaction depend on the user: not being erased, and of this consent generation."""
    check = d.users.check(user_id)
    if consent is None:
        return check.when(lambda u: u.standing == "active")
    return check.when(lambda u: (u.standing == "active") & (u.consent_generation == consent))


def refuse_copying(header: Conversation) -> None:
    """BEING_MOVED while a conversation is written in the first version (ZC-D24)."""
    if header.status == "copying":
        raise BeingMoved


def is_covered(header: Conversation, message: Message) -> bool:
    """Whether a summary covers a message."""
    mark = header.summarized_through
    return mark is not None and message.timestamp <= moment(mark.split("#")[2])


def refusal_of(entity: str, current: object = None) -> Exception:
    """What a refused condition on a conversation or its user means for the caller."""
    if entity == "conversation":
        return NotFound("conversation")
    if isinstance(current, User) and current.standing == "active":
        return NoConsent("What a parent allows was changed at this moment. Try again.")
    return Erased()


# --- headers ---


def header_update(header: Conversation) -> Write[Conversation]:
    """An update of a header; what is being moved between versions is not changed."""
    write = d.conversations.update(header.user_id, header.conversation_id)
    return write.when(lambda c: c.status != "copying")


def counted(header: Conversation, made: Sequence[Message]) -> Write[Conversation]:
    """The header after these messages, if no other message and no summary came in between.

    Which tasks follow is decided by how many messages wait for a summary, so both counts are conditions.
    """
    last = made[-1].timestamp
    # Copies in a fork are older than the fork.
    active = max(last, header.last_activity)
    write = (
        d.conversations.update(header.user_id, header.conversation_id)
        .at(lambda c: c.message_count).add(len(made))
        .at(lambda c: c.last_sequence).set(made[-1].sequence)
        .at(lambda c: c.last_activity).set(active)
        .at(lambda c: c.last_message).set(stamp(last))
        .at(lambda c: c.modified).set(active)
        .at(lambda c: c.metadata.total_tokens).add(sum(message.metadata.tokens for message in made))
        .when(
            lambda c: (c.status == "active") & (c.last_sequence == header.last_sequence)
            & (c.summarized_count == header.summarized_count)
        )
    )  # fmt: skip
    until = max(message.expires_at for message in made)
    if until <= header.expires_at:
        return write
    # A summary that was stored since may have moved the end farther.
    return (
        write.at(lambda c: c.expires_at)
        .set(until + HEADER_AHEAD)
        .when(lambda c: c.expires_at == header.expires_at)
    )


def replied(
    header: Conversation, message: Message, metadata: MessageMetadata, now: datetime
) -> Write[Conversation]:
    """The header's figures after a complete reply, if no other reply came in between."""
    replies = header.reply_count
    average = (header.metadata.average_response_time * replies + metadata.latency) // (replies + 1)
    return (
        header_update(header)
        .at(lambda c: c.modified).set(now)
        .at(lambda c: c.metadata.total_tokens).add(metadata.tokens - message.metadata.tokens)
        .at(lambda c: c.metadata.average_response_time).set(average)
        .at(lambda c: c.reply_count).add(1)
        .when(lambda c: c.reply_count == replies)
    )  # fmt: skip


def discounted(header: Conversation, count: int, covered: int, now: datetime) -> Write[Conversation]:
    """The header without some messages, of which a summary covers `covered`."""
    return (
        header_update(header)
        .at(lambda c: c.message_count).add(-count)
        .at(lambda c: c.removed_count).add(count)
        .at(lambda c: c.summarized_count).add(-covered)
        .at(lambda c: c.modified).set(now)
        .when(lambda c: c.last_sequence == header.last_sequence)
        .when(lambda c: c.summary_count == header.summary_count)
    )  # fmt: skip


# --- messages ---


def message_update(message: Message) -> Write[Message]:
    key = message.user_id, message.conversation_id, message.timestamp, message.message_id
    return messages_in(message.conversation_id).update(*key)


def settled(stored: Message) -> Write[Message]:
    """The text of a reply in its place, unless it has one already: nothing moves a complete one. The text is sealed."""
    write = (
        message_update(stored)
        .at(lambda m: m.text).set(stored.text)
        .at(lambda m: m.metadata).set(stored.metadata)
        .at(lambda m: m.flags).set(stored.flags)
        .at(lambda m: m.tool_calls).set(stored.tool_calls)
        .at(lambda m: m.modified).set(stored.modified)
        .move(stored.state, by="system")
    )  # fmt: skip
    return write if stored.text_object is None else write.at(lambda m: m.text_object).set(stored.text_object)


def removals(found: Sequence[Message], covered: Sequence[Message]) -> Iterator[Write[Any]]:
    """The removal of messages that must still be there, with their turns and what was extracted from them."""
    for message in found:
        key = message.user_id, message.conversation_id, message.timestamp, message.message_id
        discard = messages_in(message.conversation_id).discard(*key)
        yield discard.when(lambda m, same=message.message_id: m.message_id == same)  # type: ignore[misc]  # a default
    turns = {(m.user_id, m.conversation_id, m.client_message_id) for m in found if m.client_message_id}
    for user_id, conversation_id, client in sorted(turns, key=str):
        yield d.turns.discard(user_id, conversation_id, client or "")
    # Memories are extracted only from messages that a summary covers.
    for message in covered:
        yield d.memories.discard(message.user_id, message.conversation_id, message.sequence, 1)


def rederived(message: Message, kept_as: RetentionClass, until: datetime) -> Write[Message]:
    """The message with the ttl of a retention class."""
    return (
        message_update(message)
        .at(lambda m: m.retention_class).set(kept_as)
        .at(lambda m: m.expires_at).set(until)
    )  # fmt: skip
