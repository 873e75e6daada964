"""Requests at a steady pace, and how long each was on its way: what a client sees while the server does other work.

Must hold: a request is due when its time has come, whether or not the ones before it were answered, and its time on
the way counts from then: a server that stands still for a second has kept a thousand callers waiting, not one.
Elsewhere: as fast as possible (load.c).
"""

import collections
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from benchmarks.load import CannotMeasure
from benchmarks.signing import ANY, Signing

CONNECTIONS = 16


def request(verb: str, body: bytes) -> bytes:
    """The bytes of a request."""
    sign = Signing(ANY, verb, "20250101T000000Z")
    head = (
        f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
        f"X-Amz-Target: {sign.target}\r\nX-Amz-Date: {sign.stamp}\r\n"
        f"Authorization: {sign.authorization()}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


@dataclass(slots=True)
class _Connection:
    """A connection, and the request that is on its way on it: when it was due, what has come back."""

    socket: socket.socket
    due: float = 0.0
    heard: bytearray = field(default_factory=bytearray)


def run_paced(
    port: int, requests: Iterator[bytes], per_second: float, is_over: Callable[[float], bool]
) -> list[float]:
    """Send so many a second until told, with the seconds passed, that it is over; each one's milliseconds."""
    found: list[float] = []
    late: collections.deque[float] = collections.deque()  # due, and no connection was free
    with selectors.DefaultSelector() as selector:
        lines = [_connect(selector, port) for _ in range(CONNECTIONS)]
        free = list(lines)
        began = now = time.perf_counter()
        due = began
        while not is_over(now - began):
            while due <= now:
                late.append(due)
                due += 1 / per_second
            while late and free:
                line = free.pop()
                line.due = late.popleft()
                line.socket.sendall(next(requests))
            for key, _ in selector.select(max(due - time.perf_counter(), 0)):
                answered: _Connection = key.data
                if _is_answered(answered):
                    found.append((time.perf_counter() - answered.due) * 1000)
                    free.append(answered)
            now = time.perf_counter()
        for line in lines:
            line.socket.close()
    return found


def _connect(selector: selectors.BaseSelector, port: int) -> _Connection:
    line = _Connection(socket.create_connection(("127.0.0.1", port)))
    line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    selector.register(line.socket, selectors.EVENT_READ, line)
    return line


def _is_answered(line: _Connection) -> bool:
    """Take in what has come; whether the answer is whole. One that is not a success ends the benchmark."""
    line.heard += line.socket.recv(65536)
    head, gap, body = line.heard.partition(b"\r\n\r\n")
    if not gap:
        return False
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    if len(body) < length:
        return False
    if not head.startswith(b"HTTP/1.1 200"):
        raise CannotMeasure(f"a request was refused: {bytes(body[:200])!r}")
    line.heard.clear()
    return True


def quantile(values: list[float], share: float) -> float:
    """The value that a share of all do not exceed."""
    if not values:
        raise CannotMeasure("nothing was answered")
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]
