"""The table `conversation-v2`: conversations, messages, summaries, contexts, memories and turns (A.0, A.2).

Everything of a user is in the partition USER#{userId}, but for messages of users with very many (spread.py). Only
conversations have `familyId`, `animalId` in an index and `statusShard` (ZC-D32): messages, summaries and memories are
in no index of theirs.
"""

from datetime import datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, States, begins, between
from tablewright.systems.chat.design.base import CHAT, CONVERSATIONS, DIMENSIONS, MESSAGES, QUARTER
from tablewright.systems.chat.model import (
    Category,
    Context,
    Conversation,
    ConversationKey,
    FamilyConversation,
    LegacyAlias,
    Memory,
    MemoryKind,
    Message,
    Status,
    Summary,
    Turn,
)

__all__ = [
    "CONVERSATION_STATES",
    "MESSAGE_STATES",
    "TURN_STATES",
    "aliases",
    "animal_index",
    "contexts",
    "contexts_of_user",
    "conversation_by_id",
    "conversation_table",
    "conversations",
    "conversations_by_animal",
    "conversations_by_status",
    "conversations_of_family",
    "conversations_of_user",
    "everything_of_user",
    "family_index",
    "memories",
    "memories_like",
    "memories_of_conversation",
    "memories_of_user",
    "memory_index",
    "messages",
    "messages_from",
    "messages_of_conversation",
    "messages_of_user",
    "owner_index",
    "status_index",
    "summaries",
    "summaries_of_conversation",
    "summaries_of_user",
    "turns",
    "turns_of_conversation",
    "turns_of_user",
]

_MONTH, _HALF_YEAR = timedelta(days=30), timedelta(days=180)
CONVERSATION_STATES = States(
    "status",
    start="active",
    moves={
        "active": {"archived": ("user", "parent", "system"), "copying": ("migration",)},
        # Only what is archived and summarised to its last message (ZC-D8).
        "archived": {"active": ("user", "parent"), "summarized": ("system",), "copying": ("migration",)},
        "summarized": {"active": ("user", "parent"), "copying": ("migration",)},
        "copying": {"active": ("migration",), "archived": ("migration",)},
    },
)
# A reply is written as pending, its text by one update later; other messages are complete from the start. A reply that
# has failed may be tried again, and fail again; the user may ask for another one in its place.
MESSAGE_STATES = States(
    "state",
    start="pending",
    moves={
        "pending": {"complete": ("system",), "failed": ("system",)},
        "failed": {"complete": ("system",), "failed": ("system",), "pending": ("user",)},
        "complete": {"pending": ("user",)},
    },
)
TURN_STATES = States(
    "state",
    start="waiting",
    moves={
        "waiting": {"answered": ("system",), "failed": ("system",)},
        # The client asks for the same turn again.
        "failed": {"waiting": ("user",)},
        # Asked for again while another reply is made in the place of its own.
        "answered": {"failed": ("system",)},
    },
)
conversation_table = CHAT.table(
    "conversation-v2",
    pk="PK",
    sk="SK",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    # Read whole once a day, to verify that what has expired was deleted (ZC-25).
    whole=True,
    discriminator="entityType",
    about="Conversations and what belongs to them, by user.",
)
family_index = conversation_table.gsi(
    "family-conversations-index",
    pk="familyId",
    sk="created",
    project=("conversationId", "animalId", "userId", "messageCount", "lastActivity"),
)
# The document has keys only. Reads could not tell what has expired by them (ZC-D31), so `ttl` goes along, and the two
# ids with it. Neither id changes, so a message writes these indexes only where a day or the ttl changes.
_IDS = ("conversationId", "userId")
animal_index = conversation_table.gsi("animal-conversations-index", pk="animalId", sk="created", project=_IDS)
status_index = conversation_table.gsi("status-index", pk="statusShard", sk="lastActivityDay", project=_IDS)
# Not in the document: who has a conversation, for readers who have its id alone.
owner_index = conversation_table.gsi("conversation-id-index", pk="conversationKey", project=_IDS)
memory_index = conversation_table.vectors(
    "memory-index",
    of="embedding",
    dimensions=DIMENSIONS,
    partition="userId",
    filters=("embeddingKind", "kind", "aboutAnimal"),
)


def conversation_key(user_id: str, conversation_id: str) -> None: ...
def message_key(user_id: str, conversation_id: str, timestamp: datetime, message_id: str) -> None: ...
def summary_key(user_id: str, conversation_id: str, batch_id: str) -> None: ...
def context_key(user_id: str, category: Category) -> None: ...
def memory_key(user_id: str, conversation_id: str, sequence: int, number: int) -> None: ...
def turn_key(user_id: str, conversation_id: str, client_message_id: str) -> None: ...
def alias_key(legacy_conversation_id: str) -> None: ...


