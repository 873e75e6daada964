"""What replies and what summarises: the interfaces of a language model (ZC-E1), and how a model may fail.

`leaves_machine` says that a model is a third party: it gets words of a child only if a parent consented to disclosure
(ZC-X23). Must hold: a model gets instructions written by staff, and everything else as data (prompts.py).
Elsewhere: the offline persona (persona.py), models over HTTP (openai_client.py), who gets which (providers.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from tablewright.systems.chat.memory.summary_text import SummaryText, summarise
from tablewright.systems.chat.memory.tokens import Count
from tablewright.systems.chat.memory.window import WindowMessage
from tablewright.systems.chat.talk.moderation import looks_like_instructions
from tablewright.systems.chat.talk.scrub import scrub


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message for a model. Instructions are not among them: they are a text of their own."""

    role: Literal["user", "assistant"]
    text: str


class ModelAway(Exception):
    """The model does not reply: not reachable, too slow, overloaded, or its reply broke off.

    `retry_after` is in seconds, if the model said so. The message is for logs and has no words of a child.
    """

    def __init__(self, why: str, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.retry_after = retry_after


class ChatModel(Protocol):
    """Replies as an animal."""

    @property
    def name(self) -> str: ...

    @property
    def leaves_machine(self) -> bool: ...

    def reply(self, system: str, messages: Sequence[Spoken], max_tokens: int) -> Iterator[str]:
        """The reply in parts, as it is made; ModelAway at any moment."""
        ...


class Summariser(Protocol):
    """Makes a short text of a batch of messages."""

    @property
    def leaves_machine(self) -> bool: ...

    def summarise(self, messages: Sequence[WindowMessage], names: Sequence[str] = ()) -> SummaryText:
        """A summary without personal data; `names` are those of the child and the family."""
        ...


@dataclass(frozen=True, slots=True)
class LocalSummariser:
    """Quotes sentences; nothing leaves the machine."""

    count: Count
    leaves_machine: bool = False

    def summarise(self, messages: Sequence[WindowMessage], names: Sequence[str] = ()) -> SummaryText:
        clean = [WindowMessage(each.role, scrub(each.text, names).text, each.message_id) for each in messages]
        return summarise(clean, self.count, leave_out=looks_like_instructions)
