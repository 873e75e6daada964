"""Servers that misbehave: each connection is served by a function the test writes.

    with stub(lambda line: line.answer({"Item": {}})) as server: ...

Must hold: every socket is closed in the end, whatever the client did; what a script raises fails the test.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

PATIENCE = 5.0


class Line:
    """One connection, seen from the server."""

    def __init__(self, opened: socket.socket) -> None:
        self.socket = opened
        self._read = b""

    def request(self) -> tuple[dict[str, str], dict[str, Any]] | None:
        """The next request's headers and body; none when the client has gone."""
        while b"\r\n\r\n" not in self._read:
            if not self._more():
                return None
        head, _, self._read = self._read.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")[1:]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers["content-length"])
        while len(self._read) < length:
            assert self._more()
        body, self._read = self._read[:length], self._read[length:]
        return headers, json.loads(body)

    def _more(self) -> bool:
        data = self.socket.recv(65536)
        self._read += data
        return bool(data)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)


def letter(body: Any = None, status: int = 200, headers: str = "") -> bytes:
    """A whole answer; a refusal is written as its short name."""
    if isinstance(body, str):
        body = {"__type": f"com.amazonaws.dynamodb.v20120810#{body}", "message": "as the test says"}
        status = 400 if status == 200 else status
    raw = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
    crc = f"x-amz-crc32: {zlib.crc32(raw)}\r\n" if "x-amz-crc32" not in headers else ""
    head = f"HTTP/1.1 {status} Whatever\r\n{crc}Content-Length: {len(raw)}\r\n{headers}\r\n"
    return head.encode() + raw


Script = Callable[[Line], None]


class Stub:
    """A listening server; `requests` is what it was asked, `connections` how often it was called."""

    def __init__(self, scripts: Sequence[Script] | Script, tls: ssl.SSLContext | None = None) -> None:
        self._scripts, self._tls = scripts, tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._stopped = False
        self.port = self._listening.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.connections = 0
        self.faults: list[Exception] = []
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            opened, _ = self._listening.accept()
            if self._stopped:
                opened.close()
                return
            opened.settimeout(PATIENCE)
            number, self.connections = self.connections, self.connections + 1
            thread = threading.Thread(target=self._serve, args=(opened, number))
            self._threads.append(thread)
            thread.start()

    def _serve(self, opened: socket.socket, number: int) -> None:
        try:
            if self._tls is not None:
                opened = self._tls.wrap_socket(opened, server_side=True)
            self._open.append(opened)
            script = self._scripts if callable(self._scripts) else self._scripts[number]
            script(Line(opened))
        except OSError:
            pass  # the client hung up, or did not trust us
        except Exception as fault:
            self.faults.append(fault)
        finally:
            opened.close()

    def asked(self, line: Line) -> dict[str, Any] | None:
        """The body of the next request, noted."""
        one = line.request()
        if one is None:
            return None
        self.requests.append(one)
        return one[1]

    def close(self) -> None:
        self._stopped = True
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._threads[0].join()
        for opened in self._open:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()
        self._listening.close()
        assert self.faults == []


@contextmanager
def stub(scripts: Sequence[Script] | Script, tls: ssl.SSLContext | None = None) -> Iterator[Stub]:
    """One script for every connection, or the first for the first connection, and so on."""
    server = Stub(scripts, tls)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def answering(*letters: bytes, tls: ssl.SSLContext | None = None) -> Iterator[Stub]:
    """A server that sends these answers one after the other, on however many connections; the last for ever."""
    waiting = list(letters)

    def script(line: Line) -> None:
        while server.asked(line) is not None:
            line.send(waiting.pop(0) if len(waiting) > 1 else waiting[0])

    with stub(script, tls) as server:
        yield server
