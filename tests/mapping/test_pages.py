"""Pages: full, in order, and with a next one exactly if there is something on it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.mapping.shop import (
    START,
    Order,
    OrderHead,
    Product,
    Reading,
    last_orders_of,
    newest_in_state,
    order,
    orders,
    orders_in_state,
    orders_of,
    orders_worth,
    products,
    products_from,
    readings,
    readings_between,
    shop,
    urgent_orders,
)
from tests.mapping.talk import Shop

from tablewright.design import Query, contains
from tablewright.mapping import BadCursor, Db, PageTooLarge


def walk(db: Db, query: Query[Any], size: int) -> list[list[Any]]:
    """All pages, each token used once."""
    pages, token = [], None
    while True:
        page = db.page(query, size=size, after=token)
        pages.append([*page.items])
        token = page.next
        if token is None:
            return pages


@pytest.fixture
def twelve(db: Db) -> Db:
    """Twelve orders; every third is urgent, the totals go down as the numbers go up."""
    assert db.batch(orders.put(order(n, urgent=n % 3 == 0, total=Decimal(100 - n))) for n in range(12)) == []
    return db


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 11, 12, 13, 100])
def test_a_next_page_is_promised_only_if_there_is_one(twelve: Db, size: int) -> None:
    pages = walk(twelve, orders_of(customer="c1"), size)
    assert [len(page) for page in pages] == [size] * (12 // size) + ([12 % size] if 12 % size else [])
    assert [o.id for page in pages for o in page] == [f"{n:03}" for n in range(12)]


@pytest.mark.parametrize("size", [1, 3, 4, 5])
def test_pages_stay_full_with_a_filter(twelve: Db, size: int) -> None:
    query = orders_of(customer="c1").where(lambda o: o.urgent == True)  # noqa: E712  # a tracer reads it
    pages = walk(twelve, query, size)
    assert [o.id for page in pages for o in page] == ["000", "003", "006", "009"]
    assert [len(page) for page in pages] == [size] * (4 // size) + ([4 % size] if 4 % size else [])


def test_a_filter_that_lets_nothing_through_gives_one_empty_page(twelve: Db) -> None:
    nothing = orders_of(customer="c1").where(lambda o: o.total > Decimal(1000))
    assert walk(twelve, nothing, 5) == [[]]
    assert twelve.first(nothing) is None
    assert twelve.count(nothing) == 0
    assert [*twelve.all(nothing)] == []


def test_filters_are_joined(twelve: Db) -> None:
    query = (
        orders_of(customer="c1").where(lambda o: o.total > Decimal(95)).where(lambda o: contains(o.id, "3"))
    )
    assert [o.id for o in twelve.all(query)] == ["003"]


def test_backwards_and_consistently(twelve: Db) -> None:
    pages = walk(twelve, last_orders_of(customer="c1"), 5)
    assert [o.id for page in pages for o in page] == [f"{n:03}" for n in reversed(range(12))]


def test_through_a_local_index(twelve: Db) -> None:
    query = orders_worth(customer="c1", total=Decimal(95))
    assert [o.total for page in walk(twelve, query, 2) for o in page] == [Decimal(n) for n in range(95, 101)]


def test_through_a_sparse_index_within_bounds(twelve: Db) -> None:
    query = urgent_orders(start=START + timedelta(minutes=3), end=START + timedelta(minutes=6))
    assert [o.id for page in walk(twelve, query, 1) for o in page] == ["003", "006"]
    assert [o.id for o in twelve.all(urgent_orders(start=START + timedelta(minutes=7)))] == ["009"]
    assert [o.id for o in twelve.all(urgent_orders(end=START))] == ["000"]


def test_through_an_index_of_several_attributes_with_numbers_in_order(db: Db) -> None:
    prices = ["10", "9.5", "100", "9.50001", "2"]
    db.batch(
        products.put(Product(sku=f"s{n}", category="toy", brand_name=brand, unit_price=Decimal(price)))
        for n, price in enumerate(prices)
        for brand in [("LEGO", "BRIO")[n == 4]]
    )
    query = products_from(category="toy", brand="LEGO")
    assert [p.unit_price for page in walk(db, query, 1) for p in page] == [
        Decimal(text) for text in ("9.5", "9.50001", "10", "100")
    ]
    dear = products_from(category="toy", brand="LEGO", price=Decimal("9.6"))
    assert [p.unit_price for p in db.all(dear)] == [Decimal(10), Decimal(100)]


def test_through_numeric_sort_keys(db: Db) -> None:
    db.batch(readings.put(Reading(sensor="s#1", at=n, value=Decimal(n))) for n in range(-5, 15))
    query = readings_between(sensor="s#1", start=-2, end=10)
    assert [r.at for page in walk(db, query, 4) for r in page] == [*range(-2, 11)]
    assert db.count(readings_between(sensor="s#1", end=-4)) == 2


def test_a_page_is_as_large_as_its_pattern_says_and_never_larger_than_it_allows(twelve: Db) -> None:
    assert len(twelve.page(orders_of(customer="c1")).items) == 10
    for size in (0, -1, 101):
        with pytest.raises(
            PageTooLarge, match=f"orders_of gives 1 to 100 items a page, not {size}"
        ) as refused:
            twelve.page(orders_of(customer="c1"), size=size)
        assert (refused.value.pattern, refused.value.asked, refused.value.at_most) == ("orders_of", size, 100)


def test_what_comes_and_goes_between_pages_moves_nothing_else(twelve: Db) -> None:
    first = twelve.page(orders_of(customer="c1"), size=3)
    twelve.write(orders.discard("c1", "002"))  # the last one given
    twelve.write(orders.create(order(0, id="0015", placed=START)))
    second = twelve.page(orders_of(customer="c1"), size=3, after=first.next)
    assert [o.id for o in second.items] == ["003", "004", "005"]


def test_all_reads_on_in_large_steps_and_only_as_far_as_wanted(at: Shop) -> None:
    at.db.batch(orders.put(order(n)) for n in range(450))
    limits: list[int] = []

    def noting(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        limits.append(request["Limit"])
        return at.call(verb, request)

    db = type(at.db)(noting, shop, world=at.clock.world(), environment=at.db.environment)
    orders_seen = db.all(orders_of(customer="c1"))
    assert next(orders_seen).id == "000"
    assert limits == [100]
    assert len([*orders_seen]) == 449
    assert limits == [100] * 5


def test_sparse_matches_are_looked_for_in_growing_steps(at: Shop) -> None:
    at.db.batch(orders.put(order(n)) for n in range(300))
    before = at.db.meter.spent().get("orders_of")
    assert before is None
    page = at.db.page(orders_of(customer="c1").where(lambda o: o.id >= "299"), size=1)
    assert [o.id for o in page.items] == ["299"]
    assert page.next is None
    assert at.db.meter.spent()["orders_of"].requests <= 8


# --- shards ---


@pytest.fixture
def sharded(db: Db) -> Db:
    """Forty orders of five customers; the ids spread over all four shards; pairs are placed at one moment."""
    many = [order(n, customer=f"c{n % 5}", placed=START + timedelta(minutes=n // 2)) for n in range(40)]
    db.batch(orders.put(one) for one in many)
    shards = {o.shape.index_keys["GSI2"][0].template.render(one.__dict__) for o in [orders] for one in many}
    assert len(shards) == 4
    return db


def unsharded(db: Db) -> list[OrderHead]:
    """The same, read customer by customer and put in order here."""
    every: list[Order] = [o for n in range(5) for o in db.all(orders_of(customer=f"c{n}"))]
    return [
        OrderHead(id=o.id, placed=o.placed, total=o.total)
        for o in sorted(every, key=lambda o: (o.placed, o.id))
    ]


@pytest.mark.parametrize("size", [1, 3, 7, 10, 39, 40, 41])
def test_shards_are_merged_in_order_page_by_page(sharded: Db, size: int) -> None:
    pages = walk(sharded, orders_in_state(state="OPEN"), size)
    assert [one for page in pages for one in page] == unsharded(sharded)
    assert [len(page) for page in pages] == [size] * (40 // size) + ([40 % size] if 40 % size else [])


@pytest.mark.parametrize("size", [1, 7, 40])
def test_shards_are_merged_backwards_too(sharded: Db, size: int) -> None:
    pages = walk(sharded, newest_in_state(state="OPEN"), size)
    assert [one for page in pages for one in page] == unsharded(sharded)[::-1]


def test_shards_are_counted_and_read_as_one(sharded: Db) -> None:
    query = orders_in_state(state="OPEN")
    assert [*sharded.all(query)] == unsharded(sharded)
    assert sharded.count(query) == 40
    assert sharded.first(query) == unsharded(sharded)[0]
    assert sharded.first(newest_in_state(state="OPEN")) == unsharded(sharded)[-1]
    assert sharded.count(orders_in_state(state="PAID")) == 0


def test_filters_hold_across_shards(sharded: Db) -> None:
    query = orders_in_state(state="OPEN").where(lambda o: o.id >= "030")
    pages = walk(sharded, query, 4)
    assert [len(page) for page in pages] == [4, 4, 2]
    assert [one.id for page in pages for one in page] == [f"{n:03}" for n in range(30, 40)]


@pytest.mark.parametrize("query", [orders_of(customer="c1"), urgent_orders()], ids=["table", "index"])
def test_whoever_stops_at_an_item_goes_on_behind_it(twelve: Db, query: Query[Order]) -> None:
    whole = [one.id for one in twelve.all(query)]
    second = twelve.page(query, size=2).items[-1]
    token = twelve.token_at(query, second, "ada")
    assert (
        [one.id for one in twelve.page(query, size=100, after=token, reader="ada").items] == whole[2:] != []
    )
    with pytest.raises(BadCursor):
        twelve.page(query, after=token, reader="bob")


def test_one_item_does_not_say_where_a_list_over_shards_stands(twelve: Db) -> None:
    query = orders_in_state(state="OPEN")
    assert twelve.token_at(query, twelve.page(query, size=1).items[0]) is None
