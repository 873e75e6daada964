"""`tablewright db backup delete BACKUP`: give a backup up for good."""

import argparse

from tablewright.cli import where
from tablewright.cli.backups import backup_arn
from tablewright.cli.plans import agreed, yes
from tablewright.cli.words import moment, size

SUMMARY = "Delete a backup, named by its name or its ARN. It cannot be brought back."
EXAMPLES = """examples:
  tablewright db backup delete before-the-move --data ./data
  tablewright db backup delete before-the-move --data ./data --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("backup", metavar="BACKUP", help="its name, or its ARN")
    yes(parser)
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when it is deleted, 1 when only the plan was shown."""
    return where.at(given, lambda place: _delete(given, place))


def _delete(given: argparse.Namespace, place: where.Place) -> int:
    arn = backup_arn(place.call, given.backup)
    told = place.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
    one, table = told["BackupDetails"], told["SourceTableDetails"]
    plan = (
        f"the backup {one['BackupName']} of {table['TableName']}, made {moment(one['BackupCreationDateTime'])}, "
        f"{size(one.get('BackupSizeBytes', 0))}, will be deleted"
    )
    if not agreed(given, plan):
        return 1
    place.call("DeleteBackup", {"BackupArn": arn})
    print(f"deleted {one['BackupName']}")
    return 0
