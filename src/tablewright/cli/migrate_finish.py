"""`tablewright migrate finish NAME`: the end: the old table is no longer followed, and deleted."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import migrating
from tablewright.cli.plans import agreed, yes

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import Bench

SUMMARY = "End a migration whose days are over: the old table is deleted."
EXAMPLES = """Before its day has come it takes --early. A table that is protected from deletion is left, and this says
so; the same command again deletes it.

examples:
  tablewright migrate finish skratch-visits-2 --data ./data
  tablewright migrate finish skratch-visits-2 --early --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser)
    parser.add_argument("--early", action="store_true", help="though the old table is to be kept for longer")
    yes(parser)


def run(given: argparse.Namespace) -> int:
    return migrating.at(given, lambda bench: _finish(given, bench))


def _finish(given: argparse.Namespace, bench: "Bench") -> int:
    from tablewright.mapping.migrate import finish, refuse_finish

    state = bench.state()
    refuse_finish(state, bench.world.now(), early=given.early)
    plan = (
        f"{bench.name} is {state.word}. {state.source} and everything in it is deleted; there is no way back"
    )
    if not agreed(given, plan):
        return 0
    after = finish(bench, early=given.early)
    print(
        f"{bench.name} is {after.word}; writes go to {after.target if after.side == 'target' else after.source}"
    )
    return 0
