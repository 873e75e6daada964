"""Tokens: the real count, and an estimate that never says less."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tablewright.systems.chat.memory import tokens
from tablewright.systems.chat.memory.tokens import (
    COMMON_WORDS,
    RARE_PAIRS,
    count_tokens,
    estimate_tokens,
    token_counter,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXT = "The red panda sleeps in a tree for most of the day, and eats bamboo at night. Isn't that nice?"


def test_a_text_is_counted_with_the_vocabulary_of_o200k_base() -> None:
    """ZC-E2."""
    assert count_tokens("hello world") == 2
    assert count_tokens("") == 0
    assert token_counter() is count_tokens


def test_a_special_token_that_a_user_types_is_plain_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_without_the_package_tokens_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    assert token_counter() is estimate_tokens


def test_the_common_words_are_one_token_after_a_space() -> None:
    assert [word for word in COMMON_WORDS if count_tokens(f" {word}") != 1] == []


def test_the_rare_pairs_are_all_pairs_of_letters_that_are_not_a_token() -> None:
    found = {a + b for a in LETTERS for b in LETTERS if count_tokens(a + b) != 1}
    assert found == RARE_PAIRS


def test_a_space_and_a_letter_are_a_token() -> None:
    assert [each for each in LETTERS + LETTERS.upper() if count_tokens(f" {each}") != 1] == []


@settings(max_examples=1500, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text(alphabet=LETTERS + " '", max_size=60),
        st.text(alphabet="qxzjkvw stdmlr'", max_size=40),
        st.text(alphabet="aB cD 09.,'\n\t’é語🐼", max_size=60),
        st.lists(st.sampled_from([*sorted(COMMON_WORDS)[:40], "it's", "Zq", "12345", "🐼", "\n"])).map(
            " ".join
        ),
    )
)
@example("xq")
@example("it'sab'llre'veqz")
@example(" panda's")
@example("\ud800")
@example("a\u0301 the\u0301")
def test_the_estimate_is_never_less_than_the_count(text: str) -> None:
    assert estimate_tokens(text) >= count_tokens(text)


def test_the_estimate_of_plain_english_is_less_than_twice_the_count() -> None:
    assert estimate_tokens(TEXT) < 2 * count_tokens(TEXT)


@pytest.mark.parametrize("text", ["🐼" * 50, "熊猫喜欢吃竹子" * 20, "Привет, как дела?" * 10])
def test_text_of_other_scripts_is_not_under_reported(text: str) -> None:
    """ZC-42, ZC-D16."""
    assert estimate_tokens(text) >= count_tokens(text) > len(text) // 4
