"""How much and how often."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated

import httpx
import pytest
from fastapi import APIRouter, Depends, Request
from starlette.types import Receive, Scope, Send
from tests.edge.talk import app_of, calling, code_of

from tablewright.edge import ANYONE, Issuer, Principal, RateLimiter, limit_rate, principal, serving_app
from tablewright.edge.rate_limit import RateLimit, network_of, rate_limit_key
from tablewright.edge.request_bodies import BodyLimit

# --- bodies ---


async def swallowing(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that takes every exception of its reading for the end, and answers regardless."""
    try:
        while (await receive()).get("more_body"):
            pass
    except Exception:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})


async def trusting(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that catches nothing."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"done"})


def router() -> APIRouter:
    routes = APIRouter()

    @routes.post("/json")
    def json(found: dict[str, str]) -> int:
        return len(found["text"])

    @routes.post("/files/one")
    async def upload(request: Request) -> int:
        return sum([len(part) async for part in request.stream()])

    return routes


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    app = app_of(
        router(), body_bytes=1000, larger_bodies={"/files/": 5000, "/files/small/": 10, "/files/*/zip": 6000}
    )
    app.mount("/swallowing", swallowing)
    app.mount("/trusting", trusting)
    with calling(app) as client:
        yield client


def in_pieces(size: int) -> Iterator[bytes]:
    """A body that does not tell its length."""
    for _ in range(size // 100):
        yield b"x" * 100


def test_a_body_of_exactly_the_limit_is_read(client: httpx.Client) -> None:
    body = b'{"text":"' + b"x" * 989 + b'"}'
    assert len(body) == 1000
    response = client.post("/json", content=body, headers={"Content-Type": "application/json"})
    assert response.json() == 989


def test_a_body_that_says_it_is_too_large_is_refused_unread(client: httpx.Client) -> None:
    response = client.post("/json", content=b"x" * 1001)
    assert code_of(response) == (413, "BODY_TOO_LARGE")
    assert "1000 bytes" in response.json()["message"]
    assert response.json()["requestId"] == response.headers["X-Request-Id"]


@pytest.mark.parametrize("path", ["/json", "/swallowing/", "/trusting/"])
def test_a_body_that_does_not_tell_its_length_is_cut_off_at_the_limit(
    client: httpx.Client, path: str
) -> None:
    headers = {"Content-Type": "application/json"}
    assert code_of(client.post(path, content=in_pieces(1100), headers=headers)) == (413, "BODY_TOO_LARGE")
    assert client.post("/trusting/", content=in_pieces(1000)).status_code == 200


def test_a_client_that_sends_megabytes_too_many_still_reads_the_answer(client: httpx.Client) -> None:
    for content in (b"x" * 3_000_000, in_pieces(3_000_000)):
        assert code_of(client.post("/json", content=content)) == (413, "BODY_TOO_LARGE")


def test_a_path_can_have_a_larger_limit_and_the_longest_prefix_decides(client: httpx.Client) -> None:
    assert client.post("/files/one", content=in_pieces(5000)).json() == 5000
    assert code_of(client.post("/files/one", content=in_pieces(5100))) == (413, "BODY_TOO_LARGE")
    assert code_of(client.post("/files/small/one", content=b"x" * 11)) == (413, "BODY_TOO_LARGE")


def test_a_limit_can_be_for_what_is_below_any_id(client: httpx.Client) -> None:
    assert code_of(client.post("/files/one/zip", content=in_pieces(6100))) == (413, "BODY_TOO_LARGE")
    assert client.post("/files/one/zip", content=in_pieces(6000)).status_code == 404, "read, and no such page"


def test_a_refused_body_is_not_logged_as_our_fault(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    assert client.post("/trusting/", content=in_pieces(1100)).status_code == 413
    assert [line.getMessage() for line in caplog.records if line.levelname == "ERROR"] == []


def test_a_client_that_stops_sending_is_not_waited_for_after_its_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablewright.edge.request_bodies._DRAIN_SECONDS", 0.05)
    with serving_app(app_of(router(), body_bytes=10)) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(b"POST /json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nxx")
            answered = b""
            while part := connection.recv(4096):  # ends because the server closes
                answered += part
    assert answered.startswith(b"HTTP/1.1 413 ")


def test_a_client_that_has_sent_all_of_a_refused_body_is_answered_to_the_end_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablewright.edge.request_bodies._DRAIN_SECONDS", 600)
    with serving_app(app_of(router(), body_bytes=10)) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            head = b"POST /json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            connection.sendall(head + b"b\r\n" + b"x" * 11 + b"\r\n0\r\n\r\n")
            answered = b""
            while part := connection.recv(4096):
                answered += part
    assert answered.startswith(b"HTTP/1.1 413 ")


# --- pace ---


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


def test_a_burst_goes_through_at_once_and_then_the_pace_holds(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch), RateLimit(per_minute=6, burst=3)
    assert [buckets.take("a", pace).left for _ in range(3)] == [2, 1, 0]
    refused = buckets.take("a", pace)
    assert (refused.granted, refused.wait_seconds) == (False, 10)
    watch.seconds += 9.5
    assert buckets.take("a", pace).wait_seconds == 1
    watch.seconds += 0.5
    assert buckets.take("a", pace).granted
    assert not buckets.take("a", pace).granted


def test_who_waits_as_long_as_told_is_let_through(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch), RateLimit(per_minute=7, burst=7)
    for _ in range(200):
        turn = buckets.take("a", pace)
        if not turn.granted:
            watch.seconds += turn.wait_seconds
            assert buckets.take("a", pace).granted


def test_a_refused_call_costs_nothing(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch), RateLimit(per_minute=60, burst=1)
    buckets.take("a", pace)
    assert {buckets.take("a", pace).wait_seconds for _ in range(50)} == {1}


def test_a_look_says_what_a_call_would_get_and_takes_nothing(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch), RateLimit(per_minute=6, burst=2)
    for _ in range(3):
        for _ in range(5):
            looked = buckets.look("a", pace)
        taken = buckets.take("a", pace)
        assert (looked.granted, looked.left) == (taken.granted, taken.left)
    assert buckets.look("a", pace).wait_seconds == buckets.take("a", pace).wait_seconds == 10
    assert len(buckets) == 1


def test_callers_do_not_wait_for_each_other(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch), RateLimit(per_minute=1, burst=1)
    assert buckets.take("a", pace).granted
    assert buckets.take("b", pace).granted
    assert not buckets.take("a", pace).granted


def test_a_bucket_that_is_full_again_takes_no_memory(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch), RateLimit(per_minute=60, burst=5)
    for number in range(100):
        buckets.take(str(number), pace)
    assert len(buckets) == 100
    watch.seconds += 2
    buckets.take("new", pace)
    assert len(buckets) == 1


def test_no_flood_of_keys_makes_the_buckets_grow_past_their_most(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch, most=10), RateLimit(per_minute=1, burst=1)
    for number in range(100):
        assert buckets.take(str(number), pace).granted
    assert len(buckets) == 10
    assert not buckets.take("99", pace).granted


def test_who_keeps_calling_is_not_forgotten_in_a_flood_of_others(watch: Stopwatch) -> None:
    buckets, pace = RateLimiter(clock=watch, most=10), RateLimit(per_minute=1, burst=1)
    assert buckets.take("greedy", pace).granted
    for number in range(100):
        buckets.take(str(number), pace)
        assert not buckets.take("greedy", pace).granted


def test_threads_share_a_bucket_to_the_last_call(watch: Stopwatch) -> None:
    buckets, pace, granted = RateLimiter(clock=watch), RateLimit(per_minute=1, burst=100), list[bool]()

    def take() -> None:
        granted.extend([buckets.take("a", pace).granted for _ in range(50)])

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(granted), sum(granted)) == (400, 100)


@pytest.mark.parametrize(("per_minute", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_a_pace_that_lets_nobody_through_is_refused(per_minute: float, burst: int) -> None:
    with pytest.raises(ValueError, match="a rate limit needs"):
        RateLimit(per_minute, burst)


def request_from(host: str | None) -> Request:
    return Request({"type": "http", "headers": [], "client": (host, 1) if host else None})


def test_a_stranger_is_its_address_and_of_ipv6_its_network() -> None:
    found = [
        network_of(request_from(host))
        for host in (
            "10.0.0.7",
            "2001:db8:1:2:aaaa::1",
            "2001:db8:1:2:bbbb::2",
            "::ffff:10.0.0.7",
            "pipe",
            None,
        )
    ]
    assert found == ["10.0.0.7", "2001:db8:1:2::", "2001:db8:1:2::", "10.0.0.7", "pipe", "unknown"]


def test_a_subject_cannot_pass_for_an_address() -> None:
    request = request_from("10.0.0.7")
    assert rate_limit_key(request, Principal("10.0.0.7")) != rate_limit_key(request, ANYONE)


def test_too_many_calls_get_429_with_the_time_to_wait(
    watch: Stopwatch, issuer: Issuer, minute: timedelta
) -> None:
    who, buckets, routes = principal(issuer.verifier(["web"])), RateLimiter(clock=watch), APIRouter()
    paced = limit_rate(buckets, "codes", per_minute=6, burst=2, identity=who)

    @routes.post("/codes", dependencies=[Depends(paced)])
    def code(caller: Annotated[Principal, Depends(who)]) -> str:
        return caller.subject

    @routes.post("/other", dependencies=[Depends(limit_rate(buckets, "other", per_minute=6, burst=2))])
    def other() -> str:
        return "other"

    def login(subject: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {issuer.issue(subject, audience='web', lifetime=minute)}"}

    with calling(app_of(routes)) as client:
        first, second, third = (client.post("/codes", headers=login("sam")) for _ in range(3))
        assert first.headers["RateLimit-Policy"] == '"codes";q=2;w=20'
        assert [response.headers["RateLimit"] for response in (first, second)] == [
            '"codes";r=1;t=10',
            '"codes";r=0;t=20',
        ]
        assert code_of(third) == (429, "RATE_LIMIT")
        assert (third.headers["Retry-After"], third.headers["RateLimit"]) == ("10", '"codes";r=0;t=10')
        assert client.post("/codes", headers=login("anna")).json() == "anna"
        assert client.post("/codes").json() == ""
        assert client.post("/other").json() == "other"
        watch.seconds += 10
        assert client.post("/codes", headers=login("sam")).json() == "sam"


def test_a_caller_cannot_claim_another_address_unless_a_named_proxy_says_so(watch: Stopwatch) -> None:
    routes = APIRouter()
    paced = limit_rate(RateLimiter(clock=watch), "x", per_minute=1, burst=1)

    @routes.get("/x", dependencies=[Depends(paced)])
    def x(request: Request) -> str:
        return request.client.host if request.client else ""

    def call(url: str, address: str) -> httpx.Response:
        return httpx.get(f"{url}/x", headers={"X-Forwarded-For": address}, trust_env=False)

    with serving_app(app_of(routes)) as url:
        assert [call(url, address).status_code for address in ("10.0.0.1", "10.0.0.2")] == [200, 429]
    with serving_app(app_of(routes), proxies=["127.0.0.1"]) as url:
        assert [call(url, address).json() for address in ("10.0.0.1", "10.0.0.2")] == ["10.0.0.1", "10.0.0.2"]


def test_the_body_limit_leaves_what_is_not_http_alone() -> None:
    reached: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope["type"])

    async def unused(*_: object) -> None:
        raise AssertionError

    asyncio.run(BodyLimit(app)({"type": "lifespan"}, unused, unused))  # type: ignore[arg-type]  # never called
    assert reached == ["lifespan"]
