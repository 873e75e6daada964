"""Guardrails over a text: what is let through, hidden, refused or escalated, in both directions (ZC-X2, ZC-E3). Pure.

A guardrail has phrases: words, `*` at the end of a word for any ending, `|` between words of which one has to be
there, `...` for up to BETWEEN other words, `^` at the beginning for the start of a message. They are compared with
folded words, so that tricks of spelling do not help. There are no regular expressions: staff write phrases, and none
of them may take long. Phrases about self-harm are built in and cannot be switched off (ZC-X25).
Must hold: the strongest action wins: escalate, then block, then redact; a text that is let through is unchanged.
Elsewhere: the built-in phrases (safety_phrases.py), what a turn does with a verdict (turns.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tablewright.systems.chat.talk.folded_text import Word, folded_words
from tablewright.systems.chat.talk.safety_phrases import ESCALATED, EXCEPTIONS, INSTRUCTIONS, REFERRED
from tablewright.systems.chat.zoo_model import Direction, Guardrail

Outcome = Literal["allow", "redact", "block", "escalate"]
_STRENGTH: dict[str, int] = {"allow": 0, "redact": 1, "block": 2, "escalate": 3}
HIDDEN = "***"
MOST_WORDS = 8
GAP, BETWEEN, MOST_GAPS = "...", 5, 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a text. `text` is what may be shown; `guardrails` the ids of those that it met."""

    outcome: Outcome
    text: str
    guardrails: tuple[str, ...] = ()
    reply: str = ""
    is_crisis: bool = False

    @property
    def is_escalated(self) -> bool:
        return self.outcome == "escalate"

    @property
    def message_flags(self) -> list[str]:
        """The flags of a message with this verdict."""
        return [*self.guardrails, *([ESCALATED] if self.is_escalated and not self.is_crisis else [])]

    @property
    def reply_flags(self) -> list[str]:
        """The flags of the reply to it."""
        return [REFERRED] if self.is_crisis else [ESCALATED] if self.is_escalated else []


