"""`tablewright db restore`: create a table from a backup, or from a table at a point in time.

After an interruption the same command waits for the running restore.
Must hold: nothing is overwritten; an existing table is refused unless this very restore is creating it. A table
restored earlier from the same source is refused too, since it may have been changed since.
"""

import argparse
import time
from dataclasses import dataclass
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

# The precision of DynamoDB's timestamps.
MILLISECOND = 0.001
DOES_NOT_OVERWRITE = "and a restore does not overwrite; name another table with --to"


@dataclass(frozen=True, slots=True)
class Source:
    """What is restored: the request, a description, the approximate item count, and its identity."""

    verb: str
    request: dict[str, Any]
    text: str
    items: int | None
    arn: str
    has_indexes: bool
    at: float | None = None

    def matches(self, summary: dict[str, Any]) -> bool:
        """True if a running restore with this RestoreSummary is this one; `latest` matches any time."""
        if self.verb == "RestoreTableFromBackup":
            return bool(summary.get("SourceBackupArn") == self.arn)
        if summary.get("SourceBackupArn") is not None or summary.get("SourceTableArn") != self.arn:
            return False
        return self.at is None or abs(float(summary["RestoreDateTime"]) - self.at) <= MILLISECOND


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", nargs="?", help="the table to restore, with --at")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--from", dest="backup", metavar="BACKUP", help="a backup, by name or ARN")
    source.add_argument(
        "--at", type=time_or_latest, metavar="TIME", help="a time in UTC, or `latest`: about five minutes ago"
    )
    parser.add_argument("--to", required=True, metavar="NEWTABLE", help="the table to create")
    parser.add_argument("--no-indexes", action="store_true", help="do not restore the global indexes")
    parser.add_argument("--no-wait", action="store_true", help="return without waiting for completion")
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    """0 if the table was restored, 1 if the restore failed."""
    if (given.backup is None) == (given.table is None):
        raise UsageError("restore needs either TABLE and --at TIME, or --from BACKUP")
    return _restore(given)


@with_target
def _restore(given: argparse.Namespace, target: Target) -> int:
    source, started = _source(given, target), time.monotonic()
    summary = _start_or_find(given, target, source)
    if source.verb == "RestoreTableToPointInTime":
        print_message(f"{given.to}: {given.table} as of {moment(summary['RestoreDateTime'])}")
    if given.no_wait and target.engine is None:
        print(f"{given.to} is being restored")
        return 0
    table = wait_for(
        f"restoring {given.to}",
        lambda: target.find_table(given.to),
        lambda seen: _progress(seen, source.items),
        is_resumable=True,
    )
    if table is None:
        print(f"restoring {given.to} failed; the engine's log has the reason")
        return 1
    print_message(f"time to restore: {duration(time.monotonic() - started)}")
    print(f"restored {given.to}: {plural(table['ItemCount'], 'item')}")
    return 0


def _source(given: argparse.Namespace, target: Target) -> Source:
    request: dict[str, Any] = {"TargetTableName": given.to}
    if given.no_indexes:
        request["GlobalSecondaryIndexOverride"] = []
    if given.backup is not None:
        arn = backup_arn(target.call, given.backup)
        description = target.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
        items = description["SourceTableDetails"].get("ItemCount")
        request["BackupArn"] = arn
        has_indexes = bool(description.get("SourceTableFeatureDetails", {}).get("GlobalSecondaryIndexes"))
        return Source("RestoreTableFromBackup", request, f"the backup {arn}", items, arn, has_indexes)
    table = target.describe_table(given.table)
    request["SourceTableName"] = given.table
    at = None if given.at == LATEST else given.at
    request |= {"UseLatestRestorableTime": True} if at is None else {"RestoreDateTime": at}
    text = f"{given.table} at {LATEST if at is None else moment(at)}"
    has_indexes = bool(table.get("GlobalSecondaryIndexes"))
    return Source(
        "RestoreTableToPointInTime", request, text, table["ItemCount"], table["TableArn"], has_indexes, at
    )


def _start_or_find(given: argparse.Namespace, target: Target, source: Source) -> dict[str, Any]:
    """The RestoreSummary of the table: started now, or by an earlier run of this command."""
    table = target.find_table(given.to)
    if table is None:
        table = target.call(source.verb, source.request)["TableDescription"]
        made: dict[str, Any] = table["RestoreSummary"]
        return made
    summary: dict[str, Any] | None = table.get("RestoreSummary")
    if summary is None:
        raise UsageError(f"{given.to} already exists, {DOES_NOT_OVERWRITE}")
    made_from, another = _source_text(summary), "name another table with --to"
    if not _is_under_way(target, given.to, summary):
        since = f"restored earlier from {made_from} and possibly changed since"
        raise UsageError(f"{given.to} already exists, {since}, {DOES_NOT_OVERWRITE}")
    if not source.matches(summary):
        raise UsageError(f"{given.to} is being restored from {made_from}, not from {source.text}; {another}")
    if source.has_indexes and bool(table.get("GlobalSecondaryIndexes")) is given.no_indexes:
        how = "with" if given.no_indexes else "without"
        raise UsageError(f"{given.to} is being restored {how} its global indexes; {another}")
    print_message(f"continuing the restore of {given.to} from {source.text} that an earlier command started")
    return summary


def _is_under_way(target: Target, name: str, summary: dict[str, Any]) -> bool:
    """True if it is being restored, or was when the store was opened: the restore then continued, and may be done."""
    found = target.engine.found.get(name) if target.engine is not None else None
    return bool(summary["RestoreInProgress"]) or (found is not None and found.status == "CREATING")


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
