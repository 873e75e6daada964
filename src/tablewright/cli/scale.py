"""`tablewright scale [SYSTEM]`: a design at 1, 10, 1 000 and 100 000 times its load, and what is exceeded first."""

import argparse
from decimal import Decimal
from typing import Any

from tablewright.cli.argument_types import whole_number
from tablewright.cli.designs import FORMS, load_designs, shipped_systems
from tablewright.cli.format import as_table, count, decimal, percent
from tablewright.cli.output import print_result
from tablewright.design import Design
from tablewright.design.cost import Options, cost_of, usual_environment
from tablewright.design.errors import DesignMistake
from tablewright.design.partitions import PARTITION, PEAK, KeyGroup, PlaceLoad, key_groups, place_loads

EXAMPLES = f"""Units are those of the busiest second, {PEAK} times the mean. A partition serves {PARTITION["read"]} read
units and {PARTITION["write"]} write units a second. A key whose values do not become more with the load (a state, a
day, a constant) meets that limit first: the last table says at which multiple of the load. "keys" are all values of
such a key, "busy" those that the load falls on at once: one state of several, each shard.

tablewright scale travel
tablewright scale ./clinic.py:clinic --times 50 --json"""
ERRORS = (DesignMistake,)

TIMES = (1, 10, 1_000, 100_000)
_SHOWN = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "system",
        metavar="SYSTEM",
        nargs="?",
        help=f"a shipped system, or {FORMS} (default: all shipped systems)",
    )
    parser.add_argument(
        "--times",
        type=whole_number("a whole number from 1 to 1000000", 1, 1_000_000),
        action="append",
        metavar="N",
        help=f"a load multiplier; can be repeated (default: {', '.join(map(str, TIMES))})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(given: argparse.Namespace) -> int:
    wanted = shipped_systems() if given.system is None else [given.system]
    designs = [design for system in wanted for design in load_designs(system)]
    times = tuple(given.times or TIMES)
    print_result(
        given,
        [scale_json(design, times) for design in designs],
        "\n\n".join(scale_text(design, times) for design in designs),
    )
    return 0


def scale_text(design: Design, times: tuple[int, ...] = TIMES) -> str:
    """Both tables; docs/scale.md has them for the shipped systems."""
    loads = {each: place_loads(design, Decimal(each)) for each in times}
    pieces = [design.name]
    head = (
        "load",
        "$ a month",
        "reads/s",
        "writes/s",
        "GB",
        "partitions",
        "busiest table or index",
        "of its quota",
    )
    pieces.append(as_table(head, [_row(design, each, loads[each]) for each in times]))
    groups = key_groups(design)[:_SHOWN]
    if groups:
        keys = ("partition key", "of", "units/s", "keys", "busy", "enough until load x")
        pieces.append(as_table(keys, [_group_row(group) for group in groups]))
    return "\n\n".join(pieces)


def _row(design: Design, times: int, places: tuple[PlaceLoad, ...]) -> list[str]:
    cost = cost_of(design, usual_environment(design), options=Options(Decimal(times)))
    busiest = max(places, key=lambda place: place.quota, default=None)
    return [
        f"x {count(times)}",
        _number(cost.total),
        _number(sum((place.read for place in places), Decimal())),
        _number(sum((place.write for place in places), Decimal())),
        _number(sum((place.bytes for place in places), Decimal()) / 10**9),
        count(sum(place.partitions for place in places)),
        _place(busiest.table, busiest.index) if busiest is not None else "no load stated",
        percent(busiest.quota, 0) if busiest is not None else "-",
    ]


def _group_row(group: KeyGroup) -> list[str]:
    name = f"{_place(group.table, group.index)} {group.keys}"
    units = decimal(group.units * PEAK, 2)
    return [
        name,
        f"{group.kind}s",
        units,
        count(group.values),
        count(group.shards),
        _number(group.breaks_at),
    ]


def _place(table: str, index: str) -> str:
    return f"{table}.{index}" if index else table


def _number(number: Decimal) -> str:
    return count(int(number)) if number >= 10 else f"{number:.1f}"


def scale_json(design: Design, times: tuple[int, ...]) -> dict[str, Any]:
    return {
        "design": design.name,
        "peak": PEAK,
        "loads": [
            {
                "times": each,
                "places": [
                    {
                        "table": place.table,
                        "index": place.index or None,
                        "readUnits": float(place.read),
                        "writeUnits": float(place.write),
                        "bytes": int(place.bytes),
                        "partitions": place.partitions,
                        "ofQuota": float(place.quota),
                    }
                    for place in place_loads(design, Decimal(each))
                ],
            }
            for each in times
        ],
        "keys": [
            {
                "table": group.table,
                "index": group.index or None,
                "key": group.keys,
                "kind": group.kind,
                "keys": group.values,
                "busyKeys": group.shards,
                "units": float(group.units * PEAK),
                "enoughUntil": float(group.breaks_at),
                "calls": list(group.calls),
            }
            for group in key_groups(design)
        ],
    }
