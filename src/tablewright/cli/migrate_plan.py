"""`tablewright migrate plan NAME`: write down that a table is going to be migrated, and say how."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import migrating, where
from tablewright.cli.words import as_pairs

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import Bench

SUMMARY = "Plan a migration: what becomes of which table. Nothing is copied yet."
EXAMPLES = """A plan is a note in the table `migrations`, from which everybody knows where a migration stands. After
it was abandoned or rolled back it can be planned again.

examples:
  tablewright migrate plan skratch-visits-2 --data ./data
  tablewright migrate plan skratch-visits-2 --rate 500 --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser)
    parser.add_argument(
        "--rate", type=int, metavar="N", help="copy at most so many items a second, each worker"
    )
    parser.add_argument("--segments", type=int, default=4, metavar="N", help="in how many parts (default: 4)")


def run(given: argparse.Namespace) -> int:
    if given.segments < 1 or (given.rate is not None and given.rate < 1):
        return where.misused("--segments and --rate are at least 1")
    return migrating.at(given, lambda bench: _plan(given, bench))


def _plan(given: argparse.Namespace, bench: "Bench") -> int:
    state = bench.plan(rate=given.rate, segments=given.segments)
    pairs = [
        ("migration", state.name),
        ("what", bench.migration.about or "-"),
        ("from", state.source),
        ("to", state.target),
        ("pace", f"{state.rate} items a second" if state.rate else "as fast as it goes"),
        ("can be rolled back", f"for {bench.migration.keep.days} days after the switch"),
        ("next", f"tablewright migrate run {state.name}"),
    ]
    print(as_pairs(pairs))
    return 0
