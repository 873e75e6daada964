"""`tablewright migrate plan NAME`: plan a migration."""

import argparse

from tablewright.cli.format import as_pairs
from tablewright.cli.hints import command_hint
from tablewright.cli.migrate import migrations
from tablewright.cli.output import UsageError
from tablewright.mapping.migrate import MigrationContext

EXAMPLES = """The plan is an item in the table `migrations`, from which all processes read the state of the
migration. An abandoned or rolled back migration can be planned again.

tablewright migrate plan skratch-visits-2 --data ./data
tablewright migrate plan skratch-visits-2 --rate 500 --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    migrations.add_migration_arguments(parser)
    parser.add_argument("--rate", type=int, metavar="N", help="copy at most N items per second and worker")
    parser.add_argument(
        "--segments", type=int, default=4, metavar="N", help="the number of scan segments (default: 4)"
    )


def run(given: argparse.Namespace) -> int:
    if given.segments < 1 or (given.rate is not None and given.rate < 1):
        raise UsageError("--segments and --rate must be at least 1")
    return _plan(given)


@migrations.with_migration
def _plan(given: argparse.Namespace, context: MigrationContext) -> int:
    state = context.plan(rate=given.rate, segments=given.segments)
    pairs = [
        ("migration", state.name),
        ("description", context.migration.about or "-"),
        ("from", state.source),
        ("to", state.target),
        ("rate", f"{state.rate} items per second" if state.rate else "unlimited"),
        ("rollback period", f"{context.migration.keep.days} days after the switch"),
        ("next", command_hint(given, "migrate", "run", given.name)),
    ]
    print(as_pairs(pairs))
    return 0
