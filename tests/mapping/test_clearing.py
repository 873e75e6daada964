"""Clearing: everything that lies where a query looks goes, whatever it is; nothing else does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.mapping.shop import (
    Tier,
    customer,
    customers,
    customers_of_tier,
    day,
    days,
    everything_of,
    order,
    orders,
    orders_of,
)
from tests.mapping.talk import Shop, scan

from tablewright.mapping import NotForBatches


def test_what_is_deleted_softly_or_known_to_nobody_goes_too_and_others_stay(at: Shop) -> None:
    at.db.write(customers.create(customer("c1", email="a@example.org")))
    at.db.write(customers.create(customer("c2", email="b@example.org")))
    kept = at.db.one(customers.get("c1"), consistent=True)
    assert kept is not None
    at.db.write(customers.change(kept, kept.model_copy(update={"active": False})))
    assert at.db.one(customers.get("c1"), consistent=True) is None
    at.db.batch([*(orders.put(order(n)) for n in range(130)), orders.put(order(1, "c2")), days.put(day())])
    strange = {"PK": {"S": "CUSTOMER#c1"}, "SK": {"S": "WHAT#EVER"}, "ttl": {"N": "1"}}
    at.call("PutItem", {"TableName": at.db.physical("shop"), "Item": strange})
    assert at.db.clear(everything_of(customer="c1")) == 133
    assert at.db.clear(everything_of(customer="c1")) == 0
    keys = {item["PK"]["S"] for item in scan(at)}
    assert "CUSTOMER#c1" not in keys
    assert "CUSTOMER#c2" in keys


def test_a_range_is_cleared_as_far_as_it_goes(at: Shop) -> None:
    at.db.batch([orders.put(order(1)), days.put(day())])
    assert at.db.clear(orders_of(customer="c1")) == 1
    assert at.db.one(days.get("c1", day().day), consistent=True) == day()


def test_what_has_expired_goes_whatever_time_it_is(at: Shop) -> None:
    at.db.batch([orders.put(order(1))])
    at.clock.move(timedelta(days=1000))
    assert at.db.clear(everything_of(customer="c1")) == 1


def test_an_index_cannot_be_cleared(at: Shop) -> None:
    with pytest.raises(NotForBatches, match="looks at an index"):
        at.db.clear(customers_of_tier(tier=Tier.GOLD))
