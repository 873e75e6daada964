"""Vectors of texts: near if they mean the same, and of a kind."""

from __future__ import annotations

import math

import pytest

from tablewright.systems.chat.memory import embedding
from tablewright.systems.chat.memory.embedding import (
    DIMENSIONS,
    HASHED_WORDS,
    WORD_VECTORS,
    Embedder,
    hashed_words,
    open_embedder,
    word_vectors,
    words_of,
)

BOTH = [Embedder(WORD_VECTORS, word_vectors), Embedder(HASHED_WORDS, hashed_words)]
SLEEP, FOOD = "how do lions sleep at night", "penguins eat small fish"


def nearness(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("embedder", BOTH, ids=lambda each: each.kind)
@pytest.mark.parametrize("text", ["a red panda", "", "🐼", "\ud800", "the", "x" * 16_000, "\x00\x07"])
def test_a_vector_of_any_text_has_the_length_one(embedder: Embedder, text: str) -> None:
    vector = embedder.one(text)
    assert len(vector) == DIMENSIONS
    assert math.isclose(math.hypot(*vector), 1, abs_tol=1e-9)
    assert all(isinstance(each, float) for each in vector)


@pytest.mark.parametrize("embedder", BOTH, ids=lambda each: each.kind)
def test_the_vectors_of_a_text_are_the_same_alone_and_among_others(embedder: Embedder) -> None:
    alone, (_, among) = embedder.one(SLEEP), embedder.embed([FOOD, SLEEP])
    assert nearness(alone, among) == pytest.approx(1)


def test_word_vectors_find_a_meaning_that_shares_no_word() -> None:
    sleep, food, asked = word_vectors([SLEEP, FOOD, "big cats resting"])
    assert nearness(asked, sleep) > nearness(asked, food)


def test_hashed_words_find_the_same_words() -> None:
    sleep, food, asked = hashed_words([SLEEP, FOOD, "the lion sleeps"])
    assert nearness(asked, sleep) > nearness(asked, food)


def test_the_kind_tells_which_vectors_may_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_embedder().kind == WORD_VECTORS
    monkeypatch.setattr(embedding, "find_spec", lambda name: None)
    assert open_embedder().kind == HASHED_WORDS


def test_words_are_compared_without_case_accents_plurals_and_common_words() -> None:
    assert words_of("The Pandas ate BERRIES at the café") == ["panda", "ate", "berry", "cafe"]
