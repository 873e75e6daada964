"""Creating: on absence only, whole or not at all."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from tests.mapping.shop import (
    START,
    Address,
    Product,
    Reading,
    Tier,
    customer,
    customers,
    order,
    orders,
    products,
    readings,
    session,
    sessions,
)
from tests.mapping.talk import Shop, everything, guards, stored

from tablewright.mapping import AlreadyExists, ConditionNotMet, Db, ItemUnreadable, NotUnique


def test_what_is_created_is_read_back_as_it_was(db: Db) -> None:
    ana = customer(
        name="Ana#1%",
        nick="Änn",
        tier=Tier.GOLD,
        born=date(1990, 2, 3),
        address=Address(street="Main", city="Bern"),
        balance=Decimal("-12.3400"),
        labels={"b", "a"},
        notes=["", "two"],
        extra={"a": [1, None, {"b": True}], "c": "x"},
    )
    db.write(customers.create(ana))
    assert db.one(customers.get("c1"), consistent=True) == ana


def test_fields_are_stored_under_their_alias_with_bytes_and_number_sets(at: Shop) -> None:
    toy = Product(
        sku="s/1#é",
        category="toy",
        brand_name="LEGO",
        unit_price=Decimal("9.90"),
        picture=b"\x00\xff",
        sizes={3, 12},
    )
    at.db.write(products.create(toy))
    assert at.db.one(products.get("s/1#é"), consistent=True) == toy
    item = stored(at, {"sku": {"S": "s/1#é"}}, "products") or {}
    assert item["brandName"] == {"S": "LEGO"}
    assert item["brandLower"] == {"S": "lego"}
    assert item["picture"] == {"B": "AP8="}
    assert item["offer"] == {"S": "OFFER#1"}


def test_numbers_are_keys(db: Db) -> None:
    db.write(readings.create(Reading(sensor="a", at=-5, value=Decimal("0.1"))))
    assert db.one(readings.get("a", -5), consistent=True) == Reading(sensor="a", at=-5, value=Decimal("0.1"))


def test_what_is_none_or_an_empty_set_is_left_out(at: Shop) -> None:
    at.db.write(customers.create(customer()))
    item = stored(at, customers.get("c1").key) or {}
    assert {"nick", "born", "address", "labels", "extra"}.isdisjoint(item)
    assert item["notes"] == {"L": []}


def test_times_are_stored_in_utc_with_milliseconds(at: Shop) -> None:
    moment = datetime(2040, 6, 1, 12, 0, 0, 123000, tzinfo=UTC) + timedelta(hours=2)
    at.db.write(orders.create(order(1, placed=moment)))
    assert (stored(at, orders.get("c1", "001").key) or {})["placed"] == {"S": "2040-06-01T14:00:00.123Z"}


def test_a_second_creation_is_refused_with_the_item_that_is_there(at: Shop) -> None:
    first = order(1, total=Decimal(5))
    at.db.write(orders.create(first))
    before = everything(at)
    with pytest.raises(AlreadyExists, match="order: an item with this key exists already") as refused:
        at.db.write(orders.create(order(1, total=Decimal(99))))
    assert refused.value.current == first
    assert refused.value.key == orders.get("c1", "001").key
    assert refused.value.entity == "order"
    assert everything(at) == before


def test_a_unique_value_belongs_to_one_item(at: Shop) -> None:
    at.db.write(customers.create(customer("c1", "Ana@Example.org")))
    before = everything(at)
    with pytest.raises(NotUnique, match="customer: another item has this email") as refused:
        at.db.write(customers.create(customer("c2", " ana@example.ORG")))
    assert refused.value.constraint == "email"
    assert refused.value.owner == customers.get("c1").key
    assert refused.value.key == customers.get("c2").key
    assert everything(at) == before


def test_a_guard_names_its_owner_and_keeps_what_it_was_told_to(at: Shop) -> None:
    at.db.write(customers.create(customer("c1", "Ana@Example.org", nick="A")))
    assert guards(at) == {
        "UNIQUE#customer#email#ana@example.org": "CUSTOMER#c1",
        "NICK#a": "CUSTOMER#c1",
    }
    guard = stored(at, {"PK": {"S": "UNIQUE#customer#email#ana@example.org"}, "SK": {"S": "UNIQUE"}})
    assert (guard or {})["mail"] == {"S": "Ana@Example.org"}


def test_what_is_absent_is_not_unique(db: Db) -> None:
    db.write(customers.create(customer("c1")))
    db.write(customers.create(customer("c2")))
    assert db.one(customers.get("c2")) is not None


def test_a_create_may_demand_more(at: Shop) -> None:
    before = everything(at)
    with pytest.raises(ConditionNotMet):
        at.db.write(orders.create(order(1)).when(lambda o: o.total > Decimal(1)))
    assert everything(at) == before


def test_over_an_expired_item_another_is_created(at: Shop) -> None:
    at.db.write(sessions.create(session("t1", "phone", note="old")))
    at.clock.move(timedelta(hours=1))
    at.db.write(sessions.create(session("t1", "phone", note="new", until=START + timedelta(days=1))))
    found = at.db.one(sessions.get("t1"), consistent=True)
    assert found is not None
    assert found.note == "new"
    assert guards(at) == {"UNIQUE#session#device#phone": "SESSION#t1"}


def test_a_unique_value_is_free_again_when_its_owner_has_expired(at: Shop) -> None:
    at.db.write(sessions.create(session("t1", "phone")))
    at.clock.move(timedelta(minutes=59))
    with pytest.raises(NotUnique):
        at.db.write(sessions.create(session("t2", "phone", until=None)))
    at.clock.move(timedelta(minutes=1))
    at.db.write(sessions.create(session("t2", "phone", until=None)))
    assert guards(at) == {"UNIQUE#session#device#phone": "SESSION#t2"}


def test_the_holder_of_a_unique_value_is_found_through_its_guard(at: Shop) -> None:
    ana = customer("c1", "ana@example.org")
    at.db.write(customers.create(ana))
    assert at.db.holder(customers, "email", email="ANA@example.org") == ana
    assert at.db.holder(customers, "email", email="bob@example.org") is None
    assert at.db.holder(customers, "nick", nick=None) is None


def test_the_first_of_two_get_or_creates_creates(db: Db) -> None:
    ana = customer("c1", "ana@example.org")
    assert db.get_or_create(customers.create(ana)) == (ana, True)
    assert db.get_or_create(customers.create(customer("c9", "ANA@example.org"))) == (ana, False)
    assert db.get_or_create(customers.create(customer("c1", "bob@example.org"))) == (ana, False)
    assert db.one(customers.get("c9")) is None


def test_get_or_create_finds_what_is_deleted_softly(db: Db) -> None:
    gone = customer("c1", "ana@example.org", active=False)
    db.write(customers.create(gone))
    assert db.get_or_create(customers.create(customer("c2", "ana@example.org"))) == (gone, False)


def test_get_or_create_does_not_mistake_another_refusal_for_existence(db: Db) -> None:
    with pytest.raises(ConditionNotMet, match="a condition of the write"):
        db.get_or_create(orders.create(order(1)).when(lambda o: o.total > Decimal(1)))


def test_an_item_that_does_not_fit_its_model_says_which_field(at: Shop) -> None:
    at.db.write(orders.create(order(1)))
    key = orders.get("c1", "001").key
    at.call(
        "UpdateItem",
        {
            "TableName": at.db.physical("shop"),
            "Key": key,
            "UpdateExpression": "REMOVE placed SET #t = :x",
            "ExpressionAttributeNames": {"#t": "state"},
            "ExpressionAttributeValues": {":x": {"S": "LOST"}},
        },
    )
    with pytest.raises(
        ItemUnreadable, match=r"order: an item does not fit its model \(placed, state\)"
    ) as bad:
        at.db.one(orders.get("c1", "001"), consistent=True)
    assert bad.value.key == key
