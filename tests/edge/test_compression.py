"""Answers over 1 KB are compressed for those who read it, and tags stay what they mean."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import httpx
import pytest
from fastapi import APIRouter, Header, Request, Response
from starlette.responses import StreamingResponse
from tests.edge.talk import app_of, calling

from tablewright.edge.compression import wants_gzip
from tablewright.edge.etags import if_match, mark, unchanged

TEXT = b"all the same " * 1000
ROUTES = APIRouter()


@ROUTES.get("/text/{size}")
def text(size: int) -> Response:
    return Response(TEXT[:size], media_type="text/html")


@ROUTES.get("/picture")
def picture() -> Response:
    return Response(TEXT, media_type="image/png")


@ROUTES.get("/stream")
def stream() -> Response:
    return StreamingResponse(iter([TEXT, TEXT]), media_type="text/plain")


@ROUTES.get("/versioned")
def versioned(request: Request) -> Response:
    response = unchanged(request, 7) or Response(TEXT, media_type="text/plain")
    mark(response, 7)
    return response


@ROUTES.put("/versioned")
def change(match: str = Header(alias="If-Match")) -> str:
    if_match(match, 7)
    return "changed"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with calling(app_of(ROUTES)) as client:
        yield client


def raw(client: httpx.Client, path: str, method: str = "GET", **headers: str) -> tuple[httpx.Response, bytes]:
    with client.stream(method, path, headers={"Accept-Encoding": "gzip", **headers}) as response:
        return response, b"".join(response.iter_raw())


def test_what_is_over_1_kb_is_compressed_and_says_what_it_depends_on(client: httpx.Client) -> None:
    response, body = raw(client, "/text/5000")
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Vary"] == "Accept-Encoding"
    assert response.headers["Content-Length"] == str(len(body))
    assert gzip.decompress(body) == TEXT[:5000]
    assert len(body) < 500


@pytest.mark.parametrize("path", ["/text/1000", "/picture"])
def test_what_is_small_or_compressed_already_is_left_as_it_is(client: httpx.Client, path: str) -> None:
    assert "Content-Encoding" not in raw(client, path)[0].headers


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0", "br, gzip; q=0.0"])
def test_a_client_that_does_not_read_gzip_gets_none(client: httpx.Client, accepted: str) -> None:
    response, body = raw(client, "/text/5000", **{"Accept-Encoding": accepted})
    assert body == TEXT[:5000]
    assert response.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["gzip", "deflate, GZIP;q=0.5", "*", "br;q=1.0, gzip;q=0.8, *;q=0.1"])
def test_a_client_may_say_in_several_ways_that_it_reads_gzip(accepted: str) -> None:
    assert wants_gzip(httpx.Headers({"accept-encoding": accepted}))  # type: ignore[arg-type]  # only get() is used


def test_an_answer_in_parts_is_compressed_as_a_whole(client: httpx.Client) -> None:
    response, body = raw(client, "/stream")
    assert "Content-Length" not in response.headers
    assert gzip.decompress(body) == TEXT * 2


def test_head_tells_the_length_of_the_compressed_answer_without_a_body(client: httpx.Client) -> None:
    got, body = raw(client, "/text/5000")
    head, nothing = raw(client, "/text/5000", "HEAD")
    assert nothing == b""
    for name in ("Content-Length", "Content-Encoding", "Vary", "Content-Type"):
        assert head.headers[name] == got.headers[name]
    assert len(body) == int(head.headers["Content-Length"])


def test_a_compressed_answer_has_a_tag_of_its_own_that_names_the_same_version(client: httpx.Client) -> None:
    compressed, _ = raw(client, "/versioned")
    plain, _ = raw(client, "/versioned", **{"Accept-Encoding": "identity"})
    assert plain.headers["ETag"] == '"7"'
    assert compressed.headers["ETag"] == '"7-gzip"'
    for tag in ('"7"', '"7-gzip"'):
        same, body = raw(client, "/versioned", **{"If-None-Match": tag})
        assert (same.status_code, body, same.headers["ETag"]) == (304, b"", tag)
        assert client.put("/versioned", headers={"If-Match": tag}).json() == "changed"
    assert client.put("/versioned", headers={"If-Match": '"6-gzip"'}).status_code == 412


def test_the_description_of_the_api_is_compressed(client: httpx.Client) -> None:
    response, body = raw(client, "/openapi.json")
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Content-Length"] == str(len(body))
