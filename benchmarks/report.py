"""What is printed: plain tables, and the same as JSON.

Pure: figures in, text out. Elsewhere: which targets there are (verdict.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from benchmarks.footprint import Held
from benchmarks.peers import CONTENDERS
from benchmarks.speed import Speeds, Spot
from benchmarks.verdict import PEERS, Target
from benchmarks.workloads import WORKLOADS

Row = Sequence[str]


def table(title: str, head: Row, rows: Sequence[Row], words: int = 1) -> str:
    """The first `words` columns are text and go left, the others are figures and go right."""
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    ruler = ["-" * width for width in widths]

    def line(row: Row) -> str:
        cells = enumerate(zip(row, widths, strict=True))
        return "  ".join(
            cell.ljust(wide) if n < words else cell.rjust(wide) for n, (cell, wide) in cells
        ).rstrip()

    return "\n".join([title, *map(line, [head, ruler, *rows]), ""])


def speed_table(speeds: Speeds) -> str:
    spots = sorted(speeds.figures, key=_place)
    rows = [
        [
            f"{spot.workload} x{spot.connections}",
            spot.server,
            f"{figure.per_second:.0f}" if figure.per_second >= 10 else f"{figure.per_second:.2f}",
            f"{figure.slowest_round:.0f}..{figure.fastest_round:.0f}",
            f"{figure.p50:.2f}",
            f"{figure.p99:.2f}",
            f"{figure.cpu:.0f}",
        ]
        for spot, figure in ((spot, speeds.figures[spot]) for spot in spots)
    ]
    head = ["workload x connections", "server", "ops/s", "rounds", "p50 ms", "p99 ms", "cpu us/op"]
    text = table("Speed over HTTP (medians of the rounds)", head, rows, words=2)
    problems = [
        f"{server} has no figure for {workload}: {why}" for (server, workload), why in speeds.problems.items()
    ]
    return text + "".join(f"{line}\n" for line in problems)


def _place(spot: Spot) -> tuple[int, int, int]:
    return spot.connections, list(WORKLOADS).index(spot.workload), _server_place(spot.server)


def _server_place(name: str) -> int:
    return list(CONTENDERS).index(name) if name in CONTENDERS else len(CONTENDERS)


def ratio_table(speeds: Speeds, workloads: Sequence[str], connections: Sequence[int]) -> str:
    rows = [
        [f"{workload} x{many}", *(_lead(speeds, ours, workload, many) for ours in PEERS)]
        for many in connections
        for workload in workloads
    ]
    head = ["workload x connections", *(f"{ours} / its best peer" for ours in PEERS)]
    return table("Ratios", head, rows)


def _lead(speeds: Speeds, ours: str, workload: str, connections: int) -> str:
    best = speeds.fastest(PEERS[ours], workload, connections)
    return "-" if best is None else f"{_times(speeds.ratio(ours, best, workload, connections))} ({best})"


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}"


def start_table(seconds: Mapping[str, float]) -> str:
    rows = [[name, f"{taken:.3f}"] for name, taken in seconds.items()]
    return table("Start-up (exec to first answer, median)", ["server", "seconds"], rows)


def memory_table(held: Mapping[str, Held]) -> str:
    rows = [
        [
            name,
            str(each.items),
            f"{each.empty:.0f}",
            f"{each.full:.0f}",
            f"{each.items / each.seconds if each.seconds else 0:.0f}",
        ]
        for name, each in held.items()
    ]
    return table("Memory", ["server", "items", "MB empty", "MB full", "items/s loaded"], rows)


def in_process_table(inside: Mapping[str, float], over_http: Mapping[str, float]) -> str:
    rows = [
        [name, f"{rate:.0f}", f"{over_http[name]:.0f}", _times(rate / over_http[name])]
        for name, rate in inside.items()
        if over_http.get(name)
    ]
    head = ["workload (relaxed)", "calls/s in process", "HTTP x16", "ratio"]
    return table("In the process against over HTTP", head, rows)


def items_table(speeds: Speeds, small: str, large: str, workloads: Sequence[str], connections: int) -> str:
    rows = [
        [
            workload,
            f"{speeds.rate(small, workload, connections) or 0:.0f}",
            f"{speeds.rate(large, workload, connections) or 0:.0f}",
            _times(speeds.ratio(large, small, workload, connections)),
        ]
        for workload in workloads
    ]
    return table(f"Size (relaxed, {connections} connections)", ["workload", small, large, "ratio"], rows)


def before_table(speeds: Speeds, now: str, before: str, workloads: Sequence[str], connections: int) -> str:
    rows = [
        [
            workload,
            f"{speeds.rate(before, workload, connections) or 0:.0f}",
            f"{speeds.rate(now, workload, connections) or 0:.0f}",
            _times(speeds.ratio(now, before, workload, connections)),
            *(f"{figures[name].cpu:.0f}" if name in figures else "-" for name in (before, now)),
        ]
        for workload in workloads
        for figures in [{s.server: f for s, f in speeds.figures.items() if s.workload == workload}]
    ]
    head = ["workload", "before ops/s", "now ops/s", "ratio", "before cpu us/op", "now cpu us/op"]
    return table(f"Before and now (relaxed, {connections} connections)", head, rows)


def verdict_table(targets: Sequence[Target]) -> str:
    words = {True: "met", False: "NOT MET", None: "-"}
    rows = [[each.promise, each.wanted, each.measured, words[each.met]] for each in targets]
    return table("Verdict", ["target", "wanted", "measured", ""], rows)


def speeds_as_json(speeds: Speeds) -> dict[str, object]:
    return {
        "figures": [{**asdict(spot), **asdict(figure)} for spot, figure in speeds.figures.items()],
        "problems": [
            {"server": server, "workload": workload, "why": why}
            for (server, workload), why in speeds.problems.items()
        ],
    }
