"""Interleaved rounds: every workload against every server in turn, several times over, and the medians.

Must hold: all servers of one comparison are alive in the same minutes on the same machine, each is measured
alone (the one before has settled), and the order turns by one in every round: a slow minute hurts all alike.
A server that answers a workload with an error has no figure for it, however fast the errors come.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.load import Generator, Run, drive
from benchmarks.servers import Running, cpu_seconds, settle
from benchmarks.templates import filled
from benchmarks.workloads import FRESH, RUN, SMALLEST, WORKLOADS, proves

WARM_UP = 0.3
# Seconds for one call: a slower workload is told by that call alone, sixteen at once would take minutes.
TOO_SLOW = 0.5
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Subject:
    """A server with its table filled with `items` orders."""

    server: Running
    items: int


@dataclass(frozen=True, slots=True)
class Spot:
    """What was measured."""

    server: str
    workload: str
    connections: int


@dataclass(frozen=True, slots=True)
class Figure:
    """Medians over the rounds; times in milliseconds, processor time per request in microseconds."""

    per_second: float
    slowest_round: float
    fastest_round: float
    p50: float
    p99: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Speeds:
    """All figures of one comparison; `problems` says why a server has none for a workload."""

    figures: dict[Spot, Figure] = field(default_factory=dict)
    problems: dict[tuple[str, str], str] = field(default_factory=dict)

    def rate(self, server: str, workload: str, connections: int) -> float | None:
        figure = self.figures.get(Spot(server, workload, connections))
        return figure.per_second if figure else None

    def fastest(self, servers: Sequence[str], workload: str, connections: int) -> str | None:
        """The one of these servers with the highest rate; None if none has a figure."""
        rates = {name: rate for name in servers if (rate := self.rate(name, workload, connections))}
        return max(rates, key=lambda name: rates[name], default=None)

    def ratio(self, ours: str, theirs: str, workload: str, connections: int) -> float | None:
        above, below = self.rate(ours, workload, connections), self.rate(theirs, workload, connections)
        return above / below if above and below else None


def measure(
    generator: Generator,
    subjects: Sequence[Subject],
    workloads: Sequence[str],
    connections: Sequence[int],
    rounds: int,
    seconds: float,
    progress: Progress,
) -> Speeds:
    speeds = Speeds()
    for subject in subjects:
        for workload in workloads:
            _try_once(subject, workload, connections, speeds, progress)
    seen: dict[Spot, list[tuple[Run, float]]] = {}
    runs = 0
    for number in range(rounds):
        for workload in workloads:
            for many in connections:
                runs += 1
                for subject in _rotate(subjects, number):
                    spot = Spot(subject.server.name, workload, many)
                    if (spot.server, workload) in speeds.problems or spot in speeds.figures:
                        continue
                    run, cpu = _one_run(generator, subject, spot, FRESH + runs * RUN, seconds)
                    progress(f"round {number + 1}/{rounds}  {_describe(spot, run)}")
                    if run.failures or run.smallest < SMALLEST.get(workload, 0):
                        why = run.first_failure or f"an answer of only {run.smallest} bytes"
                        speeds.problems[spot.server, workload] = why
                    seen.setdefault(spot, []).append((run, cpu))
    for spot, results in seen.items():
        if (spot.server, spot.workload) not in speeds.problems:
            speeds.figures[spot] = _medians(results)
    return speeds


def _rotate(subjects: Sequence[Subject], by: int) -> list[Subject]:
    start = by % len(subjects)
    return [*subjects[start:], *subjects[:start]]


def _try_once(
    subject: Subject, workload: str, connections: Sequence[int], speeds: Speeds, progress: Progress
) -> None:
    """One call before any load: a wrong answer or a very slow one settles the matter."""
    server = subject.server
    template = WORKLOADS[workload](subject.items)
    body = filled(template, FRESH + list(WORKLOADS).index(workload) * 100)
    began = time.monotonic()
    try:
        status, answer = server.call(template.verb, body)
    except OSError as error:
        speeds.problems[server.name, workload] = f"no answer: {error}"
        return
    took = time.monotonic() - began
    if status != 200 or not proves(workload, answer):
        speeds.problems[server.name, workload] = str(answer)[:300]
        progress(f"{server.name} {workload}: left out, it answers {str(answer)[:100]}")
    elif took > TOO_SLOW:
        rate = 1 / took
        figure = Figure(rate, rate, rate, took * 1000, took * 1000, took * 1e6)
        speeds.figures.update({Spot(server.name, workload, many): figure for many in connections})
        progress(f"{server.name} {workload}: one call takes {took:.1f} s, not put under load")


def _one_run(
    generator: Generator, subject: Subject, spot: Spot, first_serial: int, seconds: float
) -> tuple[Run, float]:
    before = cpu_seconds(subject.server.pid)
    run = drive(
        generator,
        subject.server.port,
        WORKLOADS[spot.workload](subject.items),
        first_serial=first_serial,
        connections=spot.connections,
        seconds=seconds,
        warm_up=WARM_UP,
        keys=subject.server.keys,
    )
    settle(subject.server)
    return run, (cpu_seconds(subject.server.pid) - before) / max(1, run.issued) * 1e6


def _describe(spot: Spot, run: Run) -> str:
    rest = f"FAILED: {run.first_failure[:80]}" if run.failures else f"p99 {run.p99:.2f} ms"
    return f"{spot.workload:<12}{spot.connections:>3} conn  {spot.server:<16}{run.per_second:>9.0f}/s  {rest}"


def _medians(results: Sequence[tuple[Run, float]]) -> Figure:
    rates = [run.per_second for run, _ in results]
    return Figure(
        per_second=statistics.median(rates),
        slowest_round=min(rates),
        fastest_round=max(rates),
        p50=statistics.median(run.p50 for run, _ in results),
        p99=statistics.median(run.p99 for run, _ in results),
        cpu=statistics.median(cpu for _, cpu in results),
    )
