"""How often a call is tried, and how long to wait in between: exponential backoff with full jitter.

Must hold: randomness comes from World, sleeping from `Retries.sleep`, or World where none are given, so that tests do
not wait.
Elsewhere: what is retried (`CallRefused.is_retryable` in call.py), lost connections and throttled calls over HTTP
(http.py), the unprocessed part of batches (batches.py), cancelled transactions (transactions.py).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tablewright.client.call import Call, CallRefused
from tablewright.world import World, real_world


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `attempts` tries; before the second up to `base` seconds, then doubling, never beyond `cap`."""

    attempts: int = 10
    base: float = 0.025
    cap: float = 20.0
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.base < 0 or self.cap < 0:
            raise ValueError(f"{self}: attempts must be at least 1, and pauses not negative")

    def pause(self, tried: int, chance: float) -> float:
        """Seconds to wait after `tried` tries; `chance` is from 0 to 1."""
        # The exponent is bounded because 2.0**1024 is an error, not a long time.
        return chance * min(self.cap, self.base * 2.0 ** min(tried - 1, 64))


ONCE = Retries(attempts=1)


def retrying(call: Call, *, world: World | None = None, retries: Retries | None = None) -> Call:
    """The same Call, which retries transient refusals. HttpCall does that already."""
    world = world or real_world()
    retries = retries or Retries(sleep=world.sleep)

    def with_retries(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        tried = 0
        while True:
            try:
                return call(verb, request)
            except CallRefused as refusal:
                tried += 1
                if tried >= retries.attempts or not refusal.is_retryable:
                    raise
            retries.sleep(retries.pause(tried, world.jitter()))

    return with_retries
