"""The responses of one connection: with the headers that the request asked for, in order, one in the queue at a time.

Must hold: nothing is written after the connection is lost. Nothing that is logged quotes an item.
Elsewhere: when a response is due, and when the connection ends (connection.py); the bytes (responses.py).
"""

import asyncio
import logging

import orjson

from tablewright.engine import ServiceError
from tablewright.engine.errors import fault
from tablewright.wire.content_encoding import MIN_COMPRESSED_BYTES, encode
from tablewright.wire.request_checks import Headers
from tablewright.wire.responses import (
    AMZ_JSON,
    CLOSE,
    CONTINUE,
    CORS_HEADERS,
    KEEP_ALIVE,
    ResponseQueue,
    ResponseRenderer,
)

log = logging.getLogger("tablewright.wire")


class ResponseWriter:
    """Writes to one transport. `begin` is called with each request, before its response is sent."""

    __slots__ = ("_connection_line", "_extra", "_is_queued", "_queue", "_renderer", "_transport", "accepts")

    def __init__(self, renderer: ResponseRenderer, queue: ResponseQueue) -> None:
        self._renderer, self._queue = renderer, queue
        self._transport: asyncio.Transport | None = None
        self._is_queued = False
        # Of the request being served:
        self.accepts = b""
        self._connection_line = b""
        self._extra = b""

    def open(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def close(self) -> None:
        """The connection is lost: what is still to be sent is dropped."""
        self._transport = None

    def begin(self, headers: Headers, is_cross_origin: bool) -> None:
        self._extra = CORS_HEADERS if is_cross_origin else b""
        self._connection_line = KEEP_ALIVE if b"connection" in headers else b""
        self.accepts = headers.get(b"accept-encoding", b"")

    def send(
        self,
        status: int,
        content_type: bytes,
        body: bytes,
        is_last: bool,
        encoding_line: bytes | None = None,
        extra: bytes = b"",
    ) -> None:
        """`encoding_line` is given for a body that is encoded already; it is empty if the body stays as it is."""
        if encoding_line is None and self.accepts and len(body) >= MIN_COMPRESSED_BYTES:
            body, encoding_line = encode(body, self.accepts)
        extra = self._extra + extra
        if encoding_line:
            extra += encoding_line
        extra += CLOSE if is_last else self._connection_line
        response = self._renderer.render(status, content_type, body, extra)
        if self._is_queued:
            self._queue.flush()
        self._is_queued = True
        self._queue.add(self._write, response)

    def send_continue(self) -> None:
        """Ask for the body of a request whose client waits for 100 Continue."""
        self._queue.flush()
        self._write(CONTINUE)

    def send_refusal(self, status: int) -> None:
        """Send a status without a body, then end our side of the connection."""
        # Closing with unread bytes in the socket would reset it, and the client might never see the status: we end
        # our side only, and the connection drops what still comes until the client closes or takes too long.
        self._queue.flush()
        self._write(self._renderer.render(status, AMZ_JSON, b"", CLOSE))
        if self._transport is not None:
            self._transport.write_eof()

    def flush(self) -> None:
        self._queue.flush()

    def _write(self, response: bytes) -> None:
        self._is_queued = False
        if self._transport is not None:
            self._transport.write(response)


def error_response(verb: str, error: Exception) -> tuple[int, bytes]:
    """The status and body of an error; one that is not the service's is logged and becomes a 500."""
    if not isinstance(error, ServiceError):
        # Which line failed, with which type of error. Not its message: that may quote an item.
        log.error("request failed", extra={"verb": verb, **fault(error)})
        error = ServiceError("InternalServerError", "Internal server error", status=500)
    return error.status, orjson.dumps(error.body())
