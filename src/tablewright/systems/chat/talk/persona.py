"""The offline persona: an animal that answers from its knowledge, without a language model (ZC-E1). Pure.

It finds the facts that are about the question by their words, their topic and words of the same meaning, weighs rare
words more, and says one it has not said lately. It says so when it does not know. It never repeats what a child
wrote, so nothing that is typed can make it say something else.
Must hold: the same question after the same talk gets the same answer; a reply has at most `max_tokens` tokens.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from tablewright.systems.chat.memory.embedding import words_of
from tablewright.systems.chat.memory.tokens import Count
from tablewright.systems.chat.talk.models import Spoken
from tablewright.systems.chat.talk.persona_phrases import (
    GREETINGS,
    MEANINGS,
    NEXT,
    OPENINGS,
    SMALL_TALK,
    UNKNOWN,
)
from tablewright.systems.chat.zoo_model import Animal, AnimalConfig, Knowledge

NAME = "offline-persona"
# Below this, what a fact shares with a question is chance.
_ENOUGH = 1.0
# Weights of words: of the question itself, and of the same meaning.
_MEANT, _SAME = 1, 2
_PART = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Persona:
    """An animal with its knowledge."""

    animal: Animal
    config: AnimalConfig
    facts: Sequence[Knowledge]
    count: Count
    name: str = NAME
    leaves_machine: bool = False

    def reply(self, system: str, messages: Sequence[Spoken], max_tokens: int) -> Iterator[str]:
        """The reply, word by word. `system` is for language models: a persona knows its animal."""
        said = [each.text for each in messages if each.role == "assistant"]
        asked = next((each.text for each in reversed(messages) if each.role == "user"), "")
        used = 0
        for part in _PART.findall(self.answer(asked, said)):
            used += self.count(part)
            if used > max_tokens:
                return
            yield part

    def answer(self, asked: str, said: Sequence[str]) -> str:
        """What the animal says, after what it has said."""
        turn = len(said)
        small = _small_talk(asked)
        if small is not None:
            return self._told(_pick(SMALL_TALK[small], asked, turn), turn)
        ranked = self._ranked(_meant(asked))
        fresh = [fact for fact in ranked if not _was_said(fact, said)]
        if ranked and not fresh:
            return self._told(f"{NEXT['again']} {ranked[0].text}", turn)
        if fresh:
            follow = f" {fresh[1].text}" if len(fresh) > 1 and fresh[1].topic == fresh[0].topic else ""
            return f"{_pick(OPENINGS, asked, turn)} {fresh[0].text}{follow} {self._next(fresh[0], said, turn)}".strip()
        return self._told(_pick(UNKNOWN, asked, turn), turn) + f" {self._any(said, turn)}"

    def greeting(self) -> str:
        return self.config.greeting

    # --- parts ---

    def _ranked(self, words: Counter[str]) -> list[Knowledge]:
        """The facts about these words, the best one first."""
        rarity = self._rarity()
        scored = [
            (self._score(fact, words, rarity), -number, fact) for number, fact in enumerate(self._enabled)
        ]
        return [
            fact
            for score, _, fact in sorted(scored, key=lambda each: each[:2], reverse=True)
            if score >= _ENOUGH
        ]

    @property
    def _enabled(self) -> list[Knowledge]:
        return [fact for fact in self.facts if fact.is_enabled]

    def _rarity(self) -> dict[str, float]:
        """How telling a word is: one that every fact has tells nothing."""
        facts = self._enabled
        spread = Counter(word for fact in facts for word in _keywords(fact))
        return {word: math.log(1 + len(facts) / times) for word, times in spread.items()}

    def _score(self, fact: Knowledge, words: Counter[str], rarity: dict[str, float]) -> float:
        """The words of the question that a fact has; of those of the same meaning the best one only, and half."""
        own, asked_for = _keywords(fact), {*map(_stem, fact.words), _stem(fact.topic)}
        values = {
            word: (rarity.get(word, 0.0) if word in own else 0.0) + (1.5 if word in asked_for else 0.0)
            for word in words
        }
        same = sum(values[word] for word in words if words[word] == _SAME)
        meant = max((values[word] for word in words if words[word] == _MEANT), default=0.0)
        return 2 * same + meant

    def _next(self, fact: Knowledge, said: Sequence[str], turn: int) -> str:
        """A question about a topic that was not talked about."""
        others = dict.fromkeys(
            each.topic for each in self._enabled if each.topic != fact.topic and not _was_said(each, said)
        )
        if not others:
            return NEXT["end"]
        topics = list(others)
        return NEXT["topic"].format(topic=topics[turn % len(topics)])

    def _any(self, said: Sequence[str], turn: int) -> str:
        fresh = [fact for fact in self._enabled if not _was_said(fact, said)] or self._enabled
        return f"{NEXT['instead']} {fresh[turn % len(fresh)].text}" if fresh else ""

    def _told(self, template: str, turn: int) -> str:
        topics = list(dict.fromkeys(fact.topic for fact in self._enabled)) or ["animals"]
        return template.format(
            name=self.animal.name, species=self.animal.species, topic=topics[turn % len(topics)]
        )


def _keywords(fact: Knowledge) -> frozenset[str]:
    return frozenset(map(_stem, (*words_of(fact.text), *fact.words, fact.topic)))


def _stem(word: str) -> str:
    """A word without the endings of English verbs and plurals, so that `eating`, `eats` and `eat` meet."""
    found = next(iter(words_of(word)), word.casefold())
    for ending in ("ing", "ed", "er"):
        if found.endswith(ending) and len(found) - len(ending) >= 3:
            found = found.removesuffix(ending)
            return found[:-1] if len(found) > 3 and found[-1] == found[-2] else found
    return found.removesuffix("e") if len(found) > 3 else found


_MEANINGS = {_stem(word): [_stem(other) for other in same] for same in MEANINGS for word in same}


def _meant(asked: str) -> Counter[str]:
    """The words of a question, and with less weight those of the same meaning."""
    words = [_stem(word) for word in words_of(asked)]
    meant: Counter[str] = Counter()
    for word in dict.fromkeys(words):
        meant[word] = _SAME
        for other in _MEANINGS.get(word, ()):
            meant[other] = max(meant[other], _MEANT)
    for phrase, other in _ASKED:
        if phrase in asked.casefold():
            meant[_stem(other)] = _SAME
    return meant


# Questions by words that are too common to count.
_ASKED = (
    ("where do you", "home"), ("where are you from", "home"), ("how old", "age"), ("how long do you live", "age"),
    ("how big", "size"), ("how tall", "size"), ("how much do you weigh", "size"), ("how fast", "speed"),
    ("what do you like to do", "play"), ("who are your friends", "family"), ("what do you look like", "body"),
)  # fmt: skip


def _small_talk(asked: str) -> str | None:
    """The kind of small talk that a short message is; None for a question."""
    text = " ".join(re.findall(r"[^\W_]+", asked.casefold().replace("'", "").replace("’", "")))
    for kind, phrases in GREETINGS.items():
        for phrase in phrases:
            if text == phrase or (
                f" {phrase} " in f" {text} " and len(text.split()) <= len(phrase.split()) + 2
            ):
                return kind
    return None if text else "nothing"


def _was_said(fact: Knowledge, said: Sequence[str]) -> bool:
    return any(fact.text in each for each in said)


def _pick(choices: Sequence[str], asked: str, turn: int) -> str:
    """One of them, by the question and the length of the talk: a repeated request has the same reply."""
    hashed = int.from_bytes(blake2b(asked.encode("utf-8", "replace"), digest_size=4).digest(), "big")
    return choices[(hashed + turn) % len(choices)]
