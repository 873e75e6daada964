"""Bytes in, requests out: the HTTP/1.1 framing of one connection, on httptools.

Must hold: a request is passed on whole or not at all; size is checked first, while the bytes come; what is not HTTP is
refused once, with a status, and nothing after it is read.
Elsewhere: what a request means (request_checks.py), when it is served and how long it may take (connection.py).
"""

import logging
from collections.abc import Callable

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser

from tablewright.wire.content_encoding import MAX_INFLATION
from tablewright.wire.limits import Limits
from tablewright.wire.request_checks import Headers

log = logging.getLogger("tablewright.wire")

# (method, url, headers, body, whether the connection is kept alive)
OnRequest = Callable[[bytes, bytes, Headers, bytes | bytearray, bool], None]


class RequestParser:
    """Calls `on_request` for each request in the bytes it is fed, `refuse` with a status when it cannot continue.

    The on_... methods are httptools' callbacks. `request_count` counts requests by their first byte.
    """

    __slots__ = (
        "_body", "_fed", "_head_bytes", "_headers", "_in_body", "_limits", "_on_request", "_parser",
        "_refuse", "_url", "expects_continue", "is_ended", "is_receiving", "request_count", "weight",
    )  # fmt: skip

    def __init__(self, limits: Limits, on_request: OnRequest, refuse: Callable[[int], None]) -> None:
        self._limits = limits
        self._on_request = on_request
        self._refuse = refuse
        self._parser = HttpRequestParser(self)
        self._headers: Headers = {}
        self._url = b""
        self._body: bytes | bytearray = b""
        self._fed = self._head_bytes = 0
        self._in_body = False
        self.request_count = 0
        self.is_receiving = False  # between a request's first byte and its last
        self.is_ended = False  # no further byte is read
        self.expects_continue = False  # the client waits for 100 Continue
        self.weight = 0  # bytes the request may take, by its headers; 0 for a light one

    @property
    def received(self) -> int:
        """How many bytes of the body have arrived."""
        return len(self._body)

    def feed(self, data: bytes) -> None:
        if self.is_ended:
            return
        receiving = self.request_count if self.is_receiving else 0
        self._fed = len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            self._decline_upgrade(data[upgrade.args[0] :])
        except HttpParserCallbackError as error:
            # The client always gets a response; if it was refused, that has been sent already.
            if not isinstance(error.__context__, _Refused):
                log.error("request not served", extra={"mistake": type(error.__context__).__name__})
                self.refuse(500)
        except HttpParserError:
            if not self.is_ended:
                self.refuse(400)
        else:
            if self.is_receiving and not self._in_body and self.request_count == receiving:
                self._head_bytes += len(data)
                if self._head_bytes > self._limits.head_bytes:
                    self.refuse(400)

    def refuse(self, status: int) -> None:
        self.end()
        self._refuse(status)

    def end(self) -> None:
        """Read no further; a request that is half received is dropped."""
        self.is_ended = True
        self.is_receiving = False
        self._headers = {}
        self._url = self._body = b""

    def close(self) -> None:
        """The connection is lost: drop the references to it and to the parser, which form cycles with this object."""
        self.end()
        self._on_request = self._refuse = _nothing
        self._parser = _NO_PARSER

    def on_message_begin(self) -> None:
        if self.is_ended:
            raise _Refused  # the client was refused while the request before it was served
        self.request_count += 1
        self.is_receiving = True
        self.expects_continue = self._in_body = False
        self._head_bytes = self.weight = 0
        self._headers = {}
        self._url = self._body = b""

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer must not be taken for a header that was signed
        name = name.lower()
        headers = self._headers
        headers[name] = value if name not in headers else headers[name] + b"," + value

    def on_headers_complete(self) -> None:
        self._in_body = True
        headers = self._headers
        if self._head_bytes + self._fed > self._limits.head_bytes:
            self._refuse_long_head()
        if b"content-length" in headers:
            size = int(headers[b"content-length"])
            if size > self._limits.light_bytes or b"content-encoding" in headers:
                self._weigh(size)
        elif b"transfer-encoding" in headers:
            self._weigh(self._limits.body_bytes)
        if b"expect" in headers and headers[b"expect"].lower() == b"100-continue":
            self.expects_continue = True

    def on_body(self, data: bytes) -> None:
        if not self._body:
            self._body = data
        elif type(self._body) is bytes:
            self._body = bytearray(self._body + data)
        else:
            self._body += data
        if len(self._body) > self._limits.body_bytes:
            self._stop(413)

    def on_message_complete(self) -> None:
        parser = self._parser
        if parser.should_upgrade():
            return  # its body, if it has one, is still to come: see _decline_upgrade
        self.is_receiving = False
        keep_alive = parser.should_keep_alive()
        if not keep_alive:
            self.is_ended = True
        body, self._body = self._body, b""  # the callee then has the last reference
        self._on_request(parser.get_method(), self._url, self._headers, body, keep_alive)

    def _weigh(self, size: int) -> None:
        limits = self._limits
        if size > limits.body_bytes:
            self._stop(413)
        if b"content-encoding" in self._headers:
            size = min(size * MAX_INFLATION, limits.body_bytes)
        self.weight = size if size > limits.light_bytes else 0

    def _refuse_long_head(self) -> None:
        """Refuse a head that is too long. What came in one piece may be mostly body, so only the head is counted."""
        lines = sum(len(name) + len(value) + 4 for name, value in self._headers.items())
        if len(self._url) + lines > self._limits.head_bytes:
            self._stop(400)

    def _stop(self, status: int) -> None:
        self.refuse(status)
        raise _Refused

    def _decline_upgrade(self, rest: bytes) -> None:
        """The client offers another protocol: parse the request again without the offer, with its body."""
        method = self._parser.get_method()
        if method == b"CONNECT":
            self.refuse(400)
            return
        lines = [b"%b %b HTTP/1.1" % (method, self._url)]
        lines += [
            b"%b: %b" % line for line in self._headers.items() if line[0] not in (b"upgrade", b"connection")
        ]
        self._parser = HttpRequestParser(self)
        self.feed(b"\r\n".join(lines) + b"\r\n\r\n" + rest)


def _nothing(*_: object) -> None:
    """Ignore a request of a lost connection."""


_NO_PARSER = HttpRequestParser(None)  # of connections that are lost


class _Refused(Exception):
    """Raised through the parser to stop it; the refusal has been sent."""
