"""`tablewright migrate rollback NAME`: open the old table again, with everything that was written since."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import migrating
from tablewright.cli.plans import agreed, yes

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping.migrate import Bench

SUMMARY = "Go back to the old table, with everything that was written since, in the old form."
EXAMPLES = """examples:
  tablewright migrate rollback skratch-visits-2 --data ./data
  tablewright migrate rollback skratch-visits-2 --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrating.which(parser)
    yes(parser)


def run(given: argparse.Namespace) -> int:
    return migrating.at(given, lambda bench: _rollback(given, bench))


def _rollback(given: argparse.Namespace, bench: "Bench") -> int:
    from tablewright.mapping.migrate import refuse_rollback, rollback

    state = bench.state()
    refuse_rollback(state, bench.world.now())
    plan = (
        f"{bench.name} is {state.word}. Writes to {state.target} pause for some seconds, then reads and writes go to "
        f"{state.source} again; what the old form cannot hold is left out of it"
    )
    if not agreed(given, plan):
        return 0
    after = rollback(bench, migrating.say)
    print(f"{bench.name} is {after.word}; writes go to {after.source}")
    print(
        f"{after.target} is not kept current any more: a server deletes it within the hour, "
        f"`tablewright migrate abandon {bench.name}` at once"
    )
    return 0
