"""Zoo chat's data: conversations, messages, summaries, contexts and memories, and what the blocks of the kit store.

Plain values without storage. Names in JSON and in items are camelCase, as the document's are. Fields that hold a
child's words (`text`, `summary_text`, `data`) are sealed with the key of that child in items, and open in what the
services return; which of both a value has is said where it is made.
Elsewhere: people (family_model.py), animals (zoo_model.py), where each is stored (design/), what is allowed (rules.py).
"""

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from tablewright.kit import audit, outbox, rounds, tasks

Role = Literal["user", "assistant", "system", "tool"]
# `copying`: it is still written in the first version (legacy/router.py), and only read here.
Status = Literal["active", "archived", "summarized", "copying"]
MessageState = Literal["complete", "pending", "failed"]
RetentionClass = Literal[
    "active_conversation",
    "educational_progress",
    "completed_session",
    "completed_program",
    "context_summary",
    "parent_access_logs",
    "audit_log",
]
Category = Literal["preferences", "interests", "learning_style", "favorites"]
Strategy = Literal["buffer", "summary", "hybrid", "vector"]
MemoryKind = Literal["fact", "preference", "summary"]
Thumb = Literal["up", "down"]
# In how many partitions messages are (design/spread.py).
Partitions = Literal[1, 10]
TurnState = Literal["waiting", "answered", "failed", "blocked"]


