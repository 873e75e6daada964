"""Bytes to an HTTP response, and a response to the result of a Call.

Lenient where HTTP is (header case, chunks, bodies that end with the connection), strict about what would
misplace the end of a response. Must hold: a response that is cut short is never taken for a whole one.
Elsewhere: where the bytes come from (connection_pool.py). Compressed responses are not requested.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from tablewright.client.call import AnswerNotUnderstood, CallFailed, CallRefused

Receive = Callable[[], bytes]  # some bytes; empty when the server has closed the connection
_HEAD_BYTES = 65536
_STATUS = re.compile(rb"http/1\.[01] ([1-9][0-9]{2})(?: |$)")
_LENGTH = re.compile(rb"[0-9]{1,12}")
_CHUNK = re.compile(rb"[0-9A-Fa-f]{1,8}")


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


def read_response(receive: Receive) -> HttpResponse:
    """The next response; raises ResponseIncomplete."""
    data = b""
    while True:
        data = data or _more(receive, "before it responded")
        head, data = _until(b"\r\n\r\n", data, receive, "the response head")
        lines = head.lower().split(b"\r\n")
        status = _status(lines[0])
        if status >= 200:  # what comes before is 100 Continue and the like
            break
    headers = _headers(lines)
    body, data, is_framed = _body(headers, data, receive)
    connection = headers.get(b"connection", b"")
    is_http_1_1 = lines[0].startswith(b"http/1.1")
    keep_alive = b"close" not in connection if is_http_1_1 else b"keep-alive" in connection
    # Bytes after the response were not requested: nothing further on this connection can be trusted.
    return HttpResponse(status, headers, body, keep_alive and is_framed and not data)


def _until(mark: bytes, data: bytes, receive: Receive, where: str) -> tuple[bytes, bytes]:
    """What comes before a mark, and after it."""
    while (end := data.find(mark)) < 0:
        if len(data) > _HEAD_BYTES:
            raise ResponseIncomplete(f"{where} does not end")
        data += _more(receive, f"in {where}")
    return data[:end], data[end + len(mark) :]


def _status(line: bytes) -> int:
    match = _STATUS.match(line)
    if match is None:
        raise ResponseIncomplete(f"the response is not HTTP/1.1; it begins with {line[:40]!r}")
    return int(match[1])


def _headers(lines: list[bytes]) -> dict[bytes, bytes]:
    headers: dict[bytes, bytes] = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        value = value.strip()
        # A header that is sent twice is joined, as RFC 9110 says. Two lengths are then not a number.
        headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def _body(headers: Mapping[bytes, bytes], data: bytes, receive: Receive) -> tuple[bytes, bytes, bool]:
    """The body, the bytes after it, and whether its end was marked."""
    if b"transfer-encoding" in headers:
        if headers[b"transfer-encoding"] != b"chunked":
            raise ResponseIncomplete("the response has a transfer coding that was not requested")
        return *_chunks(data, receive), True
    length = headers.get(b"content-length")
    if length is None:
        return _rest(data, receive), b"", False
    if not _LENGTH.fullmatch(length):
        raise ResponseIncomplete(f"the response's length is {length[:40]!r}")
    return *_exactly(int(length), data, receive), True


def _exactly(size: int, data: bytes, receive: Receive) -> tuple[bytes, bytes]:
    if len(data) < size:
        parts, missing = [data], size - len(data)
        while missing > 0:
            parts.append(_more(receive, "in the middle of its response"))
            missing -= len(parts[-1])
        data = b"".join(parts)
    return data[:size], data[size:]


def _chunks(data: bytes, receive: Receive) -> tuple[bytes, bytes]:
    parts: list[bytes] = []
    while True:
        line, data = _until(b"\r\n", data, receive, "a chunk's head")
        size = line.partition(b";")[0].strip()
        if not _CHUNK.fullmatch(size):
            raise ResponseIncomplete(f"a chunk's size is {size[:40]!r}")
        if int(size, 16) == 0:
            break
        chunk, data = _exactly(int(size, 16) + 2, data, receive)
        if not chunk.endswith(b"\r\n"):
            raise ResponseIncomplete("a chunk is longer than it says")
        parts.append(chunk[:-2])
    while line:  # the zero, then trailers, up to an empty line
        line, data = _until(b"\r\n", data, receive, "a chunk's head")
    return b"".join(parts), data


def _rest(data: bytes, receive: Receive) -> bytes:
    parts = [data]
    while data := receive():
        parts.append(data)
    return b"".join(parts)


def _more(receive: Receive, where: str) -> bytes:
    data = receive()
    if not data:
        raise ResponseIncomplete(f"the server closed the connection {where}")
    return data


# --- the result ---


def result_of(verb: str, response: HttpResponse) -> dict[str, Any]:
    """The response's JSON; a refusal is raised as CallRefused."""
    body = response.body
    crc = response.headers.get(b"x-amz-crc32")
    if crc is not None and crc != b"%d" % zlib.crc32(body):
        raise ChecksumMismatch("the CRC-32 of the response differs from the one in its header")
    try:
        parsed = orjson.loads(body)
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
