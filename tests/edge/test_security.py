"""What browsers are told, and whose calls are turned away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http.client import HTTPConnection

import httpx
import pytest
from fastapi import APIRouter, Response
from starlette.types import Message, Receive, Scope, Send
from tests.edge.talk import app_of, calling, code_of

from tablewright.edge.csrf import SameOrigin
from tablewright.edge.security import PAGE_HEADERS, Hosts, host_name


def router() -> APIRouter:
    routes = APIRouter()

    @routes.api_route("/thing", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    def thing() -> str:
        return "done"

    @routes.get("/framed")
    def framed(response: Response) -> str:
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return "done"

    return routes


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with calling(app_of(router())) as client:
        yield client


@pytest.mark.parametrize("path", ["/thing", "/none"])
def test_every_answer_has_the_headers_that_protect_pages(client: httpx.Client, path: str) -> None:
    found = client.get(path).headers
    assert {name: found[name] for name in PAGE_HEADERS} == PAGE_HEADERS
    assert "default-src 'self'" in found["Content-Security-Policy"]
    assert "Server" not in found


def test_what_a_handler_sets_itself_stays(client: httpx.Client) -> None:
    assert client.get("/framed").headers["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "", "0.0.0.0"]
)
def test_a_name_that_is_not_ours_is_turned_away(client: httpx.Client, host: str) -> None:
    assert code_of(client.get("/thing", headers={"Host": host})) == (421, "HOST_NOT_ALLOWED")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "localhost.", "[::1]:80", "127.0.0.1:80"])
def test_the_names_of_this_machine_are_ours_whatever_the_port(client: httpx.Client, host: str) -> None:
    assert client.get("/thing", headers={"Host": host}).status_code == 200


def test_two_hosts_at_once_are_none(client: httpx.Client) -> None:
    connection = HTTPConnection(client.base_url.host, client.base_url.port)
    connection.putrequest("GET", "/thing", skip_host=True)
    connection.putheader("Host", "localhost")
    connection.putheader("Host", "localhost")
    connection.endheaders()
    assert connection.getresponse().status == 421
    connection.close()


def test_a_host_is_read_without_its_port() -> None:
    assert [host_name(host) for host in ("a:1", "A.", "[::1]:2", "[::1]", "a")] == [
        "a",
        "a",
        "[::1]",
        "[::1]",
        "a",
    ]


UNSAFE = ["POST", "PUT", "PATCH", "DELETE"]


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site", "Cookie": "session=x", "Authorization": "Basic eDp5"},
    ],
)
def test_a_change_asked_for_by_another_sites_page_is_refused(
    client: httpx.Client, method: str, headers: dict[str, str]
) -> None:
    assert code_of(client.request(method, "/thing", headers=headers)) == (403, "CROSS_SITE")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Authorization": "Bearer abc"},
    ],
)
def test_our_own_pages_and_programs_may_change_things(client: httpx.Client, headers: dict[str, str]) -> None:
    assert client.post("/thing", headers=headers).status_code == 200


def test_without_other_words_the_origin_must_be_our_own_name_and_port(client: httpx.Client) -> None:
    own = str(client.base_url).rstrip("/")
    assert client.post("/thing", headers={"Origin": own}).status_code == 200


def test_another_sites_page_may_link_to_us(client: httpx.Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    assert client.get("/thing", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("layer", "headers"),
    [
        (Hosts, [(b"host", b"evil.example")]),
        (SameOrigin, [(b"host", b"localhost"), (b"origin", b"https://evil.example")]),
    ],
)
def test_a_websocket_of_another_site_is_closed_before_it_opens(
    layer: type[Hosts | SameOrigin], headers: list[tuple[bytes, bytes]]
) -> None:
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the app was reached")

    async def receive() -> Message:
        raise AssertionError("nothing is to be read")

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(layer(app)({"type": "websocket", "path": "/", "headers": headers}, receive, send))
    assert [message["type"] for message in sent] == ["websocket.close"]
