"""What was measured in this process: how devices answered, and how long it took from a cause to a rule (PC-X18).

A cause is what makes something to be blocked or free: a policy written, a session begun, a window's edge. Must hold:
what is measured names no child; what is kept is bounded. Elsewhere: who measures (firewall/devices.py, jobs.py), what
it is told with, from the tables (monitoring.py).
"""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

from tablewright.systems.parental.model import Cause

Answer: TypeAlias = Literal["done", "unavailable", "limited", "refused", "not asked"]
# Upper bounds in seconds; what is slower is in the last, endless one. 5 and 60 are what was promised (PC-40, PC-42).
BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Times:
    """How long something took, each time. `spread` counts by BOUNDS; `latest` are the last of them, for shares."""

    spread: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    sum: float = 0.0
    most: float = 0.0
    latest: tuple[float, ...] = ()

    @property
    def count(self) -> int:
        return sum(self.spread)

    def share(self, part: float) -> float | None:
        """What so large a part of the latest did not exceed: `share(0.95)`; None if there were none."""
        if not self.latest:
            return None
        ordered = sorted(self.latest)
        return ordered[max(ceil(part * len(ordered)) - 1, 0)]

    def and_one(self, seconds: float) -> "Times":
        spread = list(self.spread)
        spread[bisect_left(BOUNDS, seconds)] += 1
        latest = (*self.latest[1 - _REMEMBERED :], seconds)
        return Times(tuple(spread), self.sum + seconds, max(self.most, seconds), latest)

    def __add__(self, other: "Times") -> "Times":
        return Times(
            tuple(mine + theirs for mine, theirs in zip(self.spread, other.spread, strict=True)),
            self.sum + other.sum,
            max(self.most, other.most),
            (*self.latest, *other.latest),
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """All of it at one moment: calls by device and answer, their times by device, enforcement by device and cause."""

    calls: Mapping[tuple[str, Answer], int]
    call_times: Mapping[str, Times]
    enforced: Mapping[tuple[str, Cause], Times]

    def calls_of(self, device_id: str, *answers: Answer) -> int:
        """How often a device answered so; without answers, how often it was asked."""
        wanted: Sequence[Answer] = answers or ("done", "unavailable", "limited", "refused")
        return sum(self.calls.get((device_id, answer), 0) for answer in wanted)

    def enforced_on(self, device_id: str) -> Times:
        """From cause to rule on a device, whatever the cause."""
        return sum((times for (id, _), times in self.enforced.items() if id == device_id), Times())


class Meters:
    """What is measured as it happens; any thread may."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[tuple[str, Answer]] = Counter()
        self._call_times: defaultdict[str, Times] = defaultdict(Times)
        self._enforced: defaultdict[tuple[str, Cause], Times] = defaultdict(Times)

    def called(self, device_id: str, answer: Answer, seconds: float) -> None:
        """A device was asked something, or was not."""
        with self._lock:
            self._calls[device_id, answer] += 1
            if answer != "not asked":
                self._call_times[device_id] = self._call_times[device_id].and_one(seconds)

    def enforced(self, device_id: str, cause: Cause, seconds: float) -> None:
        """A change was enforced on a device, this long after its cause."""
        with self._lock:
            key = device_id, cause
            self._enforced[key] = self._enforced[key].and_one(max(seconds, 0.0))

    def measured(self) -> Measured:
        with self._lock:
            return Measured(dict(self._calls), dict(self._call_times), dict(self._enforced))
