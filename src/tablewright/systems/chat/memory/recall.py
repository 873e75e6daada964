"""Recall: memories of a user that are near to a question, by meaning and by words (ZC-61, ZC-X20).

Two lists are joined: the vectors nearest to the question, and the memories that have its words, found by beacons.
Must hold: a memory of another user is never found: the index is partitioned by user, and words are hashed with the key
of the user; what has expired is hidden; vectors of different kinds are never compared.
Elsewhere: how memories are made (extraction.py), how a vector is made (embedding.py).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tablewright.design import Write
from tablewright.kit.subject_keys import KeyDestroyed
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Erased
from tablewright.systems.chat.memory.embedding import Embedder, words_of
from tablewright.systems.chat.model import Memory, MemoryKind
from tablewright.systems.chat.repository import Repository

# How much meaning and words count in the score of a memory.
_MEANING, _WORDS = 0.6, 0.4
_CANDIDATES = 30
# Below it a memory has nothing to do with the question.
LEAST_SCORE = 0.15


@dataclass(frozen=True, slots=True)
class Recollection:
    """A memory with its text open, and why it was found: scores from 0 to 1."""

    memory: Memory
    score: float
    by_meaning: float
    by_words: float


class Recall:
    """Searches the memories of one user at a time."""

    def __init__(self, repository: Repository, embedder: Embedder) -> None:
        self._repository, self._embedder = repository, embedder

    def search(
        self,
        user_id: str,
        question: str,
        *,
        kind: MemoryKind | None = None,
        animal_id: str | None = None,
        top: int = 5,
    ) -> list[Recollection]:
        """The memories of a user that match a question best, with their scores."""
        words = set(words_of(question))
        if not words:
            return []
        known = self._all(user_id, kind, animal_id)
        if not known:
            return []
        near = self._by_meaning(user_id, question, kind, animal_id)
        same = self._by_words(user_id, words, known)
        scored = [self._scored(memory, near, same) for memory in known]
        found = sorted((each for each in scored if each.score >= LEAST_SCORE), key=lambda e: -e.score)
        return [self._opened(each) for each in found[:top]]

    def all_of(self, user_id: str) -> list[Memory]:
        """Every memory of a user, open: for the parent (ZC-X7)."""
        return [
            self.opened_memory(memory)
            for memory in self._repository.db.all(d.memories_of_user(user_id=user_id))
        ]

    def forget(self, user_id: str, memory_id: str) -> None:
        """Remove one memory; MEMORY_NOT_FOUND."""
        every = self._repository.db.all(d.memories_of_user(user_id=user_id))
        found = next((memory for memory in every if memory.memory_id == memory_id), None)
        memory = self._repository.found(found, "MEMORY")
        self._repository.write("MEMORY", _removal(memory))

    # --- parts ---

    def _all(self, user_id: str, kind: MemoryKind | None, animal_id: str | None) -> list[Memory]:
        every = self._repository.db.all(d.memories_of_user(user_id=user_id))
        return [
            memory
            for memory in every
            if kind in (None, memory.kind) and animal_id in (None, memory.about_animal)
        ]

    def _by_meaning(
        self, user_id: str, question: str, kind: MemoryKind | None, animal_id: str | None
    ) -> dict[str, float]:
        search = d.memories_like(
            self._embedder.one(question),
            user_id=user_id,
            embedding_kind=self._embedder.kind,
            kind=kind,
            about_animal=animal_id,
        )
        found = self._repository.db.search(search.best(_CANDIDATES))
        # A cosine distance: 0 is the same direction, 1 is none in common.
        return {match.item.memory_id: max(0.0, 1.0 - match.score) for match in found}

    def _by_words(self, user_id: str, words: Iterable[str], known: Sequence[Memory]) -> dict[str, float]:
        """The share of the question's words in each memory; a rare word counts more."""
        keys = self._repository.keys
        asked = {keys.beacon(user_id, "memory", word) for word in words}
        having = Counter(beacon for memory in known for beacon in asked.intersection(memory.words))
        weights = {beacon: math.log(1 + len(known) / (1 + having[beacon])) for beacon in asked}
        whole = sum(weights.values()) or 1.0
        return {
            memory.memory_id: sum(weights[beacon] for beacon in asked.intersection(memory.words)) / whole
            for memory in known
        }

    def _scored(self, memory: Memory, near: dict[str, float], same: dict[str, float]) -> Recollection:
        meaning, words = near.get(memory.memory_id, 0.0), same[memory.memory_id]
        return Recollection(memory, round(_MEANING * meaning + _WORDS * words, 4), meaning, words)

    def _opened(self, found: Recollection) -> Recollection:
        return Recollection(self.opened_memory(found.memory), found.score, found.by_meaning, found.by_words)

    def opened_memory(self, stored: Memory) -> Memory:
        about = f"memory/{stored.memory_id}"
        try:
            text = self._repository.keys.open(stored.user_id, about, stored.text)
        except KeyDestroyed:
            raise Erased from None
        return stored.model_copy(update={"text": text, "embedding": None})


def _removal(memory: Memory) -> Write[Memory]:
    return d.memories.discard(memory.user_id, memory.conversation_id, memory.sequence, memory.number)
