"""Our server against its peers (peers.py): one load generator, one interleaved run, a verdict on our targets.

    python benchmarks/engine.py                                  everything at 10 000 items (about 30 minutes)
    python benchmarks/engine.py --only put,get --rounds 1        a quick look
    python benchmarks/engine.py --parts= --items 10000000        how speed holds at ten million items
    python benchmarks/engine.py --parts= --before ../old/src     this tree against another one

Results go to stdout, progress to stderr. Exit code 0: every measured target met; 1: one was not; 2: it cannot run.
Figures depend on the machine, so no test asserts them.
Elsewhere: requests (workloads.py), servers (peers.py), rounds (speed.py), targets (verdict.py).
"""

import argparse
import contextlib
import dataclasses
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

# Run as a file or with -m: the package must be found either way.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import report, verdict
from benchmarks.footprint import memory_held, start_up_seconds
from benchmarks.load import CannotMeasure, Generator, build_generator
from benchmarks.machine import look_at_machine
from benchmarks.peers import CONTENDERS, find_contenders, ours_of_tree
from benchmarks.runner import Part, argument_parser, names_from, print_progress
from benchmarks.servers import (
    Contender,
    Running,
    create_table,
    load_items,
    load_vectors,
    read_through,
    running,
    settle,
)
from benchmarks.speed import Speeds, Spot, Subject, measure
from benchmarks.verdict import BUSY
from benchmarks.workloads import SMALL, WORKLOADS

PARTS = ("start", "speed", "in-process", "memory")
INSIDE = ("get", "put", "query")  # what is also measured inside the process
HELD = 100_000  # items of the memory part
# How long loading may take: at least this long, and for many items by this rate.
LOAD_SECONDS, LOADED_A_SECOND = 900.0, 1_000


@dataclasses.dataclass(frozen=True, slots=True)
class Bench:
    """One run: what was asked for, and where it happens."""

    generator: Generator
    contenders: Sequence[Contender]
    directory: Path
    workloads: Sequence[str]
    connections: Sequence[int]
    rounds: int
    seconds: float
    items: int
    before: Path | None


def start_part(bench: Bench) -> Part:
    seconds = start_up_seconds(bench.contenders, bench.directory, print_progress)
    return Part("start", report.start_table(seconds), seconds, [verdict.start_up_target(seconds)])


def speed_part(bench: Bench) -> Part:
    speeds = _measured(bench, [(contender, SMALL) for contender in bench.contenders], bench.connections)
    text = report.speed_table(speeds) + "\n" + report.ratio_table(speeds, bench.workloads, bench.connections)
    targets = verdict.speed_targets(speeds, bench.workloads, bench.connections)
    return Part("speed", text, report.speeds_as_json(speeds), targets)


def items_part(bench: Bench) -> Part:
    """The same server with 10 000 items and with many more."""
    small, large = (dataclasses.replace(CONTENDERS["relaxed"](), name=f"{n}") for n in (SMALL, bench.items))
    speeds = _measured(bench, [(small, SMALL), (large, bench.items)], [BUSY], prepare=read_through)
    text = report.items_table(speeds, small.name, large.name, bench.workloads, BUSY)
    target = verdict.items_target(speeds, small.name, large.name, bench.workloads)
    return Part("items", text, report.speeds_as_json(speeds), [target])


def before_part(bench: Bench) -> Part:
    """This tree against another one, by rate and by processor time."""
    assert bench.before is not None
    now, before = CONTENDERS["relaxed"](), ours_of_tree(bench.before)
    speeds = _measured(bench, [(now, SMALL), (before, SMALL)], [BUSY])
    text = report.before_table(speeds, now.name, before.name, bench.workloads, BUSY)
    targets = [verdict.before_target(speeds, now.name, before.name, bench.workloads)]
    return Part("before", text, report.speeds_as_json(speeds), targets)


def _measured(
    bench: Bench,
    who: Sequence[tuple[Contender, int]],
    connections: Sequence[int],
    prepare: Callable[[Running], None] = settle,
) -> Speeds:
    with contextlib.ExitStack() as stack:
        subjects = []
        for contender, items in who:
            try:
                server = stack.enter_context(running(contender, bench.directory))
                create_table(server)
                print_progress(f"loading {items} items into {contender.name}")
                load_items(bench.generator, server, items, limit=max(LOAD_SECONDS, items / LOADED_A_SECOND))
                if "search" in bench.workloads:
                    _load_vectors(bench.generator, server)
                prepare(server)
                settle(server)
                subjects.append(Subject(server, items))
            except CannotMeasure as reason:
                print_progress(f"left out: {reason}")
        if not subjects:
            raise CannotMeasure("none of the servers could be started")
        return measure(
            bench.generator,
            subjects,
            bench.workloads,
            connections,
            bench.rounds,
            bench.seconds,
            print_progress,
        )


