"""Versions over HTTP."""

from __future__ import annotations

import httpx
import pytest
from fastapi import APIRouter, Request, Response
from tests.edge.talk import app_of, calling

from tablewright.edge.etags import Version, etag, if_match, mark, public_cache, unchanged
from tablewright.edge.problems import Problem


def refusal(header: str | None, current: Version | None) -> Problem | None:
    try:
        if_match(header, current)
    except Problem as problem:
        return problem
    return None


def test_a_version_is_a_strong_quoted_tag() -> None:
    assert (etag(7), etag("a-7")) == ('"7"', '"a-7"')


@pytest.mark.parametrize("version", ["", 'a"b', "a b", "é", "a\n"])
def test_a_version_that_no_header_can_carry_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        etag(version)


@pytest.mark.parametrize(
    "header", ['"7"', '"6", "7"', '"6","7"', "*", ' "7" ', '"6,5", "7"', '"6",, "7"', None]
)
def test_a_caller_who_saw_the_current_version_may_write(header: str | None) -> None:
    assert refusal(header, 7) is None


@pytest.mark.parametrize("header", ['"6"', 'W/"7"', '"6", W/"7"', '"77"', '"6,7"', '""', ""])
def test_a_caller_who_saw_another_version_is_stale_and_told_the_current_one(header: str) -> None:
    found = refusal(header, 7)
    assert found is not None
    assert (found.status, found.code, found.headers) == (412, "STALE", {"ETag": '"7"'})


@pytest.mark.parametrize("header", ['"1"', "*"])
def test_nothing_matches_what_is_not_there(header: str) -> None:
    found = refusal(header, None)
    assert found is not None
    assert (found.status, found.headers) == (412, {})


@pytest.mark.parametrize("header", ["7", '"7', '7"', '"7" "8"', "*, *", 'w/"7"'])
def test_a_header_that_is_no_list_of_tags_is_a_mistake(header: str) -> None:
    found = refusal(header, 7)
    assert found is not None
    assert (found.status, found.code) == (400, "BAD_ETAG")


def router() -> APIRouter:
    routes = APIRouter()

    @routes.get("/page", response_model=None)
    def page(request: Request, response: Response) -> Response | str:
        found = unchanged(request, 7, cache_control=public_cache())
        if found is None:
            mark(response, 7, cache_control=public_cache())
        return found or "the page"

    @routes.get("/mine")
    def mine(response: Response) -> str:
        mark(response, 7)
        return "mine"

    @routes.get("/plain")
    def plain() -> str:
        return "plain"

    return routes


def test_a_copy_that_is_still_good_is_not_sent_again() -> None:
    with calling(app_of(router())) as client:
        whole = client.get("/page")
        again = [
            client.get("/page", headers={"If-None-Match": tag})
            for tag in (whole.headers["ETag"], 'W/"7"', "*")
        ]
        other = client.get("/page", headers={"If-None-Match": '"6"'})
    assert whole.json() == "the page"
    assert [(response.status_code, response.content) for response in again] == [(304, b"")] * 3
    assert {response.headers["ETag"] for response in again} == {'"7"'}
    assert other.status_code == 200


def caching(client: httpx.Client, path: str) -> str:
    return str(client.get(path).headers["Cache-Control"])


def test_a_public_page_is_kept_a_minute_a_private_one_asked_for_anew_and_the_rest_not_stored() -> None:
    with calling(app_of(router())) as client:
        found = [caching(client, path) for path in ("/page", "/mine", "/plain", "/none")]
    assert found == ["public, max-age=60", "private, no-cache", "no-store", "no-store"]
