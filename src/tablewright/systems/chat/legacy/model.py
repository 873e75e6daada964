"""The data of the first version: one item for a conversation, with its messages in a list (ZC-3).

Times are texts as programs wrote them, and ids may be missing: what they mean is said where they are converted
(conversion.py). The attributes of phase 1 (ZC-46) may be absent.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

V1Status = Literal["active", "archived"]


class Lenient(BaseModel):
    """Frozen, camelCase outside; unknown attributes are ignored."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class V1Message(Lenient):
    """A message in the list of its conversation. Its metadata are `tokens`, `latency`, and whatever else was noted."""

    message_id: str | None = None
    role: str
    text: str = ""
    timestamp: str | None = None
    metadata: dict[str, JsonValue] = {}


class V1Conversation(Lenient):
    """A conversation with everything in it.

    `message_count` counts every message that was appended; messages that have expired are no longer in the list.
    """

    conversation_id: str
    user_id: str
    animal_id: str
    animal_name: str | None = None
    message_count: int = 0
    start_time: str | None = None
    end_time: str | None = None
    status: V1Status = "active"
    messages: list[V1Message] = []
    thread_id: str | None = None
    # Added in phase 1.
    entity_type: str | None = None
    ttl: int | None = None
    family_id: str | None = None
    summary_count: int | None = None
    metadata: dict[str, JsonValue] | None = None

    @property
    def first_number(self) -> int:
        """The number of the first message in the list, from 1: those before it have expired."""
        return max(0, self.message_count - len(self.messages)) + 1


class V1Session(Lenient):
    """Which conversations a user has: the conversation table has no index by user."""

    user_id: str
    conversation_id: str
    animal_id: str
    start_time: str
