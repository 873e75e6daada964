"""The offline summary of a batch of messages: sentences chosen by frequent words and by position (ZC-E1).

It quotes; it never follows. A sentence that looks like an instruction to a model is left out, so that it does not
come back as one (ZC-D39). Must hold: at most CAP tokens, about TARGET; sentences in the order of the conversation.
Elsewhere: when a batch is summarised (summaries.py), a summary by a model (talk/openai_client.py).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tablewright.systems.chat.memory.embedding import words_of
from tablewright.systems.chat.memory.tokens import Count
from tablewright.systems.chat.memory.window import WindowMessage, shortened

# Of 20 messages: about 200 tokens, never over 300 (ZC-34, ZC-D39).
TARGET, CAP = 200, 300
# Less would not hold a question and its answer.
LEAST = 40
TOPICS = 5
_SENTENCE = re.compile(r"[^.!?\n…]+[.!?…]*", re.UNICODE)
# What stands in place of personal data (talk/scrub.py) is not a topic.
_PLACEHOLDER = re.compile(r"\[[a-z -]+\]")
_SPEAKERS = {"user": "The child", "assistant": "The animal"}
# A longer sentence is a list or a paste: its beginning says what it is about.
_SENTENCE_TOKENS = 60
_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The tokens that a model read and wrote."""

    model: str
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary, what it is about, and how its length compares with the messages (0.1: a tenth).

    `use` is what a third party is paid for it; None if it was made on this machine.
    """

    text: str
    topics: tuple[str, ...]
    compression_ratio: float
    use: ModelUse | None = None


@dataclass(frozen=True, slots=True)
class _Sentence:
    role: str
    text: str
    place: int
    score: float = 0.0


def nothing(text: str) -> bool:
    """For `leave_out`: no sentence."""
    return False


def summarise(
    messages: Sequence[WindowMessage],
    count: Count,
    *,
    target: int = TARGET,
    cap: int = CAP,
    leave_out: Callable[[str], bool] = nothing,
) -> SummaryText:
    """The most telling sentences of a batch, each with its speaker; of a short one at most half of its length."""
    sentences = [each for each in _sentences(messages, count) if not leave_out(each.text)]
    frequency = Counter(word for each in sentences for word in set(words_of(each.text)))
    size = sum(count(each.text) for each in messages)
    chosen = _chosen(_scored(sentences, frequency), count, min(target, max(LEAST, size // 2)))
    text = shortened(_told(chosen), cap, count)
    return SummaryText(text, topics_of(messages, leave_out), round(count(text) / size, 4) if size else 0.0)


def topics_of(
    messages: Sequence[WindowMessage], leave_out: Callable[[str], bool] = nothing
) -> tuple[str, ...]:
    """The words that most messages share, at most five; a word of the child counts twice."""
    weights: Counter[str] = Counter()
    for message in messages:
        if message.role in _SPEAKERS and not leave_out(message.text):
            told = words_of(_PLACEHOLDER.sub(" ", message.text))
            for word in {word for word in told if len(word) > 2 and word.isalpha()}:
                weights[word] += 2 if message.role == "user" else 1
    ranked = sorted(weights, key=lambda word: (-weights[word], word))
    return tuple(word for word in ranked if weights[word] > 1)[:TOPICS]


def _sentences(messages: Sequence[WindowMessage], count: Count) -> list[_Sentence]:
    spoken = [each for each in messages if each.role in _SPEAKERS]
    return [
        _Sentence(message.role, shortened(" ".join(found.split()), _SENTENCE_TOKENS, count), place)
        for place, message in enumerate(spoken)
        for found in _SENTENCE.findall(message.text)
        if found.strip(" \t.!?…")
    ]


def _scored(sentences: Sequence[_Sentence], frequency: Counter[str]) -> list[_Sentence]:
    last = max((each.place for each in sentences), default=0) or 1
    return [
        _Sentence(each.role, each.text, each.place, _score(each, frequency, each.place / last))
        for each in sentences
    ]


def _score(sentence: _Sentence, frequency: Counter[str], where: float) -> float:
    """Frequent words by the root of the length, so that neither long nor short sentences win for their length alone.

    Questions of the child, and what stands at the beginning and the end of the batch, count more (ZC-34).
    """
    words = set(words_of(sentence.text))
    if not words:
        return 0.0
    common = sum(frequency[word] for word in words) / math.sqrt(len(words))
    is_question = sentence.role == "user" and sentence.text.endswith("?")
    at_the_ends = 1.2 if where < 0.1 or where > 0.9 else 1.0
    return common * at_the_ends * (1.5 if is_question else 1.2 if sentence.role == "user" else 1.0)


def _chosen(sentences: Sequence[_Sentence], count: Count, target: int) -> list[_Sentence]:
    """The best ones within the target, in the order of the conversation; none twice."""
    best: dict[int, _Sentence] = {}
    seen: set[str] = set()
    for number in sorted(range(len(sentences)), key=lambda number: -sentences[number].score)[:_CANDIDATES]:
        each = sentences[number]
        same = " ".join(words_of(each.text))
        trial = [sentences[kept] for kept in sorted((*best, number))]
        if each.score and same not in seen and count(_told(trial)) <= target:
            best[number] = each
            seen.add(same)
    return [best[number] for number in sorted(best)]


def _told(sentences: Sequence[_Sentence]) -> str:
    """Sentences with their speakers: `The child: ... The animal: ...`."""
    parts, speaker = [], ""
    for each in sentences:
        said = _SPEAKERS[each.role]
        parts.append(each.text if said == speaker else f"{said}: {each.text}")
        speaker = said
    return " ".join(parts)
