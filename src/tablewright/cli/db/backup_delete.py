"""`tablewright db backup delete BACKUP`: delete a backup."""

import argparse

from tablewright.cli.db.backups import backup_arn
from tablewright.cli.format import moment, size
from tablewright.cli.output import add_yes_option, confirm_plan
from tablewright.cli.target import Target, add_target_options, with_target

EXAMPLES = """tablewright db backup delete before-the-move --data ./data
tablewright db backup delete before-the-move --data ./data --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("backup", metavar="BACKUP", help="the name or ARN of the backup")
    add_yes_option(parser)
    add_target_options(parser)


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    """0 if it was deleted, 1 if only the plan was shown."""
    arn = backup_arn(target.call, given.backup)
    description = target.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
    one, table = description["BackupDetails"], description["SourceTableDetails"]
    plan = (
        f"will delete the backup {one['BackupName']} of {table['TableName']}, created "
        f"{moment(one['BackupCreationDateTime'])}, {size(one.get('BackupSizeBytes', 0))}"
    )
    if not confirm_plan(given, plan):
        return 1
    target.call("DeleteBackup", {"BackupArn": arn})
    print(f"deleted {one['BackupName']}")
    return 0
