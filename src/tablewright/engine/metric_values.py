"""What is known of many values of one figure: how many, their sum, the least, the most, and how they spread.

A time is also counted in the bucket it falls into; from the buckets come p50 and p99, right to within a bucket (a
fifth of the value). Must hold: adding two tallies gives what adding their values one by one would have given.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import orjson

_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
# Upper bounds of the buckets: from a microsecond to 800 seconds, in milliseconds, ten to a decade.
BOUNDS: tuple[float, ...] = tuple(
    float(f"{step}e{power}") for power in range(-3, 6) for step in _STEPS if step * 10.0**power <= 800_000
)


@dataclass(slots=True)
class Tally:
    """Many values of one figure. `spread` counts them by bucket, for times only."""

    samples: float = 0
    sum: float = 0.0
    least: float = float("inf")
    most: float = float("-inf")
    spread: dict[int, int] = field(default_factory=dict)

    def add(self, value: float, times: int = 1) -> None:
        self.samples += times
        self.sum += value * times
        if value < self.least:
            self.least = value
        if value > self.most:
            self.most = value

    def add_all(self, values: Sequence[float]) -> None:
        self.samples += len(values)
        self.sum += sum(values)
        self.least = min(self.least, *values)
        self.most = max(self.most, *values)

    def add_time(self, value: float, times: int = 1) -> None:
        self.add(value, times)
        bucket = bisect_left(BOUNDS, value)
        self.spread[bucket] = self.spread.get(bucket, 0) + times

    def merge(self, other: "Tally") -> None:
        self.samples += other.samples
        self.sum += other.sum
        self.least = min(self.least, other.least)
        self.most = max(self.most, other.most)
        for bucket, times in other.spread.items():
            self.spread[bucket] = self.spread.get(bucket, 0) + times

    @property
    def mean(self) -> float:
        return self.sum / self.samples if self.samples else 0.0

    def quantile(self, share: float) -> float | None:
        """The value that `share` of all values do not exceed; None if the values' spread was not kept."""
        total = sum(self.spread.values())
        if not total:
            return None
        wanted, passed = share * total, 0
        for bucket in sorted(self.spread):
            times = self.spread[bucket]
            if passed + times >= wanted:
                low = BOUNDS[bucket - 1] if bucket else 0.0
                high = BOUNDS[bucket] if bucket < len(BOUNDS) else self.most
                guess = low + (high - low) * (wanted - passed) / times
                return min(max(guess, self.least), self.most)
            passed += times
        return self.most


def merged(tallies: Iterable[Tally]) -> Tally:
    whole = Tally()
    for tally in tallies:
        whole.merge(tally)
    return whole


def spread_to_bytes(spread: dict[int, int]) -> bytes | None:
    return orjson.dumps(sorted(spread.items())) if spread else None


def spread_from_bytes(raw: bytes | None) -> dict[int, int]:
    return dict(orjson.loads(raw)) if raw else {}
