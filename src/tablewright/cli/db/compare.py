"""`tablewright db compare TABLE OTHER`: which items differ between two tables, such as one and its past restored."""

import argparse

from tablewright.cli.format import as_line, as_table, plural
from tablewright.cli.output import print_result
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.client.comparison import KeysDiffer, differences

EXAMPLES = """Both tables are read in full. An item is changed, added (only in OTHER) or removed (only in TABLE).
The exit code is 1 if the tables differ.

tablewright db restore products --at 2026-11-16T14:29:59Z --to products-restored --data ./data
tablewright db compare products-restored products --data ./data"""
ERRORS = (KeysDiffer,)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the first table")
    parser.add_argument("other", metavar="OTHER", help="the table to compare with; it must have the same key")
    add_target_options(parser, json="print a JSON list")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    found = list(differences(target.call, given.table, given.other))
    text = f"{given.table} and {given.other} have the same items"
    if found:
        rows = [(one.kind, as_line(one.key), ", ".join(one.attributes)) for one in found]
        text = as_table(("what", "key", "attributes"), rows)
        text += f"\n{plural(len(found), 'item')} of {given.table} and {given.other} differ"
    listed = [{"what": one.kind, "key": one.key, "attributes": one.attributes} for one in found]
    print_result(given, listed, text)
    return 1 if found else 0
