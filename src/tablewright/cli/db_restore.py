"""`tablewright db restore`: a new table with what a backup holds, or with what a table held at a moment.

The same command again, after it was cut off, waits for the restore that is under way.
Must hold: nothing is overwritten; a table that is there is refused, unless this very restore is under way. One that was
restored before, from the same source, may have been changed since: to say it is there would be to say it is as it was.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from tablewright.cli import where
from tablewright.cli.backups import backup_arn
from tablewright.cli.moments import LATEST, moment_or_latest
from tablewright.cli.waiting import Stand, waited
from tablewright.cli.words import moment, plural

SUMMARY = "Make a new table from a backup, or from what a table held at a moment."
EXAMPLES = """A restore never overwrites: NEWTABLE must not be there. As on the service it brings back items and
indexes, not tags, time-to-live, stream or recovery. --at needs recovery to have been on (`db recovery TABLE --on`), and
the latest moment is five minutes ago. Cut off, it goes on by itself: the same command again waits for it.

examples:
  tablewright db restore --from before-the-move --to pets-again --data ./data
  tablewright db restore pets --at 2026-11-16T08:30:00Z --to pets-then --endpoint http://127.0.0.1:8000"""

# How exactly the service tells a moment.
MILLISECOND = 0.001


class TableIsThere(where.Misused):
    """The table that is to be made is there already."""

    def __init__(self, table: str, source: str | None = None) -> None:
        since = f", restored from {source} before this and perhaps changed since" if source else ""
        super().__init__(
            f"{table} is there already{since}, and a restore never overwrites: name a table that is not with --to"
        )


class RestoredFromElsewhere(where.Misused):
    """The table is being made at this moment, from something else."""

    def __init__(self, table: str, source: str, wanted: str) -> None:
        super().__init__(
            f"{table} is being restored from {source}, not from {wanted}: name another table with --to"
        )


class RestoredOtherwise(where.Misused):
    """The table is being made at this moment, from the same, with indexes or without them."""

    def __init__(self, table: str, without: bool) -> None:
        how = "with its global indexes, not without" if without else "without its global indexes, not with"
        super().__init__(f"{table} is being restored {how} them: name another table with --to")


@dataclass(frozen=True, slots=True)
class Source:
    """What is restored: how it is asked for, in words, how many items it has about, and what tells it from others."""

    verb: str
    request: dict[str, Any]
    words: str
    items: int | None
    arn: str
    has_indexes: bool
    at: float | None = None

    def is_of(self, summary: dict[str, Any]) -> bool:
        """Whether a table under way with that RestoreSummary is of this restore; `latest` is any moment."""
        if self.verb == "RestoreTableFromBackup":
            return bool(summary.get("SourceBackupArn") == self.arn)
        if summary.get("SourceBackupArn") is not None or summary.get("SourceTableArn") != self.arn:
            return False
        return self.at is None or abs(float(summary["RestoreDateTime"]) - self.at) <= MILLISECOND


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
    source = _source(given, place)
    summary = _begun(given, place, source)
    if source.verb == "RestoreTableToPointInTime":
        print(f"{given.to}: {given.table} as it was at {moment(summary['RestoreDateTime'])}", file=sys.stderr)
    if given.no_wait and place.engine is None:
        print(f"{given.to} is being restored")
        return 0
    table = waited(
        f"restoring {given.to}",
        lambda: _look(place, given.to),
        lambda seen: _stand(seen, source.items),
        is_resumable=True,
    )
    if table is None:
        print(f"the restore of {given.to} failed; the log of the engine says why")
        return 1
    print(f"{given.to} is there, with {plural(table['ItemCount'], 'item')}")
    return 0


def _source(given: argparse.Namespace, place: where.Place) -> Source:
    request: dict[str, Any] = {"TargetTableName": given.to}
    if given.no_indexes:
        request["GlobalSecondaryIndexOverride"] = []
    if given.backup is not None:
        arn = backup_arn(place.call, given.backup)
        told = place.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
        items = told["SourceTableDetails"].get("ItemCount")
        request["BackupArn"] = arn
        has_indexes = bool(told.get("SourceTableFeatureDetails", {}).get("GlobalSecondaryIndexes"))
        return Source("RestoreTableFromBackup", request, f"the backup {arn}", items, arn, has_indexes)
    table = place.call("DescribeTable", {"TableName": given.table})["Table"]
    request["SourceTableName"] = given.table
    at = None if given.at == LATEST else given.at
    request |= {"UseLatestRestorableTime": True} if at is None else {"RestoreDateTime": at}
    words = f"{given.table} at {LATEST if at is None else moment(at)}"
    has_indexes = bool(table.get("GlobalSecondaryIndexes"))
    return Source(
        "RestoreTableToPointInTime", request, words, table["ItemCount"], table["TableArn"], has_indexes, at
    )


def _begun(given: argparse.Namespace, place: where.Place, source: Source) -> dict[str, Any]:
    """The RestoreSummary of the table: begun now, or by an earlier run of this command."""
    table = _look(place, given.to)
    if table is None:
        table = place.call(source.verb, source.request)["TableDescription"]
        made: dict[str, Any] = table["RestoreSummary"]
        return made
    summary: dict[str, Any] | None = table.get("RestoreSummary")
    if summary is None:
        raise TableIsThere(given.to)
    if not _is_under_way(place, given.to, summary):
        raise TableIsThere(given.to, _named(summary))
    if not source.is_of(summary):
        raise RestoredFromElsewhere(given.to, _named(summary), source.words)
    if source.has_indexes and bool(table.get("GlobalSecondaryIndexes")) is given.no_indexes:
        raise RestoredOtherwise(given.to, given.no_indexes)
    print(f"{given.to} is being restored from {source.words} by an earlier request", file=sys.stderr)
    return summary


def _is_under_way(place: where.Place, name: str, summary: dict[str, Any]) -> bool:
    """Whether it is being restored, or was when we opened the store: it went on at once then, and may be done."""
    found = place.engine.found.get(name) if place.engine is not None else None
    return bool(summary["RestoreInProgress"]) or (found is not None and found.status == "CREATING")


def _named(summary: dict[str, Any]) -> str:
    """Where a table comes from, in words."""
    if summary.get("SourceBackupArn") is not None:
        return f"the backup {summary['SourceBackupArn']}"
    table = str(summary.get("SourceTableArn", "")).rpartition("/")[2]
    return f"{table} at {moment(summary['RestoreDateTime'])}"


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