class BadPhrase(ValueError):
    """A phrase that would match everything, nothing, or too slowly."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    # For each word of the text those that fit; none for a gap.
    words: tuple[tuple[str, ...], ...]
    at_start: bool
    guardrail: int


@dataclass(frozen=True, slots=True)
class _Match:
    guardrail: int
    start: int
    end: int


class Moderator:
    """Checks texts against guardrails; made once for a set of them."""

    def __init__(self, guardrails: Sequence[Guardrail]) -> None:
        self._guardrails = [each for each in guardrails if each.is_enabled]
        self._by_first: dict[str, list[_Phrase]] = {}
        self._prefixes: list[_Phrase] = []
        for number, guardrail in enumerate(self._guardrails):
            for text in guardrail.phrases:
                self._add(_parsed(text, number))

    def _add(self, phrase: _Phrase) -> None:
        for first in phrase.words[0]:
            alone = _Phrase(((first,), *phrase.words[1:]), phrase.at_start, phrase.guardrail)
            if first.endswith("*"):
                self._prefixes.append(alone)
            else:
                self._by_first.setdefault(first, []).append(alone)

    def check(self, text: str, direction: Direction) -> Verdict:
        """The verdict on a message of a child (`input`) or on a reply (`output`)."""
        found = [each for each in self._matches(text) if self._applies(each, direction)]
        if not found:
            return Verdict("allow", text)
        met = [self._guardrails[each.guardrail] for each in found]
        worst = max(met, key=lambda each: (_STRENGTH[each.action], each.is_crisis))
        hidden = _hidden(text, [m for m in found if self._guardrails[m.guardrail].action == "redact"])
        ids = tuple(dict.fromkeys(each.guardrail_id for each in met))
        return Verdict(worst.action, hidden, ids, worst.reply, any(each.is_crisis for each in met))

    def _applies(self, match: _Match, direction: Direction) -> bool:
        return self._guardrails[match.guardrail].direction in (direction, "both")

    def _matches(self, text: str) -> Iterable[_Match]:
        yield from self._matches_in(folded_words(text))
        if "1" in text or "|" in text:
            yield from self._matches_in(folded_words(text, "l"))

    def _matches_in(self, words: Sequence[Word]) -> Iterable[_Match]:
        for at, word in enumerate(words):
            for phrase in (*self._by_first.get(word.text, ()), *self._prefixes):
                if (end := _end(phrase, words, at)) is not None:
                    yield _Match(phrase.guardrail, word.start, words[end - 1].end)


# Guardrails are read again every few seconds, and hardly ever are other phrases in them.
@lru_cache(maxsize=4096)
def _parsed(text: str, guardrail: int) -> _Phrase:
    at_start = text.startswith("^")
    written = text.removeprefix("^").split()
    words = tuple(each for raw in written for each in _fitting(raw))
    gaps = sum(not each for each in words)
    letters = sum(min(len(one.strip("*")) for one in each) for each in words if each)
    is_open = "*" in written or not words or not words[0] or not words[-1] or gaps > MOST_GAPS
    if is_open or len(words) - gaps > MOST_WORDS or letters < 3:
        raise BadPhrase(
            f"'{text}': a phrase has 1 to {MOST_WORDS} words, at least 3 letters, and words around each {GAP}."
        )
    return _Phrase(words, at_start, guardrail)


def _fitting(raw: str) -> list[tuple[str, ...]]:
    """The words that a written word stands for, each with those that fit there."""
    if raw == GAP:
        return [()]
    choices = [_folded_phrase(each) for each in raw.split("|")]
    if len(choices) == 1:
        return [(each,) for each in choices[0]]
    if any(len(each) != 1 for each in choices):
        raise BadPhrase(f"'{raw}': write one whole word on each side of |.")
    return [tuple(each[0] for each in choices)]


def _folded_phrase(raw: str) -> list[str]:
    folded = [each.text for each in folded_words(raw.rstrip("*"))]
    return [*folded[:-1], f"{folded[-1]}*"] if raw.endswith("*") and folded else folded


def refuse_bad_phrases(phrases: Iterable[str]) -> None:
    """Raise BadPhrase for one that cannot be used."""
    for each in phrases:
        _parsed(each, 0)


def _end(phrase: _Phrase, words: Sequence[Word], at: int) -> int | None:
    """Where the phrase ends that begins here; None if it does not."""
    end = None if phrase.at_start and at else _end_of(phrase.words, words, at)
    if end is None:
        return None
    following = tuple(each.text for each in words[end : end + 2])
    return None if any(following[: len(harmless)] == harmless for harmless in EXCEPTIONS) else end


def _end_of(wanted: Sequence[tuple[str, ...]], words: Sequence[Word], at: int) -> int | None:
    for place, fitting in enumerate(wanted):
        if not fitting:
            ends = (_end_of(wanted[place + 1 :], words, at + skipped) for skipped in range(BETWEEN + 1))
            return next((end for end in ends if end is not None), None)
        if at >= len(words) or not _fits(words[at].text, fitting):
            return None
        at += 1
    return at


def _fits(word: str, fitting: tuple[str, ...]) -> bool:
    return any(word.startswith(each[:-1]) if each.endswith("*") else word == each for each in fitting)


def _hidden(text: str, matches: Sequence[_Match]) -> str:
    parts, end = [], 0
    for each in sorted(matches, key=lambda each: each.start):
        if each.start >= end:
            parts += [text[end : each.start], HIDDEN]
        end = max(end, each.end)
    return "".join([*parts, text[end:]])


# --- instructions ---

_INSTRUCTIONS = [_parsed(text, 0) for text in INSTRUCTIONS]


def looks_like_instructions(text: str) -> bool:
    """Whether a sentence is addressed to a model rather than to an animal: it is not summarised (ZC-D39)."""
    words = folded_words(text)
    return any(
        _end(phrase, words, at) is not None for at in range(len(words)) for phrase in _INSTRUCTIONS
    ) or any(
        mark in text.casefold()
        for mark in ("<|", "[inst]", "<<sys", "### system", "### instruction", "system:")
    )
