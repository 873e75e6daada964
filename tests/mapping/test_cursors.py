"""Page tokens: opaque, only for the list and the reader they were made for, and only for a day."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.mapping.shop import Order, Tier, last_orders_of, order, orders, orders_of, orders_worth, shop
from tests.mapping.talk import Shop

from tablewright.design import Query
from tablewright.mapping import BadCursor, CursorExpired, Db

QUERY = orders_of(customer="c1")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@pytest.fixture
def token(at: Shop) -> str:
    at.db.batch(orders.put(order(n, customer=customer)) for n in range(6) for customer in ("c1", "c2"))
    token = at.db.page(QUERY, size=2, reader="ana").next
    assert token is not None
    return token


def goes_on(db: Db, token: str, query: Query[Order] = QUERY, reader: str = "ana") -> list[str]:
    return [o.id for o in db.page(query, size=2, after=token, reader=reader).items]


def test_a_token_goes_on_where_its_page_ended(at: Shop, token: str) -> None:
    assert goes_on(at.db, token) == ["002", "003"]
    assert goes_on(at.db, token) == ["002", "003"]


def test_a_token_works_in_another_process_with_the_same_secret(at: Shop, token: str) -> None:
    assert goes_on(at.again(), token) == ["002", "003"]


def test_a_token_shows_nothing_of_the_key(token: str) -> None:
    raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    for text in (b"ORDER#", b"CUSTOMER#"):
        assert text not in raw


def test_two_tokens_of_one_place_differ(at: Shop, token: str) -> None:
    assert at.db.page(QUERY, size=2, reader="ana").next != token


def test_a_token_with_any_letter_changed_is_refused(at: Shop, token: str) -> None:
    for position, letter in enumerate(token):
        changed = LETTERS[(LETTERS.index(letter) + 1) % len(LETTERS)]
        with pytest.raises(BadCursor, match="begin at the first page"):
            goes_on(at.db, token[:position] + changed + token[position + 1 :])


CHANGED: dict[str, Callable[[str], str]] = {
    "cut short": lambda token: token[:-4],
    "cut to one letter": lambda token: token[:1],
    "cut in half": lambda token: token[: len(token) // 2],
    "without its beginning": lambda token: token[4:],
    "longer": lambda token: token + "AAAA",
    "padded": lambda token: token + "==",
    "with a space": lambda token: token[:9] + " " + token[9:],
    "with a stranger": lambda token: token[:9] + "!" + token[9:],
    "beyond ASCII": lambda token: token + "é",
    "forged": lambda token: "e30",
    "a key": lambda token: '{"PK":{"S":"CUSTOMER#c1"}}',
}


@pytest.mark.parametrize("how", CHANGED)
def test_what_was_not_made_here_is_refused(at: Shop, token: str, how: str) -> None:
    with pytest.raises(BadCursor) as refused:
        goes_on(at.db, CHANGED[how](token))
    assert not isinstance(refused.value, CursorExpired)


ELSEWHERE: dict[str, Query[Order]] = {
    "other parameters": orders_of(customer="c2"),
    "another pattern": last_orders_of(customer="c1"),
    "another index": orders_worth(customer="c1", total=order(1).total),
    "another filter": QUERY.where(lambda o: o.id > "000"),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_a_token_is_for_its_own_list_only(at: Shop, token: str, what: str) -> None:
    with pytest.raises(BadCursor):
        goes_on(at.db, token, ELSEWHERE[what])


def test_a_filters_value_is_part_of_the_list(at: Shop, token: str) -> None:
    one, other = (QUERY.where(lambda o, n=n: o.id > n) for n in ("000", "001"))  # type: ignore[misc]  # the default binds n
    made = at.db.page(one, size=2, reader="ana").next
    assert made is not None
    assert goes_on(at.db, made, one) == ["003", "004"]
    with pytest.raises(BadCursor):
        goes_on(at.db, made, other)


@pytest.mark.parametrize("reader", ["bob", "", "ana "])
def test_a_token_is_for_its_own_reader_only(at: Shop, token: str, reader: str) -> None:
    with pytest.raises(BadCursor):
        goes_on(at.db, token, reader=reader)


def test_a_token_dies_after_a_day(at: Shop, token: str) -> None:
    at.clock.move(timedelta(hours=24) - timedelta(seconds=1))
    assert goes_on(at.db, token) == ["002", "003"]
    at.clock.move(timedelta(seconds=1))
    with pytest.raises(CursorExpired, match="older than a day; begin at the first page"):
        goes_on(at.db, token)


def test_another_secret_opens_nothing(at: Shop, token: str) -> None:
    for secret in (b"another secret of any length", None):
        other = Db(at.call, shop, world=at.clock.world(), secret=secret, environment=at.db.environment)
        with pytest.raises(BadCursor):
            goes_on(other, token)


def test_a_short_secret_is_refused(at: Shop) -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        Db(at.call, shop, secret=b"short")


def test_no_token_is_the_first_page(at: Shop, token: str) -> None:
    assert [o.id for o in at.db.page(QUERY, size=2, after="", reader="ana").items] == ["000", "001"]
    assert Tier.GOLD.value not in token
