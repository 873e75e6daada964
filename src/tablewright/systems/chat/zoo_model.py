"""The zoo: animals with their configuration and knowledge, guardrails, the review queue, popularity and use of tokens.

Plain values without storage. None of them has words of a child: a review flag says where the message is.
Elsewhere: conversations (model.py), where each is stored (design/zoo.py).
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from tablewright.systems.chat.model import Strategy, Value

Action = Literal["redact", "block", "escalate"]
Direction = Literal["input", "output", "both"]
FlagKind = Literal["crisis", "guardrail", "reported", "output"]
FlagState = Literal["open", "resolved"]
Severity = Literal["low", "medium", "high"]
SafetyCount = Literal[
    "referrals",
    "escalated",
    "blocked",
    "redacted",
    "replies_replaced",
    "disclosures",
    "breaks",
    "parent_reads",
]


# --- animals ---


class Animal(Value):
    """An animal of the zoo. `config_version` is the configuration that children talk to; a disabled one takes no new
    chats and no messages."""

    animal_id: str
    name: str
    species: str
    picture: str = "paw"
    is_enabled: bool = False
    config_version: int = 0
    created: datetime
    modified: datetime
    version: int = 1


class AnimalConfig(Value):
    """A version of what an animal is like (ZC-X5); never changed after it was written.

    `personality` and `instructions` are written by staff and are the only text that becomes a model's instructions.
    """

    animal_id: str
    config_version: int
    personality: str
    greeting: str
    instructions: str = ""
    strategy: Strategy = "hybrid"
    buffer_messages: int = 10
    token_limit: int = 4000
    reply_tokens: int = 300
    author: str
    note: str = ""
    created: datetime


class AnimalDetails(Value):
    """What a visitor reads beside the cage."""

    animal_id: str
    scientific_name: str
    home: str
    food: str
    size: str
    life_span: str
    status: str
    modified: datetime
    version: int = 1


class Knowledge(Value):
    """A fact of an animal, in its own voice. `words` are words of questions that it answers."""

    animal_id: str
    knowledge_id: str
    topic: str
    text: str
    words: list[str] = Field(default_factory=list)
    is_enabled: bool = True
    modified: datetime
    version: int = 1


# --- guardrails ---


class Guardrail(Value):
    """Phrases that are not let through, and what happens to a message with one (ZC-X2).

    `redact` hides the phrase, `block` refuses the message, `escalate` answers with `reply` and flags it for review.
    """

    guardrail_id: str
    title: str
    action: Action
    direction: Direction = "both"
    phrases: list[str]
    reply: str = ""
    is_crisis: bool = False
    is_enabled: bool = True
    modified_by: str = "system"
    modified: datetime
    version: int = 1


class ReviewFlag(Value):
    """A message that a zookeeper should look at. The text is in the message, sealed."""

    flag_id: str
    kind: FlagKind
    severity: Severity
    state: FlagState = "open"
    user_id: str
    conversation_id: str
    message_id: str
    # The time of the message as in its key, with microseconds.
    message_at: str
    animal_id: str
    guardrails: list[str] = Field(default_factory=list)
    reported_by: str | None = None
    resolved_by: str | None = None
    resolution: str | None = None
    created: datetime
    resolved_at: datetime | None = None
    expires_at: datetime
    version: int = 1


# --- figures ---


class AnimalDay(Value):
    """How an animal was talked to on a day (ZC-D43)."""

    animal_id: str
    day: date
    conversations: int = 0
    messages: int = 0
    thumbs_up: int = 0
    thumbs_down: int = 0
    summaries: int = 0
    # The sum of what the day's summaries have left of their messages, in ten-thousandths.
    compression: int = 0
    expires_at: datetime


class UsageDay(Value):
    """What replies and summaries of an animal cost on a day (ZC-X13). `cost` is in dollars; here they cost nothing."""

    animal_id: str
    day: date
    model: str
    replies: int = 0
    failures: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal = Decimal(0)
    milliseconds: int = 0
    expires_at: datetime


class SafetyDay(Value):
    """How often the protocols were used on a day: referrals to a crisis line, disclosures and so on (ZC-X25)."""

    day: date
    counts: dict[SafetyCount, int] = Field(default_factory=dict)
    by_guardrail: dict[str, int] = Field(default_factory=dict)
    expires_at: datetime


class Disclosure(Value):
    """When a user was last told that the animal is a computer program, and how long the talk goes on (ZC-X25)."""

    user_id: str
    last_notice_at: datetime
    last_message_at: datetime
    notices: int = 0
    breaks: int = 0
    created: datetime
    modified: datetime
    expires_at: datetime
    version: int = 1
