"""HTTP as clients really speak it: connections kept and closed, bodies in pieces, requests one after another."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import re
import socket
import time
import zlib
from datetime import UTC, datetime

import pytest
from tests.wire.fake_engine import FakeEngine, as_engine, get, put
from tests.wire.talk import GET_HEALTH, Line, once, request, wait_until_read

from tablewright.wire import Limits, serving
from tablewright.wire import server as wire_server

MEGABYTE = 1024 * 1024


@pytest.fixture(params=["uvloop", "asyncio"], autouse=True)
def event_loop_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rule here holds on the standard library's loop too, for a machine without uvloop."""
    if request.param == "asyncio":
        monkeypatch.setattr(wire_server, "new_loop", asyncio.new_event_loop)


def test_a_connection_is_kept_for_the_next_request(fake_url: str) -> None:
    with Line(fake_url) as line:
        answers = [line.ask(request("GetItem", get("a"))) for _ in range(3)]
    assert [answer.status for answer in answers] == [200] * 3
    assert len({answer.headers["x-amzn-requestid"] for answer in answers}) == 3
    assert all(answer.is_whole() and "connection" not in answer.headers for answer in answers)


def test_a_client_that_asks_to_close_is_answered_and_closed(fake_url: str) -> None:
    with Line(fake_url) as line:
        answer = line.ask(request("GetItem", get("a"), headers={"Connection": "close"}))
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert line.is_closed()


def test_a_write_of_a_client_that_asks_to_close_is_answered_and_closed(fake_url: str) -> None:
    with Line(fake_url) as line:
        answer = line.ask(request("PutItem", put("a"), headers={"Connection": "close"}))
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert line.is_closed()


def test_an_http_1_0_client_is_answered_and_closed(fake_url: str) -> None:
    with Line(fake_url) as line:
        assert line.ask(request("GetItem", get("a"), version="1.0")).status == 200
        assert line.is_closed()


def test_an_http_1_0_client_that_asks_to_be_kept_is_kept_and_told_so(fake_url: str) -> None:
    asked = request("GetItem", get("a"), version="1.0", headers={"Connection": "keep-alive"})
    with Line(fake_url) as line:
        assert line.ask(asked).headers["connection"] == "keep-alive"
        assert line.ask(asked).status == 200


def test_a_client_that_names_keep_alive_and_then_ends_its_side_is_told_only_of_the_close(
    fake_url: str, engine: FakeEngine
) -> None:
    engine.disk.clear()
    with Line(fake_url) as line:
        line.send(request("PutItem", put("a"), headers={"Connection": "keep-alive"}))
        line.socket.shutdown(socket.SHUT_WR)
        wait_until_read(fake_url)
        engine.disk.set()
        assert line.answer().headers["connection"] == "close"


def test_a_request_may_come_byte_by_byte(fake_url: str) -> None:
    with Line(fake_url) as line:
        line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request("PutItem", put("a")):
            line.send(bytes([byte]))
        assert line.answer().status == 200


def test_a_body_may_come_in_chunks_and_its_trailers_count_for_nothing(
    fake_url: str, engine: FakeEngine
) -> None:
    head = request("PutItem", b"", headers={"Content-Length": None, "Transfer-Encoding": "chunked"})
    body = b'{"TableName": "t", "Item": {"pk": {"S": "a"}}}'
    chunks = b"".join(b"1;why=not\r\n%c\r\n" % byte for byte in body)
    answer = once(fake_url, head + chunks + b"0\r\nX-Amz-Target: DynamoDB_20120810.Scan\r\n\r\n")
    assert answer.status == 200
    assert engine.items == {"a": {"pk": {"S": "a"}}}


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(fake_url: str) -> None:
    asked = request("PutItem", put("a"), headers={"Expect": "100-continue"})
    head, _, body = asked.partition(b"\r\n\r\n")
    with Line(fake_url) as line:
        assert line.ask(head + b"\r\n\r\n").status == 100
        assert line.ask(body).status == 200


def test_a_client_is_asked_for_its_body_only_after_the_answers_it_is_owed(
    fake_url: str, engine: FakeEngine
) -> None:
    head, _, body = request("PutItem", put("b"), headers={"Expect": "100-continue"}).partition(b"\r\n\r\n")
    engine.disk.clear()
    with Line(fake_url) as line:
        line.send(request("PutItem", put("a")) + head + b"\r\n\r\n")
        wait_until_read(fake_url)
        engine.disk.set()
        assert [line.answer().status, line.answer().status] == [200, 100]
        assert line.ask(body).status == 200


def test_a_client_that_announces_too_much_is_refused_before_it_is_asked(fake_url: str) -> None:
    headers = {"Expect": "100-continue", "Content-Length": str(16 * MEGABYTE + 1)}
    with Line(fake_url) as line:
        assert line.ask(request("PutItem", b"", headers=headers)).status == 413
        line.socket.close()


