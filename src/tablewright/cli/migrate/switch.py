"""`tablewright migrate switch NAME`: switch to the new table; no acknowledged write is lost."""

import argparse

from tablewright.cli.migrate import migrations
from tablewright.cli.output import add_yes_option, confirm_plan, print_message
from tablewright.mapping.migrate import MigrationContext, refuse_switch, switch

EXAMPLES = """Every server switches automatically. The old table is kept up to date in the old design, so that
`migrate rollback` is possible. If the switch fails, the old table stays active.

tablewright migrate switch skratch-visits-2 --data ./data
tablewright migrate switch skratch-visits-2 --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser)
    add_yes_option(parser)


@migrations.with_migration
def run(given: argparse.Namespace, context: MigrationContext) -> int:
    state = context.state()
    refuse_switch(state)
    plan = (
        f"{context.name} is {state.word}. Writes to {state.source} will pause for a few seconds, then reads and writes "
        f"go to {state.target}; {state.source} is kept up to date for {context.migration.keep.days} days"
    )
    if not confirm_plan(given, plan):
        return 0
    migrations.print_phase(context, switch(context, print_message))
    return 0
