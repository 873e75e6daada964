"""Messages of users who write more than one partition takes: spread over ten, by a digest of the message id (ZC-66).

The document takes the suffix from a salted hash of the user, which spreads nothing (ZC-D35). Here each conversation is
in one partition or in ten, for ever, and its id says which (rules.py); a user's record says which the next one is.
Must hold: a message has the same sort key in both places, so that ten partitions merge into the order of one.
Elsewhere: who chooses between both entities (talk/message_places.py). Programs with the role `student` do not read
these partitions: the tag of a principal cannot name ten of them.
"""

from datetime import datetime, timedelta

from tablewright.design import Data, Expires, Load, Retention, begins, between
from tablewright.systems.chat.design.base import CHAT, MESSAGES
from tablewright.systems.chat.design.conversations import MESSAGE_STATES, conversation_table, message_key
from tablewright.systems.chat.model import Message

__all__ = [
    "spread_messages",
    "spread_messages_before",
    "spread_messages_from",
    "spread_messages_of_conversation",
    "spread_messages_of_user",
]

# One message in a hundred is of such a user.
_MANY = MESSAGES / 100
spread_messages = conversation_table.entity(
    Message,
    message_key,
    tag="spread_message",
    pk="USER#{user_id}#{message_id:shard.10}",
    sk="MSG#{conversation_id}#{timestamp:us}#{message_id}",
    states=MESSAGE_STATES,
    expires=Expires("expires_at"),
    data={"text": Data.CHILD, "tool_calls": Data.CHILD, "thumb": Data.CHILD, "flags": Data.CHILD},
    retention=Retention(timedelta(days=30), "to continue the chat"),
    load={
        "create": Load(per_month=_MANY, item_bytes=900, transaction=True),
        "update": Load(per_month=_MANY / 2, item_bytes=900, transaction=True),
    },
)


@CHAT.query(
    spread_messages, pk="USER#{user_id}#{message_id:shard.10}", sk=begins("MSG#{conversation_id}#"), descending=True,
    page=20, at_most=100, consistent=True, load=Load(per_month=_MANY, items=20, item_bytes=900),
)  # fmt: skip
def spread_messages_of_conversation(*, user_id: str, conversation_id: str) -> None:
    """The messages of a conversation in ten partitions, the newest first."""


@CHAT.query(
    spread_messages, pk="USER#{user_id}#{message_id:shard.10}",
    sk=between("MSG#{conversation_id}#{since:us}", "MSG#{conversation_id}#{until:us}"),
    page=20, consistent=True, load=Load(per_month=_MANY / 10, items=20, item_bytes=900),
)  # fmt: skip
def spread_messages_from(
    *, user_id: str, conversation_id: str, since: datetime | None = None, until: datetime | None = None
) -> None:
    """The messages of a conversation in ten partitions from a moment on, the oldest first."""


@CHAT.query(
    spread_messages, pk="USER#{user_id}#{message_id:shard.10}",
    sk=between("MSG#{conversation_id}#{since:us}", "MSG#{conversation_id}#{until:us}"), descending=True, page=20,
    roles=("zookeeper",), load=Load(per_month=5, items=5, item_bytes=900),
)  # fmt: skip
def spread_messages_before(
    *, user_id: str, conversation_id: str, since: datetime | None = None, until: datetime | None = None
) -> None:
    """What was said before a message in ten partitions, the newest first: for the review of a flag."""


@CHAT.query(
    spread_messages, pk="USER#{user_id}#{message_id:shard.10}", sk=begins("MSG#"), page=100, at_most=100,
    load=Load(per_month=50, items=500, item_bytes=900),
)  # fmt: skip
def spread_messages_of_user(*, user_id: str) -> None:
    """All messages of a user that are in ten partitions: for an export and an erasure."""
