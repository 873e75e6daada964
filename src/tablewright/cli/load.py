"""`tablewright load SYSTEM`: run the load that a design states against tables of its own, and report what it took.

The exit code is 1 if calls failed or less than 99 % of them were held.
Elsewhere: the mix (mapping/load/mix.py), the run (mapping/load/run.py).
"""

import argparse
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

from tablewright.cli.argument_types import positive_seconds, whole_number
from tablewright.cli.designs import FORMS, load_designs
from tablewright.cli.format import as_table, count
from tablewright.cli.output import UsageError, print_message, print_result
from tablewright.cli.target import add_target_options, open_target
from tablewright.client import Call, CallRefused, embedded
from tablewright.design import Design, Environment
from tablewright.design.cost import usual_environment
from tablewright.design.cost.format import money
from tablewright.design.errors import DesignMistake
from tablewright.design.prices import PRICES
from tablewright.engine import Engine
from tablewright.mapping import Db
from tablewright.mapping.load.mix import Operation, operations, prepare
from tablewright.mapping.load.run import Outcome, Snapshot, quantile
from tablewright.mapping.load.run import run as run_load
from tablewright.mapping.meter import Spent
from tablewright.mapping.receipts import TABLE as RECEIPTS
from tablewright.world import real_world

EXAMPLES = """The run has tables of its own (load-ID-...), which it fills with samples and deletes at the end; no other
table is touched. Without --data or --endpoint they are in memory, in this process. Times count from the moment a call
was due.

tablewright load travel --scale 100 --seconds 30
tablewright load portal --scale 1000 --endpoint http://127.0.0.1:8000 --json"""
ERRORS = (DesignMistake,)
HELD = 0.99
_SECONDS_A_MONTH = 30 * 86_400


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument(
        "--scale",
        type=whole_number("a whole number from 1 to 1000000", 1, 1_000_000),
        default=1,
        metavar="N",
        help="load multiplier (default: 1)",
    )
    parser.add_argument(
        "--seconds", type=positive_seconds, default=30.0, help="how long it runs (default: %(default)s)"
    )
    parser.add_argument(
        "--workers",
        type=whole_number("a whole number from 1 to 256", 1, 256),
        default=16,
        metavar="N",
        help="calls at once (default: %(default)s)",
    )
    add_target_options(parser, json="print the report as JSON")


def run(given: argparse.Namespace) -> int:
    designs = load_designs(given.system)
    with _call(given) as call, _tables(call, designs) as db:
        mix = operations(db, designs)
        if not mix:
            raise UsageError(f"{given.system} states no load; add Load(...) to its patterns and entities")
        prepare(db, designs, lambda done, total: _talk(f"samples of {done} of {total} entities"))
        before = db.meter.spent()
        outcome = _run(given, mix)
        spent = {name: _less(used, before.get(name, Spent())) for name, used in db.meter.spent().items()}
    report = _report(given, designs, mix, outcome, spent)
    print_result(given, report, _text(report))
    return 0 if not outcome.failed and outcome.held >= HELD * outcome.due else 1


@contextmanager
def _call(given: argparse.Namespace) -> Iterator[Call]:
    if given.data is None and given.endpoint is None and not given.region and not given.profile:
        with Engine.open(":memory:") as engine:
            yield embedded(engine)
    else:
        with open_target(given) as target:
            yield target.call


@contextmanager
def _tables(call: Call, designs: Sequence[Design]) -> Iterator[Db]:
    """A Db over tables that exist for this run only."""
    name = f"load-{real_world().new_id()[:8].lower()}-{{table}}"
    db = Db(
        call, *designs, environment=Environment("load", usual_environment(designs[0]).region, table_name=name)
    )
    try:
        db.create_tables(lambda table: _talk(f"table {table}"))
        yield db
    finally:
        for table in [*(table for design in designs for table in design.tables), RECEIPTS.name]:
            with suppress(CallRefused):
                call("DeleteTable", {"TableName": db.physical(table)})


def _run(given: argparse.Namespace, mix: Sequence[Operation]) -> Outcome:
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_load, mix, given.scale, given.seconds, given.workers, _show, stop)
        try:
            running.result()
        except KeyboardInterrupt:
            print_message("\ntablewright: stopped; the report is of what was done")
            stop.set()
        outcome = running.result()
    _end()
    return outcome


