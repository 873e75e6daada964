"""Several writes as one: over tables, all or nothing, with the error of the write that failed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tests.mapping.shop import (
    Account,
    Product,
    Reading,
    accounts,
    customer,
    customers,
    order,
    orders,
    products,
    readings,
)
from tests.mapping.talk import Shop, everything

from tablewright.client import TransactionImpossible
from tablewright.design import Write
from tablewright.mapping import (
    AlreadyExists,
    ConditionNotMet,
    Db,
    MappingMistake,
    Missing,
    NotUnique,
    Stale,
    WriteRefused,
    Written,
)

TOY = Product(sku="s1", category="toy", brand_name="LEGO", unit_price=Decimal(9), stock=2)


def test_writes_to_several_tables_happen_together(db: Db) -> None:
    db.write(products.create(TOY))
    done = db.write(
        customers.create(customer()),
        orders.create(order(1)),
        products.update("s1").at(lambda p: p.stock).add(-1).when(lambda p: p.stock >= 1),
        readings.create(Reading(sensor="till", at=1, value=Decimal(9))),
    )
    assert done == Written(repeated=False, result=None)
    assert db.one(orders.get("c1", "001"), consistent=True) == order(1)
    assert db.one(products.get("s1"), consistent=True) == TOY.model_copy(update={"stock": 1})


@pytest.mark.parametrize("kind", ["taken", "missing", "stale", "condition", "unique", "check"])
def test_one_refusal_undoes_all_and_names_the_write(at: Shop, kind: str) -> None:
    db = at.db
    db.write(customers.create(customer("c0", name="Ana")))
    db.write(products.create(TOY))
    account = Account(id="a1", email="a@example.org")
    db.write(accounts.create(account))
    db.write(accounts.update("a1").at(lambda a: a.email).set("b@example.org"))
    wishes: dict[str, tuple[Write[Any], type[WriteRefused], str]] = {
        "taken": (products.create(TOY), AlreadyExists, "product"),
        "missing": (products.update("s9").at(lambda p: p.stock).add(1), Missing, "product"),
        "stale": (accounts.change(account, account.model_copy(update={"email": "c"})), Stale, "account"),
        "condition": (
            products.update("s1").at(lambda p: p.stock).add(-9).when(lambda p: p.stock >= 9),
            ConditionNotMet,
            "product",
        ),
        "unique": (customers.create(customer("c9", "C0@example.org")), NotUnique, "customer"),
        "check": (products.check("s1").when(lambda p: p.stock > 5), ConditionNotMet, "product"),
    }
    refused, error, entity = wishes[kind]
    before = everything(at)
    with pytest.raises(error) as caught:
        db.write(customers.create(customer("c1")), orders.create(order(1)), refused, once="all")
    assert caught.value.entity == entity
    assert isinstance(caught.value, MappingMistake)
    assert everything(at) == before


def test_a_check_makes_a_write_depend_on_another_item(db: Db) -> None:
    db.write(products.create(TOY))
    db.write(orders.create(order(1)), products.check("s1").when(lambda p: p.stock > 1))
    with pytest.raises(Missing):
        db.write(orders.create(order(2)), products.check("s9"))
    db.write(products.check("s1"))
    with pytest.raises(Missing):
        db.write(products.check("s9"))


def test_no_writes_are_no_transaction(db: Db) -> None:
    assert db.write() == Written()


def test_two_writes_to_one_item_are_seen_before_they_are_sent(at: Shop) -> None:
    with pytest.raises(TransactionImpossible):
        at.db.write(orders.create(order(1)), orders.put(order(1)))
    assert not any(everything(at).values())


def test_swapping_two_unique_values_needs_two_steps_and_says_so(db: Db) -> None:
    one, two = customer("c1", "a@example.org"), customer("c2", "b@example.org")
    db.write(customers.create(one), customers.create(two))
    with pytest.raises(TransactionImpossible):
        db.write(
            customers.change(one, one.model_copy(update={"email": two.email})),
            customers.change(two, two.model_copy(update={"email": one.email})),
        )
    assert db.one(customers.get("c1"), consistent=True) == one


def test_items_are_read_together_as_they_stood_at_one_moment(db: Db) -> None:
    db.write(customers.create(customer()), orders.create(order(1)), products.create(TOY))
    assert db.together(
        customers.get("c1"), orders.get("c1", "001"), products.get("s1"), orders.get("x", "1")
    ) == (
        customer(),
        order(1),
        TOY,
        None,
    )


def test_many_items_come_in_the_order_they_were_asked_for(db: Db) -> None:
    db.batch([orders.put(order(n)) for n in range(120)])
    wanted = [orders.get("c1", f"{n:03}") for n in (119, 5, 500, 5, 0)]
    assert db.many(wanted) == [order(119), order(5), None, order(5), order(0)]
    every = db.many([orders.get("c1", f"{n:03}") for n in range(120)], consistent=True)
    assert every == [order(n) for n in range(120)]
    assert db.many([]) == []


def test_many_finds_numeric_keys_however_they_are_spelled(db: Db) -> None:
    db.write(readings.create(Reading(sensor="a", at=100, value=Decimal("1.50"))))
    assert db.many([readings.get("a", 100)]) == [Reading(sensor="a", at=100, value=Decimal("1.50"))]
