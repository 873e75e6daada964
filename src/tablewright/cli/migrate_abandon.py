"""`tablewright migrate abandon NAME`: give a migration up, before the switch or after a rollback; the copy goes."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import migrating
from tablewright.cli.plans import agreed, yes

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import Bench

SUMMARY = "Give a migration up, before the switch or after a rollback: the copy is deleted, the table stays."
EXAMPLES = """examples:
  tablewright migrate abandon skratch-visits-2 --data ./data
  tablewright migrate abandon skratch-visits-2 --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser)
    yes(parser)


def run(given: argparse.Namespace) -> int:
    return migrating.at(given, lambda bench: _abandon(given, bench))


def _abandon(given: argparse.Namespace, bench: "Bench") -> int:
    from tablewright.mapping.migrate import abandon, refuse_abandon

    state = bench.state()
    refuse_abandon(state)
    plan = (
        f"{bench.name} is {state.word}. {state.target} and everything in it is deleted; {state.source} stays"
    )
    if not agreed(given, plan):
        return 0
    after = abandon(bench)
    print(
        f"{bench.name} is {after.word}; writes go to {after.target if after.side == 'target' else after.source}"
    )
    return 0
