"""The window: what a model reads of a conversation, within a budget of tokens (ZC-38..43, ZC-D14, ZC-D19). Pure.

Must hold: the total is never over the budget. What is known of the user is always in it, the least certain left out
first. Summaries and messages are left out from the oldest on, never one from between; what is left is in the order of
time. The newest message is always in it: it takes from the share of the summaries if it must, and is shortened only
if it is longer than everything that is left beside what is known. What one part does not use, messages use.
Elsewhere: how tokens are counted (tokens.py), the prompt that is made of a window (talk/prompts.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tablewright.systems.chat.memory.tokens import Count
from tablewright.systems.chat.model import Role, Strategy

T = TypeVar("T")
CUT = " [...] "
DEFAULT_BUFFER = 10


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for a window; messages have what the other two leave (ZC-38)."""

    total: int = 4000
    contexts: int = 500
    summaries: int = 1500

    def __post_init__(self) -> None:
        if self.total < 1 or self.contexts < 0 or self.summaries < 0:
            raise ValueError("A budget has at least one token, and no negative part.")


@dataclass(frozen=True, slots=True)
class Known:
    """Something that is known of the user, with how certain it is (0 to 1)."""

    category: str
    text: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Recap:
    """A summary of earlier messages."""

    text: str
    batch_id: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that is near to the question; the highest score is the nearest."""

    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message. `summarized` ones are covered by a summary."""

    role: Role
    text: str
    message_id: str = ""
    summarized: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that could be in a window. Summaries and messages from the oldest to the newest."""

    contexts: Sequence[Known] = ()
    summaries: Sequence[Recap] = ()
    messages: Sequence[WindowMessage] = ()
    recalled: Sequence[Recalled] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """How many tokens a part of a window has, of how many it could have, and what was left out."""

    tokens: int
    at_most: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Window:
    """What a model reads, each part in the order in which it is read; `shares` are by part, for the inspector."""

    contexts: tuple[Known, ...]
    summaries: tuple[Recap, ...]
    recalled: tuple[Recalled, ...]
    messages: tuple[WindowMessage, ...]
    total_tokens: int
    budget: Budget
    shares: dict[str, Share]
    is_cut: bool = False

    @property
    def budget_utilization(self) -> float:
        """0 to 1 (ZC-43)."""
        return self.total_tokens / self.budget.total


def build_window(
    contexts: Sequence[Known],
    summaries: Sequence[Recap],
    messages: Sequence[WindowMessage],
    budget: Budget,
    count: Count,
    recalled: Sequence[Recalled] = (),
    line_end: int = 0,
) -> Window:
    """The window of everything that fits. Memories share the budget of the summaries, and are chosen before them.

    `line_end` are the tokens behind each of what is known, memories and summaries: they are sent as lines.
    """

    def count_line(text: str) -> int:
        return count(text) + line_end

    certain = sorted(contexts, key=lambda each: -each.confidence)
    limit = min(budget.contexts, budget.total)
    known, known_tokens = _fitting(certain, lambda each: each.text, limit, count_line)
    left = budget.total - known_tokens
    newest_tokens = min(count(messages[-1].text), left) if messages else 0
    for_past = min(budget.summaries, left - newest_tokens)
    nearest = sorted(recalled, key=lambda each: -each.score)
    near, near_tokens = _fitting(nearest, lambda each: each.text, for_past, count_line)
    left_of_past = for_past - near_tokens
    recaps, recap_tokens = _fitting(summaries[::-1], lambda each: each.text, left_of_past, count_line)
    for_messages = left - near_tokens - recap_tokens
    lines, line_tokens = _fitting(messages[::-1], lambda each: each.text, for_messages, count)
    is_cut = bool(messages) and not lines
    if is_cut:
        lines = (replace(messages[-1], text=shortened(messages[-1].text, for_messages, count)),)
        line_tokens = count(lines[0].text)
    shares = {
        "contexts": Share(known_tokens, budget.contexts, len(contexts) - len(known)),
        "recalled": Share(near_tokens, for_past, len(recalled) - len(near)),
        "summaries": Share(recap_tokens, budget.summaries, len(summaries) - len(recaps)),
        "messages": Share(line_tokens, for_messages, len(messages) - len(lines)),
    }
    total = known_tokens + near_tokens + recap_tokens + line_tokens
    return Window(known, recaps[::-1], near, lines[::-1], total, budget, shares, is_cut)


def _fitting(
    ranked: Sequence[T], text: Callable[[T], str], limit: int, count: Count
) -> tuple[tuple[T, ...], int]:
    """The first ones that fit together, and their tokens. It ends at the first that does not fit: none is skipped."""
    used = 0
    for number, each in enumerate(ranked):
        tokens = count(text(each))
        if used + tokens > limit:
            return tuple(ranked[:number]), used
        used += tokens
    return tuple(ranked), used


def one_line(text: str) -> str:
    """Without line breaks and angle brackets, so that no text can look like another part of the notes."""
    return " ".join(text.replace("<", "(").replace(">", ")").split())


def shortened(text: str, limit: int, count: Count) -> str:
    """A text of at most `limit` tokens: its beginning and its end, which often has the question."""
    if count(text) <= limit:
        return text
    low, high = 0, len(text) // 2
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if count(_ends(text, half)) <= limit else (low, half - 1)
    # A shorter text may have more tokens than a longer one, so the result of the search is checked.
    while low and count(_ends(text, low)) > limit:
        low -= 1
    return _ends(text, low) if low else _first(text, limit, count)


def _ends(text: str, half: int) -> str:
    return text[:half] + CUT + text[len(text) - half :]


def _first(text: str, limit: int, count: Count) -> str:
    size = min(len(text), limit)
    while size and count(text[:size]) > limit:
        size -= 1
    return text[:size]


def material_for(strategy: Strategy, every: Material, *, last: int = DEFAULT_BUFFER) -> Material:
    """What a memory strategy considers (ZC-64); an animal has one.

    `buffer`: the last messages alone. `summary`: summaries, and the messages that none covers. `hybrid`: all of both.
    `vector`: memories near to the question, and the last messages. What is known of the user is in each of them.
    """
    if strategy == "buffer":
        return Material(every.contexts, (), every.messages[-last:])
    if strategy == "summary":
        open_ = [each for each in every.messages if not each.summarized]
        return Material(every.contexts, every.summaries, open_ or every.messages[-1:])
    if strategy == "vector":
        return Material(every.contexts, (), every.messages[-last:], every.recalled)
    return Material(every.contexts, every.summaries, every.messages)
