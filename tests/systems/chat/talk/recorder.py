"""Models that tests look into: what they were asked, and replies as a test wants them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tablewright.systems.chat.memory.summary_text import SummaryText
from tablewright.systems.chat.memory.tokens import count_tokens
from tablewright.systems.chat.memory.window import WindowMessage
from tablewright.systems.chat.talk.events import Event
from tablewright.systems.chat.talk.models import ModelAway, Spoken
from tablewright.systems.chat.talk.providers import Providers


@dataclass
class Recorder:
    """A third party that records every byte it gets. `replies` are used in order; the last one for all further ones."""

    replies: list[str | Exception] = field(default_factory=lambda: ["I am a big animal. I like you."])
    asked: list[tuple[str, tuple[Spoken, ...]]] = field(default_factory=list)
    summarised: list[tuple[WindowMessage, ...]] = field(default_factory=list)
    name: str = "recorder"
    leaves_machine: bool = True
    # If it is set, a reply waits for it after its first word.
    gate: threading.Event | None = None

    def reply(self, system: str, messages: Sequence[Spoken], max_tokens: int) -> Iterator[str]:
        self.asked.append((system, tuple(messages)))
        said = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(said, Exception):
            raise said
        first, *others = said.split(" ")
        yield first
        if self.gate is not None:
            assert self.gate.wait(20)
        for word in others:
            yield f" {word}"

    def summarise(self, messages: Sequence[WindowMessage], names: Sequence[str] = ()) -> SummaryText:
        self.summarised.append(tuple(messages))
        return SummaryText("A talk.", (), 0.1)

    @property
    def bytes_received(self) -> str:
        """Everything that left the machine."""
        return repr(self.asked) + repr(self.summarised)

    def providers(self) -> Providers:
        return Providers(count_tokens, self, self)


AWAY = ModelAway("status 503", 7)


def kinds(events: Sequence[Event]) -> list[str]:
    return [type(each).__name__ for each in events]
