"""`tablewright migrate abandon NAME`: abandon a migration and delete its copy."""

import argparse

from tablewright.cli.migrate import migrations
from tablewright.cli.output import add_yes_option, confirm_plan
from tablewright.mapping.migrate import MigrationContext, abandon, refuse_abandon

EXAMPLES = """tablewright migrate abandon skratch-visits-2 --data ./data
tablewright migrate abandon skratch-visits-2 --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser)
    add_yes_option(parser)


@migrations.with_migration
def run(given: argparse.Namespace, context: MigrationContext) -> int:
    state = context.state()
    refuse_abandon(state)
    plan = (
        f"{context.name} is {state.word}. Will delete {state.target} and all its items; {state.source} stays"
    )
    if not confirm_plan(given, plan):
        return 0
    migrations.print_phase(context, abandon(context))
    return 0
