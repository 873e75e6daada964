"""Rate limits: a token bucket for each caller.

A bucket is one number: the moment at which it will be full again. A bucket that is full is the same as no bucket, so
memory is bounded by what is in use.
Must hold: one caller cannot make the number of buckets grow past `most`. The limit is for one process: behind a load
balancer with n processes a caller has n times the limit.
Elsewhere: how large bodies may be (request_bodies.py), how many connections (connections.py).
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Response

from tablewright.edge.identity.principal import ANYONE, Principal
from tablewright.edge.networks import network_of_host
from tablewright.edge.problems import too_many


@dataclass(frozen=True, slots=True)
class RateLimit:
    """`burst` calls at once, then `per_minute`."""

    per_minute: float
    burst: int

    def __post_init__(self) -> None:
        if self.per_minute <= 0 or self.burst < 1:
            raise ValueError("a rate limit needs more than 0 calls per minute and a burst of at least 1")

    @property
    def interval(self) -> float:
        """Seconds until one call is available again."""
        return 60 / self.per_minute


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call is granted, and what is left of the bucket."""

    granted: bool
    left: int
    wait_seconds: int  # until the next call when refused, until the bucket is full when granted


class RateLimiter:
    """The buckets of this process, by key; threads share them."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, most: int = 100_000) -> None:
        self._clock, self._most = clock, most
        self._full_at: OrderedDict[str, float] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._full_at)

    def take(self, key: str, limit: RateLimit) -> Decision:
        """Take one call from the bucket of `key`, if it has one."""
        with self._lock:
            now = self._clock()
            if key in self._full_at:
                self._full_at.move_to_end(
                    key
                )  # also when refused: a caller that keeps trying keeps its bucket
            full_at = max(self._full_at.get(key, now), now) + limit.interval
            # Rounded, or the n-th of n calls would fail on the last bit of a sum of n intervals.
            missing = round((full_at - now) / limit.interval, 6)
            if missing > limit.burst:
                wait = (missing - limit.burst) * limit.interval
                return Decision(False, 0, max(1, math.ceil(wait)))
            self._full_at[key] = full_at
            self._evict(now)
            return Decision(True, int(limit.burst - missing), math.ceil(full_at - now))

    def look(self, key: str, limit: RateLimit) -> Decision:
        """What `take` would decide, without taking a call: for limits that count only some calls, such as failures."""
        with self._lock:
            now = self._clock()
            full_at = max(self._full_at.get(key, now), now)
        missing = round((full_at - now) / limit.interval, 6) + 1
        if missing > limit.burst:
            return Decision(False, 0, max(1, math.ceil((missing - limit.burst) * limit.interval)))
        return Decision(True, int(limit.burst - missing), math.ceil(full_at - now))

    def _evict(self, now: float) -> None:
        """Drop full buckets that were used least recently; past `most`, the least recently used in any case."""
        while self._full_at:
            oldest = next(iter(self._full_at.values()))
            if oldest > now and len(self._full_at) <= self._most:
                return
            self._full_at.popitem(last=False)


def rate_limit_key(request: Request, caller: Principal) -> str:
    """The caller's bucket: by subject when signed in, else by network."""
    return f"subject {caller.subject}" if caller.is_known else f"address {network_of(request)}"


def network_of(request: Request) -> str:
    """The caller's address; of IPv6 the /64, which is what one customer has."""
    return network_of_host(request.client.host if request.client else "unknown")


async def _anyone() -> Principal:
    return ANYONE


def limit_rate(
    limiter: RateLimiter,
    name: str,
    *,
    per_minute: float,
    burst: int,
    identity: Callable[..., Principal | Awaitable[Principal]] = _anyone,
    key: Callable[[Request, Principal], str] = rate_limit_key,
) -> Callable[..., Awaitable[None]]:
    """A dependency that answers 429 to a caller over the limit. With `identity=principal(...)` subjects are limited.

    `key` is called on the event loop: it must not wait for anything.
    """
    limit = RateLimit(per_minute, burst)
    policy = f'"{name}";q={burst};w={math.ceil(burst * limit.interval)}'

    async def check(
        request: Request, response: Response, caller: Annotated[Principal, Depends(identity)]
    ) -> None:
        decision = limiter.take(f"{name} {key(request, caller)}", limit)
        headers = {
            "RateLimit-Policy": policy,
            "RateLimit": f'"{name}";r={decision.left};t={decision.wait_seconds}',
        }
        if not decision.granted:
            refusal = too_many(
                decision.wait_seconds, f"Too many calls. Try again in {decision.wait_seconds} s."
            )
            refusal.headers.update(headers)
            raise refusal
        response.headers.update(headers)

    return check
