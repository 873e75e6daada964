"""Upserts: the item is updated as it is, or begins with the start that was given, in one write."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from tests.mapping.shop import (
    START,
    Clicks,
    Day,
    day,
    days,
    order,
    orders,
    orders_in_state,
    urgent_orders,
)
from tests.mapping.talk import Shop, at_once, everything

from tablewright.mapping import ConditionNotMet, Db, ItemUnreadable, Missing

NEW_YEAR = date(2040, 1, 1)


def the_day(db: Db) -> Day:
    found = db.one(days.get("c1", NEW_YEAR), consistent=True)
    assert found is not None
    return found


def test_an_upsert_begins_with_its_start_and_its_steps(db: Db) -> None:
    start = day(visits=10, devices={"a"}, log=["x"], first=START, seconds={"a": 1}, flagged=True)
    done = db.apply(
        days.upsert(start)
        .at(lambda d: d.visits).add(1)
        .at(lambda d: d.devices).include("b")
        .at(lambda d: d.log).append("y")
        .at(lambda d: d.seconds["a"]).add(1)
        .at(lambda d: d.clicks.by_page["home"]).add(1)  # type: ignore[union-attr]  # may be absent
        .at(lambda d: d.first).lowest(START + timedelta(1))
        .at(lambda d: d.last).highest(START)
        .at(lambda d: d.flagged).set(False)
    )  # fmt: skip
    assert done == the_day(db)
    assert done == day(
        visits=11,
        devices={"a", "b"},
        log=["x", "y"],
        first=START,
        last=START,
        seconds={"a": 2},
        clicks=Clicks(by_page={"home": 1}),
    )


def test_an_upsert_changes_only_what_its_steps_say(db: Db) -> None:
    there = day(visits=5)
    db.write(days.create(there))
    start = day(visits=100, devices={"a"}, kind="k", rank="r", first=START, flagged=True)
    db.write(days.upsert(start).at(lambda d: d.visits).add(1))
    assert the_day(db) == day(visits=6)


def test_an_upsert_keeps_a_sparse_key_absent_where_it_is(db: Db) -> None:
    db.write(orders.create(order(1, urgent=False)))
    db.write(orders.upsert(order(1, urgent=True)).at(lambda o: o.lines).append("x"))
    assert [*db.all(urgent_orders())] == []
    db.write(orders.upsert(order(2, urgent=True)).at(lambda o: o.lines).append("x"))
    assert [o.id for o in db.all(urgent_orders())] == ["002"]


def test_keys_follow_what_an_upsert_sets_when_it_begins(db: Db) -> None:
    db.write(orders.upsert(order(1)).at(lambda o: o.state).set("PAID").at(lambda o: o.urgent).set(True))
    assert [o.id for o in db.all(orders_in_state(state="PAID"))] == ["001"]
    assert [*db.all(orders_in_state(state="OPEN"))] == []
    assert [o.id for o in db.all(urgent_orders())] == ["001"]


def test_an_upsert_may_demand_more(at: Shop) -> None:
    capped = days.upsert(day()).at(lambda d: d.visits).add(1).when(lambda d: d.visits < 2)
    with pytest.raises(ConditionNotMet):  # nothing is less than 2 where there is nothing
        at.db.write(capped)
    assert not any(everything(at).values())
    at.db.write(days.create(day(visits=1)))
    at.db.write(capped)
    with pytest.raises(ConditionNotMet):
        at.db.write(capped)
    assert the_day(at.db).visits == 2


def test_an_upsert_that_makes_what_the_model_refuses_is_refused(at: Shop) -> None:
    with pytest.raises(ItemUnreadable, match="home"):
        at.db.write(days.upsert(day()).at(lambda d: d.home.city).set("Bern"))  # type: ignore[union-attr]  # may be absent
    with pytest.raises(ConditionNotMet, match=r"has no place 'slots\[2\]\.left'"):
        at.db.write(days.upsert(day()).at(lambda d: d.slots[2].left).add(1))
    assert not any(everything(at).values())


def test_upserts_in_a_transaction_begin_and_update(db: Db) -> None:
    for _ in range(2):
        db.write(
            days.upsert(day(visits=10)).at(lambda d: d.visits).add(1),
            days.upsert(day("c2")).at(lambda d: d.clicks.by_page["a"]).add(1),  # type: ignore[union-attr]  # may be absent
            orders.upsert(order(1)).at(lambda o: o.lines).append("x"),
        )
    assert the_day(db).visits == 12
    other = db.one(days.get("c2", NEW_YEAR), consistent=True)
    assert other == day("c2", clicks=Clicks(by_page={"a": 2}))
    assert db.one(orders.get("c1", "001"), consistent=True) == order(1, lines=["x", "x"])


def test_a_transaction_that_is_refused_begins_nothing(at: Shop) -> None:
    with pytest.raises(Missing):
        at.db.write(
            days.upsert(day()).at(lambda d: d.clicks.left).add(1),  # type: ignore[union-attr]  # may be absent
            orders.update("c1", "001").at(lambda o: o.lines).append("x"),
        )
    assert not any(everything(at).values())


def test_no_increment_of_an_upsert_is_lost_among_eight_threads(db: Db) -> None:
    def visit(page: str) -> None:
        db.write(
            days.upsert(day())
            .at(lambda d: d.visits).add(1)
            .at(lambda d: d.clicks.by_page[page]).add(1)  # type: ignore[union-attr]  # may be absent
            .at(lambda d: d.seconds[page]).add(2)
        )  # fmt: skip

    at_once([lambda p=p: visit(p) for p in ("a", "b") * 16], 8)  # type: ignore[misc]  # the default binds p
    found = the_day(db)
    assert found.visits == 32
    assert found.seconds == {"a": 32, "b": 32}
    assert found.clicks == Clicks(by_page={"a": 16, "b": 16})
