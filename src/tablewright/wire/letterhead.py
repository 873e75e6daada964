"""What goes back to a client: status line, headers and body as one run of bytes.

Must hold: every answer carries a request id nobody had before, the CRC-32 of the body bytes as they are sent
(SDKs check it), its type, its length and the date. The date is renewed from outside, once a second at most.
Elsewhere: who decides what the answer is (gate.py, the engine), when it is sent (connection.py).
"""

import itertools
import re
import zlib
from collections.abc import Callable
from datetime import datetime

from tablewright.world import World

AMZ_JSON = b"application/x-amz-json-1.0"
PLAIN_JSON = b"application/json"
CLOSE = b"Connection: close\r\n"
KEEP = b"Connection: keep-alive\r\n"  # said to whoever mentions it: HTTP/1.0 clients wait for these words
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

# Below this a compressed body saves no packet; above it even the quickest level pays for itself.
GZIP_FLOOR = 1500
_GZIP_LEVEL, _GZIP_FORMAT = 1, 31

_STATUS = {
    200: b"200 OK",
    400: b"400 Bad Request",
    404: b"404 Not Found",
    408: b"408 Request Timeout",
    409: b"409 Conflict",
    413: b"413 Request Entity Too Large",
    431: b"431 Request Header Fields Too Large",
    500: b"500 Internal Server Error",
    503: b"503 Service Unavailable",
}
_HEAD = b"HTTP/1.1 %b\r\n%b%020d\r\nx-amz-crc32: %d\r\nContent-Type: %b\r\nContent-Length: %d\r\n%b\r\n"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Letterhead:
    """The lines all answers of one server share, and the count of its request ids."""

    __slots__ = ("_next_number", "_series", "_shared")

    def __init__(self, world: World) -> None:
        # The service's ids are 52 characters of [0-9A-Z]: ours are 32 of chance, then a count.
        letters = re.sub(r"[^0-9A-Z]", "", world.new_id().upper())
        self._series = letters[-32:].rjust(32, "0").encode()
        self._next_number: Callable[[], int] = itertools.count(1).__next__
        self._shared = b""
        self.renew(world.now())

    def renew(self, now: datetime) -> None:
        """Date the answers to come."""
        self._shared = b"Date: %b\r\nx-amzn-RequestId: %b" % (http_date(now), self._series)

    def letter(self, status: int, kind: bytes, body: bytes, extra: bytes = b"") -> bytes:
        """The whole answer; extra is header lines, each with its line end."""
        head = _HEAD % (
            _STATUS.get(status) or b"%d Unnamed" % status,
            self._shared,
            self._next_number(),
            zlib.crc32(body),
            kind,
            len(body),
            extra,
        )
        return head + body


def http_date(now: datetime) -> bytes:
    """RFC 9110's date. Not strftime: its names of days and months follow the machine's language."""
    day, month = _DAYS[now.weekday()], _MONTHS[now.month - 1]
    return f"{day}, {now.day:02} {month} {now.year:04} {now:%H:%M:%S} GMT".encode()


def gzipped(body: bytes) -> bytes:
    return zlib.compress(body, _GZIP_LEVEL, _GZIP_FORMAT)


def wants_gzip(accept_encoding: bytes) -> bool:
    """Whether the client named gzip, and not with a weight of nought."""
    if b"gzip" not in accept_encoding:
        return False
    for offer in accept_encoding.split(b","):
        name, _, weight = offer.partition(b";")
        if name.strip() == b"gzip":
            return re.fullmatch(rb"\s*q=0(\.0*)?\s*", weight) is None
    return False