def test_a_client_that_ends_its_side_still_gets_its_answers(fake_url: str, engine: FakeEngine) -> None:
    engine.disk.clear()
    with Line(fake_url) as line:
        line.send(request("PutItem", put("a")) + request("GetItem", get("a")))
        line.socket.shutdown(socket.SHUT_WR)
        wait_until_read(fake_url)
        engine.disk.set()
        assert line.answer().json == {}
        assert line.answer().json == {"Item": {"pk": {"S": "a"}}}
        assert line.is_closed()


def test_an_offer_of_another_protocol_is_declined_by_answering(fake_url: str, engine: FakeEngine) -> None:
    offer = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABk"}
    with Line(fake_url) as line:
        assert line.ask(request("PutItem", put("a"), headers=offer) + GET_HEALTH).status == 200
        assert line.answer().body.startswith(b"healthy")
        assert line.ask(request("PutItem", put("b"), headers=offer)).status == 200
    assert set(engine.items) == {"a", "b"}


def test_pipelined_requests_are_answered_in_order_and_reads_see_the_writes_before_them(fake_url: str) -> None:
    asked = b""
    for number in range(50):
        asked += (
            request("PutItem", put("a", n={"N": str(number)})) + request("GetItem", get("a")) + GET_HEALTH
        )
    with Line(fake_url) as line:
        line.send(asked)
        for number in range(50):
            assert line.answer().json == {}
            assert line.answer().json["Item"]["n"] == {"N": str(number)}
            assert line.answer().body.startswith(b"healthy")


def test_a_read_behind_a_slow_write_waits_while_other_connections_go_on(
    fake_url: str, engine: FakeEngine
) -> None:
    engine.disk.clear()
    with Line(fake_url) as line, Line(fake_url) as other:
        line.send(request("PutItem", put("a")) + request("GetItem", get("a")))
        assert other.ask(request("GetItem", get("a"))).json == {}
        line.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            line.answer()
        line.socket.settimeout(5)
        engine.disk.set()
        assert line.answer().json == {}
        assert line.answer().json == {"Item": {"pk": {"S": "a"}}}


def test_a_malformed_request_behind_a_slow_write_is_refused_after_the_writes_answer(
    fake_url: str, engine: FakeEngine
) -> None:
    engine.disk.clear()
    with Line(fake_url) as line:
        line.send(request("PutItem", put("a")) + b"NOT HTTP\r\n\r\n")
        wait_until_read(fake_url)
        engine.disk.set()
        assert [line.answer().status, line.answer().status] == [200, 400]
        assert line.is_closed()


def test_a_client_that_pipelines_too_much_is_not_read_further_until_it_is_answered(
    engine: FakeEngine,
) -> None:
    engine.disk.clear()
    limits = Limits(waiting_requests=4)
    flood = request("GetItem", get("a"), headers={"X-Padding": "p" * 15_000})
    with serving(as_engine(engine), limits=limits) as url, Line(url) as line:
        line.send(request("PutItem", put("a")))
        line.socket.setblocking(False)
        sent = 0
        for _ in range(100):
            with contextlib.suppress(BlockingIOError):
                sent += line.socket.send(flood[sent % len(flood) :] + flood * 20)
            time.sleep(0.01)
        assert sent < 50_000_000, "the server reads on, whatever waits"
        engine.disk.set()
        line.socket.settimeout(5)
        whole = 1 + sent // len(flood)
        assert [line.answer().status for _ in range(whole)] == [200] * whole


def test_a_client_that_does_not_read_is_not_served_further_until_it_does(fake_url: str) -> None:
    many = 300  # of 100 KB each: far more than sockets and our own limit hold
    with Line(fake_url, buffer=4096) as line:
        line.send(request("Query", {}) * many)
        time.sleep(0.3)
        bodies = [len(line.answer().body) for _ in range(many)]
    assert bodies == [bodies[0]] * many


