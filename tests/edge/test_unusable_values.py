"""A value that no key can have is the caller's to mend, wherever it is in the request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from tests.edge.talk import app_of, calling, code_of

ROUTES = APIRouter()


class Empty(Exception):
    """What a store raises of an empty key."""

    value = ""


class Long(Exception):
    """What a store raises of a key that is too long: it does not know which part."""


def look_up(key: str) -> str:
    if not key.strip():
        raise Empty
    if len(key) > 2000:
        raise Long
    return "found"


@ROUTES.get("/things/{id}")
def by_path(id: str) -> str:
    return look_up(id)


@ROUTES.get("/things")
def by_query(owner: str) -> str:
    return look_up(owner)


@ROUTES.post("/things/{id}")
def by_body(id: str, body: dict[str, Any]) -> str:
    return look_up(body["owner"]["ids"][1])


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with calling(app_of(ROUTES, unusable=(Empty, Long))) as client:
        yield client


@pytest.mark.parametrize("value", ["%20", "x" * 3000])
def test_in_a_path_it_names_nothing(client: httpx.Client, value: str) -> None:
    assert code_of(client.get(f"/things/{value}")) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("value", "words"), [("", "owner must not be empty."), ("x" * 3000, "owner is too long.")]
)
def test_in_the_query_it_is_a_parameter_to_mend(client: httpx.Client, value: str, words: str) -> None:
    answered = client.get("/things", params={"owner": value})
    assert code_of(answered) == (422, "INVALID_FIELD")
    assert (answered.json()["field"], answered.json()["message"]) == ("owner", words)


@pytest.mark.parametrize("value", ["", "x" * 3000])
def test_in_the_body_it_is_a_field_to_mend(client: httpx.Client, value: str) -> None:
    answered = client.post("/things/7", json={"name": "a", "owner": {"ids": ["7", value]}})
    assert code_of(answered) == (422, "INVALID_FIELD")
    assert answered.json()["field"] == "owner.ids[1]"
