"""The targets: what we promise about speed, each with what was measured and whether it was met.

Must hold: a target that could not be measured is listed as such and counts neither way. Equal terms are `relaxed`
against peers with files (two of the three may lose the last moment when the power goes), memory against memory.
Elsewhere: measuring (speed.py, footprint.py, in_process.py), printing (report.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.peers import OURS
from benchmarks.speed import Speeds, Spot

# The peers that each of our modes is compared with; the fastest counts. Of those on disk dynoxide syncs each write.
ON_DISK = ("dynalite-disk", "dynoxide-disk", "extenddb")
IN_MEMORY = ("dynalite-memory", "dynoxide-memory", "moto")
PEERS = {"relaxed": ON_DISK, "memory": IN_MEMORY, "durable": ON_DISK}
# At BUSY connections, against the fastest of the peers in that workload.
LEAD, QUERY_LEAD = 4.5, 10.0
DURABLE_LEADS = {"put": 2.0, "update": 3.0, "transaction": 3.0, "batch": 3.0}
BUSY = 16
START_UP, P99_OF_PUTS, IN_PROCESS, AT_MANY_ITEMS, AS_BEFORE = 0.25, 10.0, 2.0, 0.8, 0.95


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
    for ours in ("relaxed", "memory"):
        targets += [_ahead_everywhere(speeds, ours, workloads, many) for many in connections]
        for workload in workloads:
            lead = QUERY_LEAD if workload in ("query", "gsi-query") else LEAD
            targets.append(_ahead_of_the_best(speeds, ours, workload, lead))
    targets += [_ahead_of_the_best(speeds, "durable", name, lead) for name, lead in DURABLE_LEADS.items()]
    return [*targets, *_put_latencies(speeds, connections)]


def _ahead_of_the_best(speeds: Speeds, ours: str, workload: str, lead: float) -> Target:
    promise = f"{workload} at {BUSY}: {ours} against the best peer"
    best = speeds.fastest(PEERS[ours], workload, BUSY)
    if best is None:
        return at_least(promise, lead, None)
    return at_least(promise, lead, speeds.ratio(ours, best, workload, BUSY), f" ({best})")


def _ahead_everywhere(speeds: Speeds, ours: str, workloads: Sequence[str], connections: int) -> Target:
    ratios = (
        (f"{workload}, {theirs}", speeds.ratio(ours, theirs, workload, connections))
        for workload in workloads
        for theirs in PEERS[ours]
    )
    worst = _smallest(ratios)
    note = f" (worst: {worst[0]})" if worst else ""
    promise = f"every workload at {connections}: {ours} ahead of every peer"
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


def items_target(speeds: Speeds, small: str, large: str, workloads: Sequence[str]) -> Target:
    worst = _smallest((workload, speeds.ratio(large, small, workload, BUSY)) for workload in workloads)
    note = f" (worst: {worst[0]})" if worst else ""
    return at_least(
        f"throughput at {large} items against {small}", AT_MANY_ITEMS, worst[1] if worst else None, note
    )


def before_target(speeds: Speeds, now: str, before: str, workloads: Sequence[str]) -> Target:
    worst = _smallest((workload, speeds.ratio(now, before, workload, BUSY)) for workload in workloads)
    note = f" (worst: {worst[0]})" if worst else ""
    return at_least("every workload against the tree before", AS_BEFORE, worst[1] if worst else None, note)


def _smallest(ratios: Iterable[tuple[str, float | None]]) -> tuple[str, float] | None:
    known = [(name, ratio) for name, ratio in ratios if ratio is not None]
    return min(known, key=lambda pair: pair[1], default=None)