def _load_vectors(generator: Generator, server: Running) -> None:
    """A server without vector indexes refuses their table here, and the search later, which leaves it out."""
    try:
        load_vectors(generator, server)
    except CannotMeasure as reason:
        print_progress(str(reason))


def memory_part(bench: Bench) -> Part:
    held = memory_held(bench.generator, bench.contenders, HELD, bench.directory, print_progress)
    found = {name: dataclasses.asdict(each) for name, each in held.items()}
    return Part("memory", report.memory_table(held), found, [])


def in_process_part(bench: Bench) -> Part:
    """GetItem and two others through Engine.call, turn by turn with the same over HTTP."""
    from benchmarks.in_process import InProcess  # here, so that peers can be measured without our engine

    workloads = [name for name in INSIDE if name in bench.workloads]
    inside: dict[str, list[float]] = {name: [] for name in workloads}
    over_http: dict[str, list[float]] = {name: [] for name in workloads}
    with (
        running(CONTENDERS["relaxed"](), bench.directory) as server,
        InProcess(bench.directory / "inside", "relaxed") as engine,
    ):
        create_table(server)
        load_items(bench.generator, server, SMALL)
        for _ in range(bench.rounds):
            for name in workloads:
                inside[name].append(engine.rate(name, bench.seconds))
                one = measure(
                    bench.generator,
                    [Subject(server, SMALL)],
                    [name],
                    [BUSY],
                    1,
                    bench.seconds,
                    print_progress,
                )
                over_http[name].append(one.figures[Spot("relaxed", name, BUSY)].per_second)
                print_progress(f"in process  {name:<12}{inside[name][-1]:>9.0f}/s")
    calls, answers = (
        {k: statistics.median(v) for k, v in rates.items() if v} for rates in (inside, over_http)
    )
    ratio = calls["get"] / answers["get"] if "get" in calls else None
    text = report.in_process_table(calls, answers)
    found = {"in_process": calls, "over_http": answers}
    return Part("in-process", text, found, [verdict.in_process_target(ratio)])


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argument_parser("benchmarks/engine.py", __doc__, list(PARTS))
    servers, workloads = list(CONTENDERS), list(WORKLOADS)
    parser.add_argument("--only", type=names_from(workloads), default=workloads, help=",".join(workloads))
    parser.add_argument("--servers", type=names_from(servers), default=servers, help=",".join(servers))
    parser.add_argument("--connections", default="1,16", help="default 1,16; the targets are for 16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run; default 2")
    parser.add_argument(
        "--items", type=int, help="also a table of so many against one of 10 000 (1000000 takes minutes)"
    )
    parser.add_argument(
        "--before",
        type=Path,
        metavar="SRC",
        help="also against the server of another tree: its src directory",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    asked = read_arguments(arguments)
    chosen = {"start": start_part, "speed": speed_part, "in-process": in_process_part, "memory": memory_part}
    parts = [chosen[name] for name in asked.parts]
    parts += ([items_part] if asked.items else []) + ([before_part] if asked.before else [])
    found, left_out = find_contenders(asked.servers)
    for name, reason in left_out.items():
        print_progress(f"left out: {name}: {reason}")
    done: list[Part] = []
    with tempfile.TemporaryDirectory(prefix="tablewright-benchmark-", dir=asked.directory) as home:
        try:
            bench = Bench(
                generator=build_generator(Path(home)),
                contenders=found,
                directory=Path(home),
                workloads=asked.only,
                connections=[int(many) for many in asked.connections.split(",")],
                rounds=asked.rounds,
                seconds=asked.seconds,
                items=asked.items or SMALL,
                before=asked.before,
            )
        except CannotMeasure as reason:
            print(reason, file=sys.stderr)
            return 2
        machine = look_at_machine(Path(home))
        print(machine.sentence() + "\n")
        for part in parts:
            try:
                done.append(part(bench))
                print(done[-1].text, flush=True)
            except CannotMeasure as reason:
                print_progress(f"left out: {reason}")
    targets = [target for part in done for target in part.targets]
    print(report.verdict_table(targets))
    if asked.json:
        everything = {
            "machine": dataclasses.asdict(machine),
            "settings": {"rounds": asked.rounds, "seconds": asked.seconds, "left_out": left_out},
            **{part.name: part.found for part in done},
            "verdict": [dataclasses.asdict(target) for target in targets],
        }
        asked.json.write_text(json.dumps(everything, indent=1) + "\n")
    return 1 if any(target.met is False for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
