"""Responses: rendered as one run of bytes, and sent together at the end of an iteration of the event loop.

Must hold: every response carries a unique request id, the CRC-32 of the body bytes as they are sent (SDKs check it),
its type, its length and the date. The date is updated by the server, once a second at most. Responses of one connection
are sent in order; at most one of a connection is in the queue, so that a client that does not read is noticed before
the next one is written (response_writer.py).
Elsewhere: what the response is (request_checks.py, the engine), status and body of an error (response_writer.py).
"""

import asyncio
import itertools
import logging
import re
from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from tablewright.engine.errors import fault
from tablewright.engine.storage.checksum import crc32
from tablewright.world import World

log = logging.getLogger("tablewright.wire")
Send: TypeAlias = Callable[[bytes], None]

AMZ_JSON = b"application/x-amz-json-1.0"
PLAIN_JSON = b"application/json"
CLOSE = b"Connection: close\r\n"
# Sent to clients that send Connection: HTTP/1.0 clients wait for it.
KEEP_ALIVE = b"Connection: keep-alive\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# Lets a web page of another origin read the response, and these of its headers.
CORS_HEADERS = (
    b"Access-Control-Allow-Origin: *\r\n"
    b"Access-Control-Expose-Headers: x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,x-amz-crc32,Date\r\n"
)

_STATUS = {
    200: b"200 OK",
    400: b"400 Bad Request",
    404: b"404 Not Found",
    408: b"408 Request Timeout",
    409: b"409 Conflict",
    413: b"413 Request Entity Too Large",
    500: b"500 Internal Server Error",
    503: b"503 Service Unavailable",
}
_HEAD = b"HTTP/1.1 %b\r\n%b%020d\r\nx-amz-crc32: %d\r\nContent-Type: %b\r\nContent-Length: %d\r\n%b\r\n"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class ResponseRenderer:
    """The header lines that all responses of one server share, and the number of its next request id."""

    __slots__ = ("_next_number", "_series", "_shared")

    def __init__(self, world: World) -> None:
        # The service's ids are 52 characters of [0-9A-Z]: ours are 32 random ones, then a number.
        letters = re.sub(r"[^0-9A-Z]", "", world.new_id().upper())
        self._series = letters[-32:].rjust(32, "0").encode()
        self._next_number: Callable[[], int] = itertools.count(1).__next__
        self._shared = b""
        self.renew(world.now())

    def renew(self, now: datetime) -> None:
        """Set the date of the following responses."""
        self._shared = b"Server: Server\r\nDate: %b\r\nx-amzn-RequestId: %b" % (http_date(now), self._series)

    def render(self, status: int, content_type: bytes, body: bytes, extra: bytes = b"") -> bytes:
        """The whole response; `extra` is header lines, each with its line end."""
        head = _HEAD % (
            _STATUS.get(status) or b"%d Unnamed" % status,
            self._shared,
            self._next_number(),
            crc32(body),
            content_type,
            len(body),
            extra,
        )
        return head + body


class ResponseQueue:
    """Responses of one iteration of the event loop, sent together at its end.

    Sending each at once wakes its client's processor each time, and the client's next request interrupts our work on
    the others: with sixteen clients that was about a quarter of the server's time.
    """

    __slots__ = ("_loop", "_responses")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._responses: list[tuple[Send, bytes]] = []

    def add(self, send: Send, response: bytes) -> None:
        if not self._responses:
            self._loop.call_soon(self.flush)
        self._responses.append((send, response))

    def flush(self) -> None:
        responses, self._responses = self._responses, []
        for send, response in responses:
            try:
                send(response)
            except Exception as error:  # a broken connection must not keep the others from their responses
                log.error("response not sent", extra=fault(error))


def http_date(now: datetime) -> bytes:
    """RFC 9110's date. Not strftime: its names of days and months depend on the machine's locale."""
    day, month = _DAYS[now.weekday()], _MONTHS[now.month - 1]
    return f"{day}, {now.day:02} {month} {now.year:04} {now:%H:%M:%S} GMT".encode()
