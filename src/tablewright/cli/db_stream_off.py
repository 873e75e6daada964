"""`tablewright db stream off TABLE`: from now on the changes of a table are not told any more."""

import argparse

from tablewright.cli import where
from tablewright.cli.db_stream_on import described, switched, view_of
from tablewright.cli.plans import agreed, yes

SUMMARY = "End the stream of a table: changes made from then on cannot be read by anybody."
EXAMPLES = """What it held can be read for a day. A stream that is begun anew does not tell what came in between.

examples:
  tablewright db stream off pets --data ./data
  tablewright db stream off pets --yes --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name")
    yes(parser)
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when the table has no stream, 1 when only the plan was shown."""
    return where.at(given, lambda place: _switch_off(given, place))


def _switch_off(given: argparse.Namespace, place: where.Place) -> int:
    view = view_of(described(place, given.table))
    if view is None:
        print(f"{given.table} has no stream")
        return 0
    plan = (
        f"the stream of {given.table} ({view}) will end; what it holds can be read for a day, changes made from then "
        "on are not told to its consumers"
    )
    if not agreed(given, plan):
        return 1
    switched(place, given.table, {"StreamEnabled": False})
    print(f"{given.table} has no stream any more")
    return 0