conversations = conversation_table.entity(
    Conversation,
    conversation_key,
    tag="conversation",
    pk="USER#{user_id}",
    sk="CONV#{conversation_id}",
    on={
        family_index: Keys("{family_id}", "{created}"),
        animal_index: Keys("{animal_id}", "{created}"),
        status_index: Keys("{status}#{conversation_id:shard.8}", "{last_activity:day}"),
        owner_index: Keys("{conversation_id}"),
    },
    version="version",
    states=CONVERSATION_STATES,
    expires=Expires("expires_at"),
    data={
        "family_id": Data.CHILD,
        "thread_id": Data.CHILD,
        "metadata": Data.CHILD,
        "legacy_conversation_id": Data.CHILD,
        "last_activity": Data.CHILD,
    },
    retention=Retention(
        _MONTH, "to continue the chat; renewed by each message, and not before its summaries"
    ),
    load={
        "create": Load(per_month=CONVERSATIONS, item_bytes=700, transaction=True),
        "update": Load(
            per_month=MESSAGES / 2,
            item_bytes=700,
            transaction=True,
            changes=("message_count", "last_activity", "last_message", "expires_at"),
        ),
        "change": Load(per_month=CONVERSATIONS, item_bytes=700, transaction=True),
    },
)
messages = conversation_table.entity(
    Message,
    message_key,
    tag="message",
    pk="USER#{user_id}",
    sk="MSG#{conversation_id}#{timestamp:us}#{message_id}",
    states=MESSAGE_STATES,
    expires=Expires("expires_at"),
    data={"text": Data.CHILD, "tool_calls": Data.CHILD, "thumb": Data.CHILD, "flags": Data.CHILD},
    retention=Retention(_MONTH, "to continue the chat"),
    load={
        "create": Load(per_month=MESSAGES, item_bytes=900, transaction=True),
        "update": Load(per_month=MESSAGES / 2, item_bytes=900, transaction=True),
    },
)
summaries = conversation_table.entity(
    Summary,
    summary_key,
    tag="summary",
    pk="USER#{user_id}",
    sk="SUMMARY#{conversation_id}#{batch_id}",
    expires=Expires("expires_at"),
    data={"summary_text": Data.CHILD, "metadata": Data.CHILD},
    retention=Retention(_HALF_YEAR, "to continue a chat whose messages were deleted"),
    load={"create": Load(per_month=MESSAGES / 20, item_bytes=1500, transaction=True)},
)
contexts = conversation_table.entity(
    Context,
    context_key,
    tag="context",
    pk="USER#{user_id}",
    sk="CONTEXT#{category}",
    version="version",
    expires=Expires("expires_at"),
    data={"data": Data.CHILD},
    retention=Retention(QUARTER, "educational progress, if a parent allowed it"),
    load={"upsert": Load(per_month=MESSAGES / 20, item_bytes=1500)},
)
memories = conversation_table.entity(
    Memory,
    memory_key,
    tag="memory",
    pk="USER#{user_id}",
    sk="MEMORY#{conversation_id}#{sequence:8}#{number:2}",
    expires=Expires("expires_at"),
    data={"text": Data.CHILD, "words": Data.CHILD, "embedding": Data.CHILD},
    retention=Retention(QUARTER, "to recall what was talked about, if a parent allowed it"),
    load={"create": Load(per_month=MESSAGES / 10, item_bytes=4200, transaction=True)},
)
turns = conversation_table.entity(
    Turn,
    turn_key,
    tag="turn",
    pk="USER#{user_id}",
    sk="TURN#{conversation_id}#{client_message_id}",
    version="version",
    states=TURN_STATES,
    expires=Expires("expires_at"),
    retention=Retention(_MONTH, "to recognise a repeated request as long as its messages are kept"),
    load={
        "create": Load(per_month=MESSAGES / 2, item_bytes=400, transaction=True),
        "change": Load(per_month=MESSAGES / 2, item_bytes=400, transaction=True),
    },
)
aliases = conversation_table.entity(
    LegacyAlias,
    alias_key,
    tag="alias",
    pk="LEGACY#{legacy_conversation_id}",
    sk="ALIAS",
    expires=Expires("expires_at"),
    data={"user_id": Data.CHILD, "legacy_conversation_id": Data.CHILD},
    retention=Retention(_HALF_YEAR, "to find a conversation by its old id"),
    load={"create": Load(per_month=10, item_bytes=200, transaction=True)},
)


# --- access patterns ---


@CHAT.query(
    conversations, pk="USER#{user_id}", sk=begins("CONV#"), descending=True, page=20, at_most=100, roles=("student",),
    load=Load(per_month=60_000, items=20, item_bytes=700),
)  # fmt: skip
def conversations_of_user(*, user_id: str) -> None:
    """A user's conversations, the newest first (ZC-14, ZC-D6)."""


@CHAT.query(
    conversations.view(FamilyConversation), on=family_index, pk="{family_id}", descending=True, page=50, at_most=200,
    roles=("parent",),
    load=Load(per_month=5_000, items=50, item_bytes=300),
)  # fmt: skip
def conversations_of_family(*, family_id: str) -> None:
    """The conversations of a family, the newest first (ZC-15); who may read them is checked when they are read."""


