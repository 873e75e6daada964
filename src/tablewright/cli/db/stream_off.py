"""`tablewright db stream off TABLE`: disable the stream of a table."""

import argparse

from tablewright.cli.db.stream_on import stream_view, update_stream
from tablewright.cli.output import add_yes_option, confirm_plan
from tablewright.cli.target import Target, add_target_options, with_target

EXAMPLES = """Changes already in the stream can be read for 24 hours. A stream enabled later does not contain the
changes in between.

tablewright db stream off pets --data ./data
tablewright db stream off pets --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    add_yes_option(parser)
    add_target_options(parser)


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    """0 if the table has no stream, 1 if only the plan was shown."""
    view = stream_view(target.describe_table(given.table))
    if view is None:
        print(f"{given.table} has no stream")
        return 0
    plan = (
        f"will disable the stream of {given.table} ({view}); its changes so far can be read for 24 hours, later "
        "changes do not reach its consumers"
    )
    if not confirm_plan(given, plan):
        return 1
    update_stream(target, given.table, {"StreamEnabled": False})
    print(f"disabled the stream of {given.table}")
    return 0
