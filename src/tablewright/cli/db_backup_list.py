"""`tablewright db backup list`: which backups there are."""

import argparse

from tablewright.cli import where
from tablewright.cli.backups import all_backups
from tablewright.cli.words import as_json, as_table, moment, size

SUMMARY = "List the backups, of all tables or of one, also of tables that are gone."
EXAMPLES = """examples:
  tablewright db backup list --data ./data
  tablewright db backup list pets --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", nargs="?", help="only those of this table")
    parser.add_argument("--json", action="store_true", help="print a JSON list, in the service's words")
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _show(given, place))


def _show(given: argparse.Namespace, place: where.Place) -> int:
    found = list(all_backups(place.call, given.table))
    if given.json:
        print(as_json(found))
    elif not found:
        print("there are no backups")
    else:
        head = ("backup", "table", "status", "kind", "size", "made", "arn")
        rows = [
            [
                one["BackupName"],
                one["TableName"],
                one["BackupStatus"],
                one["BackupType"].lower(),
                size(one.get("BackupSizeBytes", 0)),
                moment(one["BackupCreationDateTime"]),
                one["BackupArn"],
            ]
            for one in found
        ]
        print(as_table(head, rows))
    return 0
