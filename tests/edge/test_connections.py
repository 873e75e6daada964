"""Connections: what is half-sent ends, what is too many gives way, and new clients are answered."""

from __future__ import annotations

import resource
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest
from fastapi import APIRouter, Response
from tests.edge.talk import app_of

from tablewright.edge import serving_app
from tablewright.edge.connections import ConnectionLimits, limits_of_this_process

HEAD = b"POST /length HTTP/1.1\r\nHost: localhost\r\n"
ROUTES = APIRouter()
SLOW_BEGAN, SLOW_ENDS = threading.Event(), threading.Event()


@ROUTES.post("/length")
def length(found: dict[str, str]) -> int:
    return len(found["text"])


@ROUTES.get("/slow")
def slow() -> str:
    SLOW_BEGAN.set()
    SLOW_ENDS.wait(20)
    return "in the end"


@ROUTES.get("/large")
def large() -> Response:
    return Response(b"x" * 32_000_000)


def brief(**changed: float) -> ConnectionLimits:
    """Limits that a test can wait for."""
    given = {"total": 100, "per_address": 100, "head_seconds": 1, "pace_seconds": 1, "unread_seconds": 1}
    return ConnectionLimits(**given | changed)  # type: ignore[arg-type]  # whole numbers where they belong


@contextmanager
def served(limits: ConnectionLimits, proxies: tuple[str, ...] = ()) -> Iterator[tuple[str, int]]:
    with serving_app(app_of(ROUTES), limits=limits, proxies=proxies) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        yield host, int(port)


def read_to_the_end(connection: socket.socket) -> bytes:
    connection.settimeout(20)
    read = b""
    try:
        while part := connection.recv(65536):
            read += part
    except ConnectionResetError:
        pass
    return read


def send_slowly(connection: socket.socket, sent: bytes, size: int, pause: float) -> None:
    for start in range(0, len(sent), size):
        connection.sendall(sent[start : start + size])
        time.sleep(pause)


def is_healthy(address: tuple[str, int]) -> bool:
    url = f"http://{address[0]}:{address[1]}/health"
    return httpx.get(url, trust_env=False, timeout=10).status_code == 200


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET / HT", b"GET /health HTTP/1.1\r\nHost: local"])
def test_a_head_that_does_not_arrive_ends_the_connection_with_408(sent: bytes) -> None:
    with served(brief()) as address, socket.create_connection(address) as connection:
        connection.sendall(sent)
        assert read_to_the_end(connection).startswith(b"HTTP/1.1 408 ")


def test_a_second_request_that_stays_half_sent_ends_the_connection_too() -> None:
    with served(brief()) as address, socket.create_connection(address) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"\r\n")
        assert b"HTTP/1.1 408 " in read_to_the_end(connection)


def test_a_body_that_stops_half_way_ends_the_connection_with_408() -> None:
    with served(brief()) as address, socket.create_connection(address) as connection:
        connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
        answered = read_to_the_end(connection)
        assert answered.startswith(b"HTTP/1.1 408 ")
        assert b"REQUEST_TOO_SLOW" in answered


