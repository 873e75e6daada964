"""Receipts: what is written once is not written again, long after DynamoDB has forgotten its own token."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.mapping.shop import START, customer, customers, day, days, order, orders, orders_of, shop
from tests.mapping.talk import Shop, everything, scan

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Design
from tablewright.mapping import Db, Missing, Written
from tablewright.testing import Clock

COUNT = days.update("c1", day().day).at(lambda d: d.visits).add(1)


def visits(db: Db) -> int:
    found = db.one(days.get("c1", day().day), consistent=True)
    assert found is not None
    return found.visits


def test_a_repetition_changes_nothing_and_gives_the_first_result(at: Shop) -> None:
    at.db.write(days.create(day()))
    assert at.db.write(COUNT, once="event-1", result={"n": [1]}) == Written(False, {"n": [1]})
    before = everything(at)
    assert at.db.write(COUNT, once="event-1", result={"n": [2]}) == Written(True, {"n": [1]})
    assert at.db.write(COUNT, once="event-1") == Written(True, {"n": [1]})
    assert everything(at) == before
    assert visits(at.db) == 1


def test_a_repetition_after_the_token_window_and_a_restart_changes_nothing(at: Shop) -> None:
    at.db.write(days.create(day()))
    at.db.write(COUNT, once="event-1", result="first")
    for wait in (timedelta(minutes=11), timedelta(days=1), timedelta(days=28)):
        at.clock.move(wait)
        assert at.again().write(COUNT, once="event-1") == Written(True, "first")
    assert visits(at.db) == 1


def test_a_receipt_expires_after_thirty_days(at: Shop) -> None:
    at.db.write(days.create(day()))
    at.db.write(COUNT, once="event-1", result=1)
    at.clock.move(timedelta(days=30) - timedelta(seconds=1))
    assert at.db.write(COUNT, once="event-1").repeated
    at.clock.move(timedelta(seconds=1))
    assert at.db.write(COUNT, once="event-1", result=2) == Written(False, 2)
    assert at.db.write(COUNT, once="event-1") == Written(True, 2)
    assert visits(at.db) == 2


def test_a_receipt_is_kept_as_long_as_is_asked(at: Shop) -> None:
    at.db.write(days.create(day()))
    at.db.write(COUNT, once="event-1", kept=timedelta(hours=1))
    (kept,) = scan(at, "receipts")
    assert kept["expires"] == {"N": str(int((START + timedelta(hours=1)).timestamp()))}
    assert kept["at"] == {"S": "2040-01-01T12:00:00.000Z"}
    at.clock.move(timedelta(hours=1))
    assert not at.db.write(COUNT, once="event-1").repeated


def test_who_has_to_look_before_writing_is_told_what_was_done(at: Shop) -> None:
    at.db.write(days.create(day()))
    assert at.db.done("event-1") is None
    at.db.write(COUNT, once="event-1", result=[1], kept=timedelta(hours=1))
    assert at.db.done("event-1") == at.db.done("event-1", shop) == Written(True, [1])
    assert at.db.done("event-2") is None
    at.clock.move(timedelta(hours=1))
    assert at.db.done("event-1") is None


def test_a_refused_write_leaves_no_receipt_and_may_be_tried_again(at: Shop) -> None:
    with pytest.raises(Missing):
        at.db.write(COUNT, once="event-1")
    assert scan(at, "receipts") == []
    at.db.write(days.create(day()))
    assert not at.db.write(COUNT, once="event-1").repeated


def test_a_repetition_is_recognised_even_if_the_write_could_no_longer_be_done(at: Shop) -> None:
    write = customers.create(customer())
    at.db.write(write, once="signup", result="c1")
    assert at.db.write(write, once="signup") == Written(True, "c1")
    found = at.db.one(customers.get("c1"), consistent=True)
    assert found is not None
    at.db.write(customers.delete(found))
    assert at.db.write(write, once="signup") == Written(True, "c1")
    assert at.db.one(customers.get("c1"), consistent=True) is None


def test_names_are_each_for_one_write(at: Shop) -> None:
    at.db.write(days.create(day()))
    for name in ("a", "b", "a#b", ""):
        assert not at.db.write(COUNT, once=name).repeated
    assert visits(at.db) == 4


def test_receipts_outlive_the_coming_of_another_design(at: Shop) -> None:
    at.db.write(days.create(day()))
    at.db.write(COUNT, once="event-1")
    wider = Db(at.call, shop, Design("later"), world=at.clock.world(), environment=at.db.environment)
    assert wider.write(COUNT, once="event-1").repeated


def test_a_receipt_survives_a_restart_of_the_engine(tmp_path: Path) -> None:
    clock = Clock(START)
    with testing.engine(tmp_path, world=clock.world()) as engine:
        db = Db(embedded(engine), shop, world=clock.world())
        db.create_tables()
        db.write(orders.create(order(1)), once="order-1", result={"id": "001"})
    clock.move(timedelta(minutes=11))
    with testing.engine(tmp_path, world=clock.world()) as engine:
        db = Db(embedded(engine), shop, world=clock.world())
        assert db.write(orders.create(order(1)), once="order-1") == Written(True, {"id": "001"})
        assert db.count(orders_of(customer="c1")) == 1
