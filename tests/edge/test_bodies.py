"""Bodies share a memory: a client that stops half-way cannot keep others out of it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from fastapi import APIRouter, Request
from starlette.types import Message, Receive
from tests.edge.talk import app_of, code_of

from tablewright.edge import serving_app
from tablewright.edge.problems import Problem
from tablewright.edge.request_bodies import SMALL_BYTES, BodyMemory, _Body

LARGE = 100_000
ROUTES = APIRouter()
entered, go_on = threading.Semaphore(0), threading.Event()


@ROUTES.post("/length")
def length(found: dict[str, str]) -> int:
    return len(found["text"])


@ROUTES.post("/held")
def held(found: dict[str, str]) -> int:
    entered.release()
    assert go_on.wait(30)
    return len(found["text"])


@pytest.fixture
def url() -> Iterator[str]:
    """A server with memory for three large bodies and a little."""
    with serving_app(app_of(ROUTES, held_bytes=3 * LARGE + 1000)) as served:
        yield served


def send(url: str, path: str, size: int) -> httpx.Response:
    return httpx.post(f"{url}{path}", json={"text": "x" * (size - 11)}, trust_env=False, timeout=30)


def half_sent(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    head = f"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGE}\r\n\r\n"
    connection.sendall(head.encode() + b"x" * (LARGE - 1))
    return connection


def test_half_sent_bodies_give_way_to_whole_ones_and_are_told_to_come_back(url: str) -> None:
    with ExitStack() as stack:
        halves = [stack.enter_context(half_sent(url)) for _ in range(20)]
        for _ in range(5):
            assert send(url, "/length", LARGE).json() == LARGE - 11
        answered = halves[0].recv(65536)
        assert answered.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 5" in answered
        assert b"TOO_BUSY" in answered


def test_what_is_being_answered_keeps_its_memory_and_small_bodies_are_always_taken(url: str) -> None:
    go_on.clear()
    answers: list[int] = []
    callers = [
        threading.Thread(target=lambda: answers.append(send(url, "/held", LARGE).json())) for _ in range(3)
    ]
    try:
        for caller in callers:
            caller.start()
            assert entered.acquire(timeout=30)
        refused = send(url, "/length", LARGE)
        assert code_of(refused) == (503, "TOO_BUSY")
        assert refused.headers["Retry-After"] == "5"
        assert send(url, "/length", SMALL_BYTES).json() == SMALL_BYTES - 11
    finally:
        go_on.set()
        for caller in callers:
            caller.join()
    assert answers == [LARGE - 11] * 3
    assert send(url, "/length", LARGE).status_code == 200, "and what was answered is free again"


def parts_of(*parts: bytes | None) -> Receive:
    """What a client sends; None is a client that leaves."""
    left = list(parts)

    async def receive() -> Message:
        part = left.pop(0)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    return receive


@pytest.mark.parametrize("end", [b"x" * 1000, None], ids=["too large", "left"])
def test_a_body_that_came_to_nothing_holds_nothing(end: bytes | None) -> None:
    async def story() -> bytes:
        memory = BodyMemory(LARGE)
        for _ in range(3):
            broken = _Body()
            with pytest.raises(Exception):  # noqa: B017  # a Problem, or that the client left
                await memory.read(broken, LARGE, parts_of(b"x" * LARGE, end))
            memory.release(broken)
        return await memory.read(_Body(), LARGE, parts_of(b"x" * LARGE))

    assert len(asyncio.run(story())) == LARGE


def test_a_body_larger_than_the_memory_is_refused_alone() -> None:
    async def story() -> None:
        memory = BodyMemory(LARGE)
        await memory.read(_Body(), 10 * LARGE, parts_of(b"x" * (LARGE + 1)))

    with pytest.raises(Problem, match="503 TOO_BUSY"):
        asyncio.run(story())


@ROUTES.put("/uploads/{name}/parts/{number}")
async def put_part(request: Request, name: str, number: int) -> list[int]:
    chunks = [len(chunk) async for chunk in request.stream()]
    return [sum(chunks), max(chunks)]


STREAMED = {"/uploads/*/parts/*": 3_000_000}


def test_a_body_of_a_streamed_path_reaches_its_route_in_pieces_and_takes_no_shared_memory() -> None:
    app = app_of(ROUTES, held_bytes=1000, streamed_bodies=STREAMED)
    with serving_app(app) as served, httpx.Client(base_url=served, trust_env=False, timeout=30) as client:
        total, largest = client.put("/uploads/a/parts/1", content=bytes(3_000_000)).json()
        assert (total, largest < 1_000_000) == (3_000_000, True)
        assert client.post("/uploads/a/parts/1", content=bytes(100_000)).status_code in (405, 503)


def test_a_streamed_body_is_refused_past_its_limit_with_and_without_a_length() -> None:
    app = app_of(ROUTES, streamed_bodies=STREAMED)
    with serving_app(app) as served, httpx.Client(base_url=served, trust_env=False, timeout=30) as client:
        said = client.put("/uploads/a/parts/1", content=bytes(3_000_001))
        assert code_of(said) == (413, "BODY_TOO_LARGE")
        unsaid = client.put("/uploads/a/parts/1", content=(bytes(1_000_000) for _ in range(4)))
        assert code_of(unsaid) == (413, "BODY_TOO_LARGE")
