"""`tablewright design heat SYSTEM`: the stated load on partitions, simulated; beside it, what a live table has."""

import argparse
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from tablewright.cli.argument_types import whole_number
from tablewright.cli.designs import FORMS, load_designs
from tablewright.cli.format import as_table, count, decimal, percent, size
from tablewright.cli.live_options import (
    add_live_options,
    live_environment,
    print_none_there,
    refuse_without_live,
)
from tablewright.cli.output import UsageError, print_message, print_result
from tablewright.cli.target import add_target_options, open_target
from tablewright.design import Design, DesignMistake
from tablewright.design.heat import (
    ASSUMED_KEYS,
    EXPONENT,
    SPLIT_AFTER,
    Heat,
    Outcome,
    heat_of,
    heat_picture,
    key_loads,
    times_of,
    together,
)
from tablewright.design.partitions import PARTITION, PEAK
from tablewright.mapping.partition_counts import BUDGET, KeyCount, partition_counts

EXAMPLES = f"""Requests arrive as in the busiest second, {PEAK} times the mean. A partition serves {PARTITION["read"]}
read units and {PARTITION["write"]} write units a second; one that is asked for more during {SPLIT_AFTER} seconds is
split, but never within an item, nor within a key of a table with a local index. Keys that grow with the users are used
by Zipf's law; how many there are is computed from what the design stores, or assumed to be {count(ASSUMED_KEYS)}. Of a
key with few values "keys" are all of them, and the load is on one state, in each shard: the hottest key says so. With
--live, the tables are read and their keys counted. The exit code is 1 if requests are throttled.

tablewright design heat travel --times 1000 --picture heat.svg
tablewright design heat ./clinic.py:clinic --live --endpoint http://127.0.0.1:8000"""
ERRORS = (DesignMistake,)
_HEAD = (
    "partition key", "of", "keys", "units/s", "hottest key", "throttled", "from s", "to s", "partitions", "cure"
)  # fmt: skip
_LIVE_HEAD = (
    "partition key",
    "predicted keys",
    "live keys",
    "items read",
    "share read",
    "largest partitions",
)
_SHOWN = 10


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--times",
        type=whole_number("a whole number from 1 to 1000000", 1, 1_000_000),
        default=1,
        metavar="N",
        help="a load multiplier (default: 1)",
    )
    either.add_argument(
        "--requests",
        type=whole_number("a whole number from 1 to 1000000000", 1, 10**9),
        metavar="N",
        help="as many requests in the simulated time as this, instead of a multiplier",
    )
    parser.add_argument(
        "--seconds",
        type=whole_number("a whole number from 60 to 86400", 60, 86_400),
        default=900,
        metavar="S",
        help="how long is simulated (default: 900)",
    )
    parser.add_argument(
        "--zipf",
        type=_exponent,
        default=EXPONENT,
        metavar="E",
        help=f"the exponent of Zipf's law; 0 for keys that are used alike (default: {EXPONENT})",
    )
    parser.add_argument(
        "--keys",
        type=whole_number("a whole number from 1 to 1000000000", 1, 10**9),
        metavar="N",
        help="how many values each key has that grows with the users (default: computed)",
    )
    parser.add_argument("--picture", metavar="SVG", type=Path, help="also write an SVG picture")
    live = add_live_options(parser, "count the keys of live tables, by Scan")
    live.add_argument(
        "--budget",
        type=whole_number("a whole number from 1 to 100000000", 1, 10**8),
        default=BUDGET,
        metavar="ITEMS",
        help=f"how many items of a table or index are read at most (default: {BUDGET})",
    )
    live.add_argument("--show-keys", action="store_true", help="name the largest partitions by their keys")
    add_target_options(parser, json="print a JSON object")


