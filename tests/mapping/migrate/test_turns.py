"""Turns: a new one reads nothing that is older than itself; one whose changes were missed is put right by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.migrate.cards import At, card, forward, key, opened
from tests.mapping.migrate.test_phases import copied, followed, switched

from tablewright.mapping.migrate import (
    MigrationContext,
    NotFollowed,
    WrongPhase,
    abandon,
    advance,
    begin,
    is_up_to_date,
    record_report,
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
    context = at.context()
    context.plan(segments=1)
    begin(context)
    at.put(card("b", "since"))
    read = 0
    while not (done := advance(context, "me")).is_idle:
        read += done.followed.read
    # The card, and the marks behind which it begins: each is put and removed.
    assert read < 20
    assert at.is_copied


def test_who_takes_over_goes_on_behind_the_checkpoint(at: At) -> None:
    at.put(*(card(f"c{n}", "one") for n in range(40)))
    context = copied(at)
    at.put(*(card(f"c{n}", "two") for n in range(40)))
    assert advance(context, "me").followed.read == 40
    at.put(card("c1", "three"))
    at.clock.move(timedelta(minutes=1))
    assert advance(at.context(), "another").followed.read == 1
    assert at.is_copied


def test_of_two_who_begin_at_once_the_later_moves_nothing_the_first_has_begun(at: At) -> None:
    """The places from which a turn is followed are those of who began it."""
    at.put(card("a", "one"), card("b", "one"))
    context = at.context()
    context.plan(segments=1)
    state = context.state()
    context.make_target()

    def late(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "TransactWriteItems" and context.state().phase == "planned":
            begin(context)
            advance(context, "me")  # copied
            at.put(card("a", "two"))
            at.remove("b")
        return at.call(verb, request)

    assert begin(at.context(late)).epoch == state.epoch + 1
    followed(context)
    assert at.is_copied


@pytest.mark.parametrize("is_verified", [False, True])
def test_who_did_not_follow_for_a_day_says_so_and_puts_everything_right(at: At, is_verified: bool) -> None:
    at.put(card("a", "one", "g"), card("b", "two", "g"), card("c", "three"))
    context = copied(at)
    if is_verified:
        record_report(context, verify(context, context.state()))
    before = context.state()
    at.put(card("a", "changed", "h"))
    at.remove("b")
    forgotten(at)
    state = advance(context, "me").state
    assert state is not None
    assert (state.phase, state.epoch, state.is_catching_up) == ("copying", before.epoch + 1, True)
    assert state.missed_since is not None
    assert state.missed_since <= before.since + timedelta(hours=1)
    assert not is_up_to_date(context, state)
    with pytest.raises(WrongPhase):
        switch(context)
    followed(context)
    assert at.is_copied
    assert (context.state().phase, context.state().is_catching_up) == ("following", False)
    assert verify(context, context.state()).is_right


def test_sides_are_not_changed_over_changes_that_were_missed(at: At) -> None:
    at.put(card("a", "one"), card("b", "two"))
    context = copied(at)
    record_report(context, verify(context, context.state()))
    at.remove("b")
    forgotten(at)
    with pytest.raises(NotFollowed, match="migrate run cards-2"):
        switch(context)
    assert (context.state().phase, context.state().is_catching_up) == ("copying", True)
    followed(context)
    assert at.is_copied
    record_report(context, verify(context, context.state()))
    assert switch(context).phase == "switched"


def test_the_old_table_is_put_right_too_before_one_can_go_back(at: At) -> None:
    at.put(card("a", "one"), card("b", "two"))
    context = switched(at)
    program = at.program()
    program("DeleteItem", {"TableName": "cards", "Key": key("b")})
    program("PutItem", {"TableName": "cards", "Item": forward(card("a", "changed"))[0]})
    forgotten(at)
    state = advance(context, "me").state
    assert state is not None
    assert (state.phase, state.is_catching_up) == ("switched", True)
    with pytest.raises(WrongPhase, match="brought up to date"):
        rollback(context)
    followed(context)
    assert list(at.items("cards").values()) == [card("a", "changed")]
    assert rollback(context).phase == "rolled_back"


def test_a_copy_into_a_table_that_holds_an_older_one_leaves_none_of_it(at: At) -> None:
    at.put(card("a", "one", "g"), card("b", "two", "g"))
    rollback(switched(at))
    at.remove("a")
    at.put(card("b", "two", "h"))
    forgotten(at)
    context = copied(at)
    assert at.is_copied
    assert not context.state().is_catching_up


def test_what_was_given_up_is_not_said_to_be_put_right(at: At) -> None:
    at.put(card("a", "one"))
    context: MigrationContext = copied(at)
    at.remove("a")
    forgotten(at)
    advance(context, "me")
    assert context.state().is_catching_up
    assert not abandon(context).is_catching_up
    assert context.plan().missed_since is None
