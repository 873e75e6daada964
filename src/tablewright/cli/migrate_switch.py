"""`tablewright migrate switch NAME`: open the new table. Writes pause for some seconds; nothing answered is lost."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import migrating
from tablewright.cli.plans import agreed, yes

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import Bench

SUMMARY = "Change sides: writes pause for some seconds, then go to the new table."
EXAMPLES = """Every server follows by itself. The old table is kept current in the old form, so that one can go back.
What fails on the way leaves the old side open.

examples:
  tablewright migrate switch skratch-visits-2 --data ./data
  tablewright migrate switch skratch-visits-2 --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser)
    yes(parser)


def run(given: argparse.Namespace) -> int:
    return migrating.at(given, lambda bench: _switch(given, bench))


def _switch(given: argparse.Namespace, bench: "Bench") -> int:
    from tablewright.mapping.migrate import refuse_switch, switch

    state = bench.state()
    refuse_switch(state)
    plan = (
        f"{bench.name} is {state.word}. Writes to {state.source} pause for some seconds, then reads and writes go to "
        f"{state.target}; {state.source} is kept current for {bench.migration.keep.days} days"
    )
    if not agreed(given, plan):
        return 0
    after = switch(bench, migrating.say)
    print(
        f"{bench.name} is {after.word}; writes go to {after.target if after.side == 'target' else after.source}"
    )
    return 0
