"""`tablewright db backup list`: list backups."""

import argparse

from tablewright.cli.db.backups import all_backups
from tablewright.cli.format import as_table, moment, size
from tablewright.cli.output import print_result
from tablewright.cli.target import Target, add_target_options, with_target

EXAMPLES = """tablewright db backup list --data ./data
tablewright db backup list pets --endpoint http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", nargs="?", help="only the backups of this table")
    add_target_options(parser, json="print a JSON list with DynamoDB's field names")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    found = list(all_backups(target.call, given.table))
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
    print_result(given, found, as_table(head, rows) if found else "no backups")
    return 0
