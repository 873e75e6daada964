"""What each pattern has cost so far: calls, requests, read units, write units, bytes of vector searches, by name.

A call is what a design's Load counts: one key of a get, one item of a write, one use of a query. A batch of twenty keys
is twenty calls in one request; a page from four shards is one call in four requests. Of several names together a call
is the whole batch or transaction.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tablewright.client import units_of

_SINGLE_READS = ("GetItem", "Query")


@dataclass(frozen=True, slots=True)
class Spent:
    """The sum over all calls of one name."""

    calls: int = 0
    read: float = 0.0
    write: float = 0.0
    requests: int = 0
    search_bytes: float = 0.0

    @property
    def read_per_call(self) -> float:
        return self.read / (self.calls or 1)

    @property
    def write_per_call(self) -> float:
        return self.write / (self.calls or 1)

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.calls + other.calls,
            self.read + other.read,
            self.write + other.write,
            self.requests + other.requests,
            self.search_bytes + other.search_bytes,
        )


class Meter:
    """Counts. Any number of threads may."""

    def __init__(self) -> None:
        # By name: calls, read units, write units, requests, bytes of searches.
        self._spent: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def count(self, name: str, verb: str, answer: Mapping[str, Any], calls: int = 1) -> float:
        """Note what an answer says it cost, and how many calls began with its request; the read units of it."""
        told = answer.get("ConsumedCapacity")
        read = write = searched = 0.0
        if verb in _SINGLE_READS:
            # Nearly every call; the general way costs as much as a fifth of the engine's answer.
            read = told["CapacityUnits"] if told else 0.0
        elif verb == "SearchVectors":
            # Charged by the byte: the only answer whose capacity has no units, and no table.
            searched = told.get("VectorSearchRequestBytes", 0.0) if told else 0.0
        else:
            units = units_of(verb, answer)
            read, write = sum(one.read for one in units), sum(one.write for one in units)
        with self._lock:
            sums = self._spent.get(name)
            if sums is None:
                self._spent[name] = [calls, read, write, 1, searched]
            else:
                sums[0] += calls
                sums[1] += read
                sums[2] += write
                sums[3] += 1
                sums[4] += searched
        return read

    def spent(self) -> dict[str, Spent]:
        """All names and what they cost, by name."""
        with self._lock:
            return {
                name: Spent(int(calls), read, write, int(requests), searched)
                for name, (calls, read, write, requests, searched) in sorted(self._spent.items())
            }