def test_a_refused_request_whose_body_never_ends_does_not_keep_its_connection() -> None:
    with served(brief()) as address, socket.create_connection(address) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: elsewhere\r\nContent-Length: 1000\r\n\r\n{")
        assert connection.recv(65536).startswith(b"HTTP/1.1 421 ")
        assert b"HTTP/1.1 408 " in read_to_the_end(connection)


def test_a_body_that_drips_is_too_slow_and_one_at_a_pace_is_read() -> None:
    body = b'{"text":"' + b"x" * 9000 + b'"}'
    head = HEAD + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with served(brief(pace_seconds=2, pace_bytes=1000)) as address, ExitStack() as stack:
        steady, dripping = (stack.enter_context(socket.create_connection(address)) for _ in range(2))
        steady.sendall(head)
        dripping.sendall(head)
        for start in range(0, len(body), 1200):
            steady.sendall(body[start : start + 1200])
            if not select.select([dripping], [], [], 0)[0]:  # on a busy machine it is answered before the end
                dripping.sendall(body[start // 1200 : start // 1200 + 1])
            time.sleep(0.5)
        assert b"HTTP/1.1 200 " in steady.recv(65536)
        assert read_to_the_end(dripping).startswith(b"HTTP/1.1 408 ")


def test_a_request_at_a_pace_still_ends_at_the_limit_of_the_whole() -> None:
    with (
        served(brief(pace_bytes=1, request_seconds=2)) as address,
        socket.create_connection(address) as connection,
    ):
        connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            send_slowly(connection, b" " * 100, 1, 0.1)


def test_a_client_that_does_not_read_its_answer_is_hung_up_on() -> None:
    with served(brief()) as address, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(address)
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(4)
        assert len(read_to_the_end(connection)) < 32_000_000


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"x" * 3_000_000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 3_000_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: " + b"x" * 3_000_000,
    ],
)
def test_a_head_without_end_is_not_kept(sent: bytes) -> None:
    limits = brief(head_seconds=20, pace_seconds=20)
    with (
        served(limits) as address,
        socket.create_connection(address) as connection,
        pytest.raises((ConnectionResetError, BrokenPipeError)),
    ):
        send_slowly(connection, sent, 10_000, 0.001)


def test_a_client_is_answered_while_half_heads_have_all_the_connections() -> None:
    with served(brief(total=20, per_address=1000, head_seconds=60)) as address, ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(socket.create_connection(address)).sendall(b"GET / HTTP/1.1\r\n")
        assert is_healthy(address)


def test_an_address_has_no_more_connections_than_its_share_and_its_oldest_give_way() -> None:
    with served(brief(per_address=5, head_seconds=60)) as address, ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection(address)) for _ in range(8)]
        assert is_healthy(address)
        for connection in opened[:3]:
            assert read_to_the_end(connection).startswith(b"HTTP/1.1 503 ")
        opened[-1].settimeout(0.2)
        with pytest.raises(TimeoutError):
            opened[-1].recv(1)


def test_a_proxy_that_was_named_stands_for_many_and_is_not_counted_as_one_address() -> None:
    limits = brief(per_address=2, head_seconds=60)
    with served(limits, ("127.0.0.1",)) as address, ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection(address)) for _ in range(8)]
        assert is_healthy(address)
        opened[0].settimeout(0.2)
        with pytest.raises(TimeoutError):
            opened[0].recv(1)


def test_a_connection_whose_request_is_being_answered_is_never_closed_for_another() -> None:
    with served(brief(total=2, per_address=2, unread_seconds=20)) as address, ExitStack() as stack:
        busy = [stack.enter_context(socket.create_connection(address)) for _ in range(2)]
        for connection in busy:
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.recv(1) == b"H"
        with socket.create_connection(address) as another:
            assert read_to_the_end(another).startswith(b"HTTP/1.1 503 ")
        for connection in busy:
            assert len(read_to_the_end(connection)) > 32_000_000


def test_nor_is_one_whose_pipelined_request_is_being_answered() -> None:
    SLOW_BEGAN.clear()
    SLOW_ENDS.clear()
    health, slow = (b"GET /%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % path for path in (b"health", b"slow"))
    with served(brief(total=1, per_address=1)) as address, socket.create_connection(address) as busy:
        busy.sendall(health + slow)
        assert SLOW_BEGAN.wait(20)
        with socket.create_connection(address) as another:
            assert read_to_the_end(another).startswith(b"HTTP/1.1 503 ")
        SLOW_ENDS.set()
        busy.settimeout(20)
        answered = b""
        while b"in the end" not in answered:
            part = busy.recv(65536)
            assert part, "the connection was closed before the second answer"
            answered += part


def test_a_connection_that_took_the_place_of_the_only_other_of_its_address_is_counted_like_any() -> None:
    with served(brief(total=1, per_address=1, head_seconds=60)) as address:
        for _ in range(3):
            with socket.create_connection(address) as first, socket.create_connection(address) as second:
                assert read_to_the_end(first).startswith(b"HTTP/1.1 503 ")
                second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert read_to_the_end(second).startswith(b"HTTP/1.1 200 ")
        assert is_healthy(address)


def test_all_connections_together_leave_file_descriptors_for_the_store() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits_of_this_process().total <= soft // 2


def test_serving_allows_itself_as_many_files_as_the_system_lets_it() -> None:
    program = (
        "import resource; from tablewright.edge.connections import raise_file_limit\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 4096)); raise_file_limit()\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "4096"
