"""Changing, moving and deleting what was read: if nobody was faster, with every key and guard that follows."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.mapping.shop import (
    START,
    Tier,
    customer,
    customers,
    customers_of_tier,
    day,
    days,
    days_of_kind,
    order,
    orders,
    session,
    sessions,
    urgent_orders,
)
from tests.mapping.talk import Shop, everything, guards, stored

from tablewright.design import Entity, MoveNotAllowed
from tablewright.mapping import (
    ConditionNotMet,
    Db,
    Missing,
    NotInOneTransaction,
    NotUnique,
    Stale,
)


def read(db: Db, entity: Entity[Any, Any], *key: object) -> Any:
    found = db.one(entity.get(*key), consistent=True, deleted=True)
    assert found is not None
    return found


def test_a_change_counts_the_version_up_and_tells_what_is_stored(db: Db) -> None:
    db.write(customers.create(customer(name="Ana")))
    before = read(db, customers, "c1")
    write = customers.change(before, before.model_copy(update={"name": "Ana B", "rev": 77}))
    db.write(write)
    assert read(db, customers, "c1") == write.item == before.model_copy(update={"name": "Ana B", "rev": 1})


def test_of_two_changes_of_one_reading_the_second_is_stale(at: Shop) -> None:
    at.db.write(customers.create(customer()))
    before = read(at.db, customers, "c1")
    at.db.write(customers.change(before, before.model_copy(update={"name": "first"})))
    kept = everything(at)
    with pytest.raises(Stale, match="customer: it was changed after it was read") as refused:
        at.db.write(
            customers.change(before, before.model_copy(update={"name": "second", "email": "x@example.org"}))
        )
    assert refused.value.current == read(at.db, customers, "c1")
    assert everything(at) == kept


def test_what_is_not_there_cannot_be_changed(at: Shop) -> None:
    pairs: list[tuple[Entity[Any, Any], Any]] = [(customers, customer()), (orders, order(1)), (days, day())]
    for entity, item in pairs:
        with pytest.raises(Missing, match="there is no such item"):
            at.db.write(entity.change(item, item.model_copy()))
    assert not any(everything(at).values())


def test_what_has_expired_cannot_be_changed_updated_or_deleted(at: Shop) -> None:
    at.db.write(sessions.create(session("t1")))
    at.clock.move(timedelta(hours=1))
    before = everything(at)
    old = session("t1")
    for write in (
        sessions.change(old, old.model_copy(update={"note": "x"})),
        sessions.update("t1").at(lambda s: s.hits).add(1),
        sessions.delete(old),
    ):
        with pytest.raises(Missing):
            at.db.write(write)
    assert everything(at) == before


def test_a_field_that_becomes_none_is_removed(at: Shop) -> None:
    at.db.write(customers.create(customer(nick="A", labels={"x"})))
    before = read(at.db, customers, "c1")
    at.db.write(customers.change(before, before.model_copy(update={"nick": None, "labels": set()})))
    item = stored(at, customers.get("c1").key) or {}
    assert "nick" not in item
    assert "labels" not in item
    assert "NICK#a" not in guards(at)


def test_index_keys_follow_a_change(db: Db) -> None:
    db.write(orders.create(order(1, urgent=True)))
    before = read(db, orders, "c1", "001")
    assert [o.id for o in db.all(urgent_orders())] == ["001"]
    after = before.model_copy(update={"urgent": False})
    db.write(orders.change(before, after))
    assert [*db.all(urgent_orders())] == []
    db.write(orders.change(after, before))
    assert [o.id for o in db.all(urgent_orders())] == ["001"]


def test_a_guard_follows_its_value(at: Shop) -> None:
    at.db.write(customers.create(customer("c1", "a@example.org")))
    before = read(at.db, customers, "c1")
    at.db.write(customers.change(before, before.model_copy(update={"email": "b@example.org", "nick": "N"})))
    assert guards(at) == {"UNIQUE#customer#email#b@example.org": "CUSTOMER#c1", "NICK#n": "CUSTOMER#c1"}
    at.db.write(customers.create(customer("c2", "a@example.org")))


def test_a_change_to_a_value_of_another_is_refused_whole(at: Shop) -> None:
    at.db.write(customers.create(customer("c1")))
    at.db.write(customers.create(customer("c2")))
    kept = everything(at)
    before = read(at.db, customers, "c2")
    with pytest.raises(NotUnique) as refused:
        at.db.write(
            customers.change(before, before.model_copy(update={"email": "C1@example.org", "name": "x"}))
        )
    assert refused.value.owner == customers.get("c1").key
    assert everything(at) == kept


def test_a_value_spelled_differently_keeps_its_guard_and_what_the_guard_keeps_follows(at: Shop) -> None:
    at.db.write(customers.create(customer("c1", "a@example.org")))
    before = read(at.db, customers, "c1")
    at.db.write(customers.change(before, before.model_copy(update={"email": "A@example.org"})))
    guard = stored(at, {"PK": {"S": "UNIQUE#customer#email#a@example.org"}, "SK": {"S": "UNIQUE"}})
    assert (guard or {})["mail"] == {"S": "A@example.org"}


def test_an_item_from_before_its_constraint_gets_its_guard_with_the_next_change_and_may_go(at: Shop) -> None:
    email = {"PK": {"S": "UNIQUE#customer#email#a@example.org"}, "SK": {"S": "UNIQUE"}}
    at.db.write(customers.create(customer(email="a@example.org")))
    at.call("DeleteItem", {"TableName": at.db.physical("shop"), "Key": email})
    before = read(at.db, customers, "c1")
    at.db.write(customers.change(before, before.model_copy(update={"email": "A@example.org"})))
    assert (stored(at, email) or {})["owner"] == {"M": {"PK": {"S": "CUSTOMER#c1"}, "SK": {"S": "PROFILE"}}}
    at.call("DeleteItem", {"TableName": at.db.physical("shop"), "Key": email})
    at.db.write(customers.delete(read(at.db, customers, "c1")))
    assert guards(at) == {}


def test_a_guard_lives_as_long_as_its_owner(at: Shop) -> None:
    at.db.write(sessions.create(session("t1", "phone")))
    before = read(at.db, sessions, "t1")
    at.db.write(sessions.change(before, before.model_copy(update={"until": START + timedelta(days=1)})))
    at.clock.move(timedelta(hours=3))
    with pytest.raises(NotUnique):
        at.db.write(sessions.create(session("t2", "phone", until=None)))
    before = read(at.db, sessions, "t1")
    at.db.write(sessions.change(before, before.model_copy(update={"until": None})))
    at.clock.move(timedelta(days=9))
    with pytest.raises(NotUnique):
        at.db.write(sessions.create(session("t2", "phone", until=None)))


def test_without_a_version_a_change_minds_only_what_it_touches(db: Db) -> None:
    db.write(orders.create(order(1)))
    before = read(db, orders, "c1", "001")
    db.write(orders.change(before, before.model_copy(update={"lines": ["a"]})))
    db.write(orders.change(before, before.model_copy(update={"total": Decimal(3)})))
    assert read(db, orders, "c1", "001") == before.model_copy(update={"lines": ["a"], "total": Decimal(3)})
    with pytest.raises(Stale):
        db.write(orders.change(before, before.model_copy(update={"total": Decimal(4)})))


def test_without_a_version_a_key_made_of_two_fields_minds_both(db: Db) -> None:
    db.write(days.create(day()))
    before = read(db, days, "c1", date(2040, 1, 1))
    # Neither of the two alone makes a key, so no key attribute shows that they meet.
    db.write(days.change(before, before.model_copy(update={"kind": "k"})))
    with pytest.raises(Stale):
        db.write(days.change(before, before.model_copy(update={"rank": "r"})))
    again = read(db, days, "c1", date(2040, 1, 1))
    db.write(days.change(again, again.model_copy(update={"rank": "r"})))
    assert len([*db.all(days_of_kind(kind="k", rank="r"))]) == 1


def test_a_change_may_demand_more(at: Shop) -> None:
    at.db.write(customers.create(customer(balance=Decimal(5))))
    before = read(at.db, customers, "c1")
    write = customers.change(before, before.model_copy(update={"name": "x"}))
    with pytest.raises(ConditionNotMet, match="a condition of the write does not hold") as refused:
        at.db.write(write.when(lambda c: c.balance > Decimal(5)))
    assert refused.value.current == before
    at.db.write(write.when(lambda c: c.balance >= Decimal(5)))


def test_a_change_of_nothing_still_needs_the_item(db: Db) -> None:
    db.write(orders.create(order(1)))
    before = read(db, orders, "c1", "001")
    db.write(orders.change(before, before))
    assert read(db, orders, "c1", "001") == before


def test_a_move_is_made_by_who_may_and_from_the_state_that_is(at: Shop) -> None:
    at.db.write(customers.create(customer()))
    before = read(at.db, customers, "c1")
    closed = before.model_copy(update={"status": "CLOSED"})
    with pytest.raises(MoveNotAllowed):
        customers.move(before, closed, by="user")
    at.db.write(customers.move(before, before.model_copy(update={"status": "VERIFIED"}), by="user"))
    with pytest.raises(Stale):
        at.db.write(customers.move(before, closed, by="admin"))
    assert read(at.db, customers, "c1").status == "VERIFIED"


def test_a_state_is_moved_without_reading_it_and_from_no_other_state(at: Shop) -> None:
    at.db.write(customers.create(customer()))
    at.db.write(customers.update("c1").move("VERIFIED", by="user"))
    with pytest.raises(ConditionNotMet):
        at.db.write(customers.update("c1").move("VERIFIED", by="user"))
    assert read(at.db, customers, "c1").status == "VERIFIED"


def test_a_delete_takes_item_and_guards_along(at: Shop) -> None:
    at.db.write(customers.create(customer(nick="A")))
    at.db.write(customers.delete(read(at.db, customers, "c1")))
    assert not any(everything(at).values())


@pytest.mark.parametrize("entity", [customers, orders], ids=["versioned", "unversioned"])
def test_what_was_changed_after_it_was_read_is_not_deleted(at: Shop, entity: Entity[Any, Any]) -> None:
    item, key, update = (
        (customer(), ("c1",), {"name": "x"})
        if entity is customers
        else (order(1), ("c1", "001"), {"lines": ["x"]})
    )
    at.db.write(entity.create(item))
    before = read(at.db, entity, *key)
    at.db.write(entity.change(before, before.model_copy(update=update)))
    with pytest.raises(Stale):
        at.db.write(entity.delete(before))
    at.db.write(entity.delete(read(at.db, entity, *key)))
    with pytest.raises(Missing):
        at.db.write(entity.delete(before))


def test_a_discard_minds_nothing(db: Db) -> None:
    db.write(orders.create(order(1)))
    db.write(orders.discard("c1", "001"))
    db.write(orders.discard("c1", "001"))
    assert db.one(orders.get("c1", "001"), consistent=True) is None


def test_a_put_replaces_whatever_is_there(db: Db) -> None:
    db.write(orders.put(order(1, urgent=True, lines=["a"])))
    db.write(orders.put(order(1)))
    assert read(db, orders, "c1", "001") == order(1)
    assert [*db.all(urgent_orders())] == []


def test_a_soft_delete_hides_and_its_reversal_shows(db: Db) -> None:
    db.write(customers.create(customer(tier=Tier.GOLD)))
    before = read(db, customers, "c1")
    write = customers.change(before, before.model_copy(update={"active": False}))
    db.write(write)
    assert db.one(customers.get("c1"), consistent=True) is None
    assert [*db.all(customers_of_tier(tier=Tier.GOLD))] == []
    assert write.item is not None
    db.write(customers.change(write.item, write.item.model_copy(update={"active": True})))
    assert [c.rev for c in db.all(customers_of_tier(tier=Tier.GOLD))] == [2]


def test_only_updates_return_what_the_store_made_of_them(db: Db) -> None:
    with pytest.raises(NotInOneTransaction):
        db.apply(orders.create(order(1)))


def test_a_number_spelled_differently_is_no_change(db: Db) -> None:
    db.write(orders.create(order(1, total=Decimal("1.50"))))
    # Not read, but made here: the store has 1.5.
    before = order(1, total=Decimal("1.50"))
    db.write(orders.change(before, before.model_copy(update={"total": Decimal("2.00")})))
    now = order(1, total=Decimal("2.000"))
    write = orders.change(now, now.model_copy(update={"lines": ["x"]}))
    with pytest.raises(ConditionNotMet):
        db.write(write.when(lambda o: o.total > Decimal(9)))
