"""The targets: what we promise about speed, each with what was measured and whether it was met.

Must hold: a target that could not be measured is listed as such and counts neither way. Equal terms are
`relaxed` against dynalite on disk (both may lose the last moment when the power goes), memory against memory.
Elsewhere: measuring (speed.py, footprint.py, in_process.py), printing (report.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.peers import OURS
from benchmarks.speed import Speeds, Spot

EQUAL_TERMS = (("relaxed", "dynalite-disk"), ("memory", "dynalite-memory"))
LEAD = {"get": 3.0, "put": 3.0, "query": 6.0, "gsi-query": 6.0}  # at BUSY connections
BUSY = 16
START_UP, P99_OF_PUTS, IN_PROCESS, AT_A_MILLION = 0.3, 15.0, 2.0, 0.8


@dataclass(frozen=True, slots=True)
class Target:
    """One promise. `met` is None when it was not measured."""

    promise: str
    wanted: str
    measured: str
    met: bool | None


def at_least(promise: str, wanted: float, measured: float | None, note: str = "") -> Target:
    if measured is None:
        return Target(promise, f">= {wanted:g} x", "not measured", None)
    return Target(promise, f">= {wanted:g} x", f"{measured:.2f} x{note}", measured >= wanted)


def under(promise: str, wanted: float, unit: str, measured: float | None, note: str = "") -> Target:
    if measured is None:
        return Target(promise, f"< {wanted:g} {unit}", "not measured", None)
    return Target(promise, f"< {wanted:g} {unit}", f"{measured:.3g} {unit}{note}", measured < wanted)


def start_up_target(seconds: Mapping[str, float]) -> Target:
    ours = {name: seconds[name] for name in OURS if name in seconds}
    slowest = max(ours, key=lambda name: ours[name], default=None)
    note = f" ({slowest})" if slowest else ""
    return under("start-up", START_UP, "s", ours.get(slowest or ""), note)


def speed_targets(speeds: Speeds, workloads: Sequence[str], connections: Sequence[int]) -> list[Target]:
    targets: list[Target] = []
    for ours, theirs in EQUAL_TERMS:
        targets += [_ahead_everywhere(speeds, ours, theirs, workloads, many) for many in connections]
        for workload, lead in LEAD.items():
            promise = f"{workload} at {BUSY}: {ours} against {theirs}"
            targets.append(at_least(promise, lead, speeds.ratio(ours, theirs, workload, BUSY)))
    durable = speeds.ratio("durable", "dynalite-disk", "put", BUSY)
    targets.append(at_least(f"put at {BUSY}: durable against undurable dynalite-disk", 1.0, durable))
    return [*targets, *_put_latencies(speeds, connections)]


def _ahead_everywhere(
    speeds: Speeds, ours: str, theirs: str, workloads: Sequence[str], connections: int
) -> Target:
    ratios = {workload: speeds.ratio(ours, theirs, workload, connections) for workload in workloads}
    worst = _smallest(ratios.items())
    note = f" (worst: {worst[0]})" if worst else ""
    promise = f"every workload at {connections}: {ours} ahead of {theirs}"
    return at_least(promise, 1.0, worst[1] if worst else None, note)


def _put_latencies(speeds: Speeds, connections: Sequence[int]) -> list[Target]:
    """p99 of puts, one row for each of our modes: the slower of the connection counts."""
    rows: list[Target] = []
    for name in OURS:
        spots = [Spot(name, "put", many) for many in connections]
        seen = {spot.connections: speeds.figures[spot].p99 for spot in spots if spot in speeds.figures}
        worst = max(seen, key=lambda many: seen[many], default=0)
        note = f" (at {worst})" if worst else ""
        rows.append(under(f"p99 of puts: {name}", P99_OF_PUTS, "ms", seen.get(worst), note))
    return rows


def in_process_target(ratio: float | None) -> Target:
    return at_least(f"get inside the process against HTTP at {BUSY}", IN_PROCESS, ratio)


def million_target(speeds: Speeds, small: str, large: str, workloads: Sequence[str]) -> Target:
    worst = _smallest((workload, speeds.ratio(large, small, workload, BUSY)) for workload in workloads)
    note = f" (worst: {worst[0]})" if worst else ""
    return at_least(
        f"throughput at {large} items against {small}", AT_A_MILLION, worst[1] if worst else None, note
    )


def _smallest(ratios: Iterable[tuple[str, float | None]]) -> tuple[str, float] | None:
    known = [(name, ratio) for name, ratio in ratios if ratio is not None]
    return min(known, key=lambda pair: pair[1], default=None)
