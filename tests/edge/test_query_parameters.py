"""A query parameter that an API does not know is refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import httpx
import pytest
from fastapi import APIRouter, Depends, Query
from tests.edge.talk import app_of, calling, code_of

from tablewright.edge.problems import ERRORS_LISTED
from tablewright.edge.routes import MountedRouter

API, PAGES = APIRouter(), APIRouter(include_in_schema=False)


def paged(size: Annotated[int, Query(alias="pageSize")] = 50) -> int:
    return size


@API.get("/things")
def things(size: Annotated[int, Depends(paged)], kind: str = "") -> str:
    return f"{size} {kind}"


@API.post("/things")
def add() -> str:
    return "added"


@PAGES.get("/page")
def page() -> str:
    return "a page"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with calling(app_of(MountedRouter("/api", API, ("Things",)), MountedRouter("/console", PAGES))) as client:
        yield client


def test_parameters_of_a_route_and_of_its_dependencies_are_known(client: httpx.Client) -> None:
    assert client.get("/api/things?pageSize=3&kind=new").json() == "3 new"


def test_a_misspelt_parameter_is_refused_with_those_that_are_known(client: httpx.Client) -> None:
    answered = client.get("/api/things?pagesize=3&kind=new&order=up")
    assert code_of(answered) == (422, "INVALID_FIELD")
    assert answered.json()["field"] == "pagesize"
    assert answered.json()["message"] == (
        "pagesize is not a query parameter of this path; it has kind, pageSize."
    )
    assert [error["field"] for error in answered.json()["errors"]] == ["pagesize", "order"]
    assert client.get("/api/things?page_size=3").status_code == 422


def test_a_change_with_an_unknown_parameter_is_refused_too(client: httpx.Client) -> None:
    assert client.post("/api/things?dryRun=true").json()["message"].endswith("it has none.")


def test_a_page_is_shown_whatever_a_link_to_it_has_added(client: httpx.Client) -> None:
    assert client.get("/console/page?utm_source=mail").json() == "a page"


def test_of_very_many_unknown_parameters_only_the_first_are_told(client: httpx.Client) -> None:
    query = "&".join(f"p{number}=" for number in range(2000))
    told = client.get(f"/api/things?{query}").json()
    assert told["errorCount"] == 2000
    assert len(told["errors"]) == ERRORS_LISTED
