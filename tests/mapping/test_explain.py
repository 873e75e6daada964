"""explain: the request as it would be sent, the index it uses, and the units it will cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel
from tests.mapping.shop import (
    START,
    Account,
    Product,
    accounts,
    customer,
    customer_now,
    customers,
    day,
    days,
    everything_of,
    order,
    orders,
    orders_in_state,
    orders_of,
    products,
    products_from,
    readings_between,
    session,
    sessions,
    urgent_orders,
)
from tests.mapping.talk import Shop, everything

from tablewright.client import units_of
from tablewright.design import Get, Query, Write
from tablewright.mapping import Explanation


def sent(at: Shop, explained: Explanation) -> float:
    """Send the calls just as they are explained; the write units the service reports."""
    total = 0.0
    for verb, body in explained.calls:
        answer = at.call(verb, {**body, "ReturnConsumedCapacity": "INDEXES"})
        total += sum(units.write for units in units_of(verb, answer))
    return total


def test_nothing_is_run(at: Shop) -> None:
    at.db.explain(orders.create(order(1)))
    at.db.explain(orders_of(customer="c1"))
    assert not any(everything(at).values())
    assert at.db.meter.spent() == {}


BIG = "x" * 3000
TOY = Product(sku="s", category="toy", brand_name="LEGO", unit_price=Decimal(9))
CREATES: dict[str, Write[Any]] = {
    "an order in two indexes": orders.create(order(1)),
    "an order in three": orders.create(order(1, urgent=True)),
    "a large order": orders.create(order(1, urgent=True, lines=[BIG])),
    "a customer with a guard": customers.create(customer()),
    "a large customer with two guards": customers.create(customer(nick="n", notes=[BIG])),
    "a product in an index of several attributes and one of keys": products.create(
        TOY.model_copy(update={"picture": BIG.encode()})
    ),
    "an account in three indexes": accounts.create(Account(id="a", email="e")),
    "a session with its guard": sessions.create(session()),
    "a put": orders.put(order(1)),
}


@pytest.mark.parametrize("what", CREATES)
def test_a_creation_is_accepted_as_printed_and_costs_what_was_said(at: Shop, what: str) -> None:
    explained = at.db.explain(CREATES[what])
    assert sent(at, explained) == explained.write_units
    assert any(everything(at).values())


def changed(item: BaseModel, **update: object) -> tuple[BaseModel, BaseModel]:
    return item, item.model_copy(update=update)


CHANGES: dict[str, tuple[Any, tuple[BaseModel, BaseModel], float]] = {
    "nothing of an index": (days, changed(day(), visits=3), 1),
    "what an index carries": (products, changed(TOY, stock=3), 2),
    "a key of one index of three": (accounts, changed(Account(id="a", email="e"), status="LIVE"), 5),
    "no key of three indexes": (accounts, changed(Account(id="a", email="e")), 4),
    "two keys of three indexes": (accounts, changed(Account(id="a", email="e"), status="LIVE", email="f"), 6),
    "a soft delete that moves a key": (accounts, changed(Account(id="a", email="e"), active=False), 5),
    "into a sparse index": (orders, changed(order(1), urgent=True), 3),
    "out of a sparse index": (orders, changed(order(1, urgent=True), urgent=False), 3),
    "a key of a sharded index that carries little": (orders, changed(order(1), state="PAID"), 4),
    "what only some indexes carry": (orders, changed(order(1), lines=["x"]), 2),
    "a small item that grows": (orders, changed(order(1, urgent=True), lines=[BIG]), 12),
    "a large item that shrinks": (orders, changed(order(1, urgent=True, lines=[BIG]), lines=[]), 12),
    "what is hidden in an index of a few attributes": (sessions, changed(session(), ended=True), 3),
    "a unique value": (customers, changed(customer(), email="new@example.org"), 7),
    "how long a session lives": (sessions, changed(session(), until=START + timedelta(days=1)), 6),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_accepted_as_printed_and_costs_what_was_said(at: Shop, what: str) -> None:
    entity, (before, after), units = CHANGES[what]
    at.db.write(entity.create(before))
    explained = at.db.explain(entity.change(before, after))
    assert sent(at, explained) == explained.write_units
    assert explained.write_units == units


@pytest.mark.parametrize(
    ("entity", "item"),
    [
        (customers, customer(nick="n")),
        (orders, order(1, urgent=True, lines=[BIG])),
        (accounts, Account(id="a", email="e")),
    ],
    ids=["with guards", "large", "three indexes"],
)
def test_a_delete_is_accepted_as_printed_and_costs_what_was_said(
    at: Shop, entity: Any, item: BaseModel
) -> None:
    at.db.write(entity.create(item))
    explained = at.db.explain(entity.delete(item))
    assert sent(at, explained) == explained.write_units
    assert not any(everything(at).values())


def test_several_writes_are_explained_as_one_transaction(at: Shop) -> None:
    writes = (
        orders.create(order(1)),
        customers.create(customer()),
        accounts.create(Account(id="a", email="e")),
    )
    explained = at.db.explain(*writes)
    assert [verb for verb, _ in explained.calls] == ["TransactWriteItems"]
    assert explained.name == "order.create+customer.create+account.create"
    assert sent(at, explained) == explained.write_units


UPDATES: dict[str, Write[Any]] = {
    "steps": days.update("c1", day().day).at(lambda d: d.visits).add(1).at(lambda d: d.log).append("x"),
    "a nested step": days.update("c1", day().day).at(lambda d: d.seconds["x"]).add(1),
    "a tracker": days.update("c1", day().day).at(lambda d: d.first).lowest(START),
    "a condition": days.update("c1", day().day).at(lambda d: d.last).remove().when(lambda d: d.visits < 5),
    "a discard": days.discard("c1", day().day),
    "a check": days.check("c1", day().day),
    "a put": days.put(day()),
}


@pytest.mark.parametrize("what", UPDATES)
def test_other_writes_are_accepted_as_printed(at: Shop, what: str) -> None:
    at.db.write(days.create(day()))
    sent(at, at.db.explain(UPDATES[what]))


def test_an_upsert_is_explained_with_both_its_calls(at: Shop) -> None:
    explained = at.db.explain(days.upsert(day()).at(lambda d: d.visits).add(1))
    assert [verb for verb, _ in explained.calls] == ["UpdateItem", "PutItem"]
    assert "the second call only if there is no item yet" in explained.notes
    verb, body = explained.calls[1]
    at.call(verb, body)
    verb, body = explained.calls[0]
    at.call(verb, body)
    found = at.db.one(days.get("c1", day().day), consistent=True)
    assert found is not None
    assert found.visits == 2


READS: dict[str, tuple[Get[Any] | Query[Any], str | None, int]] = {
    "a get": (orders.get("c1", "001"), None, 1),
    "a consistent get": (customer_now(id="c1"), None, 1),
    "a query": (orders_of(customer="c1"), None, 1),
    "a filtered query": (orders_of(customer="c1").where(lambda o: o.total > Decimal(1)), None, 1),
    "of several entities": (everything_of(customer="c1"), None, 1),
    "of an index": (urgent_orders(start=START), "GSI1", 1),
    "of shards": (orders_in_state(state="OPEN"), "GSI2", 4),
    "of several attributes": (products_from(category="toy", brand="x", price=Decimal(1)), "ByCategory", 1),
    "of numbers": (readings_between(sensor="s", start=1, end=2), None, 1),
}


@pytest.mark.parametrize("what", READS)
def test_a_read_is_accepted_as_printed_and_names_its_index(at: Shop, what: str) -> None:
    request, index, calls = READS[what]
    explained = at.db.explain(request)
    assert (explained.index, len(explained.calls)) == (index, calls)
    assert explained.read_units > 0
    for verb, body in explained.calls:
        at.call(verb, body)


def test_reads_rest_on_the_figures_of_the_design(at: Shop) -> None:
    db = at.db
    assert db.explain(orders.get("c1", "001")).notes == ("for an item of 400 bytes; an eventual read",)
    explained = db.explain(orders_in_state(state="OPEN"))
    assert explained.notes == ("for a page of 20 items of 200 bytes", "4 shards, merged in order")
    assert explained.read_units == 2.0


def test_an_explanation_reads_as_text(at: Shop) -> None:
    text = str(at.db.explain(urgent_orders()))
    assert text.startswith("urgent_orders: 1 call\nindex: GSI1\nunits: ")
    assert '"KeyConditionExpression": "' in text
    text = str(at.db.explain(customers.create(customer())))
    assert "index: none (the table itself)\nunits: 0 read, 5 write\n" in text
    assert "guard email: table 1 x 2 (transaction)" in text
