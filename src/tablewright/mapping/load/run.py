"""A mix of calls at a rate, for some seconds, on some threads: how long each took, what failed, which units it used.

Each call is due at its own moment, whatever the calls before it took, and its time counts from then: a server that
falls behind is seen in the times, not in a smaller number of calls.
Must hold: every call that was due is counted once, as done, late or failed.
"""

import threading
import time
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil

from tablewright.client import CallRefused
from tablewright.mapping.load.mix import Operation
from tablewright.world import World, real_world

# Seconds after the end of a run until which a call still counts as held.
LATE = 1.0
Notify = Callable[["Snapshot"], None]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How a run is doing: seconds since its start, calls done and due, errors, and the times of the last second."""

    seconds: float
    done: int
    due: int
    errors: int
    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run: times of each kind of call in seconds, errors by kind of call and name, how many were due."""

    seconds: float
    due: int
    held: int
    times: Mapping[str, Sequence[float]]
    errors: Mapping[tuple[str, str], int]

    @property
    def all_times(self) -> list[float]:
        return [one for times in self.times.values() for one in times]

    @property
    def failed(self) -> int:
        return sum(self.errors.values())


@dataclass(slots=True)
class _Tally:
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    recent: list[float] = field(default_factory=list)
    next: int = 0
    done: int = 0
    held: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def run(
    mix: Sequence[Operation],
    times: float,
    seconds: float,
    workers: int,
    notify: Notify,
    stop: threading.Event,
    world: World | None = None,
) -> Outcome:
    """The calls of a mix, `times` as often as the design states; ends early if `stop` is set."""
    chance = (world or real_world()).jitter
    sums = list(accumulate(operation.a_second * times for operation in mix))
    rate = sums[-1]
    due = max(int(rate * seconds), 1)
    tally, began = _Tally(), time.perf_counter() + 0.05

    def work() -> None:
        while not stop.is_set():
            with tally.lock:
                number, tally.next = tally.next, tally.next + 1
            if number >= due or time.perf_counter() > began + seconds + LATE:
                return
            moment = began + number / rate
            if stop.wait(max(moment - time.perf_counter(), 0)):
                return
            _send(mix[bisect(sums, chance() * rate)], moment, began + seconds + LATE, tally)

    threads = [threading.Thread(target=work, name=f"load-{number}", daemon=True) for number in range(workers)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        stop.wait(1.0) if not stop.is_set() else time.sleep(0.05)
        notify(_snapshot(tally, time.perf_counter() - began, rate, due))
    for thread in threads:
        thread.join()
    took = min(max(time.perf_counter() - began, 0.001), seconds)
    if stop.is_set():
        due = min(due, max(int(rate * took), 1))  # of a run that was ended, what was due until then
    return Outcome(took, due, tally.held, dict(tally.times), dict(tally.errors))


def _send(operation: Operation, moment: float, end: float, tally: _Tally) -> None:
    error: str | None = None
    try:
        operation.send()
    except CallRefused as refusal:
        error = refusal.name
    except Exception as mistake:  # of any kind: the report names it, and the other calls go on
        error = type(mistake).__name__
    done = time.perf_counter()
    with tally.lock:
        tally.done += 1
        if error is not None:
            tally.errors[operation.name, error] += 1
            return
        tally.held += done <= end
        tally.times[operation.name].append(done - moment)
        tally.recent.append(done - moment)


def _snapshot(tally: _Tally, seconds: float, rate: float, due: int) -> Snapshot:
    with tally.lock:
        recent, tally.recent = tally.recent, []
        done, errors = tally.done, sum(tally.errors.values())
    asked = min(int(max(seconds, 0) * rate), due)
    return Snapshot(seconds, done, asked, errors, quantile(recent, 0.5), quantile(recent, 0.99))


def quantile(times: Sequence[float], share: float) -> float:
    """The time within which this share of the calls was done; 0 without calls."""
    return sorted(times)[min(ceil(share * len(times)), len(times)) - 1] if times else 0.0
