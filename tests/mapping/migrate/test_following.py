"""Following: many changes in few transactions, each settled once, wherever a follower is cut off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.mapping.consumer.feed import PowerCut
from tests.mapping.migrate.cards import At, card, opened
from tests.mapping.migrate.test_phases import copied, followed

from tablewright.mapping.consumer.design import leases_of
from tablewright.mapping.migrate import MigrationContext, advance
from tablewright.mapping.migrate import change_follower as follower
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
