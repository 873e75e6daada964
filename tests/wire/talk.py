"""How the wire tests talk to a server: raw bytes on a socket, and requests that look like an SDK's.

Must hold: a read that gets nothing fails within seconds, so that a server that hangs fails a test.
"""

from __future__ import annotations

import json
import re
import socket
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

PATIENCE = 5.0
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)
AMZ_JSON = "application/x-amz-json-1.0"
GET_HEALTH = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: header names in lower case, the body as it was sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def is_whole(self) -> bool:
        """Whether it carries everything every answer must."""
        return (
            re.fullmatch(r"[0-9A-Z]{52}", self.headers["x-amzn-requestid"]) is not None
            and self.headers["x-amz-crc32"] == str(zlib.crc32(self.body))
            and self.headers["content-length"] == str(len(self.body))
            and {"content-type", "date"} <= set(self.headers)
        )


def request(
    verb: str | None = "ListTables",
    body: Any = None,
    *,
    method: str = "POST",
    path: str = "/",
    version: str = "1.1",
    headers: Mapping[str, str | None] | None = None,
) -> bytes:
    """A request as an SDK would send it; a header given as None is left out."""
    raw = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
    lines: dict[str, str | None] = {
        "Host": "localhost",
        "Content-Type": AMZ_JSON,
        "X-Amz-Target": None if verb is None else f"DynamoDB_20120810.{verb}",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": AUTHORIZATION,
        "Content-Length": str(len(raw)),
    }
    lines.update(headers or {})
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
    return f"{method} {path} HTTP/{version}\r\n{head}\r\n".encode("latin-1") + raw


class Line:
    """One TCP connection to the server."""

    def __init__(self, url: str, buffer: int | None = None) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self.socket = socket.socket()
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(PATIENCE)
        try:
            self.socket.connect((parts.hostname, parts.port))
        except OSError:
            self.socket.close()
            raise
        self._read = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self) -> Answer:
        """The next answer on this connection."""
        head = self._until(b"\r\n\r\n").decode("latin-1")
        status_line, *lines = head.split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        length = int(headers.get("content-length", "0"))
        while len(self._read) < length:
            self._more()
        body, self._read = self._read[:length], self._read[length:]
        return Answer(int(status_line.split(" ")[1]), headers, body)

    def ask(self, data: bytes) -> Answer:
        self.send(data)
        return self.answer()

    def is_closed(self) -> bool:
        """Whether the server has closed, or closes within our patience; what it still sends is dropped."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._read:
            self._more()
        found, _, self._read = self._read.partition(mark)
        return found + mark

    def _more(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise EOFError(f"the server closed; so far it had sent {self._read[:200]!r}")
        self._read += data


def once(url: str, data: bytes) -> Answer:
    """One request on a connection of its own."""
    with Line(url) as line:
        return line.ask(data)


def wait_until_read(url: str) -> None:
    """Until the server has read all that was sent to it before.

    What is sent on loopback has arrived when the call returns, and an event loop reads every connection on which
    something arrived before it looks for more: a second answer on one connection comes after that.
    """
    with Line(url) as line:
        for _ in range(2):
            assert line.ask(GET_HEALTH).status == 200
