"""`tablewright db restore`: a new table with what a backup holds, or with what a table held at a moment."""

import argparse
import sys
from datetime import UTC, datetime
from typing import Any

from tablewright.cli import where
from tablewright.cli.backups import backup_arn
from tablewright.cli.moments import LATEST, moment_or_latest
from tablewright.cli.waiting import Stand, waited
from tablewright.cli.words import count

SUMMARY = "Make a new table from a backup, or from what a table held at a moment."
EXAMPLES = """A restore never overwrites: NEWTABLE must not be there. As on the service it brings back items and
indexes, not tags, time-to-live, stream or recovery. --at needs recovery to have been on (`db recovery TABLE --on`).

examples:
  tablewright db restore --from before-the-move --to pets-again --data ./data
  tablewright db restore pets --at 2026-11-16T08:30:00Z --to pets-then --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", nargs="?", help="whose past it is, with --at")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--from", dest="backup", metavar="BACKUP", help="a backup: its name, or its ARN")
    source.add_argument(
        "--at",
        type=moment_or_latest,
        metavar="TIME",
        help="a moment in UTC, or `latest`, which is some five minutes ago",
    )
    parser.add_argument("--to", required=True, metavar="NEWTABLE", help="the table to be made")
    parser.add_argument("--no-indexes", action="store_true", help="leave the global indexes out")
    parser.add_argument("--no-wait", action="store_true", help="do not wait until it is there")
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when the table is there, 1 when the restore failed."""
    if (given.backup is None) == (given.table is None):
        return where.misused("restore takes either TABLE and --at TIME, or --from BACKUP")
    return where.at(given, lambda place: _restore(given, place))


def _restore(given: argparse.Namespace, place: where.Place) -> int:
    request: dict[str, Any] = {"TargetTableName": given.to}
    if given.no_indexes:
        request["GlobalSecondaryIndexOverride"] = []
    if given.backup is not None:
        arn = backup_arn(place.call, given.backup)
        told = place.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
        items = told["SourceTableDetails"].get("ItemCount")
        place.call("RestoreTableFromBackup", request | {"BackupArn": arn})
    else:
        items = place.call("DescribeTable", {"TableName": given.table})["Table"]["ItemCount"]
        moment = {"UseLatestRestorableTime": True} if given.at == LATEST else {"RestoreDateTime": given.at}
        made = place.call("RestoreTableToPointInTime", request | moment | {"SourceTableName": given.table})
        taken = made["TableDescription"]["RestoreSummary"]["RestoreDateTime"]
        print(f"{given.to}: {given.table} as it was at {_utc(taken)}", file=sys.stderr)
    if given.no_wait and place.engine is None:
        print(f"{given.to} is being restored")
        return 0
    table = waited(f"restoring {given.to}", lambda: _look(place, given.to), lambda seen: _stand(seen, items))
    if table is None:
        print(f"the restore of {given.to} failed; the log of the engine says why")
        return 1
    print(f"{given.to} is there, with {count(table['ItemCount'])} items")
    return 0


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def _look(place: where.Place, name: str) -> dict[str, Any] | None:
    """The table; None if it went away, which is how a restore fails."""
    from tablewright.client import CallRefused

    try:
        table: dict[str, Any] = place.call("DescribeTable", {"TableName": name})["Table"]
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return None
    return table


def _stand(table: dict[str, Any] | None, items: int | None) -> Stand:
    if table is None or table["TableStatus"] == "ACTIVE":
        return Stand(True)
    # Amazon tells of no items before the end; the past may have held more than there is now.
    done = table["ItemCount"]
    return Stand(False, done, max(items, done) if items and done else None)
