"""`tablewright migrate finish NAME`: finish a migration and delete the old table."""

import argparse

from tablewright.cli.migrate import migrations
from tablewright.cli.output import add_yes_option, confirm_plan
from tablewright.mapping.migrate import MigrationContext, finish, refuse_finish

EXAMPLES = """Before the end of the rollback period it needs --early. A table with deletion protection is not
deleted; switch the protection off and run the command again.

tablewright migrate finish skratch-visits-2 --data ./data
tablewright migrate finish skratch-visits-2 --early --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser)
    parser.add_argument("--early", action="store_true", help="finish before the end of the rollback period")
    add_yes_option(parser)


@migrations.with_migration
def run(given: argparse.Namespace, context: MigrationContext) -> int:
    state = context.state()
    refuse_finish(state, context.world.now(), early=given.early)
    plan = (
        f"{context.name} is {state.word}. Will delete {state.source} and all its items; this cannot be undone"
    )
    if not confirm_plan(given, plan):
        return 0
    migrations.print_phase(context, finish(context, early=given.early))
    return 0
