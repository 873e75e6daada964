"""A limit on the write units per second that a Call consumes, shared by all threads that use it.

A token bucket that may run into debt: a write is sent when the balance is positive, and what the service says it
consumed is subtracted afterwards. So the average holds whatever the items weigh, and no write is refused for its size.
Must hold: only writes wait; over any time the units consumed exceed the limit by one second's worth and the writes
under way at most.
Elsewhere: waiting after the service itself refused (retries.py).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from tablewright.client.call import Call
from tablewright.client.consumed_capacity import units_of
from tablewright.values import admit_item

_UNIT = 1024


@dataclass(slots=True)
class WriteBudget:
    """Write units that may be consumed: `rate` a second, at most one second's worth saved up."""

    rate: float
    steady: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _balance: float = 0.0
    _at: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        if self.rate <= 0:
            raise ValueError(f"the rate must be a positive number of write units per second, got {self.rate}")
        self._balance, self._at = self.rate, self.steady()

    def wait(self) -> None:
        """Return when the balance is positive."""
        while (seconds := self._debt_seconds()) > 0:
            self.sleep(seconds)

    def charge(self, units: float) -> None:
        with self._lock:
            self._refill()
            self._balance -= units

    def _debt_seconds(self) -> float:
        with self._lock:
            self._refill()
            # A millisecond more, so that rounding does not make the last wait endless.
            return 0.0 if self._balance > 0 else -self._balance / self.rate + 0.001

    def _refill(self) -> None:
        now = self.steady()
        self._balance = min(self.rate, self._balance + (now - self._at) * self.rate)
        self._at = now


def limited(call: Call, budget: WriteBudget) -> Call:
    """The same Call, whose BatchWriteItem requests keep to the budget."""

    def with_limit(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb != "BatchWriteItem":
            return call(verb, request)
        budget.wait()
        answer = call(verb, {**request, "ReturnConsumedCapacity": "TOTAL"})
        reported = units_of(verb, answer)
        # An endpoint that reports nothing is charged by the size of the items, without their indexes.
        units = sum(one.write for one in reported) if reported else _estimate(request)
        budget.charge(units)
        return answer

    return with_limit


def _estimate(request: Mapping[str, Any]) -> float:
    writes = [write for some in request["RequestItems"].values() for write in some]
    puts = [write["PutRequest"]["Item"] for write in writes if "PutRequest" in write]
    units = sum(-(-admit_item(dict(item))[1] // _UNIT) for item in puts)
    return float(units + len(writes) - len(puts))
