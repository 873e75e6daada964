"""`tablewright db restore`: create a table from a backup, or from a table at a point in time.

After an interruption the same command waits for the restore that is running.
Must hold: nothing is overwritten; an existing table is refused unless a restore is creating it.
"""

import argparse
import time
from typing import Any

from tablewright.cli.argument_types import LATEST, time_or_latest
from tablewright.cli.db.backups import backup_arn
from tablewright.cli.format import moment, plural
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.progress import Progress, wait_for
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.pages.words import duration

EXAMPLES = """NEWTABLE must not exist. As on AWS, items and indexes are restored, but not tags, time to live, stream
or recovery. --at needs point-in-time recovery (`db recovery TABLE --on`), and the latest time is five minutes ago. An
interrupted restore continues in the background; the same command waits for it.

tablewright db restore --from before-the-move --to pets-again --data ./data
tablewright db restore pets --at 2026-11-16T08:30:00Z --to pets-then --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", nargs="?", help="the table to restore, with --at")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--from", dest="backup", metavar="BACKUP", help="a backup, by name or ARN")
    source.add_argument(
        "--at", type=time_or_latest, metavar="TIME", help="a time in UTC, or `latest`: about five minutes ago"
    )
    parser.add_argument("--to", required=True, metavar="NEWTABLE", help="the table to create")
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    """0 if the table was restored, 1 if the restore failed."""
    if (given.backup is None) == (given.table is None):
        raise UsageError("restore needs either TABLE and --at TIME, or --from BACKUP")
    return _restore(given)


@with_target
def _restore(given: argparse.Namespace, target: Target) -> int:
    started = time.monotonic()
    summary, items = _start_or_find(given, target)
    print_message(f"restoring {given.to} from {_source_text(summary)}")
    table = wait_for(
        f"restoring {given.to}",
        lambda: target.find_table(given.to),
        lambda seen: _progress(seen, items),
    )
    if table is None:
        print(f"restoring {given.to} failed; the engine's log has the reason")
        return 1
    print_message(f"time to restore: {duration(time.monotonic() - started)}")
    print(f"restored {given.to}: {plural(table['ItemCount'], 'item')}")
    return 0


def _start_or_find(given: argparse.Namespace, target: Target) -> tuple[dict[str, Any], int | None]:
    """The RestoreSummary of the new table, and about how many items it will have: started now, or found running."""
    table = target.find_table(given.to)
    if table is not None:
        summary: dict[str, Any] = table.get("RestoreSummary") or {}
        # A restore that continued when this process opened the store may be done by now.
        opened = target.engine.found.get(given.to) if target.engine is not None else None
        is_running = opened.status == "CREATING" if opened is not None else summary.get("RestoreInProgress")
        if not is_running:
            why = "and a restore does not overwrite; name another table with --to"
            raise UsageError(f"{given.to} already exists, {why}")
        return summary, None
    verb, request, items = _request(given, target)
    made = target.call(verb, {"TargetTableName": given.to, **request})["TableDescription"]
    return made["RestoreSummary"], items


def _request(given: argparse.Namespace, target: Target) -> tuple[str, dict[str, Any], int | None]:
    """The verb and request of the restore, and about how many items the source has."""
    if given.backup is not None:
        arn = backup_arn(target.call, given.backup)
        description = target.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
        return (
            "RestoreTableFromBackup",
            {"BackupArn": arn},
            description["SourceTableDetails"].get("ItemCount"),
        )
    at = {"UseLatestRestorableTime": True} if given.at == LATEST else {"RestoreDateTime": given.at}
    items = target.describe_table(given.table)["ItemCount"]
    return "RestoreTableToPointInTime", {"SourceTableName": given.table, **at}, items


def _source_text(summary: dict[str, Any]) -> str:
    """The source of a restored table, for messages."""
    if summary.get("SourceBackupArn") is not None:
        return f"the backup {summary['SourceBackupArn']}"
    table = str(summary.get("SourceTableArn", "")).rpartition("/")[2]
    return f"{table} at {moment(summary['RestoreDateTime'])}"


def _progress(table: dict[str, Any] | None, items: int | None) -> Progress:
    if table is None or table["TableStatus"] == "ACTIVE":
        return Progress(True)
    # AWS reports no items before the end; the past may have had more items than the table has now.
    done = table["ItemCount"]
    return Progress(False, done, max(items, done) if items and done else None)