@CHAT.query(
    conversations.view(ConversationKey), on=animal_index, pk="{animal_id}", sk=between("{since}", "{until}"),
    descending=True, page=100, roles=("zookeeper",), load=Load(per_month=1_000, items=100, item_bytes=150),
)  # fmt: skip
def conversations_by_animal(
    *, animal_id: str, since: datetime | None = None, until: datetime | None = None
) -> None:
    """The conversations with an animal, the newest first (ZC-19)."""


@CHAT.query(
    conversations.view(ConversationKey), on=status_index, pk="{status}#{conversation_id:shard.8}",
    sk=between("{since:day}", "{until:day}"), page=100,
    load=Load(per_month=3_000, items=50, item_bytes=150),
)  # fmt: skip
def conversations_by_status(
    *, status: Status, since: datetime | None = None, until: datetime | None = None
) -> None:
    """Conversations in a status by the day of their last message, the oldest first (ZC-20, ZC-D7)."""


@CHAT.query(
    conversations.view(ConversationKey), on=owner_index, pk="{conversation_id}", page=1,
    load=Load(per_month=20_000, item_bytes=150),
)  # fmt: skip
def conversation_by_id(*, conversation_id: str) -> None:
    """Who has a conversation; decisions rest on a consistent read of the conversation itself."""


@CHAT.query(
    messages, pk="USER#{user_id}", sk=begins("MSG#{conversation_id}#"), descending=True, page=20, at_most=100,
    roles=("student",),
    consistent=True, load=Load(per_month=400_000, items=20, item_bytes=900),
)  # fmt: skip
def messages_of_conversation(*, user_id: str, conversation_id: str) -> None:
    """The messages of a conversation, the newest first (ZC-13, ZC-D5)."""


@CHAT.query(
    messages, pk="USER#{user_id}",
    sk=between("MSG#{conversation_id}#{since:us}", "MSG#{conversation_id}#{until:us}"),
    page=20, consistent=True, load=Load(per_month=50_000, items=20, item_bytes=900),
)  # fmt: skip
def messages_from(
    *, user_id: str, conversation_id: str, since: datetime | None = None, until: datetime | None = None
) -> None:
    """The messages of a conversation from a moment on, the oldest first: for summaries (ZC-D11)."""


@CHAT.query(
    messages, pk="USER#{user_id}", sk=begins("MSG#"), page=100, load=Load(per_month=50, items=500, item_bytes=900)
)  # fmt: skip
def messages_of_user(*, user_id: str) -> None:
    """All messages of a user: for an export."""


@CHAT.query(
    summaries, pk="USER#{user_id}", sk=begins("SUMMARY#{conversation_id}#"), descending=True, page=10,
    load=Load(per_month=210_000, items=3, item_bytes=1500),
)  # fmt: skip
def summaries_of_conversation(*, user_id: str, conversation_id: str) -> None:
    """The summaries of a conversation, the newest first."""


@CHAT.query(
    summaries, pk="USER#{user_id}", sk=begins("SUMMARY#"), page=100,
    load=Load(per_month=50, items=50, item_bytes=1500),
)  # fmt: skip
def summaries_of_user(*, user_id: str) -> None:
    """All summaries of a user."""


@CHAT.query(
    contexts, pk="USER#{user_id}", sk=begins("CONTEXT#"), page=10, consistent=True,
    load=Load(per_month=210_000, items=2, item_bytes=1500),
)  # fmt: skip
def contexts_of_user(*, user_id: str) -> None:
    """What is known of a user, by category."""


@CHAT.query(
    memories, pk="USER#{user_id}", sk=begins("MEMORY#"), page=100,
    load=Load(per_month=50_000, items=50, item_bytes=4200),
)  # fmt: skip
def memories_of_user(*, user_id: str) -> None:
    """All memories of a user."""


@CHAT.query(
    memories, pk="USER#{user_id}", sk=begins("MEMORY#{conversation_id}#"), page=100,
    load=Load(per_month=500, items=5, item_bytes=4200),
)  # fmt: skip
def memories_of_conversation(*, user_id: str, conversation_id: str) -> None:
    """The memories of a conversation."""


@CHAT.query(
    turns, pk="USER#{user_id}", sk=begins("TURN#"), page=100, load=Load(per_month=50, items=20, item_bytes=400)
)  # fmt: skip
def turns_of_user(*, user_id: str) -> None:
    """The turns of a user."""


@CHAT.query(
    turns, pk="USER#{user_id}", sk=begins("TURN#{conversation_id}#"), page=100,
    load=Load(per_month=500, items=20, item_bytes=400),
)  # fmt: skip
def turns_of_conversation(*, user_id: str, conversation_id: str) -> None:
    """The turns of a conversation."""


@CHAT.query(
    conversations, messages, summaries, contexts, pk="USER#{user_id}", page=100, others=True, consistent=True,
    load=Load(per_month=50, items=600, item_bytes=900),
)  # fmt: skip
def everything_of_user(*, user_id: str) -> None:
    """The partition of a user: for its deletion."""


@CHAT.search(memories, on=memory_index, top=10, load=Load(per_month=50_000, items=500))
def memories_like(
    *, user_id: str, embedding_kind: str, kind: MemoryKind | None = None, about_animal: str | None = None
) -> None:
    """The memories of a user nearest to a vector."""
