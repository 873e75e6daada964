"""Turns: a new one reads nothing that is older than itself; one whose changes were missed is put right by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.migrate.cards import At, card, forward, key, opened
from tests.mapping.migrate.test_phases import copied, followed, switched

from tablewright.mapping.migrate import (
    Bench,
    NotFollowed,
    WrongPhase,
    abandon,
    advance,
    begin,
    checked,
    is_up_to_date,
    rollback,
    switch,
    verify,
)


@pytest.fixture
def at() -> Iterator[At]:
    with opened() as found:
        yield found


def forgotten(at: At) -> None:
    """Nobody follows for longer than the stream keeps changes."""
    at.clock.move(timedelta(days=2))
    at.engine.settle()


def test_a_turn_reads_nothing_of_what_was_written_before_it_began(at: At) -> None:
    for number in range(50):
        at.put(card("a", f"text {number}", f"g{number}"))
    bench = at.bench()
    bench.plan(segments=1)
    begin(bench)
    at.put(card("b", "since"))
    read = 0
    while not (done := advance(bench, "me")).is_idle:
        read += done.followed.read
    # The card, and the marks behind which it begins: each is put and removed.
    assert read < 20
    assert at.is_copied


def test_who_takes_over_goes_on_behind_the_checkpoint(at: At) -> None:
    at.put(*(card(f"c{n}", "one") for n in range(40)))
    bench = copied(at)
    at.put(*(card(f"c{n}", "two") for n in range(40)))
    assert advance(bench, "me").followed.read == 40
    at.put(card("c1", "three"))
    at.clock.move(timedelta(minutes=1))
    assert advance(at.bench(), "another").followed.read == 1
    assert at.is_copied


def test_of_two_who_begin_at_once_the_later_moves_nothing_the_first_has_begun(at: At) -> None:
    """The places from which a turn is followed are those of who began it."""
    at.put(card("a", "one"), card("b", "one"))
    bench = at.bench()
    bench.plan(segments=1)
    state = bench.state()
    bench.make_target()

    def late(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "TransactWriteItems" and bench.state().phase == "planned":
            begin(bench)
            advance(bench, "me")  # copied
            at.put(card("a", "two"))
            at.remove("b")
        return at.call(verb, request)

    assert begin(at.bench(late)).turn == state.turn + 1
    followed(bench)
    assert at.is_copied


@pytest.mark.parametrize("is_verified", [False, True])
def test_who_did_not_follow_for_a_day_says_so_and_puts_everything_right(at: At, is_verified: bool) -> None:
    at.put(card("a", "one", "g"), card("b", "two", "g"), card("c", "three"))
    bench = copied(at)
    if is_verified:
        checked(bench, verify(bench, bench.state()))
    before = bench.state()
    at.put(card("a", "changed", "h"))
    at.remove("b")
    forgotten(at)
    state = advance(bench, "me").state
    assert state is not None
    assert (state.phase, state.turn, state.is_catching_up) == ("copying", before.turn + 1, True)
    assert state.missed_since is not None
    assert state.missed_since <= before.since + timedelta(hours=1)
    assert not is_up_to_date(bench, state)
    with pytest.raises(WrongPhase):
        switch(bench)
    followed(bench)
    assert at.is_copied
    assert (bench.state().phase, bench.state().is_catching_up) == ("following", False)
    assert verify(bench, bench.state()).is_right


def test_sides_are_not_changed_over_changes_that_were_missed(at: At) -> None:
    at.put(card("a", "one"), card("b", "two"))
    bench = copied(at)
    checked(bench, verify(bench, bench.state()))
    at.remove("b")
    forgotten(at)
    with pytest.raises(NotFollowed, match="migrate run cards-2"):
        switch(bench)
    assert (bench.state().phase, bench.state().is_catching_up) == ("copying", True)
    followed(bench)
    assert at.is_copied
    checked(bench, verify(bench, bench.state()))
    assert switch(bench).phase == "switched"


def test_the_old_table_is_put_right_too_before_one_can_go_back(at: At) -> None:
    at.put(card("a", "one"), card("b", "two"))
    bench = switched(at)
    program = at.program()
    program("DeleteItem", {"TableName": "cards", "Key": key("b")})
    program("PutItem", {"TableName": "cards", "Item": forward(card("a", "changed"))[0]})
    forgotten(at)
    state = advance(bench, "me").state
    assert state is not None
    assert (state.phase, state.is_catching_up) == ("switched", True)
    with pytest.raises(WrongPhase, match="brought up to date"):
        rollback(bench)
    followed(bench)
    assert list(at.items("cards").values()) == [card("a", "changed")]
    assert rollback(bench).phase == "rolled_back"


def test_a_copy_into_a_table_that_holds_an_older_one_leaves_none_of_it(at: At) -> None:
    at.put(card("a", "one", "g"), card("b", "two", "g"))
    rollback(switched(at))
    at.remove("a")
    at.put(card("b", "two", "h"))
    forgotten(at)
    bench = copied(at)
    assert at.is_copied
    assert not bench.state().is_catching_up


def test_what_was_given_up_is_not_said_to_be_put_right(at: At) -> None:
    at.put(card("a", "one"))
    bench: Bench = copied(at)
    at.remove("a")
    forgotten(at)
    advance(bench, "me")
    assert bench.state().is_catching_up
    assert not abandon(bench).is_catching_up
    assert bench.plan().missed_since is None
