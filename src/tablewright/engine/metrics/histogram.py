"""The values of a metric in one minute: their number, sum, least and most; for times also counts by bucket.

p50 and p99 are computed from the buckets and are exact to within a bucket (a fifth of the value).
Must hold: merging two histograms gives the same as adding their values one by one.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
# Upper bounds of the buckets: from a microsecond to 800 seconds, in milliseconds, ten to a decade.
BOUNDS: tuple[float, ...] = tuple(
    float(f"{step}e{power}") for power in range(-3, 6) for step in _STEPS if step * 10.0**power <= 800_000
)


@dataclass(slots=True)
class Histogram:
    """Many values of one metric. `spread` counts them by bucket, for times only."""

    samples: float = 0.0
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
        self.sum += sum(values, 0.0)
        self.least = min(self.least, *values)
        self.most = max(self.most, *values)

    def add_time(self, value: float, times: int = 1) -> None:
        self.add(value, times)
        bucket = bisect_left(BOUNDS, value)
        self.spread[bucket] = self.spread.get(bucket, 0) + times

    def copy(self) -> "Histogram":
        return replace(self, spread=dict(self.spread))

    def merge(self, other: "Histogram") -> None:
        self.samples += other.samples
        self.sum += other.sum
        self.least = min(self.least, other.least)
        self.most = max(self.most, other.most)
        for bucket, times in other.spread.items():
            self.spread[bucket] = self.spread.get(bucket, 0) + times

    def quantile(self, share: float) -> float | None:
        """The value that `share` of all values do not exceed; None if there are no buckets."""
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
