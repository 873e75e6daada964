"""`tablewright db backup create TABLE`: keep a table as it is now, until the backup is deleted."""

import argparse

from tablewright.cli import where
from tablewright.cli.waiting import Stand, waited
from tablewright.cli.words import as_json, size

SUMMARY = "Make a backup of a table as it is at this moment; it outlives the table."
EXAMPLES = """examples:
  tablewright db backup create pets --data ./data
  tablewright db backup create pets --name before-the-move --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name")
    parser.add_argument("--name", help="of the backup (default: the table's and the time)")
    parser.add_argument("--no-wait", action="store_true", help="do not wait until it is there")
    parser.add_argument("--json", action="store_true", help="print the backup's description as JSON")
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _create(given, place))


def _create(given: argparse.Namespace, place: where.Place) -> int:
    from tablewright.world import real_world

    name = given.name or f"{given.table}-{real_world().now():%Y%m%dT%H%M%SZ}"
    made = place.call("CreateBackup", {"TableName": given.table, "BackupName": name})["BackupDetails"]
    # A store that is closed at the end of this command would go on with it only when it is opened again.
    if not given.no_wait or place.engine is not None:
        made = waited(
            f"backup {name}",
            lambda: place.call("DescribeBackup", {"BackupArn": made["BackupArn"]}),
            lambda seen: Stand(seen["BackupDescription"]["BackupDetails"]["BackupStatus"] != "CREATING"),
        )["BackupDescription"]["BackupDetails"]
    if given.json:
        print(as_json(made))
    else:
        print(f"{made['BackupName']}  {made['BackupStatus']}  {size(made.get('BackupSizeBytes', 0))}")
        print(made["BackupArn"])
    return 0 if made["BackupStatus"] in ("AVAILABLE", "CREATING") else 1
