"""When an answer was lost and the call repeated: a refusal by our own first attempt is no refusal."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from tests.mapping.shop import customer, customers, order, orders, shop
from tests.mapping.talk import Shop

from tablewright.client import CallRefused
from tablewright.design import Write
from tablewright.mapping import AlreadyExists, Db, Stale


def forgetful(at: Shop) -> Db:
    """A Db whose every single write is sent twice, as HttpCall does when the first answer does not come."""

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb in ("PutItem", "UpdateItem", "DeleteItem"):
            at.call(verb, request)
        try:
            return at.call(verb, request)
        except CallRefused as refusal:
            refusal.follows_lost_answer = True
            raise

    return Db(call, shop, world=at.clock.world(), environment=at.db.environment)


def test_a_creation_that_is_there_as_wanted_was_our_own(at: Shop) -> None:
    wanted = order(1, total=Decimal("1.50"), lines=["a"])
    forgetful(at).write(orders.create(wanted))
    assert at.db.one(orders.get("c1", "001"), consistent=True) == wanted


def test_a_change_that_is_there_as_wanted_was_our_own(at: Shop) -> None:
    before = customer(labels={"b", "a"})
    at.db.write(customers.create(before))
    write = customers.change(before, before.model_copy(update={"name": "x", "balance": Decimal("1.0")}))
    forgetful(at).write(write)
    assert at.db.one(customers.get("c1"), consistent=True) == write.item


def test_a_delete_that_finds_nothing_was_our_own(at: Shop) -> None:
    at.db.write(orders.create(order(1)))
    forgetful(at).write(orders.delete(order(1)))
    assert at.db.one(orders.get("c1", "001"), consistent=True) is None


def test_what_is_there_otherwise_was_anothers(at: Shop) -> None:
    at.db.write(orders.create(order(1, lines=["another's"])))
    old = order(1)
    wishes: list[tuple[Write[Any], type[Exception]]] = [
        (orders.create(order(1)), AlreadyExists),
        (orders.change(old, old.model_copy(update={"lines": ["ours"]})), Stale),
    ]

    def call(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return at.call(verb, request)
        except CallRefused as refusal:
            refusal.follows_lost_answer = True
            raise

    db = Db(call, shop, world=at.clock.world(), environment=at.db.environment)
    for write, error in wishes:
        with pytest.raises(error):
            db.write(write)


def test_without_a_lost_answer_the_same_is_refused(at: Shop) -> None:
    at.db.write(orders.create(order(1)))
    with pytest.raises(AlreadyExists):
        at.db.write(orders.create(order(1)))