class Value(BaseModel):
    """Frozen, camelCase outside, nothing unknown inside."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


# --- conversations ---


class ConversationMetadata(Value):
    """Figures of a conversation (ZC-6). Topics are words of a child: they are in its summaries, sealed."""

    total_tokens: int = 0
    average_response_time: int = 0


class Conversation(Value):
    """The header of a conversation of one user with one animal (ZC-6).

    `message_count` counts every message that was appended and not taken back; those that have expired are in it.
    `last_message` is the time of the newest message with microseconds, as text: the next one is later.
    `summarized_through` is the sort key of the last message that a summary covers, `summarized_count` their number.
    """

    user_id: str
    conversation_id: str
    animal_id: str
    animal_name: str
    family_id: str | None = None
    message_count: int = 0
    # The number of the newest message; unlike the count it never decreases.
    last_sequence: int = 0
    # How many messages were taken back or removed: a summary of removed messages is not stored.
    removed_count: int = 0
    reply_count: int = 0
    summary_count: int = 0
    start_time: datetime
    last_activity: datetime
    last_message: str = ""
    end_time: datetime | None = None
    status: Status = "active"
    thread_id: str | None = None
    metadata: ConversationMetadata = ConversationMetadata()
    retention_class: RetentionClass = "active_conversation"
    summarized_through: str | None = None
    summarized_count: int = 0
    # The end of the newest summary: the header does not expire before it (ZC-D13).
    summaries_until: datetime | None = None
    # The number of the last message that memories were extracted from (ZC-X21).
    extracted_through: int = 0
    legacy_conversation_id: str | None = None
    # The status in the first version, while it is copied from there.
    status_in_v1: Literal["active", "archived"] | None = None
    forked_from: str | None = None
    created: datetime
    modified: datetime
    expires_at: datetime
    version: int = 1


class FamilyConversation(Value):
    """What family-conversations-index has of a conversation (ZC-10)."""

    family_id: str | None = None
    created: datetime
    conversation_id: str
    animal_id: str
    user_id: str
    message_count: int
    last_activity: datetime


class ConversationKey(Value):
    """Which conversation an index entry belongs to."""

    user_id: str
    conversation_id: str


class ToolCall(Value):
    """A tool that the model asked for, with its arguments as JSON (ZC-X16)."""

    call_id: str
    name: str
    arguments: str = "{}"


class MessageMetadata(Value):
    """Figures of a message (ZC-7); `latency` in milliseconds."""

    tokens: int = 0
    latency: int = 0
    annotations: list[str] = []
    assistant_id: str | None = None
    model: str | None = None


class Message(Value):
    """One message. A `pending` one is the place of a reply that has not come yet; `failed` if it did not come.

    `sequence` is its number in the conversation, from 1. `flags` are guardrails that it met, `thumb` is the user's.
    `text_object` names the object that has the text if it is too long for an item.
    """

    user_id: str
    conversation_id: str
    message_id: str
    role: Role
    text: str
    text_object: str | None = None
    timestamp: datetime
    sequence: int = 0
    state: MessageState = "complete"
    metadata: MessageMetadata = MessageMetadata()
    run_id: str | None = None
    client_message_id: str | None = None
    reply_to: str | None = None
    tool_calls: list[ToolCall] = []
    tool_call_id: str | None = None
    flags: list[str] = []
    thumb: Thumb | None = None
    summary_id: str | None = None
    retention_class: RetentionClass = "active_conversation"
    created: datetime
    modified: datetime
    expires_at: datetime


class Draft(Value):
    """A message that is to be appended: what its author determines."""

    role: Role
    text: str
    state: MessageState = "complete"
    # Made for each draft: a default that is a value is copied by copy.deepcopy, which takes four times as long.
    metadata: MessageMetadata = Field(default_factory=MessageMetadata)
    message_id: str | None = None
    run_id: str | None = None
    client_message_id: str | None = None
    reply_to: str | None = None
    tool_calls: list[ToolCall] = Field(default_factory=list)
    tool_call_id: str | None = None
    flags: list[str] = Field(default_factory=list)


class Turn(Value):
    """A turn that a client asked for, by the client's id of it: asked for again, it is the same turn (ZC-X3).

    `asked` is a digest of the text: the same id with another text is a mistake of the client.
    """

    user_id: str
    conversation_id: str
    client_message_id: str
    asked: str
    user_message_id: str
    reply_message_id: str | None = None
    # Times of messages as they stand in keys, with microseconds.
    user_timestamp: str
    reply_timestamp: str | None = None
    state: TurnState = "waiting"
    attempts: int = 1
    leased_until: datetime | None = None
    created: datetime
    modified: datetime
    expires_at: datetime
    version: int = 1


class LegacyAlias(Value):
    """Where a conversation of the first version is now (ZC-D15)."""

    legacy_conversation_id: str
    user_id: str
    conversation_id: str
    created: datetime
    modified: datetime
    expires_at: datetime


# --- memory ---


class MessageRange(Value):
    """Which messages a summary covers (ZC-8)."""

    start_message_id: str
    end_message_id: str
    message_count: int


class SummaryMetadata(Value):
    """Figures of a summary (ZC-8, ZC-D17)."""

    compression_ratio: Decimal = Decimal(0)
    topics_extracted: list[str] = []
    sentiment_score: Decimal | None = None


class Summary(Value):
    """The summary of a batch of messages: `batch_001`, `batch_002` and so on."""

    user_id: str
    conversation_id: str
    batch_id: str
    summary_id: str
    summary_text: str
    message_range: MessageRange
    timestamp: datetime
    metadata: SummaryMetadata = SummaryMetadata()
    retention_class: RetentionClass = "context_summary"
    created: datetime
    modified: datetime
    expires_at: datetime


class ContextEntry(Value):
    """One thing that is known of a user. In items `sealed` is the name and the value as JSON, sealed."""

    sealed: str
    confidence: Decimal
    message_ids: list[str] = []
    updated: datetime


class Context(Value):
    """What is known of a user in a category (ZC-9). The names in `data` are beacons: they reveal nothing."""

    user_id: str
    category: Category
    data: dict[str, ContextEntry] = {}
    confidence: Decimal = Decimal(1)
    last_updated: datetime
    created: datetime
    modified: datetime
    expires_at: datetime
    version: int = 1


class Memory(Value):
    """Something worth recalling, with the messages it came from (ZC-X20).

    `words` are beacons of its words. `embedding_kind` names what made the vector: kinds are never compared.
    """

    user_id: str
    conversation_id: str
    sequence: int
    number: int
    memory_id: str
    kind: MemoryKind
    about_animal: str
    text: str
    words: list[str] = []
    embedding: tuple[float, ...] | None = None
    embedding_kind: str
    message_ids: list[str]
    confidence: Decimal = Decimal(1)
    created: datetime
    modified: datetime
    expires_at: datetime


# --- blocks of the kit ---


class Task(tasks.Task):
    """Delayed work; what it is about is in its fields, by `kind`."""

    user_id: str = ""
    conversation_id: str = ""
    subject: str = ""
    after: str = ""
    payload: dict[str, JsonValue] = Field(default_factory=dict)


class Mail(outbox.Message, Value):
    """A mail in the outbox; `user_id` is whom it is about."""

    user_id: str | None = None


class AuditEntry(audit.AuditEntry, Value):
    """An entry of the compliance log; `subject` such as `child:{id}`, `conversation:{id}` or `animal:{id}`."""

    subject: str


class Position(rounds.Position):
    """How far a round over everybody has come."""
