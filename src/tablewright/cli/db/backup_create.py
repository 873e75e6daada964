"""`tablewright db backup create TABLE`: back up a table."""

import argparse

from tablewright.cli.format import size
from tablewright.cli.output import print_result
from tablewright.cli.progress import Progress, wait_for
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.world import real_world

EXAMPLES = """tablewright db backup create pets --data ./data
tablewright db backup create pets --name before-the-move --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    parser.add_argument("--name", help="the name of the backup (default: the table name and the time)")
    add_target_options(parser, json="print the backup's description as JSON")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    name = given.name or f"{given.table}-{real_world().now():%Y%m%dT%H%M%SZ}"
    made = target.call("CreateBackup", {"TableName": given.table, "BackupName": name})["BackupDetails"]
    made = wait_for(
        f"backup {name}",
        lambda: target.call("DescribeBackup", {"BackupArn": made["BackupArn"]}),
        lambda seen: Progress(seen["BackupDescription"]["BackupDetails"]["BackupStatus"] != "CREATING"),
    )["BackupDescription"]["BackupDetails"]
    text = f"{made['BackupName']}  {made['BackupStatus']}  {size(made.get('BackupSizeBytes', 0))}"
    print_result(given, made, f"{text}\n{made['BackupArn']}")
    return 0 if made["BackupStatus"] == "AVAILABLE" else 1
