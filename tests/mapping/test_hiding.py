"""Reads never show what has expired or is deleted softly, whatever the sweeper has reached."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

import pytest
from pydantic import BaseModel
from tests.mapping.shop import (
    START,
    Account,
    SessionHead,
    Tier,
    accounts,
    active_accounts,
    all_sessions,
    customer,
    customer_now,
    customers,
    customers_of_tier,
    day,
    days,
    everything_of,
    order,
    orders,
    profile_and_days,
    session,
    session_heads,
    sessions,
)
from tests.mapping.talk import Shop, scan

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Design, SoftDelete
from tablewright.mapping import Db


@pytest.fixture
def hidden(at: Shop) -> Shop:
    """Sessions t0 to t5: t1 has expired, t3 has ended, and the sweeper has not come."""
    later = START + timedelta(days=1)
    for number in range(6):
        until = START if number == 1 else None if number == 5 else later
        at.db.write(sessions.create(session(f"t{number}", f"d{number}", until=until, ended=number == 3)))
    at.clock.move(timedelta(hours=1))
    assert len([item for item in scan(at) if item["SK"] == {"S": "SESSION"}]) == 6
    return at


def test_one_hides_what_has_expired_and_what_is_deleted(hidden: Shop) -> None:
    seen = {n: hidden.db.one(sessions.get(f"t{n}"), consistent=True) for n in range(6)}
    assert [n for n, found in seen.items() if found is None] == [1, 3]


def test_every_item_of_an_entity_is_found_among_others_without_what_is_hidden(hidden: Shop) -> None:
    hidden.db.write(customers.create(customer("c1")))
    assert sorted(found.token for found in hidden.db.every(sessions)) == ["t0", "t2", "t4", "t5"]
    shown = sorted(found.token for found in hidden.db.every(sessions, deleted=True))
    assert shown == ["t0", "t2", "t3", "t4", "t5"]
    assert [found.id for found in hidden.db.every(customers)] == ["c1"]


def test_every_goes_on_where_an_answer_of_the_store_ended(at: Shop) -> None:
    # 1 MB is what one answer of a Scan holds.
    for number in range(6):
        at.db.write(customers.create(customer(f"c{number}", notes=["x" * 300_000])))
    assert sorted(found.id for found in at.db.every(customers)) == [f"c{number}" for number in range(6)]
    assert at.db.meter.spent()["customer.every"].requests > 1


def test_one_shows_what_is_deleted_if_asked_but_never_what_has_expired(hidden: Shop) -> None:
    seen = {n: hidden.db.one(sessions.get(f"t{n}"), deleted=True) for n in range(6)}
    assert [n for n, found in seen.items() if found is None] == [1]


@pytest.mark.parametrize("deleted", [False, True])
def test_every_other_read_hides_the_same(hidden: Shop, deleted: bool) -> None:
    db, query = hidden.db, all_sessions()
    shown = ["t0", "t2", "t3", "t4", "t5"] if deleted else ["t0", "t2", "t4", "t5"]
    gets = [sessions.get(f"t{n}") for n in range(6)]
    assert [s.token for s in db.many(gets, deleted=deleted) if s] == shown
    assert [s.token for s in db.together(*gets, deleted=deleted) if s] == shown
    assert [s.token for s in db.all(query, deleted=deleted)] == shown
    assert [s.token for s in db.page(query, deleted=deleted).items] == shown
    assert db.count(query, deleted=deleted) == len(shown)
    assert db.first(query.where(lambda s: s.token >= "t1"), deleted=deleted) == db.one(sessions.get("t2"))


def test_an_index_of_a_few_attributes_hides_the_same(hidden: Shop) -> None:
    db, query = hidden.db, session_heads()
    shown = [SessionHead(token=token) for token in ("t0", "t2", "t4", "t5")]
    assert [*db.all(query)] == shown
    assert db.count(query) == 4
    assert db.count(query, deleted=True) == 5


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_pages_stay_full_with_hidden_items_between(hidden: Shop, size: int) -> None:
    tokens, token = [], None
    while True:
        page = hidden.db.page(all_sessions(), size=size, after=token)
        tokens.append([s.token for s in page.items])
        token = page.next
        if token is None:
            break
    assert [len(page) for page in tokens[:-1]] == [size] * (len(tokens) - 1)
    assert [token for page in tokens for token in page] == ["t0", "t2", "t4", "t5"]
    assert tokens[-1] != []


def test_a_deleted_customer_is_hidden_among_their_orders(db: Db) -> None:
    db.write(customers.create(customer(active=False)), orders.create(order(1)), days.create(day()))
    assert db.one(customer_now(id="c1")) is None
    assert [type(item).__name__ for item in db.all(everything_of(customer="c1"))] == ["Day", "Order"]
    assert db.count(everything_of(customer="c1")) == 2
    assert db.count(everything_of(customer="c1"), deleted=True) == 3
    assert db.first(customers_of_tier(tier=Tier.BASIC)) is None
    assert db.first(customers_of_tier(tier=Tier.BASIC), deleted=True) == customer(active=False)


def test_strangers_in_a_range_are_passed_over_and_not_counted(db: Db) -> None:
    db.write(customers.create(customer()), days.create(day()))
    db.batch([orders.put(order(n)) for n in range(30)])
    query = profile_and_days(customer="c1")
    assert [type(item).__name__ for item in db.all(query)] == ["Day", "Customer"]
    assert db.count(query) == 2
    page = db.page(query, size=1)
    assert [type(item).__name__ for item in db.page(query, size=1, after=page.next).items] == ["Customer"]
    assert db.page(query, size=2).next is None


def test_a_pattern_for_what_is_deleted_shows_it_only_if_asked(db: Db) -> None:
    db.write(accounts.create(Account(id="a1", email="a", active=False)))
    assert db.count(active_accounts(active=False)) == 0
    assert db.count(active_accounts(active=False), deleted=True) == 1


def test_a_flag_of_two_meanings_hides_each_entity_by_its_own() -> None:
    class Open(BaseModel):
        owner: str
        flag: bool

    class Shut(BaseModel):
        owner: str
        flag: bool

    class Plain(BaseModel):
        owner: str
        flag: bool

    def owned(owner: str) -> None: ...

    design = Design("flags")
    table = design.table("flags", pk="PK", sk="SK")
    opens = table.entity(Open, owned, tag="open", pk="{owner}", sk="OPEN", soft_delete="flag")
    shuts = table.entity(
        Shut, owned, tag="shut", pk="{owner}", sk="SHUT", soft_delete=SoftDelete("flag", live=False)
    )
    plains = table.entity(Plain, owned, tag="plain", pk="{owner}", sk="PLAIN")

    @design.query(opens, shuts, plains, pk="{owner}")
    def all_of(*, owner: str) -> None:
        """Everything of an owner."""

    with testing.engine() as engine:
        db = Db(embedded(engine), design.build())
        db.create_tables()
        for owner, flag in (("yes", True), ("no", False)):
            db.write(
                opens.create(Open(owner=owner, flag=flag)),
                shuts.create(Shut(owner=owner, flag=flag)),
                plains.create(Plain(owner=owner, flag=flag)),
            )
        shown: dict[Literal["yes", "no"], list[str]] = {"yes": ["Open", "Plain"], "no": ["Plain", "Shut"]}
        for owner, names in shown.items():
            assert [type(item).__name__ for item in db.all(all_of(owner=owner))] == names
            assert db.count(all_of(owner=owner)) == 2
            assert db.count(all_of(owner=owner), deleted=True) == 3