def _exponent(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1
    if not 0 <= found <= 5:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 5, got {text!r}")
    return found


def run(given: argparse.Namespace) -> int:
    designs = load_designs(given.system)
    refuse_without_live(given, "show_keys")
    times = Decimal(given.times)
    if given.requests is not None:
        times = times_of(designs, given.requests, given.seconds)
    refuse_no_load(given.system, designs)
    heat = together(
        given.system,
        [
            heat_of(design, times, seconds=given.seconds, exponent=given.zipf, keys=given.keys)
            for design in designs
        ],
    )
    counts = _live(given, designs) if given.live else None
    if given.picture is not None:
        given.picture.write_text(heat_picture(heat))
        print_message(f"tablewright: wrote {given.picture}")
    value, text = heat_json(heat), heat_text(heat)
    if counts is not None:
        value["live"], table = (
            _live_json(heat, counts, given.show_keys),
            _live_text(heat, counts, given.show_keys),
        )
        text = f"{text}\n\n{table}"
    print_result(given, value, text)
    return 1 if heat.throttled else 0


def refuse_no_load(name: str, designs: Sequence[Design]) -> None:
    if not any(key_loads(design) for design in designs):
        raise UsageError(f"{name} states no load; say how often each is called: load=Load(per_second=...)")


def _live(given: argparse.Namespace, designs: Sequence[Design]) -> list[KeyCount]:
    environment = live_environment(given, designs)
    with open_target(given) as target:
        found = [
            each
            for design in designs
            for each in partition_counts(target.call, design, environment, budget=given.budget)
        ]
    if not found:
        print_none_there(given, "has items there")
    return found


# --- text ---


def heat_text(heat: Heat) -> str:
    """What is throttled, or else the ten busiest keys."""
    shown = heat.throttled or heat.outcomes[:_SHOWN]
    pieces = [
        f"{heat.design} at {_times(heat.times)} times its load: {count(int(heat.requests))} requests in "
        f"{count(heat.seconds)} s, Zipf exponent {heat.exponent:g}",
        as_table(_HEAD, [_row(each) for each in shown]),
    ]
    return "\n\n".join(pieces if heat.throttled else [*pieces, "No request is throttled."])


def _times(times: Decimal) -> str:
    """As many digits as matter: --requests asks for 0.000123 times the load, too."""
    return count(int(times)) if times == int(times) or times >= 1000 else f"{times:.3g}"


def _row(outcome: Outcome) -> list[str]:
    load, tally = outcome.load, outcome.tally
    place = f"{load.table}.{load.index}" if load.index else load.table
    before, after = outcome.partitions
    return [
        f"{place} {load.key}",
        f"{load.kind}s",
        count(load.keys) + ("?" if load.how == "assumed" else ""),
        decimal(load.units, 2),
        percent(outcome.hottest_share),
        percent(outcome.share),
        "-" if tally.first is None else count(tally.first),
        "-" if tally.last is None else count(tally.last),
        f"{count(before)} -> {count(after)}" if after != before else count(before),
        outcome.cure + (f" ({load.whole})" if load.whole and not outcome.has_ended else ""),
    ]


def _predicted(heat: Heat) -> dict[tuple[str, str, str], int]:
    return {(each.load.table, each.load.index, each.load.key): each.load.keys for each in heat.outcomes}


def _live_text(heat: Heat, counts: Sequence[KeyCount], show_keys: bool) -> str:
    predicted = _predicted(heat)
    return as_table(_LIVE_HEAD, [_live_row(each, predicted, show_keys) for each in counts])


def _live_row(live: KeyCount, predicted: dict[tuple[str, str, str], int], show_keys: bool) -> list[str]:
    keys = predicted.get((live.table, live.index, live.key))
    largest = "; ".join(
        (f"{each.value}: " if show_keys else "") + f"{count(each.items)} items, {size(each.bytes)}"
        for each in live.largest
    )
    return [
        f"{live.place} {live.key}",
        "-" if keys is None else count(keys),
        ("" if live.share == 1 else "~") + count(live.keys),
        count(live.items),
        percent(live.share),
        largest,
    ]


# --- JSON ---


def heat_json(heat: Heat) -> dict[str, Any]:
    return {
        "system": heat.design,
        "times": float(heat.times),
        "seconds": heat.seconds,
        "zipf": heat.exponent,
        "requests": int(heat.requests),
        "keys": [_outcome_json(each) for each in heat.outcomes],
    }


def _outcome_json(outcome: Outcome) -> dict[str, Any]:
    load, tally = outcome.load, outcome.tally
    return {
        "table": load.table,
        "index": load.index or None,
        "key": load.key,
        "kind": load.kind,
        "calls": list(load.calls),
        "keys": load.keys,
        "busyKeys": load.busy,
        "keysAre": load.how,
        "requestsPerSecond": load.requests,
        "unitsPerSecond": load.units,
        "hottestShare": outcome.hottest_share,
        "requests": int(tally.requests),
        "throttled": round(tally.throttled),
        "throttledShare": outcome.share,
        "first": tally.first,
        "last": tally.last,
        "partitions": list(outcome.partitions),
        "shards": outcome.shards,
        "cure": outcome.cure or None,
        "neverDivided": load.whole or None,
    }


def _live_json(heat: Heat, counts: Sequence[KeyCount], show_keys: bool) -> list[dict[str, Any]]:
    predicted = _predicted(heat)
    return [
        {
            "table": live.table,
            "index": live.index or None,
            "key": live.key,
            "predictedKeys": predicted.get((live.table, live.index, live.key)),
            "keys": live.keys,
            "itemsRead": live.items,
            "shareRead": live.share,
            "largest": [
                {"items": each.items, "bytes": each.bytes} | ({"key": each.value} if show_keys else {})
                for each in live.largest
            ],
        }
        for live in counts
    ]
