"""Races, with real threads: one winner, nothing lost, no guard without an owner."""

from __future__ import annotations

from decimal import Decimal

from tests.mapping.shop import (
    Customer,
    Product,
    customer,
    customers,
    day,
    days,
    order,
    orders,
    orders_of,
    products,
)
from tests.mapping.talk import Shop, at_once, guards, scan

from tablewright.mapping import AlreadyExists, Db, NotUnique, Stale, WriteRefused


def live_guards(at: Shop) -> dict[str, str]:
    """The guards the customers of the table should have, told by the customers themselves."""
    found: dict[str, str] = {}
    for item in scan(at):
        if item["SK"]["S"] == "PROFILE":
            found[f"UNIQUE#customer#email#{item['email']['S'].strip().lower()}"] = item["PK"]["S"]
            if "nick" in item:
                found[f"NICK#{item['nick']['S'].strip().lower()}"] = item["PK"]["S"]
    return found


def test_a_hundred_checkouts_of_one_address_make_one_customer(at: Shop) -> None:
    def check_out(number: int) -> tuple[Customer, bool]:
        spelled = ("ana@example.org", "ANA@example.org", " Ana@Example.org ")[number % 3]
        return at.db.get_or_create(customers.create(customer(f"c{number}", spelled)))

    answers = at_once([lambda n=n: check_out(n) for n in range(100)], 32)  # type: ignore[misc]  # the default binds n
    assert len({found.id for found, _ in answers}) == 1
    assert [created for _, created in answers].count(True) == 1
    profiles = [item for item in scan(at) if item["SK"]["S"] == "PROFILE"]
    assert len(profiles) == 1
    assert guards(at) == live_guards(at)
    assert len(guards(at)) == 1


def test_a_hundred_writers_of_unique_values_leave_one_guard_for_each_live_value(at: Shop) -> None:
    """Eight customers, and more wishes than there are addresses: some are refused, some are stale."""
    db = at.db
    for number in range(8):
        db.write(customers.create(customer(f"c{number}", f"start{number}@example.org")))

    def rename(number: int) -> str:
        found = db.one(customers.get(f"c{number % 8}"), consistent=True)
        assert found is not None
        wish = {"email": f"new{number % 5}@example.org", "nick": f"n{number % 3}" if number % 2 else None}
        try:
            db.write(customers.change(found, found.model_copy(update=wish)))
        except (Stale, NotUnique) as refused:
            return type(refused).__name__
        return "done"

    outcomes = at_once([lambda n=n: rename(n) for n in range(100)], 32)  # type: ignore[misc]  # the default binds n
    assert outcomes.count("done") > 0
    assert outcomes.count("NotUnique") > 0
    assert guards(at) == live_guards(at)
    owners = [owner for key, owner in guards(at).items() if key.startswith("UNIQUE#")]
    assert sorted(owners) == [f"CUSTOMER#c{number}" for number in range(8)]


def test_of_changes_to_one_version_one_wins_and_no_cent_is_lost(db: Db) -> None:
    db.write(customers.create(customer()))

    def pay_in() -> int:
        refused = 0
        while True:
            before = db.one(customers.get("c1"), consistent=True)
            assert before is not None
            write = customers.change(
                before, before.model_copy(update={"balance": before.balance + Decimal("0.01")})
            )
            try:
                db.write(write)
            except Stale:
                refused += 1
            else:
                return refused

    at_once([pay_in] * 40, 8)
    found = db.one(customers.get("c1"), consistent=True)
    assert found is not None
    assert (found.balance, found.rev) == (Decimal("0.40"), 40)


def test_of_many_changes_of_one_reading_exactly_one_is_done(db: Db) -> None:
    db.write(customers.create(customer()))
    before = db.one(customers.get("c1"), consistent=True)
    assert before is not None

    def name(number: int) -> bool:
        assert before is not None
        try:
            db.write(customers.change(before, before.model_copy(update={"name": f"n{number}"})))
        except Stale:
            return False
        return True

    assert at_once([lambda n=n: name(n) for n in range(24)], 8).count(True) == 1  # type: ignore[misc]  # the default binds n


def test_of_many_creations_of_one_key_exactly_one_is_done(db: Db) -> None:
    def create(number: int) -> bool:
        try:
            db.write(orders.create(order(1, lines=[str(number)])))
        except AlreadyExists:
            return False
        return True

    assert at_once([lambda n=n: create(n) for n in range(24)], 8).count(True) == 1  # type: ignore[misc]  # the default binds n


def test_an_event_delivered_by_many_is_counted_once(db: Db) -> None:
    db.write(days.create(day()))
    count = days.update("c1", day().day).at(lambda d: d.visits).add(1)
    outcomes = at_once([lambda: db.write(count, once="event-1", result=7)] * 24, 8)
    assert [outcome.repeated for outcome in outcomes].count(False) == 1
    assert {outcome.result for outcome in outcomes} == {7}
    found = db.one(days.get("c1", day().day), consistent=True)
    assert found is not None
    assert found.visits == 1


def test_the_last_piece_is_sold_once(db: Db) -> None:
    db.write(
        products.create(Product(sku="s", category="toy", brand_name="x", unit_price=Decimal(1), stock=5))
    )
    take = products.update("s").at(lambda p: p.stock).add(-1).when(lambda p: p.stock > 0)

    def buy(number: int) -> bool:
        try:
            db.write(take, orders.create(order(number)))
        except WriteRefused:
            return False
        return True

    assert at_once([lambda n=n: buy(n) for n in range(20)], 8).count(True) == 5  # type: ignore[misc]  # the default binds n
    assert db.count(orders_of(customer="c1")) == 5
