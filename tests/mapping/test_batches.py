"""Batches: many puts and discards, not as one; what was left undone comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.mapping.shop import (
    Reading,
    customer,
    customers,
    day,
    days,
    order,
    orders,
    orders_of,
    readings,
    shop,
)
from tests.mapping.talk import Shop

from tablewright.client import CallRefused
from tablewright.design import Write
from tablewright.mapping import Db, NotForBatches


def test_more_than_one_batch_is_written_and_removed(db: Db) -> None:
    assert db.batch(orders.put(order(n)) for n in range(60)) == []
    assert db.count(orders_of(customer="c1")) == 60
    assert db.batch([*(orders.discard("c1", f"{n:03}") for n in range(59)), days.put(day())]) == []
    assert db.count(orders_of(customer="c1")) == 1
    assert db.batch([]) == []


def test_of_two_writes_to_one_item_the_later_wins(db: Db) -> None:
    db.batch([orders.put(order(1, lines=["a"])), orders.put(order(1, lines=["b"]))])
    assert db.one(orders.get("c1", "001"), consistent=True) == order(1, lines=["b"])


def test_a_write_with_a_condition_has_no_place_in_a_batch(db: Db) -> None:
    old = order(1)
    for write in (
        orders.create(old),
        orders.change(old, old),
        orders.delete(old),
        orders.put(old).when(lambda o: o.urgent == True),  # noqa: E712  # a tracer reads it
        customers.create(customer()),
        days.update("c1", day().day).at(lambda d: d.visits).add(1),
    ):
        with pytest.raises(NotForBatches, match="carries a condition"):
            db.batch([write])


def test_what_the_service_does_not_process_comes_back(at: Shop) -> None:
    """A service that never processes what belongs to c2, and numbers of -1."""

    def lazy(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        asked: dict[str, list[dict[str, Any]]] = request["RequestItems"]
        left = {table: [one for one in some if _is_lazy(one)] for table, some in asked.items()}
        done = {table: [one for one in some if not _is_lazy(one)] for table, some in asked.items()}
        done = {table: some for table, some in done.items() if some}
        answer = at.call(verb, {**request, "RequestItems": done}) if done else {}
        return {**answer, "UnprocessedItems": {table: some for table, some in left.items() if some}}

    world = replace(at.clock.world(), jitter=lambda: 0.0)
    db = Db(lazy, shop, world=world, environment=at.db.environment)
    stuck: list[Write[Any]] = [
        orders.put(order(1, "c2")),
        orders.discard("c2", "002"),
        readings.put(Reading(sensor="s", at=-1, value=order(1).total)),
    ]
    done: list[Write[Any]] = [orders.put(order(1)), orders.discard("c1", "002")]
    left = db.batch([stuck[0], done[0], stuck[1], done[1], stuck[2]])
    assert sorted(left, key=repr) == sorted(stuck, key=repr)
    assert at.db.one(orders.get("c1", "001"), consistent=True) == order(1)
    assert at.db.one(orders.get("c2", "001"), consistent=True) is None


def _is_lazy(request: Mapping[str, Any]) -> bool:
    return "c2" in repr(request) or "'-1'" in repr(request)


def test_a_read_that_was_not_finished_is_not_taken_for_absence(at: Shop) -> None:
    def never(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return {"Responses": {}, "UnprocessedKeys": request["RequestItems"]}

    world = replace(at.clock.world(), jitter=lambda: 0.0)
    db = Db(never, shop, world=world, environment=at.db.environment)
    with pytest.raises(CallRefused, match="not read to its end"):
        db.many([orders.get("c1", "001")])
