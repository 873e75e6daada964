"""Responses over 1 KB are sent as gzip to clients that accept it: Starlette's middleware, with correct ETags.

Must hold: a compressed response has its own tag (`"7-gzip"`), because a strong tag means equal bytes; a tag with that
ending in a request means the same version (etags.py). What never changes is compressed once (`StaticContent`).
The length of a compressed response reveals repetitions in it (BREACH). An attack needs another site that makes our
user's browser send many requests; our cookies are SameSite=Lax, so such requests come without the user's login. No page
contains a token against forged requests (csrf.py needs none).
"""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.edge.etags import GZIP_ENDING

MIN_GZIP_BYTES = 1024
_LEVEL = 6
_WANTED = re.compile(
    r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?\s*(?:,|$)", re.IGNORECASE
)


def wants_gzip(headers: Headers) -> bool:
    """Whether the client accepts gzip; `gzip;q=0` means that it does not."""
    return _WANTED.search(headers.get("accept-encoding", "")) is not None


class Compression:
    """ASGI middleware: compresses responses of at least MIN_GZIP_BYTES."""

    def __init__(self, app: ASGIApp) -> None:
        self._gzip = GZipMiddleware(app, minimum_size=MIN_GZIP_BYTES, compresslevel=_LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._gzip(scope, receive, send)
            return
        asked = Headers(scope=scope)

        async def send_with_set_gzip_tag(message: Message) -> None:
            if message["type"] == "http.response.start":
                _set_gzip_tag(asked, message["status"], MutableHeaders(scope=message))
            await send(message)

        if not wants_gzip(asked):
            scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        await self._gzip(scope, receive, send_with_set_gzip_tag)


def _set_gzip_tag(asked: Headers, status: int, headers: MutableHeaders) -> None:
    """Set the tag of the compressed response; for a 304, the tag of the copy that the client has."""
    tag = headers.get("etag", "")
    if not tag.startswith('"'):
        return
    own = f'{tag[:-1]}{GZIP_ENDING}"'
    if headers.get("content-encoding") == "gzip" or (status == 304 and own in asked.get("if-none-match", "")):
        headers["etag"] = own
    if status == 304:
        headers.add_vary_header("Accept-Encoding")


@dataclass(frozen=True)
class StaticContent:
    """Content that does not change, and is compressed once."""

    content: bytes
    media_type: str

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.content, 9, mtime=0)

    def response(self, request: HTTPConnection, headers: Mapping[str, str] | None = None) -> Response:
        """The content, compressed if the client accepts it."""
        if len(self.content) < MIN_GZIP_BYTES or not wants_gzip(request.headers):
            return Response(self.content, media_type=self.media_type, headers=headers)
        more = {"Vary": "Accept-Encoding", "Content-Encoding": "gzip"}
        return Response(self.gzipped, media_type=self.media_type, headers={**(headers or {}), **more})
