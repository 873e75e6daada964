"""Connections to one endpoint: opened when needed, kept for the next call, given up when they fail.

Must hold: a connection carries one exchange at a time and goes back to the pool only after a whole answer; one
that was interrupted, by whatever, is closed. A connection is used only by the process that opened it.
Elsewhere: how bytes become an answer (answers.py); what is tried again (http.py). Proxies are not supported.
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

from tablewright.client.answers import Answer, AnswerCut, read_answer
from tablewright.client.endpoint import Endpoint

_PIECE = 65536


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to reach the server, to get one whole answer, and for a call with all its attempts."""

    connect: float = 5.0
    answer: float = 30.0
    total: float = 60.0

    def __post_init__(self) -> None:
        if min(self.connect, self.answer, self.total) <= 0:
            raise ValueError(f"{self}: a call needs some time")


class ConnectionsClosed(RuntimeError):
    """The pool was closed and lends no more connections."""


class Lost(Exception):
    """An exchange failed.

    `was_sent`: the whole request had left. `was_stale`: a kept connection turned out to be closed before
    a byte of the answer came, as servers do to idle ones. `is_hopeless`: trying again would fail the same way.
    """

    def __init__(
        self, why: str, *, was_sent: bool, was_stale: bool = False, is_hopeless: bool = False
    ) -> None:
        super().__init__(why)
        self.why, self.was_sent, self.was_stale, self.is_hopeless = why, was_sent, was_stale, is_hopeless


class Connection:
    """One socket; close it."""

    __slots__ = ("_deadline", "_heard", "_is_readable", "_patience", "_process", "_socket", "_was_used")

    def __init__(self, opened: socket.socket, patience: float) -> None:
        self._socket = opened
        self._patience = patience
        self._process = os.getpid()
        self._is_readable = _watch(opened)
        self._was_used = self._heard = False
        self._deadline = 0.0
        opened.settimeout(patience)

    @property
    def is_usable(self) -> bool:
        """Whether it is ours and quiet: a kept connection with something to read is closed, or confused."""
        return self._process == os.getpid() and not self._is_readable()

    def exchange(self, request: bytes, patience: float) -> Answer:
        """Send and receive within so many seconds; raises Lost."""
        was_used, self._was_used = self._was_used, True
        self._deadline, self._heard = time.monotonic() + patience, False
        was_sent = False
        try:
            self._wait_at_most(patience)
            self._socket.sendall(request)
            was_sent = True
            return read_answer(self._receive)
        except TimeoutError:
            raise Lost("it took too long", was_sent=was_sent) from None
        except (OSError, AnswerCut) as error:
            why = str(error) or type(error).__name__
            raise Lost(why, was_sent=was_sent, was_stale=was_used and not self._heard) from error

    def _receive(self) -> bytes:
        # Anew for each further piece: a server that sends a byte a second must not hold us forever.
        if self._heard:
            self._wait_at_most(_left(self._deadline))
        data = self._socket.recv(_PIECE)
        if data:
            self._heard = True
        return data

    def _wait_at_most(self, seconds: float) -> None:
        # Each change is a call to the system, and most calls have the same patience.
        if seconds != self._patience:
            self._patience = seconds
            self._socket.settimeout(seconds)

    def close(self) -> None:
        self._socket.close()


def _watch(opened: socket.socket) -> Callable[[], bool]:
    """A look at whether there is something to read."""
    if sys.platform == "win32":
        return lambda: bool(select.select([opened], [], [], 0)[0])
    poll = select.poll()  # not select: it refuses sockets with a number above 1023
    poll.register(opened, select.POLLIN)
    return lambda: bool(poll.poll(0))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class Pool:
    """Connections to one endpoint, at most `size` of them kept while idle; any number of threads; close it."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts, size: int, tls: ssl.SSLContext | None) -> None:
        self._endpoint, self._timeouts = endpoint, timeouts
        self._tls = (tls or ssl.create_default_context()) if endpoint.is_tls else None
        # The last one back is the first one out: those that are not needed grow old and are dropped.
        self._idle: deque[Connection] = deque()
        # One chit for each connection that may still be kept. Two deques, and no lock that a fork could leave
        # locked for ever in the child: each step of theirs is whole or not done.
        self._chits: deque[None] = deque([None] * size)
        self._closed = False

    def exchange(self, request: bytes, deadline: float) -> Answer:
        """One request, one answer, on a kept connection or a new one; raises Lost."""
        connection = self._kept() or self._opened(deadline)
        # Never nought: to a socket that means not to wait at all, and to fail in another way.
        left = max(deadline - time.monotonic(), 0.001)
        try:
            answer = connection.exchange(request, min(self._timeouts.answer, left))
        except BaseException:
            connection.close()
            raise
        if answer.keeps_open and self._chits and not self._closed:
            self._keep(connection)
        else:
            connection.close()
        return answer

    def forget(self) -> None:
        """Close what is idle: if the server closed one, it may well have closed them all."""
        while (connection := self._taken()) is not None:
            connection.close()

    def close(self) -> None:
        self._closed = True
        self.forget()

    def _keep(self, connection: Connection) -> None:
        try:
            self._chits.pop()
        except IndexError:
            connection.close()
            return
        self._idle.append(connection)
        if self._closed:  # by another thread, since we looked
            self.forget()

    def _taken(self) -> Connection | None:
        try:
            connection = self._idle.pop()
        except IndexError:
            return None
        self._chits.append(None)
        return connection

    def _kept(self) -> Connection | None:
        if self._closed:
            raise ConnectionsClosed("this HttpCall was closed; make a new one")
        while (connection := self._taken()) is not None and not connection.is_usable:
            connection.close()
        return connection

    def _opened(self, deadline: float) -> Connection:
        where, raw = self._endpoint, None
        try:
            patience = min(self._timeouts.connect, _left(deadline))
            raw = socket.create_connection((where.host, where.port), patience)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if self._tls is not None:
                raw = self._tls.wrap_socket(raw, server_hostname=where.host)
            return Connection(raw, self._timeouts.answer)
        except BaseException as error:
            if raw is not None:
                raw.close()
            if not isinstance(error, OSError):
                raise
            why = "it took too long" if isinstance(error, TimeoutError) else str(error)
            raise Lost(
                f"cannot connect to {where.authority}: {why}",
                was_sent=False,
                is_hopeless=isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError),
            ) from error
