"""Bytes to an HTTP response, and a response to the result of a Call.

Lenient where HTTP is (header case, chunks, bodies that end with the connection), strict about what would
misplace the end of a response. Must hold: a response that is cut short is never taken for a whole one.
Elsewhere: where the bytes come from (connection_pool.py). Compressed responses are not requested.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from httptools import HttpParserError, HttpResponseParser

from tablewright.client.call import AnswerNotUnderstood, CallFailed, CallRefused

Receive = Callable[[], bytes]  # some bytes; empty when the server has closed the connection
_HEAD_BYTES = 65536


class ResponseIncomplete(Exception):
    """The response ends too early, or is not HTTP."""


class ChecksumMismatch(Exception):
    """The body is not the one the service sent: its CRC-32 differs."""


@dataclass(slots=True)
class HttpResponse:
    """Header names are in lower case. `keep_alive`: whether the connection may carry another request."""

    status: int
    headers: Mapping[bytes, bytes]
    body: bytes
    keep_alive: bool


class _Parts:
    """What httptools has parsed so far. 100 Continue and the like come before the response, and are dropped."""

    def __init__(self) -> None:
        self.parser: Any = HttpResponseParser(self)
        self.status, self.headers, self.body = 0, dict[bytes, bytes](), list[bytes]()
        self.response: HttpResponse | None = None

    def on_message_begin(self) -> None:
        self.status, self.headers, self.body = 0, {}, []
        if self.response is not None:
            self.response.keep_alive = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.setdefault(name.lower(), value.lower())

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()
        if self.headers.get(b"transfer-encoding", b"chunked") != b"chunked":
            raise ResponseIncomplete("the response has a transfer coding that was not requested")

    def on_body(self, data: bytes) -> None:
        self.body.append(data)

    def on_message_complete(self) -> None:
        if self.response is None and self.status >= 200:
            keep_alive = self.parser.should_keep_alive()
            self.response = HttpResponse(self.status, self.headers, b"".join(self.body), keep_alive)


def read_response(receive: Receive) -> HttpResponse:
    """The next response; raises ResponseIncomplete."""
    parts, size = _Parts(), 0
    while parts.response is None and (data := receive()):
        size += len(data)
        try:
            parts.parser.feed_data(data)
        except HttpParserError as error:
            if parts.response is None:
                raise ResponseIncomplete(
                    f"the response cannot be read: {error.__context__ or error}"
                ) from None
            # Bytes after the response were not requested: nothing further on this connection can be trusted.
            parts.response.keep_alive = False
        if size > _HEAD_BYTES and not parts.status:
            raise ResponseIncomplete("the response head does not end")
    if parts.response is not None:
        return parts.response
    has_end = b"content-length" in parts.headers or b"transfer-encoding" in parts.headers
    if has_end or parts.status < 200:
        where = "in the middle of its response" if size else "before it responded"
        raise ResponseIncomplete(f"the server closed the connection {where}")
    return HttpResponse(parts.status, parts.headers, b"".join(parts.body), keep_alive=False)


# --- the result ---


def result_of(verb: str, response: HttpResponse) -> dict[str, Any]:
    """The response's JSON; a refusal is raised as CallRefused."""
    body = response.body
    crc = response.headers.get(b"x-amz-crc32")
    if crc is not None and crc != b"%d" % zlib.crc32(body):
        raise ChecksumMismatch("the CRC-32 of the response differs from the one in its header")
    try:
        parsed = orjson.loads(body or b"{}")
    except ValueError:
        parsed = None
    if response.status == 200:
        if isinstance(parsed, dict):
            return parsed
        raise AnswerNotUnderstood(verb, 200, f"a body that is not a JSON object, {body[:60]!r}")
    raise _refusal(verb, response, parsed)


def _refusal(verb: str, response: HttpResponse, parsed: Any) -> CallFailed:
    status = response.status
    if status < 400:
        return AnswerNotUnderstood(
            verb, status, "redirects are not followed: a signature is valid for one host"
        )
    if not isinstance(parsed, dict) or not isinstance(parsed.get("__type"), str):
        text = response.body[:200].decode("utf-8", "replace")
        return CallRefused(f"Http{status}", text, status)
    # "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", sometimes with ":http://..." behind it.
    name = parsed.pop("__type").rpartition("#")[2].partition(":")[0]
    capital, message = parsed.pop("Message", None), parsed.pop("message", None)
    return CallRefused(name, message or capital or "", status, parsed)