# --- the live view ---


def _show(now: Snapshot) -> None:
    _talk(
        f"{now.seconds:4.0f} s  {now.done} of {now.due} due  {now.errors} errors  "
        f"last second p50 {1000 * now.p50:.1f} ms, p99 {1000 * now.p99:.1f} ms"
    )


def _talk(text: str) -> None:
    """One line that is rewritten on a terminal; nothing elsewhere, where a line a second would only be in the way."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[Kload: {text}")
        sys.stderr.flush()


def _end() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\n")


# --- the report ---


def _less(one: Spent, other: Spent) -> Spent:
    return Spent(
        one.calls - other.calls, one.read - other.read, one.write - other.write, one.requests - other.requests
    )


def _report(
    given: argparse.Namespace,
    designs: Sequence[Design],
    mix: Sequence[Operation],
    outcome: Outcome,
    spent: dict[str, Spent],
) -> dict[str, Any]:
    names = [operation.name for operation in mix]
    used = Spent()
    for name in names:
        used += spent.get(name, Spent())
    prices = PRICES.regions.get(usual_environment(designs[0]).region)
    a_month = float(_SECONDS_A_MONTH / outcome.seconds)
    cost = None if prices is None else prices.cost(used.read * a_month, used.write * a_month)
    return {
        "system": given.system,
        "scale": given.scale,
        "seconds": round(outcome.seconds, 1),
        "due": outcome.due,
        "heldShare": round(outcome.held / outcome.due, 4),
        "errors": [
            {"call": name, "error": error, "count": number}
            for (name, error), number in outcome.errors.items()
        ],
        "callsPerSecond": round(outcome.held / outcome.seconds, 1),
        **_quantiles(outcome.all_times),
        "readUnits": used.read,
        "writeUnits": used.write,
        "requestsPerMonthUsd": None if cost is None else f"{cost:.2f}",
        "calls": [
            {
                "call": operation.name,
                "count": len(outcome.times.get(operation.name, ())),
                **_quantiles(outcome.times.get(operation.name, ())),
                "unitsPerCall": _units(spent.get(operation.name, Spent())),
                "predictedUnits": float(operation.planned.units),
            }
            for operation in sorted(mix, key=lambda each: -len(outcome.times.get(each.name, ())))
        ],
    }


def _quantiles(times: Sequence[float]) -> dict[str, float]:
    shares = {"p50Ms": 0.5, "p99Ms": 0.99, "p999Ms": 0.999}
    return {name: round(1000 * quantile(times, share), 2) for name, share in shares.items()}


def _units(used: Spent) -> float:
    return round(used.read_per_call + used.write_per_call, 2)


def _text(report: dict[str, Any]) -> str:
    rows = [
        [
            each["call"],
            count(each["count"]),
            *(f"{each[name]:.1f}" for name in ("p50Ms", "p99Ms", "p999Ms")),
            f"{each['unitsPerCall']:g}",
            f"{each['predictedUnits']:g}",
        ]
        for each in report["calls"]
        if each["count"]
    ]
    head = ("call", "count", "p50 ms", "p99 ms", "p99.9 ms", "units", "predicted")
    held = f"{100 * report['heldShare']:.1f} % of {count(report['due'])} held"
    cost = report["requestsPerMonthUsd"]
    priced = (
        "no prices of the region are known here"
        if cost is None
        else f"at this rate {money(Decimal(cost))} a month for requests on demand"
    )
    lines = [
        f"{report['system']} at {count(report['scale'])} times its load for {report['seconds']:g} s: "
        f"{report['callsPerSecond']:g} calls a second, {held}",
        f"all calls: p50 {report['p50Ms']:g} ms, p99 {report['p99Ms']:g} ms, p99.9 {report['p999Ms']:g} ms",
        f"units: {report['readUnits']:g} read, {report['writeUnits']:g} write; {priced}",
    ]
    lines += [f"error: {each['count']} x {each['error']} of {each['call']}" for each in report["errors"]]
    return "\n".join([*lines, "", as_table(head, rows)])
