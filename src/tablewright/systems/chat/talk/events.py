"""What happens in a turn, in its order: what a client is sent while a reply is made."""

from dataclasses import dataclass
from typing import TypeAlias

from tablewright.systems.chat.model import Message
from tablewright.systems.chat.talk.disclosures import Notice


@dataclass(frozen=True, slots=True)
class Accepted:
    """The message of the user is stored; `is_repeated` if it was before."""

    message: Message
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something to say before the reply: that it is a computer program, or that it is time for a break."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class Part:
    """The next part of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """The reply is this text, and not the parts before."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The reply is stored."""

    message: Message


@dataclass(frozen=True, slots=True)
class Failed:
    """No reply came, and why. The message of the user is kept; the same request again tries again."""

    code: str
    text: str
    retry_after: int | None = None


Event: TypeAlias = Accepted | Noticed | Part | Replaced | Done | Failed
