"""How much and how often: bodies are cut off at a size, callers at a pace.

A bucket is one number: the moment it will be full again. A bucket that is full is the same as no bucket, so memory is
bounded by what is in use.
Must hold: a body is never read past its limit, whether or not it told its length; one caller cannot make the buckets
grow past `most`. The pace is this process's own: behind a balancer with n processes a caller has n times the pace.
"""

import asyncio
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.edge.identity.principal import ANYONE, Principal
from tablewright.edge.problems import Problem, answer, too_many

BODY_BYTES = 1024 * 1024
# A client that is still sending reads no answer. So much of the rest is read and dropped before we hang up.
_DRAIN_BYTES = 16 * 1024 * 1024
_DRAIN_SECONDS = 5.0


class BodyLimit:
    """ASGI middleware: 413 for a body of more than `most` bytes. `larger` gives path prefixes limits of their own."""

    def __init__(
        self, app: ASGIApp, *, most: int = BODY_BYTES, larger: Mapping[str, int] | None = None
    ) -> None:
        self._app, self._most, self._larger = app, most, dict(larger or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_for(scope["path"])
        if _told_length(scope) > most:
            await _too_large(most, scope, receive, send)
            return
        body = _Counted(most, receive)

        began = False

        async def send_unless_cut(message: Message) -> None:
            nonlocal began
            if not body.was_cut:
                began = True
                await send(message)

        await self._app(scope, body.receive, send_unless_cut)
        # Whatever the app made of the cut body was held back: it may have caught our exception.
        if body.was_cut and not began:
            await _too_large(most, scope, receive, send)

    def _most_for(self, path: str) -> int:
        fitting = [prefix for prefix in self._larger if path.startswith(prefix)]
        return self._larger[max(fitting, key=len)] if fitting else self._most


class _Counted:
    """The body, counted as it is read."""

    def __init__(self, most: int, receive: Receive) -> None:
        self._left, self._receive = most, receive
        self.was_cut = False

    async def receive(self) -> Message:
        if not self.was_cut:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
            if self._left >= 0:
                return message
            self.was_cut = True
        # This kind, because FastAPI lets only this kind out of its reading of a body, and its routes answer it.
        raise HTTPException(413)


def _told_length(scope: Scope) -> int:
    told = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(told[0]) if told and told[0].isdigit() else 0


async def _too_large(most: int, scope: Scope, receive: Receive, send: Send) -> None:
    words = f"The body is too large: at most {most} bytes are read here."
    refusal = answer(Problem(413, "BODY_TOO_LARGE", words, headers={"Connection": "close"}), scope)
    await send({"type": "http.response.start", "status": 413, "headers": refusal.raw_headers})
    await send({"type": "http.response.body", "body": refusal.body, "more_body": True})
    left = _DRAIN_BYTES
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body"):
                    break
    except TimeoutError:
        pass  # too slow to wait for: the connection ends here
    await send({"type": "http.response.body", "body": b"", "more_body": False})


@dataclass(frozen=True, slots=True)
class Pace:
    """`burst` calls at once, and then `per_minute`."""

    per_minute: float
    burst: int

    def __post_init__(self) -> None:
        if self.per_minute <= 0 or self.burst < 1:
            raise ValueError("a pace needs more than 0 calls per minute and a burst of at least 1")

    @property
    def interval(self) -> float:
        """Seconds in which one call comes back."""
        return 60 / self.per_minute


@dataclass(frozen=True, slots=True)
class Turn:
    """The answer of a bucket: go, or wait; and what is left."""

    granted: bool
    left: int
    wait_seconds: int  # until the next call when refused, until the bucket is full when granted


class Buckets:
    """The buckets of this process, by key; threads share them."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, most: int = 100_000) -> None:
        self._clock, self._most = clock, most
        self._full_at: OrderedDict[str, float] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._full_at)

    def take(self, key: str, pace: Pace) -> Turn:
        """Take one call out of the bucket of `key`, if there is one in it."""
        with self._lock:
            now = self._clock()
            if key in self._full_at:
                self._full_at.move_to_end(key)  # also when refused: who keeps trying is not forgotten
            full_at = max(self._full_at.get(key, now), now) + pace.interval
            # Rounded, or the n-th of n calls would fail on the last bit of a sum of n intervals.
            missing = round((full_at - now) / pace.interval, 6)
            if missing > pace.burst:
                wait = (missing - pace.burst) * pace.interval
                return Turn(False, 0, max(1, math.ceil(wait)))
            self._full_at[key] = full_at
            self._forget(now)
            return Turn(True, int(pace.burst - missing), math.ceil(full_at - now))

    def _forget(self, now: float) -> None:
        """Drop what is full at the old end; and past `most` whatever is oldest."""
        while self._full_at:
            oldest = next(iter(self._full_at.values()))
            if oldest > now and len(self._full_at) <= self._most:
                return
            self._full_at.popitem(last=False)


def caller_of(request: Request, who: Principal) -> str:
    """Whose bucket: the subject's when signed in, else the address's."""
    return f"subject {who.subject}" if who.is_known else f"address {network_of(request)}"


def network_of(request: Request) -> str:
    """The caller's address; of IPv6 the /64, which is what one customer has."""
    host = request.client.host if request.client else "unknown"
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(IPv6Address(int(address) >> 64 << 64))
    return str(address)


def _nobody() -> Principal:
    return ANYONE


def limited(
    buckets: Buckets,
    name: str,
    *,
    per_minute: float,
    burst: int,
    identity: Callable[..., Principal] = _nobody,
    key: Callable[[Request, Principal], str] = caller_of,
) -> Callable[..., None]:
    """A dependency that lets each caller through at a pace, else 429. Give it `principal(...)` to pace by subject."""
    pace = Pace(per_minute, burst)
    policy = f'"{name}";q={burst};w={math.ceil(burst * pace.interval)}'

    def in_turn(request: Request, response: Response, who: Annotated[Principal, Depends(identity)]) -> None:
        turn = buckets.take(f"{name} {key(request, who)}", pace)
        headers = {"RateLimit-Policy": policy, "RateLimit": f'"{name}";r={turn.left};t={turn.wait_seconds}'}
        if not turn.granted:
            refusal = too_many(turn.wait_seconds, f"Too many calls. Try again in {turn.wait_seconds} s.")
            refusal.headers.update(headers)
            raise refusal
        response.headers.update(headers)

    return in_turn