@pytest.mark.parametrize(
    "junk",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 60,  # a TLS hello
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: abc\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nno colon here\r\n\r\n",
        b"POST / HTTP/1.1\r\nA: b\0c\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\0" * 100,
        b"hello\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_with_400_and_the_connection_closed(fake_url: str, junk: bytes) -> None:
    with Line(fake_url) as line:
        answer = line.ask(junk)
        assert (answer.status, answer.body, answer.headers["connection"]) == (400, b"", "close")
        assert answer.is_whole()
        assert line.is_closed()


def test_headers_without_end_are_refused_with_400(fake_url: str) -> None:
    with Line(fake_url) as line:
        line.send(b"POST / HTTP/1.1\r\n")
        for number in range(20_000):
            line.send(b"X-%d: %s\r\n" % (number, b"v" * 50))
        assert line.answer().status == 400
        assert line.is_closed()


@pytest.mark.parametrize("start", [b"POST / HTTP/1.1\r\nX: ", b"POST /"])
def test_a_header_or_a_request_line_without_end_is_refused_with_400(fake_url: str, start: bytes) -> None:
    with Line(fake_url) as line:
        line.send(start + b"v" * MEGABYTE)
        assert line.answer().status == 400


def test_an_announced_body_over_16_mb_is_refused_with_413_at_once(fake_url: str) -> None:
    with Line(fake_url) as line:
        answer = line.ask(request("PutItem", b"{", headers={"Content-Length": str(16 * MEGABYTE + 1)}))
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert answer.is_whole()


def test_a_client_that_sends_a_body_over_16_mb_to_its_end_can_still_read_the_refusal(fake_url: str) -> None:
    assert once(fake_url, request("PutItem", b" " * (16 * MEGABYTE + 1))).status == 413


def test_a_chunked_body_over_16_mb_is_refused_with_413(fake_url: str) -> None:
    head = request("PutItem", b"", headers={"Content-Length": None, "Transfer-Encoding": "chunked"})
    with Line(fake_url) as line:
        line.send(head)
        for _ in range(17):
            line.send(b"100000\r\n" + b" " * MEGABYTE + b"\r\n")
        assert line.answer().status == 413


def test_a_body_of_16_mb_to_the_byte_is_read(fake_url: str) -> None:
    body = b'{"TableName": "t", "Key": {"pk": {"S": "a"}}}'.ljust(16 * MEGABYTE)
    assert once(fake_url, request("GetItem", body)).json == {}


def test_a_request_that_never_ends_is_refused_with_408(quick_url: str) -> None:
    for part in (
        b"POST",
        request("PutItem", put("a"))[:-1],
        request("PutItem", b"{", headers={"Content-Length": "9"}),
    ):
        with Line(quick_url) as line:
            line.send(part)
            answer = line.answer()
            assert (answer.status, answer.headers["connection"]) == (408, "close")
            assert line.is_closed()


def test_a_request_that_trickles_is_refused_with_408(quick_url: str) -> None:
    with Line(quick_url) as line:
        line.send(request("PutItem", b"", headers={"Content-Length": "1000"}))
        started = time.monotonic()
        line.socket.settimeout(0.05)
        while time.monotonic() - started < 30:
            try:
                answer = line.answer()
                break
            except TimeoutError:
                line.send(b" ")
        assert answer.status == 408
        assert time.monotonic() - started < 30


def test_an_idle_connection_is_closed_without_a_word(quick_url: str) -> None:
    with Line(quick_url) as line:
        assert line.ask(GET_HEALTH).status == 200
        assert line.socket.recv(10) == b""
    with Line(quick_url) as line:
        assert line.socket.recv(10) == b""


def test_a_connection_in_use_is_not_idle(engine: FakeEngine) -> None:
    limits = Limits(idle_seconds=1, tick_seconds=0.05)
    with serving(as_engine(engine), limits=limits) as url, Line(url) as line:
        for _ in range(4):
            assert line.ask(request("GetItem", get("a"))).status == 200
            time.sleep(0.35)
        engine.disk.clear()
        line.send(request("PutItem", put("a")))
        time.sleep(1.3)
        engine.disk.set()
        assert line.answer().status == 200


def test_a_client_that_never_reads_its_answer_is_dropped(quick_url: str) -> None:
    with Line(quick_url, buffer=4096) as line:
        line.send(request("Query", {"Size": 20_000_000}))
        time.sleep(1.2)
        with pytest.raises((EOFError, ConnectionResetError)):
            line.answer()


def test_a_refused_client_that_keeps_sending_is_dropped_in_the_end(quick_url: str) -> None:
    with Line(quick_url) as line:
        line.send(request("PutItem", b"", headers={"Content-Length": "99999999"}))
        started = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - started < 30:
                line.send(b" " * 65536)
                time.sleep(0.01)
        assert time.monotonic() - started < 30


@pytest.mark.parametrize("accepted", ["gzip", "deflate;q=0, gzip;q=0.5", "br, GZIP, deflate"])
def test_a_long_answer_is_compressed_for_a_client_that_asks(fake_url: str, accepted: str) -> None:
    answer = once(fake_url, request("Query", {}, headers={"Accept-Encoding": accepted}))
    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.body) < 10_000
    assert answer.is_whole(), "the checksum and the length are of the bytes as sent"
    assert b'"Items"' in gzip.decompress(answer.body)


@pytest.mark.parametrize("accepted", [None, "identity", "gzip;q=0", "gzip; q=0.0, identity", "xgzip", "br"])
def test_a_long_answer_is_plain_for_a_client_that_does_not_ask(fake_url: str, accepted: str | None) -> None:
    answer = once(fake_url, request("Query", {}, headers={"Accept-Encoding": accepted}))
    assert "content-encoding" not in answer.headers
    assert len(answer.body) > 100_000
    assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.body))


def test_a_short_answer_is_never_compressed(fake_url: str) -> None:
    answer = once(fake_url, request("GetItem", get("a"), headers={"Accept-Encoding": "gzip"}))
    assert "content-encoding" not in answer.headers


def test_every_answer_is_dated(fake_url: str) -> None:
    dated = once(fake_url, GET_HEALTH).headers["date"]
    assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", dated)
    then = datetime.strptime(dated, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - then).total_seconds()) < 5
