"""What requests and unread answers hold is bounded over all connections, and goes when they end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import gzip
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from tests.wire.fake_engine import FakeEngine, as_engine, get, put
from tests.wire.talk import Line, once, request

from tablewright.wire import AccessKey, Limits, serving
from tablewright.wire import server as wire_server
from tablewright.wire.connection import Connection
from tablewright.wire.memory_budget import MemoryBudget
from tablewright.wire.request_checks import RequestChecks

KB = 1024
SMALL_HOUSE = Limits(held_bytes=400 * KB, unread_bytes=400 * KB, stalled_seconds=0.5, tick_seconds=0.05)


@pytest.fixture(params=["uvloop", "asyncio"])
def any_loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "asyncio":
        monkeypatch.setattr(wire_server, "new_loop", asyncio.new_event_loop)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Connection]]:
    """Every connection that is made; Connection has slots, so that a subclass is what can be watched."""
    made: list[weakref.ref[Connection]] = []

    class Watched(Connection):
        __slots__ = ("__weakref__",)

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(weakref.ref(self))

    monkeypatch.setattr(wire_server, "Connection", Watched)
    return made


class WatchedBudget(MemoryBudget):
    """A budget that remembers the most it held."""

    __slots__ = ("_now", "most_ever")

    def __init__(self, limits: Limits) -> None:
        self.most_ever = 0
        super().__init__(limits)

    @property
    def held(self) -> int:
        return self._now

    @held.setter
    def held(self, size: int) -> None:
        self._now, self.most_ever = size, max(self.most_ever, size)


@pytest.fixture
def budgets(monkeypatch: pytest.MonkeyPatch) -> list[WatchedBudget]:
    made: list[WatchedBudget] = []

    def make(limits: Limits) -> MemoryBudget:
        made.append(WatchedBudget(limits))
        return made[-1]

    monkeypatch.setattr(wire_server, "MemoryBudget", make)
    return made


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def half(size: int) -> bytes:
    """A request of this size, without its second half."""
    return request("PutItem", b" " * (size // 2), headers={"Content-Length": str(size)})


def within(seconds: float, is_so: Any) -> bool:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(is_so())


@pytest.mark.usefixtures("any_loop", "no_collector")
@pytest.mark.parametrize(
    "sent",
    [
        half(200 * KB),
        request("PutItem", put("a")),
        request("PutItem", put("a"))[:40],
        request("PutItem", b" " * 200 * KB),
        request("PutItem", b"", headers={"Content-Length": "99999999"}),
        b"NOT HTTP\r\n\r\n",
    ],
    ids=["half a body", "a write", "half a head", "a large body", "too large a body", "no http"],
)
def test_a_lost_connection_is_freed_at_once_without_the_collector(
    fake_url: str, connections: list[weakref.ref[Connection]], sent: bytes
) -> None:
    with Line(fake_url) as line:
        line.send(sent)
        assert within(20, lambda: connections != [])
        time.sleep(0.05)
    assert len(connections) == 1
    assert within(20, lambda: connections[0]() is None)


@pytest.mark.usefixtures("any_loop")
def test_an_answered_request_holds_no_body_while_its_connection_is_kept(
    fake_url: str, connections: list[weakref.ref[Connection]]
) -> None:
    with Line(fake_url) as line:
        body = b'{"TableName": "t", "Key": {"pk": {"S": "a"}}}'.ljust(300 * KB)
        assert line.ask(request("GetItem", body)).status == 200
        (connection,) = connections
        found = connection()
        assert found is not None
        assert len(found._parser._body) == 0


@pytest.mark.usefixtures("any_loop")
@pytest.mark.parametrize("rest", [b"nothing", b"the rest"])
def test_room_is_given_back_exactly_once(
    engine: FakeEngine, budgets: list[WatchedBudget], rest: bytes
) -> None:
    whole = request("PutItem", b'{"TableName": "t", "Item": {"pk": {"S": "a"}}}'.ljust(100 * KB))
    packed = gzip.compress(b'{"TableName": "t", "Item": {"pk": {"S": "b"}}}')
    with serving(as_engine(engine), limits=SMALL_HOUSE) as url:
        with Line(url) as line:
            line.send(whole[: 60 * KB])
            assert within(20, lambda: budgets[0].held == 100 * KB)
            if rest == b"the rest":
                line.send(whole[60 * KB :] + whole)
                assert [line.answer().status, line.answer().status] == [200, 200]
                coded = {"Content-Encoding": "gzip"}
                assert line.ask(request("PutItem", packed, headers=coded)).status == 200
        assert within(20, lambda: budgets[0].held == 0)
        assert not budgets[0].is_short


@pytest.mark.usefixtures("any_loop")
def test_large_bodies_beyond_the_room_are_not_read(engine: FakeEngine, budgets: list[WatchedBudget]) -> None:
    limits = Limits(held_bytes=8 * KB * KB, stalled_seconds=60)
    with serving(as_engine(engine), limits=limits) as url, contextlib.ExitStack() as stack:
        sent = 0
        for _ in range(20):
            line = stack.enter_context(Line(url))
            line.socket.setblocking(False)
            line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * KB)
            message = request("PutItem", b" " * 4 * KB * KB)[:-1]
            for _ in range(20):
                with contextlib.suppress(BlockingIOError):
                    sent += line.socket.send(message[: 1024 * KB])
                time.sleep(0.002)
        assert within(20, lambda: budgets[0].held == 8 * KB * KB)
        assert budgets[0].is_short
        # A light request is served all the same.
        assert once(url, request("PutItem", put("a"))).status == 200


@pytest.mark.usefixtures("any_loop")
def test_a_crowd_of_half_bodies_does_not_keep_others_out(
    engine: FakeEngine, budgets: list[WatchedBudget]
) -> None:
    whole = request("PutItem", b'{"TableName": "t", "Item": {"pk": {"S": "a"}}}'.ljust(100 * KB))
    with serving(as_engine(engine), limits=SMALL_HOUSE) as url, contextlib.ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(Line(url)).send(half(150 * KB))
        assert within(20, lambda: budgets[0].is_short)
        for _ in range(3):
            with Line(url) as line:
                line.send(whole[: 50 * KB])
                time.sleep(0.05)
                line.send(whole[50 * KB :])
                assert line.answer().status == 200
    assert engine.items == {"a": {"pk": {"S": "a"}}}


@pytest.mark.usefixtures("any_loop")
def test_a_stalled_body_gives_way_with_503_once_others_wait_for_its_room(engine: FakeEngine) -> None:
    with serving(as_engine(engine), limits=SMALL_HOUSE) as url, Line(url) as stalled, Line(url) as other:
        stalled.send(half(400 * KB))
        time.sleep(0.8)
        body = b'{"TableName": "t", "Key": {"pk": {"S": "a"}}}'.ljust(300 * KB)
        assert other.ask(request("GetItem", body)).status == 200
        answer = stalled.answer()
        assert (answer.status, answer.headers["connection"]) == (503, "close")
        assert stalled.is_closed()


@pytest.mark.usefixtures("any_loop")
def test_a_body_that_arrives_slowly_is_not_cut_off_if_its_room_is_not_needed(
    engine: FakeEngine,
) -> None:
    with serving(as_engine(engine), limits=SMALL_HOUSE) as url, Line(url) as line:
        whole = request("GetItem", b'{"TableName": "t", "Key": {"pk": {"S": "a"}}}'.ljust(300 * KB))
        for start in range(0, len(whole), 60 * KB):
            line.send(whole[start : start + 60 * KB])
            time.sleep(0.1)
        assert line.answer().status == 200


@pytest.mark.usefixtures("any_loop")
def test_a_client_that_waits_for_room_for_too_long_gets_503(engine: FakeEngine) -> None:
    limits = Limits(held_bytes=400 * KB, request_seconds=0.5, stalled_seconds=60, tick_seconds=0.05)
    engine.disk.clear()
    body = b'{"TableName": "t", "Item": {"pk": {"S": "a"}}}'.ljust(300 * KB)
    with serving(as_engine(engine), limits=limits) as url, Line(url) as writer, Line(url) as other:
        writer.send(request("PutItem", body))
        time.sleep(0.2)
        assert other.ask(half(300 * KB)).status == 503
        engine.disk.set()
        assert writer.answer().status == 200


@pytest.mark.usefixtures("any_loop")
def test_more_large_writes_than_there_is_room_for_all_succeed_in_the_end(engine: FakeEngine) -> None:
    limits = Limits(held_bytes=4096 * KB)
    with serving(as_engine(engine), limits=limits) as url, contextlib.ExitStack() as stack:
        lines = [stack.enter_context(Line(url)) for _ in range(8)]
        senders = []
        for number, line in enumerate(lines):
            body = b'{"TableName": "t", "Item": {"pk": {"S": "%d"}}}' % number
            sender = threading.Thread(target=line.send, args=(request("PutItem", body.ljust(2048 * KB)),))
            sender.start()
            senders.append(sender)
        assert [line.answer().status for line in lines] == [200] * 8
        for sender in senders:
            sender.join()
    assert len(engine.items) == 8


@pytest.mark.usefixtures("any_loop")
def test_a_client_is_asked_for_a_large_body_only_once_there_is_room(engine: FakeEngine) -> None:
    asked = request("PutItem", b" " * 300 * KB, headers={"Expect": "100-continue"}).partition(b"\r\n\r\n")[0]
    with serving(as_engine(engine), limits=SMALL_HOUSE) as url, Line(url) as holder, Line(url) as line:
        holder.send(half(300 * KB))
        time.sleep(0.05)
        line.send(asked + b"\r\n\r\n")
        line.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            line.answer()
        line.socket.settimeout(5)
        assert line.answer().status == 100


@pytest.mark.usefixtures("any_loop")
def test_answers_that_are_not_read_are_bounded_by_cutting_off_the_first(engine: FakeEngine) -> None:
    limits = Limits(unread_bytes=30_000_000)
    with serving(as_engine(engine), limits=limits) as url, contextlib.ExitStack() as stack:
        lines = [stack.enter_context(Line(url, buffer=4096)) for _ in range(3)]
        for line in lines:
            line.send(request("Query", {"Size": 20_000_000}))
            time.sleep(0.3)
        with pytest.raises((EOFError, ConnectionResetError)):
            lines[0].answer()
        assert len(lines[2].answer().body) > 20_000_000


def test_a_large_body_of_a_caller_who_may_not_ask_is_not_parsed(engine: FakeEngine) -> None:
    keys = {"key": AccessKey("key", "secret")}
    with serving(as_engine(engine), credentials=keys) as url:
        answer = once(url, request("GetItem", b"[" * 100 * KB, headers={"Authorization": None}))
        assert answer.json["__type"].endswith("#MissingAuthenticationTokenException")
        answer = once(url, request("GetItem", b"[" * 10 * KB, headers={"Authorization": None}))
        assert answer.json["__type"].endswith("#SerializationException")


def test_a_lost_connection_leaves_nothing_that_waits_behind(
    engine: FakeEngine, budgets: list[WatchedBudget]
) -> None:
    engine.disk.clear()
    with serving(as_engine(engine), limits=SMALL_HOUSE) as url:
        body = b'{"TableName": "t", "Item": {"pk": {"S": "a"}}}'.ljust(50 * KB)
        with Line(url) as line:
            line.send(request("PutItem", body) + request("PutItem", body) + half(50 * KB))
            time.sleep(0.1)
        assert once(url, request("GetItem", get("a"))).status == 200
        engine.disk.set()
        assert within(20, lambda: budgets[0].held == 0)


def test_room_of_a_request_that_breaks_the_server_is_given_back(
    engine: FakeEngine, budgets: list[WatchedBudget], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug in the checks")

    monkeypatch.setattr(RequestChecks, "accept", broken)
    with serving(as_engine(engine), limits=SMALL_HOUSE) as url:
        assert once(url, request("PutItem", b" " * 100 * KB)).status == 500
        assert within(20, lambda: budgets[0].held == 0)


TINY_HOUSE = Limits(held_bytes=40 * KB, light_bytes=KB, stalled_seconds=60)


def padded(verb: str, size: int) -> bytes:
    part = b'"Key"' if verb == "GetItem" else b'"Item"'
    return request(verb, (b'{"TableName": "t", %b: {"pk": {"S": "a"}}}' % part).ljust(size))


@pytest.mark.usefixtures("any_loop")
def test_requests_that_wait_behind_others_take_room_like_any(
    engine: FakeEngine, budgets: list[WatchedBudget]
) -> None:
    last = padded("PutItem", 20 * KB)
    engine.disk.clear()
    with serving(as_engine(engine), limits=TINY_HOUSE) as url, contextlib.ExitStack() as stack:
        holder = stack.enter_context(Line(url))
        holder.send(half(38 * KB))
        assert within(20, lambda: budgets[0].held == 38 * KB)
        lines = [stack.enter_context(Line(url)) for _ in range(2)]
        for line in lines:
            line.send(request("PutItem", put("a")) + padded("PutItem", 6 * KB) + last[: 2 * KB])
        assert within(20, lambda: len(budgets[0]._waiting) == len(lines))
        engine.disk.set()
        assert [line.answer().status for line in lines] == [200] * 2
        holder.socket.close()
        for line in lines:
            assert line.answer().status == 200
            assert line.ask(last[2 * KB :]).status == 200
        assert budgets[0].most_ever <= 40 * KB
        assert within(20, lambda: budgets[0].held == 0)


@pytest.mark.usefixtures("any_loop")
def test_room_of_one_that_is_turned_away_goes_to_one_that_is_just_asking(
    engine: FakeEngine, budgets: list[WatchedBudget]
) -> None:
    engine.disk.clear()
    with serving(as_engine(engine), limits=TINY_HOUSE) as url, Line(url) as first, Line(url) as second:
        first.send(request("PutItem", put("a")) + padded("PutItem", 7 * KB) + half(10 * KB))
        assert within(20, lambda: budgets[0].held == 10 * KB)
        with Line(url) as holder:
            holder.send(half(24 * KB))
            assert within(20, lambda: budgets[0].held == 34 * KB)
            engine.disk.set()
            assert first.answer().status == 200
            assert within(20, lambda: budgets[0].is_short)
            assert second.ask(padded("GetItem", 14 * KB)).status == 200
            assert first.answer().status == 503
            assert within(20, lambda: budgets[0].held == 24 * KB)


class IdleClient:
    """A client that records that it was cut off."""

    def __init__(self) -> None:
        self.is_cut_off = False

    def on_room(self, is_granted: bool) -> None: ...

    def abort(self) -> None:
        self.is_cut_off = True


def test_what_is_not_read_is_counted_after_its_client_has_stopped_waiting_for_room() -> None:
    budget = MemoryBudget(Limits(held_bytes=100, unread_bytes=100))
    unread, other, holder = IdleClient(), IdleClient(), IdleClient()
    assert budget.reserve(holder.on_room, 100, 0)
    budget.add_unread(unread.abort, 60)
    assert not budget.reserve(unread.on_room, 50, 0)
    budget.cancel(unread.on_room)
    budget.add_unread(other.abort, 60)
    assert unread.is_cut_off
