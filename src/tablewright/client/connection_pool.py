"""Connections to one endpoint: opened when needed, kept for the next call, closed when they fail.

Must hold: a connection carries one exchange at a time and returns to the pool only after a whole response; one that
was interrupted, for any reason, is closed. A connection is used only by the process that opened it.
Elsewhere: how bytes become a response (http_response.py); what is retried (http.py). Proxies are not supported.
"""

import os
import select
import socket
import ssl
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tablewright.client.endpoint import Endpoint
from tablewright.client.http_response import HttpResponse, ResponseIncomplete, read_response

_RECEIVE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, to get one whole response, and for a call with all its attempts."""

    connect: float = 5.0
    answer: float = 30.0
    total: float = 60.0

    def __post_init__(self) -> None:
        if min(self.connect, self.answer, self.total) <= 0:
            raise ValueError(f"{self}: each timeout must be a positive number of seconds")


class ConnectionsClosed(RuntimeError):
    """The pool was closed and has no more connections."""


class ExchangeFailed(Exception):
    """An exchange failed.

    `was_sent`: the whole request was sent. `was_stale`: a reused connection turned out to be closed before
    a byte of the response came, as servers do to idle ones. `is_permanent`: a retry would fail the same way.
    """

    def __init__(
        self, why: str, *, was_sent: bool, was_stale: bool = False, is_permanent: bool = False
    ) -> None:
        super().__init__(why)
        self.why, self.was_sent, self.was_stale, self.is_permanent = why, was_sent, was_stale, is_permanent


class Socket(Protocol):
    """What a Connection needs of a socket; the seconds are for each `recv`."""

    def settimeout(self, seconds: float, /) -> None: ...
    def sendall(self, data: bytes, /) -> None: ...
    def recv(self, size: int, /) -> bytes: ...
    def close(self) -> None: ...


# Opens a socket within so many seconds, with TLS if there is a context; and says whether it has something to read.
Connect: TypeAlias = Callable[[Endpoint, ssl.SSLContext | None, float], tuple[Socket, Callable[[], bool]]]


class Connection:
    """One socket. Close it."""

    __slots__ = ("_deadline", "_has_received", "_is_readable", "_process", "_socket", "_timeout", "_was_used")

    def __init__(self, opened: Socket, is_readable: Callable[[], bool], timeout: float) -> None:
        self._socket = opened
        self._timeout = timeout
        self._process = os.getpid()
        self._is_readable = is_readable
        self._was_used = self._has_received = False
        self._deadline = 0.0
        opened.settimeout(timeout)

    @property
    def is_usable(self) -> bool:
        """Whether we opened it and nothing has arrived: with bytes to read, an idle one is closed or broken."""
        return self._process == os.getpid() and not self._is_readable()

    def exchange(self, request: bytes, timeout: float) -> HttpResponse:
        """Send and receive within so many seconds; raises ExchangeFailed."""
        was_used, self._was_used = self._was_used, True
        self._deadline, self._has_received = time.monotonic() + timeout, False
        was_sent = False
        try:
            self._set_timeout(timeout)
            self._socket.sendall(request)
            was_sent = True
            return read_response(self._receive)
        except TimeoutError:
            raise ExchangeFailed("it took too long", was_sent=was_sent) from None
        except (OSError, ResponseIncomplete) as error:
            why = str(error) or type(error).__name__
            raise ExchangeFailed(
                why, was_sent=was_sent, was_stale=was_used and not self._has_received
            ) from error

    def _receive(self) -> bytes:
        # Set again for each further piece: a server that sends a byte a second must not block us for ever.
        if self._has_received:
            self._set_timeout(_seconds_left(self._deadline))
        data = self._socket.recv(_RECEIVE_BYTES)
        if data:
            self._has_received = True
        return data

    def _set_timeout(self, seconds: float) -> None:
        # Each change is a system call, and most exchanges have the same timeout.
        if seconds != self._timeout:
            self._timeout = seconds
            self._socket.settimeout(seconds)

    def close(self) -> None:
        self._socket.close()


def connect_socket(
    endpoint: Endpoint, tls: ssl.SSLContext | None, timeout: float
) -> tuple[Socket, Callable[[], bool]]:
    """A socket that blocks its thread."""
    raw = socket.create_connection((endpoint.host, endpoint.port), timeout)
    try:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if tls is not None:
            raw = tls.wrap_socket(raw, server_hostname=endpoint.host)
        return raw, _readable_check(raw)
    except BaseException:
        raw.close()
        raise


def _readable_check(opened: socket.socket) -> Callable[[], bool]:
    """A function that returns whether there is something to read."""
    if sys.platform == "win32":
        return lambda: bool(select.select([opened], [], [], 0)[0])
    poll = select.poll()  # not select: it refuses sockets with a number above 1023
    poll.register(opened, select.POLLIN)
    return lambda: bool(poll.poll(0))


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class ConnectionPool:
    """Connections to one endpoint, at most `size` of them kept while idle. Threads may share it. Close it."""

    def __init__(
        self,
        endpoint: Endpoint,
        timeouts: Timeouts,
        size: int,
        tls: ssl.SSLContext | None,
        connect: Connect = connect_socket,
    ) -> None:
        self._endpoint, self._timeouts, self._connect = endpoint, timeouts, connect
        self._tls = (tls or ssl.create_default_context()) if endpoint.is_tls else None
        # Last in, first out: those that are not needed become stale and are dropped.
        self._idle: deque[Connection] = deque()
        # One entry for each connection that may still be kept. Two deques, whose operations are atomic, and no lock
        # that a fork could leave locked for ever in the child.
        self._slots: deque[None] = deque([None] * size)
        self._closed = False

    def exchange(self, request: bytes, deadline: float) -> HttpResponse:
        """One request, one response, on an idle connection or a new one; raises ExchangeFailed."""
        connection = self._idle_connection() or self._open(deadline)
        # Never 0: to a socket that means not to wait at all, and to fail in another way.
        left = max(deadline - time.monotonic(), 0.001)
        try:
            response = connection.exchange(request, min(self._timeouts.answer, left))
        except BaseException:
            connection.close()
            raise
        if response.keep_alive and self._slots and not self._closed:
            self._keep(connection)
        else:
            connection.close()
        return response

    def close_idle(self) -> None:
        """Close idle connections: if the server closed one, it has probably closed them all."""
        while (connection := self._pop_idle()) is not None:
            connection.close()

    def close(self) -> None:
        self._closed = True
        self.close_idle()

    def _keep(self, connection: Connection) -> None:
        try:
            self._slots.pop()
        except IndexError:
            connection.close()
            return
        self._idle.append(connection)
        if self._closed:  # by another thread, since the check
            self.close_idle()

    def _pop_idle(self) -> Connection | None:
        try:
            connection = self._idle.pop()
        except IndexError:
            return None
        self._slots.append(None)
        return connection

    def _idle_connection(self) -> Connection | None:
        if self._closed:
            raise ConnectionsClosed("this HttpCall was closed; create a new one")
        while (connection := self._pop_idle()) is not None and not connection.is_usable:
            connection.close()
        return connection

    def _open(self, deadline: float) -> Connection:
        endpoint = self._endpoint
        try:
            timeout = min(self._timeouts.connect, _seconds_left(deadline))
            opened, is_readable = self._connect(endpoint, self._tls, timeout)
            return Connection(opened, is_readable, self._timeouts.answer)
        except OSError as error:
            why = "it took too long" if isinstance(error, TimeoutError) else str(error)
            raise ExchangeFailed(
                f"cannot connect to {endpoint.authority}: {why}",
                was_sent=False,
                is_permanent=isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError),
            ) from error
