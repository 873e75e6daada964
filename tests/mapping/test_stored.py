"""Items as they are stored, actions in the wire's form, and many holders in few calls: what a busy path is made of."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.mapping.shop import Product, customer, customers, products

from tablewright.client import CallRefused
from tablewright.mapping import ActionsRefused, Db, Spent

TOY = Product(sku="s1", category="toy", brand_name="LEGO", unit_price=Decimal(9), stock=2)


def test_items_are_as_they_are_stored_each_in_its_place(db: Db) -> None:
    db.write(products.create(TOY))
    missing, found = db.items([products.get("s0"), products.get("s1")], consistent=True)
    assert missing is None
    assert found is not None
    assert (found["sku"], found["stock"]) == ({"S": "s1"}, {"N": "2"})
    assert db.items([]) == []


def test_what_is_deleted_softly_is_not_among_the_items(db: Db) -> None:
    db.write(customers.create(customer(active=False)))
    assert db.items([customers.get("c1")], consistent=True) == [None]
    assert db.items([customers.get("c1")], consistent=True, deleted=True) != [None]


def test_actions_of_ones_own_go_with_writes_of_the_design_and_are_counted_by_their_name(db: Db) -> None:
    db.write(products.create(TOY))
    (item,) = db.items([products.get("s1")], consistent=True)
    assert item is not None
    sold = {
        "TableName": db.physical(products.shape.table.name),
        "Item": {**item, "stock": {"N": "1"}},
        "ConditionExpression": "stock = :s",
        "ExpressionAttributeValues": {":s": {"N": "2"}},
    }
    db.transact("products.sell", [*db.wire(customers.create(customer())), {"Put": sold}])
    assert db.one(products.get("s1"), consistent=True) == TOY.model_copy(update={"stock": 1})
    assert db.holder(customers, "email", email=customer().email) == customer()
    assert db.meter.spent()["products.sell"].calls == 1


def test_conditions_that_do_not_hold_are_told_by_position_with_the_item_and_nothing_is_written(
    db: Db,
) -> None:
    db.write(products.create(TOY))
    other = TOY.model_copy(update={"sku": "s2"})
    writes = db.wire(products.create(other), products.create(TOY))
    with pytest.raises(ActionsRefused) as refused:
        db.transact("products.stock", writes)
    assert list(refused.value.failed) == [1]
    item = refused.value.failed[1]
    assert item is not None
    assert item["sku"] == {"S": "s1"}
    assert db.one(products.get("s2"), consistent=True) is None


def test_a_mistake_that_is_no_condition_is_told_as_it_is(db: Db) -> None:
    put = {"TableName": db.physical(products.shape.table.name), "Item": {"sku": {"N": "1"}}}
    with pytest.raises(CallRefused):
        db.transact("products.stock", [{"Put": put}])


def test_many_holders_are_found_each_in_its_place(db: Db) -> None:
    people = [customer(f"c{n}", email=f"{n}@example.org") for n in range(5)]
    for one in people:
        db.write(customers.create(one))
    asked = [{"email": f"{n}@example.org"} for n in (3, 9, 0, 3)]
    found = db.holders(customers, "email", asked)
    assert found == [people[3], None, people[0], people[3]]
    assert db.meter.spent()["customer.holder"] == Spent(3, 5.0, 0, 2)
    assert found == [db.holder(customers, "email", email=one["email"]) for one in asked]
    assert db.holders(customers, "email", []) == []
    assert db.holders(customers, "nick", [{"nick": None}]) == [None]
