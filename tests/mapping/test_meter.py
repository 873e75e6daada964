"""The meter: what each pattern and each kind of write has cost, under its name."""

from __future__ import annotations

import pytest
from tests.mapping.shop import (
    customer,
    customers,
    day,
    days,
    order,
    orders,
    orders_in_state,
    orders_of,
    shop,
)
from tests.mapping.talk import Shop, at_once

from tablewright.mapping import Db, Meter, Missing, Spent


def test_units_are_counted_under_the_name_of_the_pattern(db: Db) -> None:
    db.write(orders.create(order(1)))
    db.one(orders.get("c1", "001"))
    db.one(orders.get("c1", "001"), consistent=True)
    page = db.page(orders_of(customer="c1"))
    db.count(orders_of(customer="c1"))
    [*db.all(orders_in_state(state="OPEN"))]
    assert db.meter.spent() == {
        "order.create": Spent(1, 0, 3, 1),
        "order.get": Spent(2, 1.5, 0, 2),
        "orders_in_state": Spent(1, 2.0, 0, 4),
        "orders_of": Spent(2, 1.0, 0, 2),
    }
    assert page.read_units == 0.5


def test_transactions_and_batches_are_counted_under_all_their_names(db: Db) -> None:
    db.write(customers.create(customer()), orders.create(order(1)), once="x")
    db.together(customers.get("c1"), orders.get("c1", "001"))
    db.many([orders.get("c1", "001"), orders.get("c1", "002")])
    db.batch([days.put(day()), days.discard("c9", day().day)])
    assert db.meter.spent() == {
        "customer.create+order.create": Spent(1, 0, 2 + 1 + 2 + 2 + 2 + 2, 1),
        "customer.get+order.get": Spent(1, 4.0, 0, 1),
        "day.put+day.delete": Spent(1, 0, 2, 1),
        "order.get": Spent(2, 1.0, 0, 1),
    }


def test_a_batch_is_as_many_calls_as_it_asks_for_keys(db: Db) -> None:
    db.batch([orders.put(order(n)) for n in range(1, 121)])
    db.one(orders.get("c1", "001"))
    db.many([orders.get("c1", f"{n:03}") for n in range(1, 121)])
    spent = db.meter.spent()
    assert spent["order.get"] == Spent(121, 60.5, 0, 1 + 2)
    assert (spent["order.put"].calls, spent["order.put"].requests) == (120, 5)
    db.together(*(orders.get("c1", f"{n:03}") for n in range(1, 6)))
    assert db.meter.spent()["order.get"] == Spent(126, 60.5 + 10, 0, 4)


def test_a_use_of_a_pattern_is_one_call_however_many_requests_it_takes(db: Db) -> None:
    db.batch([orders.put(order(n)) for n in range(1, 151)])
    [*db.all(orders_of(customer="c1"))]
    assert db.meter.spent()["orders_of"].calls == 1
    assert db.meter.spent()["orders_of"].requests == 2
    db.clear(orders_of(customer="c1"))
    assert db.meter.spent()["orders_of"].calls == 1
    assert db.meter.spent()["orders_of.clear"].calls == 1


def test_the_ways_around_a_refusal_are_counted_with_the_write(db: Db) -> None:
    db.write(days.create(day()))
    db.write(days.update("c1", day().day).at(lambda d: d.clicks.left).add(1))  # type: ignore[union-attr]  # may be absent
    # The answers that came: the map, then the update; a refusal tells no units.
    assert db.meter.spent()["day.update"] == Spent(1, 0, 2, 2)
    with pytest.raises(Missing):
        db.write(days.update("c2", day().day).at(lambda d: d.visits).add(1))


def test_no_call_is_lost_among_threads(at: Shop) -> None:
    meter = Meter()
    db = Db(at.call, shop, world=at.clock.world(), environment=at.db.environment, meter=meter)
    at_once([lambda: db.one(orders.get("c1", "001"))] * 80, 8)
    assert meter.spent() == {"order.get": Spent(80, 40.0, 0, 80)}
