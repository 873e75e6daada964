"""Connections of the app's port: how many are open, how long a request may take to arrive, how long its head may be.

uvicorn has no timeout for the rest of a request; `TimedProtocol` is uvicorn's protocol with timeouts, which the server
checks once a second (app.py).
Must hold: at no time are more connections open than `total`, which is below the limit of file descriptors. If a new one
would exceed it, the one whose client has sent nothing for longest is closed, so that new clients are served while old
ones are silent. A connection whose request is being answered is never closed for another.
Elsewhere: bytes of bodies (request_bodies.py), calls per minute (rate_limit.py).
"""

import asyncio
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tablewright.edge.networks import network_of_host
from tablewright.edge.problems import MEDIA_TYPE, Problem

_FILES_WANTED = 65_536
_MAX_CONNECTIONS = 10_000
_STORE_FILES = 64

_TOO_SLOW = Problem(408, "REQUEST_TOO_SLOW", "The request did not arrive in time. Send it again.")
_HEAD_TOO_LARGE = Problem(431, "HEAD_TOO_LARGE", "The address and headers of the request are too long.")
_TOO_MANY = Problem(
    503,
    "TOO_MANY_CONNECTIONS",
    "Too many connections are open. Try again in a few seconds.",
    headers={"Retry-After": "5"},
)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Connections, bytes and seconds."""

    total: int
    per_address: int = 256  # of IPv6: per /64. Browsers open 6; an office behind one address opens dozens
    head_bytes: int = 64 * 1024
    head_seconds: float = 30  # for the whole head, and for the first byte of a new connection
    pace_bytes: int = 4096  # of a body must arrive in each `pace_seconds`
    pace_seconds: float = 30
    request_seconds: float = 300  # for the whole request, at any pace
    unread_seconds: float = 30  # without the client reading any of its response


def raise_file_limit() -> None:
    """Raise this process's limit of open files to its hard limit, or to 65 536."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, _FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def limits_of_this_process() -> ConnectionLimits:
    """Half of the file descriptors: the other half is for the store and the DynamoDB port."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _FILES_WANTED if soft == resource.RLIM_INFINITY else soft
    total = min(_MAX_CONNECTIONS, max(1, (files - _STORE_FILES) // 2))
    return ConnectionLimits(total=total, per_address=max(1, min(256, total // 2)))


class Connections:
    """The open connections of one server, by address; and which of them wait for their client."""

    def __init__(self, limits: ConnectionLimits, is_proxy: Callable[[str], bool]) -> None:
        self.limits, self._is_proxy = limits, is_proxy
        self._of: dict[str, dict[TimedProtocol, None]] = {}
        self._waiting: dict[TimedProtocol, None] = {}  # longest waiting first
        self._count = 0

    def add(self, connection: "TimedProtocol", host: str) -> bool:
        """Count a new connection, after closing another if needed; False if none can be closed."""
        address = network_of_host(host)
        same = self._of.get(address, {})
        fits = True
        if len(same) >= self.limits.per_address and not self._is_proxy(host):
            fits = self._close_first(one for one in same if one in self._waiting)
        if fits and self._count >= self.limits.total:
            fits = self._close_first(iter(self._waiting))
        self._of.setdefault(address, {})[connection] = (
            None  # the last of its address may just have been closed
        )
        self._count += 1
        connection.address = address
        return fits

    def remove(self, connection: "TimedProtocol") -> None:
        same = self._of.get(connection.address, {})
        if connection in same:
            del same[connection]
            self._count -= 1
            self._waiting.pop(connection, None)
            if not same:
                del self._of[connection.address]

    def mark_waiting(self, connection: "TimedProtocol") -> None:
        """The connection waits for bytes of its client."""
        if connection in self._of.get(connection.address, ()):
            self._waiting.pop(connection, None)
            self._waiting[connection] = None

    def mark_busy(self, connection: "TimedProtocol") -> None:
        """A whole request has arrived and is being answered."""
        self._waiting.pop(connection, None)

    def check_timeouts(self, now: float) -> None:
        for same in list(self._of.values()):
            for connection in list(same):
                connection.check_timeouts(now)

    def end_half_sent(self) -> None:
        """The server stops: do not wait for requests that have not fully arrived."""
        for connection in list(self._waiting):
            connection.make_room()

    def end_all(self) -> None:
        for same in list(self._of.values()):
            for connection in list(same):
                connection.transport.abort()

    def _close_first(self, waiting: "Iterator[TimedProtocol]") -> bool:
        found = next((one for one in waiting if not one.transport.get_write_buffer_size()), None)
        if found is None:
            return False
        found.make_room()
        self.remove(found)
        return True


class TimedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits of time and size for requests that have not fully arrived."""

    def __init__(self, connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self.app = _ignoring_cancellation(self.app)
        self.address = ""
        self._connections = connections
        self._receiving: str | None = "head"  # or "body"; None between two requests
        self._begun = self.loop.time()
        self._received = 0  # of the body
        self._scattered = 0  # bytes since the last part of a body, or since the head began
        self._is_delivered = False
        self._last: tuple[str, int] = ("", 0)
        self._since = self._begun

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if self._connections.add(self, self.client[0] if self.client else ""):
            self._connections.mark_waiting(self)
        else:
            self._refuse(_TOO_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return  # refused; further bytes are ignored
        if self._receiving is None:
            self._begin()
        self._is_delivered = False
        super().data_received(data)
        self._scattered = 0 if self._is_delivered else self._scattered + len(data)
        if self._receiving is not None and self._scattered > self._connections.limits.head_bytes:
            self._refuse(_HEAD_TOO_LARGE)

    # Progress, as the parser reports it

    def _begin(self) -> None:
        self._receiving, self._begun, self._received = "head", self.loop.time(), 0

    def on_message_begin(self) -> None:
        self._begin()
        self._is_delivered = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._receiving = "body"
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._is_delivered = True
        self._received += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._receiving, self._is_delivered = None, True
        if not self.cycle.response_complete:
            self._connections.mark_busy(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        has_next = bool(self.pipeline)  # the next request begins now
        super().on_response_complete()
        if not has_next or (self._receiving == "body" and not self.pipeline):
            self._connections.mark_waiting(self)

    # Timeouts

    def check_timeouts(self, now: float) -> None:
        """End the connection if its state has not changed for too long."""
        activity = self._activity()
        if activity != self._last:
            self._last, self._since = activity, now
        limits, same_for, begun_for = self._connections.limits, now - self._since, now - self._begun
        if activity[0] == "unread" and same_for >= limits.unread_seconds:
            self.transport.abort()
        elif (
            (activity[0] == "head" and begun_for >= limits.head_seconds)
            or (activity[0] == "body" and same_for >= limits.pace_seconds)
            or (activity[0] == "body" and begun_for >= limits.request_seconds)
        ):
            self._refuse(_TOO_SLOW)

    def _activity(self) -> tuple[str, int]:
        """What the connection does, and a number that changes with progress."""
        if unsent := self.transport.get_write_buffer_size():
            return "unread", unsent
        if self._receiving is None or self.flow.read_paused:
            return "nothing", 0
        return self._receiving, self._received // self._connections.limits.pace_bytes

    # Ending

    def make_room(self) -> None:
        """Close, to make room for a newer connection."""
        if self._receiving is None:
            self.transport.abort()
        else:
            self._refuse(_TOO_MANY)

    def _refuse(self, problem: Problem) -> None:
        """Answer and close; without an answer if another one is being sent."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering and (self.cycle.response_started or self._receiving != "body" or self.pipeline):
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.write(_response(problem))
            self.transport.close()


def _ignoring_cancellation(app: ASGI3Application) -> ASGI3Application:
    """The app, without the error for a request that is cancelled because the server stops."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        with suppress(asyncio.CancelledError):
            await app(scope, receive, send)

    return answer


def _response(problem: Problem) -> bytes:
    body = json.dumps(problem.body()).encode()
    headers = {"Content-Type": MEDIA_TYPE, "Content-Length": len(body), "Connection": "close"}
    lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in (headers | problem.headers).items()]
    return "\r\n".join([*lines, "", ""]).encode() + body
