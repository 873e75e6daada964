"""Where the messages of a conversation are: in the partition of their user, or spread over ten (ZC-66).

Must hold: the id of a conversation alone decides it, so every process reads and writes at the same place whatever it
has read of the user before. Elsewhere: the two entities (design/conversations.py, design/spread.py), which of both a
new conversation gets (conversations.py).
"""

from datetime import datetime
from typing import Any

from tablewright.design import Entity, Query
from tablewright.systems.chat import design as d
from tablewright.systems.chat.model import Message
from tablewright.systems.chat.rules import is_spread

MESSAGE_TAGS = (d.messages.tag, d.spread_messages.tag)


def messages_in(conversation_id: str) -> Entity[Message, Any]:
    """The entity of the messages of a conversation."""
    return d.spread_messages if is_spread(conversation_id) else d.messages


def newest_first(user_id: str, conversation_id: str) -> Query[Message]:
    """The messages of a conversation, the newest first."""
    pattern = d.spread_messages_of_conversation if is_spread(conversation_id) else d.messages_of_conversation
    return pattern(user_id=user_id, conversation_id=conversation_id)


def said_before(user_id: str, conversation_id: str, until: datetime) -> Query[Message]:
    """The messages of a conversation up to a moment, the newest first."""
    pattern = d.spread_messages_before if is_spread(conversation_id) else d.messages_before
    return pattern(user_id=user_id, conversation_id=conversation_id, until=until)


def oldest_first(user_id: str, conversation_id: str, since: datetime | None = None) -> Query[Message]:
    """The messages of a conversation from a moment on, the oldest first."""
    pattern = d.spread_messages_from if is_spread(conversation_id) else d.messages_from
    return pattern(user_id=user_id, conversation_id=conversation_id, since=since)
