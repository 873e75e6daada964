"""A key that no item can have is refused by name, in every kind of call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.mapping.shop import customer, customers, session, sessions

from tablewright.design import KeyTextUnusable
from tablewright.mapping import Db, KeyTooLong

LONG = "x" * 3000

CALLS: dict[str, Callable[[Db], Any]] = {
    "get": lambda db: db.one(customers.get(LONG)),
    "put": lambda db: db.write(sessions.create(session(LONG))),
    "transaction": lambda db: db.write(
        customers.create(customer(LONG, "a@b.example")), sessions.create(session("s1"))
    ),
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_key_that_is_too_long_is_a_mistake_with_a_name_of_its_own(db: Db, kind: str) -> None:
    with pytest.raises(KeyTooLong):
        CALLS[kind](db)
    assert db.one(sessions.get("s1")) is None


def test_an_empty_key_is_named_with_the_text_that_was_given(db: Db) -> None:
    with pytest.raises(KeyTextUnusable) as mistake:
        db.one(customers.get(""))
    assert mistake.value.value == ""
