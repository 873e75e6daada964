"""`tablewright db compare TABLE OTHER`: which items differ between two tables, such as one and its past restored."""

import argparse
from typing import Any

from tablewright.cli.format import as_json, as_line, as_table, plural
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.cli.usage_error import UsageError
from tablewright.client.comparison import Difference, KeysDiffer, differences

EXAMPLES = """Both tables are read in full. An item is changed, added (only in OTHER) or removed (only in TABLE).
The exit code is 1 if the tables differ.

examples:
  tablewright db restore products --at 2026-11-16T14:29:59Z --to products-restored --data ./data
  tablewright db compare products-restored products --data ./data"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the first table")
    parser.add_argument("other", metavar="OTHER", help="the table to compare with; it must have the same key")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    return with_target(given, lambda target: _compare(given, target))


def _compare(given: argparse.Namespace, target: Target) -> int:

    try:
        found = list(differences(target.call, given.table, given.other))
    except KeysDiffer as error:
        raise UsageError(str(error)) from error
    if given.json:
        print(as_json([_described(one) for one in found]))
    elif found:
        rows = [(one.kind, as_line(one.key), ", ".join(one.attributes)) for one in found]
        print(as_table(("what", "key", "attributes"), rows))
        print(f"{plural(len(found), 'item')} of {given.table} and {given.other} differ")
    else:
        print(f"{given.table} and {given.other} have the same items")
    return 1 if found else 0


def _described(one: Difference) -> dict[str, Any]:
    return {"what": one.kind, "key": one.key, "attributes": list(one.attributes)}
