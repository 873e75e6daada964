"""The window of a conversation at this moment: what the stores have, as the material of the allocator (ZC-18).

Must hold: what is known and summarised is here as the line that is sent, and names and other personal data are
scrubbed, before tokens are counted: so the budget holds for what is sent; messages after the one that is replied to,
replies that are not complete, and turns that were escalated (ZC-X25) are not in it. Memories are recalled only for a
user whose parent allowed it (ZC-X26).
Elsewhere: the allocation (window.py), the prompt (talk/prompts.py).
"""

from collections.abc import Sequence
from datetime import datetime

from tablewright.systems.chat.family.consent import may_profile
from tablewright.systems.chat.family_model import User
from tablewright.systems.chat.memory.contexts import Contexts
from tablewright.systems.chat.memory.recall import Recall
from tablewright.systems.chat.memory.summaries import Summaries
from tablewright.systems.chat.memory.tokens import Count
from tablewright.systems.chat.memory.window import (
    Budget,
    Known,
    Material,
    Recalled,
    Recap,
    Window,
    WindowMessage,
    build_window,
    material_for,
    one_line,
)
from tablewright.systems.chat.model import Conversation, Message
from tablewright.systems.chat.talk.message_writes import is_covered
from tablewright.systems.chat.talk.messages import Messages
from tablewright.systems.chat.talk.safety_phrases import is_escalated
from tablewright.systems.chat.talk.scrub import NamesOf, own_name, scrub
from tablewright.systems.chat.zoo_model import AnimalConfig

# More than fit into 4 000 tokens, but for very short ones.
MOST_MESSAGES, MOST_SUMMARIES, MOST_MEMORIES = 100, 10, 5


class Windows:
    """Makes windows."""

    def __init__(
        self,
        messages: Messages,
        summaries: Summaries,
        contexts: Contexts,
        recall: Recall,
        count: Count,
        names_of: NamesOf = own_name,
    ) -> None:
        self._messages, self._summaries, self._contexts = messages, summaries, contexts
        self._recall, self._count, self._names_of = recall, count, names_of

    def of(
        self,
        user: User,
        conversation: Conversation,
        config: AnimalConfig,
        *,
        limit: int,
        until: datetime | None = None,
    ) -> Window:
        """What a model reads of a conversation, up to the message of a moment, within `limit` tokens at most."""
        names = self._names_of(user)
        messages = self._lines(conversation, until, names)
        question = messages[-1].text if messages else ""
        every = Material(
            self._known(user, names),
            self._recaps(conversation, names),
            messages,
            self._recalled(user, config, question, names),
        )
        chosen = material_for(config.strategy, every, last=config.buffer_messages)
        budget = budget_of(min(limit, config.token_limit))
        return build_window(
            chosen.contexts,
            chosen.summaries,
            chosen.messages,
            budget,
            self._count,
            chosen.recalled,
            line_end=1,
        )

    def _lines(
        self, conversation: Conversation, until: datetime | None, names: Sequence[str]
    ) -> list[WindowMessage]:
        newest = self._messages.newest_of_window(conversation, MOST_MESSAGES)
        return [_line(conversation, each, names) for each in newest if _is_read(each, until)]

    def _known(self, user: User, names: Sequence[str]) -> list[Known]:
        if not may_profile(user):
            return []
        return [
            Known(
                context.category,
                _noted(f"Known ({context.category})", scrub(entry.words, names).text),
                float(entry.confidence),
            )
            for context in self._contexts.of(user.user_id)
            for entry in context.entries
        ]

    def _recaps(self, conversation: Conversation, names: Sequence[str]) -> list[Recap]:
        found = self._summaries.of(conversation, MOST_SUMMARIES)
        return [
            Recap(_noted("Earlier", scrub(each.summary_text, names).text), each.batch_id) for each in found
        ]

    def _recalled(
        self, user: User, config: AnimalConfig, question: str, names: Sequence[str]
    ) -> list[Recalled]:
        if config.strategy != "vector" or not may_profile(user):
            return []
        found = self._recall.search(user.user_id, question, top=MOST_MEMORIES)
        return [
            Recalled(_noted("Remembered", scrub(each.memory.text, names).text), each.score) for each in found
        ]


def budget_of(total: int) -> Budget:
    """500 and 1 500 of 4 000 (ZC-38), and the same shares of less."""
    return Budget(total, min(500, total // 8), min(1500, total * 3 // 8))


def _is_read(message: Message, until: datetime | None) -> bool:
    is_said = message.state == "complete" and bool(message.text) and message.role in ("user", "assistant")
    return is_said and not is_escalated(message) and (until is None or message.timestamp <= until)


def _line(conversation: Conversation, message: Message, names: Sequence[str]) -> WindowMessage:
    text = scrub(message.text, names).text
    return WindowMessage(message.role, text, message.message_id, is_covered(conversation, message))


def _noted(label: str, text: str) -> str:
    """A line of the notes as a model reads it."""
    return f"{label}: {one_line(text)}"
