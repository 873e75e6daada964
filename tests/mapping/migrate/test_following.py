"""Following: many changes in few transactions, each settled once, wherever a follower is cut off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.mapping.consumer.feed import PowerCut
from tests.mapping.migrate.cards import CARDS, At, card, key, opened
from tests.mapping.migrate.test_phases import copied, followed

from tablewright.mapping.consumer.design import leases_of
from tablewright.mapping.migrate import (
    MigrationContext,
    Task,
    advance,
    migration_context,
    record_report,
    routed,
    sync_keys,
    verify,
)
from tablewright.mapping.migrate import change_follower as follower
from tablewright.mapping.migrate.back_pressure import LASTS
from tablewright.mapping.migrate.router import WRITES
from tablewright.mapping.migrate.stream_markers import StreamTail

MANY = 60


@pytest.fixture
def at() -> Iterator[At]:
    with opened() as found:
        yield found


def counted(at: At, verbs: Counter[str], cut: int | None = None) -> MigrationContext:
    """A bench whose writes are counted, and that is cut off before one of them."""

    def line(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb in WRITES:
            if verbs.total() == cut:
                raise PowerCut
            verbs[verb] += 1
        return at.call(verb, request)

    return at.context(line)


def test_the_changes_of_many_keys_are_settled_in_a_few_transactions(at: At) -> None:
    at.put(*(card(f"c{n}", "old", "g") for n in range(MANY)))
    copied(at)
    at.put(*(card(f"c{n}", "new", "h") for n in range(MANY)))
    verbs = Counter[str]()
    assert advance(counted(at, verbs), "me").followed.read == MANY
    assert at.is_copied
    # Four actions for each: the check, two items put and one removed.
    assert verbs["TransactWriteItems"] <= 5


def test_a_page_is_settled_within_a_lease_over_a_slow_line_too(at: At) -> None:
    keys = 2 * follower.BATCH
    over: list[datetime] = []
    at.put(*(card(f"c{n}", "old", "g") for n in range(keys)))
    context = copied(at)
    at.put(*(card(f"c{n}", "new", "h") for n in range(keys)))
    mine = leases_of(table="cards", consumer=context.consumer_name(context.state().epoch))

    def slow(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        at.clock.move(timedelta(seconds=0.15))
        now = at.clock.now()
        over.extend(one.until for one in context.db.all(mine) if one.owner is not None and one.until <= now)
        return at.call(verb, request)

    assert advance(at.context(slow), "me").followed.handled == keys
    assert over == [], "another could have taken the shard before the checkpoint"


def test_many_changes_of_one_key_are_settled_as_one(at: At) -> None:
    at.put(card("a", "old", "g0"))
    context = copied(at)
    tail = StreamTail(context, context.migration.target).open()
    at.put(*(card("a", f"text {n}", f"g{n}") for n in range(1, MANY)))
    assert advance(context, "me").followed.read == MANY - 1
    assert at.is_copied
    # What it was in the meantime never came to the goal: the card, its new place, and the old one gone.
    assert len(tail.read()) == 3


def test_one_key_that_cannot_be_settled_keeps_no_other_from_it(at: At) -> None:
    at.put(*(card(f"c{n}", "old") for n in range(MANY)))
    context = copied(at)
    at.put(*(card(f"c{n}", "new") for n in range(MANY)))
    at.put(card("c7", "new", unheard_of={"S": "x"}))
    advance(context, "me")
    wrong = {key for key, item in at.items("new_cards").items() if item != at.wanted()[key]}
    assert wrong == {("CARD#c7", "CARD")}
    at.put(card("c7", "new"))
    followed(context)
    assert at.is_copied


def test_a_key_that_changes_under_a_transaction_is_settled_as_it_is_then_and_the_others_with_it(
    at: At,
) -> None:
    at.put(*(card(f"c{n}", "old", "g") for n in range(9)))
    copied(at)
    at.put(*(card(f"c{n}", "new", "h") for n in range(9)))
    asked: list[int] = []

    def busy(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "TransactWriteItems" and len(request["TransactItems"]) > 20 and not asked:
            asked.append(len(request["TransactItems"]))
            at.put(card("c3", "newer", "k"))
            at.remove("c5")
        return at.call(verb, request)

    advance(at.context(busy), "me")
    assert asked
    assert at.is_copied


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_key_that_changes_under_a_transaction_is_left_to_its_own_record_unless_writes_are_paused(
    at: At, is_paused: bool
) -> None:
    at.put(card("a", "old"), card("b", "old"))
    context = copied(at)
    at.put(card("a", "new"), card("b", "new"))
    direction, epoch = context.direction(context.state()), context.state().epoch
    if is_paused:
        record_report(context, verify(context, context.state(), repair=True))
        at.put(card("a", "newer"), card("b", "newer"))
        state = context.state()
        context.move(
            state, "pausing", paused_from=state.phase, pause_ends=at.clock.now() + timedelta(minutes=1)
        )
    sent: list[int] = []

    def busy(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "TransactWriteItems":
            if not sent:
                at.put(card("a", "newest"))
            sent.append(len(request["TransactItems"]))
        return at.call(verb, request)

    sync_keys(at.context(busy), direction, epoch, [Task(key("a")), Task(key("b"))], leave_changed=True)
    texts = {name[0]: item["title"]["S"] for name, item in at.items("new_cards").items()}
    last = "newer" if is_paused else "new"
    assert texts == {"CARD#a": "newest" if is_paused else "old", "CARD#b": last}


def test_writes_wait_while_the_follower_is_behind_and_no_longer_than_the_migration_says(at: At) -> None:
    longest = timedelta(seconds=0.5)
    slowed = replace(CARDS, longest_delay=longest)
    copied(at)
    world, steady = at.clock.world(), lambda: at.clock.now().timestamp()
    context = migration_context(at.call, slowed, world=world, steady=steady, sleep=at.nap)
    program = routed(at.call, slowed, world=world, steady=steady, sleep=at.nap)

    def waits() -> float:
        at.naps.clear()
        program("PutItem", {"TableName": "cards", "Item": card("b")})
        return sum(at.naps)

    assert waits() == 0
    for behind, waited in ((4, 0.2), (60, 0.5)):
        at.put(card("a", f"text {behind}"))
        at.clock.move(timedelta(seconds=behind))
        advance(context, "me")
        at.clock.move(CARDS.term)
        assert waits() == waited
    # A follower that is gone delays no one.
    at.clock.move(LASTS)
    assert waits() == 0


def test_cut_off_anywhere_in_a_batch_the_next_goes_on_and_nothing_is_lost_or_done_twice() -> None:
    is_cut, cut = True, 0
    while is_cut:
        with opened() as at:
            is_cut = cut_off(at, cut)
        cut += 1
    assert cut > 5, "a lease taken, two transactions, a checkpoint, the lease given back: and once to the end"


def cut_off(at: At, cut: int) -> bool:
    """Follow a batch up to one of its writes, then whoever comes later; whether there was such a write."""
    at.put(*(card(f"c{n}", "old", "g") for n in range(30)))
    context = copied(at)
    tail, verbs = StreamTail(context, context.migration.target).open(), Counter[str]()
    at.put(*(card(f"c{n}", "new", "h") for n in range(29)))
    at.remove("c29")
    with suppress(PowerCut):
        advance(counted(at, verbs, cut), "me")
    at.clock.move(timedelta(minutes=1))
    followed(context)
    assert at.is_copied
    told = Counter(str(record["dynamodb"]["Keys"]) for _, record in tail.read())
    assert set(told.values()) == {1}
    assert len(told) == 29 * 3 + 2
    return verbs.total() == cut
