"""`tablewright migrate rollback NAME`: switch back to the old table."""

import argparse

from tablewright.cli.hints import command_hint
from tablewright.cli.migrate import migrations
from tablewright.cli.output import add_yes_option, confirm_plan, print_message
from tablewright.mapping.migrate import MigrationContext, refuse_rollback, rollback

EXAMPLES = """tablewright migrate rollback skratch-visits-2 --data ./data
tablewright migrate rollback skratch-visits-2 --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser)
    add_yes_option(parser)


@migrations.with_migration
def run(given: argparse.Namespace, context: MigrationContext) -> int:
    state = context.state()
    refuse_rollback(state, context.world.now())
    plan = (
        f"{context.name} is {state.word}. Writes to {state.target} will pause for a few seconds, then reads and writes "
        f"go to {state.source} again, without data that the old design cannot hold"
    )
    if not confirm_plan(given, plan):
        return 0
    after = rollback(context, print_message)
    migrations.print_phase(context, after)
    print(
        f"{after.target} is no longer updated; a server deletes it within an hour, or delete it now with "
        f"`{command_hint(given, 'migrate', 'abandon', given.name)}`"
    )
    return 0
