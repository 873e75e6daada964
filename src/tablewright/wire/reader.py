"""Bytes in, requests out: the HTTP/1.1 framing of one connection, on httptools.

Must hold: a request is handed on whole or not at all; size is checked before anything else and while the
bytes come; what is no HTTP is refused once, with a status, and nothing after it is read.
Elsewhere: what a request means (gate.py), when it is served (connection.py), how long it may take (both).
"""

import logging
from collections.abc import Callable

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser

from tablewright.wire.gate import Headers
from tablewright.wire.limits import Limits

log = logging.getLogger("tablewright.wire")

# (method, url, headers, body, whether the connection goes on afterwards)
Take = Callable[[bytes, bytes, Headers, bytes | bytearray, bool], None]


class Reader:
    """Feed it; it calls `take` for each request, `refuse` with a status when it can go no further.

    The on_... methods are httptools' callbacks. `begun` counts requests by their first byte.
    """

    __slots__ = (
        "_body",
        "_head_bytes",
        "_headers",
        "_in_body",
        "_limits",
        "_parser",
        "_refuse",
        "_take",
        "_url",
        "begun",
        "expects",
        "is_ended",
        "is_receiving",
    )

    def __init__(self, limits: Limits, take: Take, refuse: Callable[[int], None]) -> None:
        self._limits = limits
        self._take = take
        self._refuse = refuse
        self._parser = HttpRequestParser(self)
        self._headers: Headers = {}
        self._url = b""
        self._body: bytes | bytearray = b""
        self._head_bytes = 0
        self._in_body = False
        self.begun = 0
        self.is_receiving = False  # between a request's first byte and its last
        self.is_ended = False  # no further byte is looked at
        self.expects = False  # the client waits for 100 Continue

    def feed(self, data: bytes) -> None:
        if self.is_ended:
            return
        same = self.begun if self.is_receiving else 0
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            self._decline_upgrade(data[upgrade.args[0] :])
        except HttpParserCallbackError as error:
            # Whatever it was, the client gets an answer; if it is too large, that is already on its way.
            if not isinstance(error.__context__, _TooLarge):
                log.error("request not served", extra={"mistake": type(error.__context__).__name__})
                self.refuse(500)
        except HttpParserError:
            if not self.is_ended:
                self.refuse(400)
        else:
            if self.is_receiving and not self._in_body and self.begun == same:
                self._head_bytes += len(data)
                if self._head_bytes > self._limits.head_bytes:
                    self.refuse(431)

    def refuse(self, status: int) -> None:
        self.is_ended = True
        self.is_receiving = False
        self._refuse(status)

    def end(self) -> None:
        """Read no further; a request half received is forgotten."""
        self.is_ended = True
        self.is_receiving = False

    def on_message_begin(self) -> None:
        self.begun += 1
        self.is_receiving = True
        self.expects = self._in_body = False
        self._head_bytes = 0
        self._headers = {}
        self._url = self._body = b""

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer must not pass for a header that was signed
        name = name.lower()
        headers = self._headers
        headers[name] = value if name not in headers else headers[name] + b"," + value

    def on_headers_complete(self) -> None:
        self._in_body = True
        headers = self._headers
        if b"content-length" in headers and int(headers[b"content-length"]) > self._limits.body_bytes:
            self._refuse_too_large()
        if b"expect" in headers and headers[b"expect"].lower() == b"100-continue":
            self.expects = True

    def on_body(self, data: bytes) -> None:
        if not self._body:
            self._body = data
        elif type(self._body) is bytes:
            self._body = bytearray(self._body + data)
        else:
            self._body += data
        if len(self._body) > self._limits.body_bytes:
            self._refuse_too_large()

    def on_message_complete(self) -> None:
        parser = self._parser
        if parser.should_upgrade():
            return  # its body, if any, is still to come: see _decline_upgrade
        self.is_receiving = False
        keep = parser.should_keep_alive()
        if not keep:
            self.is_ended = True
        self._take(parser.get_method(), self._url, self._headers, self._body, keep)

    def _refuse_too_large(self) -> None:
        self.refuse(413)
        raise _TooLarge

    def _decline_upgrade(self, rest: bytes) -> None:
        """The client offers another protocol: go on as if it had not, body and all."""
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


class _TooLarge(Exception):
    """Raised through the parser to stop it; the refusal is already on its way."""
