"""Updates of single fields, unread: counters, nested ones with lazy parents, sets, lists, lowest and highest."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from tests.mapping.shop import (
    START,
    Clicks,
    Customer,
    Day,
    Tier,
    customer,
    customers,
    customers_of_tier,
    day,
    days,
    order,
    orders,
    session,
    sessions,
    urgent_orders,
)
from tests.mapping.talk import Shop, at_once, everything, stored

from tablewright.design import IndexKeyNeedsTheItem, Write
from tablewright.mapping import ConditionNotMet, Db, Missing, NotInOneTransaction

NEW_YEAR = date(2040, 1, 1)


def the_day(db: Db) -> Day:
    found = db.one(days.get("c1", NEW_YEAR), consistent=True)
    assert found is not None
    return found


def update() -> Write[Day]:
    return days.update("c1", NEW_YEAR)


def test_an_update_of_what_is_not_there_is_missing_and_makes_nothing(at: Shop) -> None:
    for write in (
        update().at(lambda d: d.visits).add(1),
        update().at(lambda d: d.seconds["a"]).add(1),
        update().at(lambda d: d.first).lowest(START),
    ):
        with pytest.raises(Missing, match="day: there is no such item") as refused:
            at.db.write(write)
        assert refused.value.current is None
    assert not any(everything(at).values())


def test_an_update_without_a_step_is_refused(db: Db) -> None:
    db.write(days.create(day()))
    with pytest.raises(NotInOneTransaction, match="changes nothing"):
        db.write(update())


def test_steps_of_every_kind_in_one_update(db: Db) -> None:
    db.write(days.create(day(visits=1, devices={"a", "b"}, log=["x"], last=START, kind="k", flagged=True)))
    done = db.apply(
        update()
        .at(lambda d: d.visits).add(-3)
        .at(lambda d: d.devices).include("c", "a")
        .at(lambda d: d.log).append("y", "z")
        .at(lambda d: d.last).remove()
        .at(lambda d: d.flagged).set(False)
        .at(lambda d: d.seconds["a.b#c"]).add(5)
    )  # fmt: skip
    assert done == the_day(db)
    assert done == day(
        visits=-2, devices={"a", "b", "c"}, log=["x", "y", "z"], kind="k", seconds={"a.b#c": 5}
    )


def test_members_leave_a_set_and_the_last_takes_it_along(at: Shop) -> None:
    at.db.write(days.create(day(devices={"a", "b"})))
    at.db.write(update().at(lambda d: d.devices).exclude("b", "z"))
    assert the_day(at.db).devices == {"a"}
    at.db.write(update().at(lambda d: d.devices).exclude("a"))
    assert the_day(at.db).devices == set()
    assert "devices" not in (stored(at, days.get("c1", NEW_YEAR).key) or {})


def test_an_update_counts_the_version_up(db: Db) -> None:
    db.write(customers.create(customer()))
    done = db.apply(customers.update("c1").at(lambda c: c.balance).add(Decimal("1.5")))
    assert (done.rev, done.balance) == (1, Decimal("1.5"))


def test_an_update_may_demand_more(at: Shop) -> None:
    at.db.write(days.create(day(visits=5)))
    spend = update().at(lambda d: d.visits).add(-3).when(lambda d: d.visits >= 3)
    at.db.write(spend)
    before = everything(at)
    with pytest.raises(ConditionNotMet) as refused:
        at.db.write(spend)
    current = refused.value.current
    assert isinstance(current, Day)
    assert current.visits == 2
    assert everything(at) == before


def test_index_keys_follow_what_an_update_sets(db: Db) -> None:
    db.write(orders.create(order(1)))
    db.write(orders.update("c1", "001").at(lambda o: o.urgent).set(True).at(lambda o: o.placed).set(START))
    assert [o.placed for o in db.all(urgent_orders())] == [START]
    db.write(orders.update("c1", "001").at(lambda o: o.urgent).set(False))
    assert [*db.all(urgent_orders())] == []


def test_an_update_that_would_leave_a_key_wrong_is_refused(db: Db) -> None:
    db.write(customers.create(customer(tier=Tier.GOLD, name="Ana")))
    with pytest.raises(IndexKeyNeedsTheItem):
        db.write(days.update("c1", NEW_YEAR).at(lambda d: d.kind).set("k"))
    db.write(customers.update("c1").at(lambda c: c.name).set("Zoe"))
    assert [c.name for c in db.all(customers_of_tier(tier=Tier.GOLD))] == ["Zoe"]


def test_the_time_to_die_follows_what_an_update_sets(at: Shop) -> None:
    at.db.write(days.create(day()))
    at.db.write(sessions.create(session("t1", until=None)))
    key = sessions.get("t1").key
    assert "ttl" not in (stored(at, key) or {})
    found = at.db.one(sessions.get("t1"), consistent=True)
    assert found is not None
    at.db.write(sessions.change(found, found.model_copy(update={"until": START})))
    assert (stored(at, key) or {})["ttl"] == {"N": str(int((START + timedelta(hours=1)).timestamp()))}


# --- nested places ---


def test_a_nested_counter_gets_the_maps_it_lives_in(db: Db) -> None:
    db.write(days.create(day()))
    db.write(update().at(lambda d: d.clicks.left).add(2))  # type: ignore[union-attr]  # may be absent: that is the point
    db.write(update().at(lambda d: d.clicks.by_page["home"]).add(3))  # type: ignore[union-attr]  # the same
    db.write(update().at(lambda d: d.clicks.by_page["home"]).add(4))  # type: ignore[union-attr]  # the same
    assert the_day(db).clicks == Clicks(left=2, by_page={"home": 7})


def test_a_map_that_cannot_begin_empty_is_not_begun(at: Shop) -> None:
    at.db.write(days.create(day()))
    before = everything(at)
    with pytest.raises(ConditionNotMet, match=r"the map around home\.city does not exist"):
        at.db.write(update().at(lambda d: d.home.city).set("Bern"))  # type: ignore[union-attr]  # may be absent
    assert everything(at) == before
    at.db.write(
        update()
        .at(lambda d: d.home.city).set("Bern")  # type: ignore[union-attr]  # may be absent
        .at(lambda d: d.home.street).set("Main")  # type: ignore[union-attr]  # may be absent
    )  # fmt: skip
    home = the_day(at.db).home
    assert home is not None
    assert (home.street, home.city) == ("Main", "Bern")


def test_a_list_is_never_begun_for_one_of_its_entries(at: Shop) -> None:
    at.db.write(days.create(day()))
    before = everything(at)
    with pytest.raises(ConditionNotMet, match=r"the map around slots\[0\]\.left does not exist"):
        at.db.write(update().at(lambda d: d.slots[0].left).add(1))
    assert everything(at) == before
    at.db.write(update().at(lambda d: d.slots).append(Clicks(), Clicks(right=4)))
    at.db.write(update().at(lambda d: d.slots[1].right).add(1))
    assert the_day(at.db).slots == [Clicks(), Clicks(right=5)]


def test_lazy_parents_in_a_transaction(db: Db) -> None:
    db.write(days.create(day()))
    db.write(orders.create(order(1)))
    db.write(
        update().at(lambda d: d.clicks.by_page["home"]).add(1),  # type: ignore[union-attr]  # may be absent
        orders.update("c1", "001").at(lambda o: o.lines).append("x"),
    )
    clicks = the_day(db).clicks
    assert clicks is not None
    assert clicks.by_page == {"home": 1}


def test_a_transaction_that_is_refused_makes_no_parents(at: Shop) -> None:
    at.db.write(days.create(day()))
    before = everything(at)
    with pytest.raises(Missing, match="order"):
        at.db.write(
            update().at(lambda d: d.clicks.left).add(1),  # type: ignore[union-attr]  # may be absent
            orders.update("c1", "001").at(lambda o: o.lines).append("x"),
        )
    assert everything(at) == before


def test_no_nested_increment_is_lost_among_eight_threads(db: Db) -> None:
    db.write(days.create(day()))
    pages = ("home", "cart", "help")
    work = [
        (lambda page=page: db.write(update().at(lambda d: d.clicks.by_page[page]).add(1)))  # type: ignore[union-attr]  # may be absent
        for _ in range(8)
        for page in pages
    ]
    at_once(work, 8)
    clicks = the_day(db).clicks
    assert clicks is not None
    assert clicks.by_page == dict.fromkeys(pages, 8)


# --- lowest and highest ---


def test_lowest_and_highest_move_only_their_way(db: Db) -> None:
    db.write(days.create(day()))
    for hours in (5, 3, 4, 9, 3, 9):
        moment = START + timedelta(hours=hours)
        db.write(update().at(lambda d: d.first).lowest(moment).at(lambda d: d.last).highest(moment))
    found = the_day(db)
    assert (found.first, found.last) == (START + timedelta(hours=3), START + timedelta(hours=9))


def test_apply_follows_trackers_too_and_tells_what_is_there(db: Db) -> None:
    late, early = START + timedelta(hours=2), START
    db.write(days.create(day(last=late)))
    assert db.apply(update().at(lambda d: d.last).highest(early)) == day(last=late)
    done = db.apply(update().at(lambda d: d.last).highest(early).at(lambda d: d.visits).add(1))
    assert done == day(last=late, visits=1)
    assert the_day(db) == done


def test_a_tracker_that_stays_still_leaves_the_other_steps_to_be_done(db: Db) -> None:
    db.write(days.create(day(first=START)))
    db.write(update().at(lambda d: d.first).lowest(START + timedelta(1)).at(lambda d: d.visits).add(1))
    assert the_day(db) == day(first=START, visits=1)


def test_a_tracker_minds_further_conditions_even_if_it_stays_still(db: Db) -> None:
    db.write(days.create(day(first=START)))
    with pytest.raises(ConditionNotMet):
        db.write(update().at(lambda d: d.first).lowest(START).when(lambda d: d.visits > 0))
    with pytest.raises(ConditionNotMet):
        db.write(update().at(lambda d: d.first).lowest(START - timedelta(1)).when(lambda d: d.visits > 0))
    assert the_day(db) == day(first=START)


def test_a_tracker_is_a_write_of_its_own(db: Db) -> None:
    tracker = update().at(lambda d: d.first).lowest(START)
    with pytest.raises(NotInOneTransaction, match="lowest"):
        db.write(tracker, orders.create(order(1)))
    with pytest.raises(NotInOneTransaction):
        db.write(tracker, once="x")


def test_trackers_and_counters_keep_up_with_eight_threads(db: Db) -> None:
    db.write(days.create(day()))

    def seen(minute: int) -> None:
        moment = START + timedelta(minutes=minute)
        db.write(
            update()
            .at(lambda d: d.first).lowest(moment)
            .at(lambda d: d.last).highest(moment)
            .at(lambda d: d.visits).add(1)
        )  # fmt: skip

    minutes = [(7 * n) % 40 for n in range(40)]
    at_once([lambda m=m: seen(m) for m in minutes], 8)  # type: ignore[misc]  # the default binds m
    found = the_day(db)
    assert (found.first, found.last) == (START, START + timedelta(minutes=39))
    assert found.visits == 40


def test_sums_keep_their_digits(db: Db) -> None:
    db.write(customers.create(customer(balance=Decimal("0.1"))))
    for _ in range(3):
        db.write(customers.update("c1").at(lambda c: c.balance).add(Decimal("0.10")))
    found = db.one(customers.get("c1"), consistent=True)
    assert isinstance(found, Customer)
    assert found.balance == Decimal("0.4")
