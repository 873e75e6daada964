"""The window of a model: never over its budget, always with the newest message."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.systems.chat.memory.tokens import count_tokens, estimate_tokens
from tablewright.systems.chat.memory.window import (
    Budget,
    Known,
    Material,
    Recalled,
    Recap,
    WindowMessage,
    build_window,
    material_for,
    shortened,
)


def words(text: str) -> int:
    """A token is a word here, so that lengths can be read off."""
    return len(text.split())


def text_of(tokens: int, name: str = "w") -> str:
    return " ".join([name] * tokens)


def test_zc_s6_contexts_are_trimmed_and_the_newest_summaries_and_messages_fill_the_rest() -> None:
    """ZC-37, ZC-38, ZC-40, ZC-41, ZC-43, ZC-D14, ZC-D19."""
    contexts = [Known("interests", text_of(100, f"c{n}"), n / 10) for n in range(8)]
    summaries = [Recap(text_of(400, f"s{n}"), f"batch_{n:03d}") for n in range(1, 7)]
    messages = [WindowMessage("user", text_of(100, f"m{n}")) for n in range(1, 51)]
    window = build_window(contexts, summaries, messages, Budget(), words)
    assert window.shares["contexts"].tokens == 500
    assert [each.confidence for each in window.contexts] == [0.7, 0.6, 0.5, 0.4, 0.3]
    assert [each.batch_id for each in window.summaries] == ["batch_004", "batch_005", "batch_006"]
    assert window.shares["summaries"].tokens == 1200
    assert [each.text.split()[0] for each in window.messages] == [f"m{n}" for n in range(28, 51)]
    assert window.total_tokens == 500 + 1200 + 2300 == 4000
    assert window.budget_utilization == 1.0


def test_what_contexts_and_summaries_do_not_use_flows_to_messages() -> None:
    """ZC-41."""
    messages = [WindowMessage("user", text_of(100)) for _ in range(60)]
    assert len(build_window([], [], messages, Budget(), words).messages) == 40


def test_large_contexts_do_not_suppress_summaries() -> None:
    """ZC-39, ZC-D14."""
    contexts = [Known("interests", text_of(5000)), Known("favorites", text_of(500), 0.1)]
    window = build_window(contexts, [Recap(text_of(1500))], [WindowMessage("user", "hi")], Budget(), words)
    assert len(window.summaries) == 1
    # The most certain one does not fit, and a less certain one never takes its place.
    assert window.contexts == ()


def test_a_newest_message_that_is_too_long_takes_the_share_of_the_summaries() -> None:
    window = build_window(
        [Known("interests", text_of(500))],
        [Recap(text_of(400)) for _ in range(3)],
        [WindowMessage("user", text_of(3000))],
        Budget(),
        words,
    )
    assert (len(window.contexts), len(window.summaries), window.is_cut) == (1, 1, False)
    assert words(window.messages[0].text) == 3000


def test_a_newest_message_longer_than_the_whole_budget_is_cut_and_keeps_its_end() -> None:
    long = "first " + text_of(9000) + " last"
    window = build_window(
        [Known("interests", text_of(500))], [Recap("s")], [WindowMessage("user", long)], Budget(), words
    )
    assert window.is_cut
    assert len(window.contexts) == 1
    assert window.messages[0].text.startswith("first")
    assert window.messages[0].text.endswith("last")
    assert window.total_tokens <= 4000


def test_recalled_memories_share_the_budget_of_summaries_and_the_farthest_go_first() -> None:
    recalled = [Recalled(text_of(600, f"r{n}"), n) for n in range(4)]
    window = build_window([], [Recap(text_of(300))], [WindowMessage("user", "hi")], Budget(), words, recalled)
    assert [each.score for each in window.recalled] == [3, 2]
    assert len(window.summaries) == 1


def test_nothing_makes_an_empty_window() -> None:
    window = build_window([], [], [], Budget(), words)
    assert (window.messages, window.total_tokens, window.is_cut) == ((), 0, False)


def test_a_budget_without_a_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one token"):
        Budget(0)


TEXTS = st.text(alphabet="ab c.🐼é", max_size=80)
ROLES: st.SearchStrategy[Literal["user", "assistant"]] = st.sampled_from(["user", "assistant"])


@settings(max_examples=300, deadline=None)
@given(
    contexts=st.lists(st.builds(Known, st.just("interests"), TEXTS, st.floats(0, 1)), max_size=8),
    summaries=st.lists(st.builds(Recap, TEXTS), max_size=8),
    messages=st.lists(st.builds(WindowMessage, ROLES, TEXTS), max_size=20),
    recalled=st.lists(st.builds(Recalled, TEXTS, st.floats(0, 1)), max_size=4),
    budget=st.builds(Budget, st.integers(1, 200), st.integers(0, 60), st.integers(0, 80)),
    count=st.sampled_from([words, len, estimate_tokens, count_tokens]),
)
def test_a_window_is_never_over_its_budget_and_leaves_out_the_oldest_and_least_certain(
    contexts: list[Known],
    summaries: list[Recap],
    messages: list[WindowMessage],
    recalled: list[Recalled],
    budget: Budget,
    count: object,
) -> None:
    """ZC-39, ZC-40, ZC-41."""
    assert callable(count)
    window = build_window(contexts, summaries, messages, budget, count, recalled)
    parts: tuple[Known | Recalled | Recap | WindowMessage, ...] = (
        *window.contexts,
        *window.recalled,
        *window.summaries,
        *window.messages,
    )
    assert sum(count(each.text) for each in parts) == window.total_tokens <= budget.total
    assert sum(count(each.text) for each in window.contexts) <= budget.contexts
    past: tuple[Recalled | Recap, ...] = (*window.recalled, *window.summaries)
    assert sum(count(each.text) for each in past) <= budget.summaries
    # Summaries and messages are the newest ones without a gap, from the oldest to the newest.
    assert list(window.summaries) == summaries[len(summaries) - len(window.summaries) :]
    if not window.is_cut:
        assert list(window.messages) == messages[len(messages) - len(window.messages) :]
    assert bool(window.messages) == bool(messages)
    # Nothing that is left out is more certain, or nearer, than what is in it.
    outside = list(contexts)
    for each in window.contexts:
        outside.remove(each)
    lowest = min((each.confidence for each in window.contexts), default=1.0)
    assert all(each.confidence <= lowest for each in outside)
    # Another message would not fit: what the other parts do not use, messages do.
    if not window.is_cut and len(window.messages) < len(messages):
        following = messages[len(messages) - len(window.messages) - 1]
        assert window.total_tokens + count(following.text) > budget.total


@given(st.text(max_size=200), st.integers(0, 50), st.sampled_from([words, len, estimate_tokens]))
def test_a_shortened_text_fits(text: str, limit: int, count: object) -> None:
    assert callable(count)
    assert count(shortened(text, limit, count)) <= limit


EVERY = Material(
    contexts=[Known("interests", "stars")],
    summaries=[Recap("old")],
    messages=[WindowMessage("user", f"m{n}", summarized=n < 15) for n in range(20)],
    recalled=[Recalled("bamboo", 0.9)],
)


@pytest.mark.parametrize(
    ("strategy", "summaries", "messages", "recalled"),
    [("buffer", 0, 10, 0), ("summary", 1, 5, 0), ("hybrid", 1, 20, 0), ("vector", 0, 10, 1)],
)
def test_each_memory_strategy_considers_its_own_material(
    strategy: Literal["buffer", "summary", "hybrid", "vector"], summaries: int, messages: int, recalled: int
) -> None:
    """ZC-64."""
    found = material_for(strategy, EVERY)
    assert (len(found.summaries), len(found.messages), len(found.recalled)) == (summaries, messages, recalled)
    assert found.contexts == EVERY.contexts


def test_the_summary_strategy_has_the_newest_message_though_a_summary_covers_it() -> None:
    covered = Material(messages=[WindowMessage("user", "last", summarized=True)])
    assert [each.text for each in material_for("summary", covered).messages] == ["last"]
