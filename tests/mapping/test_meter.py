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
        "order.create": Spent(1, 0, 3),
        "order.get": Spent(2, 1.5, 0),
        "orders_in_state": Spent(4, 2.0, 0),
        "orders_of": Spent(2, 1.0, 0),
    }
    assert page.read_units == 0.5


def test_transactions_and_batches_are_counted_under_all_their_names(db: Db) -> None:
    db.write(customers.create(customer()), orders.create(order(1)), once="x")
    db.together(customers.get("c1"), orders.get("c1", "001"))
    db.many([orders.get("c1", "001"), orders.get("c1", "002")])
    db.batch([days.put(day()), days.discard("c9", day().day)])
    assert db.meter.spent() == {
        "customer.create+order.create": Spent(1, 0, 2 + 1 + 2 + 2 + 2 + 2),
        "customer.get+order.get": Spent(1, 4.0, 0),
        "day.put+day.delete": Spent(1, 0, 2),
        "order.get": Spent(1, 1.0, 0),
    }


def test_the_ways_around_a_refusal_are_counted_with_the_write(db: Db) -> None:
    db.write(days.create(day()))
    db.write(days.update("c1", day().day).at(lambda d: d.clicks.left).add(1))  # type: ignore[union-attr]  # may be absent
    # The answers that came: the map, then the update; a refusal tells no units.
    assert db.meter.spent()["day.update"] == Spent(2, 0, 2)
    with pytest.raises(Missing):
        db.write(days.update("c2", day().day).at(lambda d: d.visits).add(1))


def test_no_call_is_lost_among_threads(at: Shop) -> None:
    meter = Meter()
    db = Db(at.call, shop, world=at.clock.world(), environment=at.db.environment, meter=meter)
    at_once([lambda: db.one(orders.get("c1", "001"))] * 80, 8)
    assert meter.spent() == {"order.get": Spent(80, 40.0, 0)}
