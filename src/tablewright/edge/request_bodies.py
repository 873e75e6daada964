"""Bodies of requests: read whole before the app is called, up to a size, and within a memory limit for all requests.

Bodies of paths that are declared as streamed are not read here: their route reads them as they arrive.

Must hold: a body is never read past its limit, with or without a Content-Length; bodies over SMALL_BYTES hold no more
than `held_bytes` together, from their first byte until their request is answered. If a body would exceed that, the one
that has been arriving for longest is dropped, so that a client that stops half-way cannot keep others out. Small bodies
are always accepted: the number of connections bounds them.
Elsewhere: how long a body may take to arrive (connections.py).
"""

import asyncio
from collections.abc import Mapping
from fnmatch import fnmatchcase

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.edge.problems import Problem, answer

BODY_BYTES = 1024 * 1024
HELD_BYTES = 32 * 1024 * 1024
SMALL_BYTES = 16 * 1024
# A client that is still sending reads no response. So much of the rest is read and dropped before we close.
_DRAIN_BYTES = 16 * 1024 * 1024
_DRAIN_SECONDS = 5.0
_SCOPE_KEY = "tablewright.body"


def body_of(scope: Scope) -> bytes:
    """The body of a request that is being answered."""
    found: bytes = scope.get(_SCOPE_KEY, b"")
    return found


class _Disconnected(Exception):
    """The client disconnected before its request had arrived."""


class _Body:
    """One request's body, as far as it has arrived."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.is_whole = False
        self.is_cut = False
        self.deadline = asyncio.timeout(None)

    @property
    def counted(self) -> int:
        return self.size if self.size > SMALL_BYTES else 0

    def cut(self) -> None:
        """Drop what has arrived, and stop reading the rest."""
        self.is_cut = True
        self.parts.clear()
        self.deadline.reschedule(0)


class BodyMemory:
    """The memory of all bodies of one event loop."""

    def __init__(self, held_bytes: int) -> None:
        self._most, self._held = held_bytes, 0
        self._arriving: dict[_Body, None] = {}  # the oldest first

    async def read(self, body: _Body, most: int, receive: Receive) -> bytes:
        """The whole body; raises _Disconnected, or a Problem: too large, or no memory for it."""
        self._arriving[body] = None
        try:
            async with body.deadline:
                while not body.is_whole:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Disconnected
                    if body.is_cut:
                        raise _no_memory()
                    self._take(body, message.get("body", b""), most)
                    body.is_whole = not message.get("more_body", False)
        except TimeoutError:
            raise _no_memory() from None
        finally:
            self._arriving.pop(body, None)
        whole = b"".join(body.parts)
        body.parts.clear()
        return whole

    def release(self, body: _Body) -> None:
        """The request has ended."""
        if not body.is_cut:
            self._held -= body.counted
        body.parts.clear()

    def _take(self, body: _Body, part: bytes, most: int) -> None:
        if body.size + len(part) > most:
            raise _too_large(most)
        before = body.counted
        body.parts.append(part)
        body.size += len(part)
        self._held += body.counted - before
        while self._held > self._most and body.counted > before:
            oldest = next(one for one in self._arriving if one.counted)  # this one if there is no other
            del self._arriving[oldest]
            self._held -= oldest.counted
            oldest.cut()
            if oldest is body:
                raise _no_memory()


class BodyLimit:
    """ASGI middleware: 413 for a body of more than `most` bytes, 503 if there is no memory for it.

    `larger` sets other limits for path prefixes, in which `*` is anything; `streamed` the limits of paths such as
    `/files/*/parts/*`, whose routes read their bodies as streams.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        most: int = BODY_BYTES,
        larger: Mapping[str, int] | None = None,
        streamed: Mapping[str, int] | None = None,
        held_bytes: int = HELD_BYTES,
    ) -> None:
        self._app, self._most, self._larger = app, most, dict(larger or {})
        self._streamed = dict(streamed or {})
        self._memory = BodyMemory(held_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        receive = _Incoming(receive)
        for pattern, most in self._streamed.items():
            if scope["method"] == "PUT" and fnmatchcase(scope["path"], pattern):
                await self._stream(most, scope, receive, send)
                return
        body = _Body()
        try:
            whole = await self._read(body, scope, receive, send)
            if whole is not None:
                scope[_SCOPE_KEY] = whole
                await self._app(scope, _replay(whole, receive), send)
        finally:
            self._memory.release(body)

    async def _stream(self, most: int, scope: Scope, receive: "_Incoming", send: Send) -> None:
        if _content_length(scope) > most:
            await _refuse(_too_large(most), scope, receive, send)
        else:
            await self._app(scope, _limited(most, receive), send)

    async def _read(self, body: _Body, scope: Scope, receive: "_Incoming", send: Send) -> bytes | None:
        """The body; None if it was refused, or if its client disconnected."""
        try:
            return await self._read_up_to_limits(body, scope, receive)
        except Problem as refusal:
            await _refuse(refusal, scope, receive, send)
        except _Disconnected:
            pass
        return None

    async def _read_up_to_limits(self, body: _Body, scope: Scope, receive: Receive) -> bytes:
        most = self._most_for(scope["path"])
        if _content_length(scope) > most:
            raise _too_large(most)
        return await self._memory.read(body, most, receive)

    def _most_for(self, path: str) -> int:
        fitting = [prefix for prefix in self._larger if fnmatchcase(path, f"{prefix}*")]
        return self._larger[max(fitting, key=len)] if fitting else self._most


class _Incoming:
    """A receive function that knows whether all of the body has arrived."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self.has_ended = receive, False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.has_ended = self.has_ended or not message.get("more_body")
        return message


def _replay(whole: bytes, receive: Receive) -> Receive:
    """A receive function that returns the body as one message, then the connection's own messages."""
    messages: list[Message] = [{"type": "http.request", "body": whole, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def _limited(most: int, receive: Receive) -> Receive:
    """A receive function that raises when more bytes have arrived than are allowed."""
    left = most

    async def next_message() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise _too_large(most)
        return message

    return next_message


def _content_length(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


def _too_large(most: int) -> Problem:
    words = f"The body is too large: at most {most} bytes are read here."
    return Problem(413, "BODY_TOO_LARGE", words, headers={"Connection": "close"})


def _no_memory() -> Problem:
    words = "Too many large requests arrive at once. Try again in a few seconds."
    return Problem(503, "TOO_BUSY", words, headers={"Connection": "close", "Retry-After": "5"})


async def _refuse(refusal: Problem, scope: Scope, receive: _Incoming, send: Send) -> None:
    response = answer(refusal, scope)
    await send(
        {"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers}
    )
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    left = _DRAIN_BYTES
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            # What made the body too large may be the last of it: to wait for more is to wait until the client leaves.
            while left > 0 and not receive.has_ended:
                left -= len((await receive()).get("body", b""))
    except TimeoutError:
        pass  # the client is too slow: the connection ends here
    await send({"type": "http.response.body", "body": b"", "more_body": False})
