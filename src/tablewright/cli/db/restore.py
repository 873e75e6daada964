"""`tablewright db restore`: create a table from a backup, or from a table at a point in time; with --switch, compare it
with the table as it is now, and put that back.

After an interruption the same command waits for the restore that is running.
Must hold: nothing is overwritten without --switch and --yes; an existing table is refused unless a restore is creating
it, or it was restored from the same and is to be switched to. Writes of others during the switch are never lost.
"""

import argparse
import time
from collections.abc import Sequence
from typing import Any

from tablewright.cli.argument_types import LATEST, time_or_latest
from tablewright.cli.db.backups import backup_arn
from tablewright.cli.format import as_line, as_table, moment, plural
from tablewright.cli.output import UsageError, add_yes_option, confirm_plan, print_message
from tablewright.cli.progress import Progress, wait_for
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.client.comparison import Difference, differences
from tablewright.client.reversal import put_back
from tablewright.english import duration

EXAMPLES = """NEWTABLE must not exist. As on AWS, items and indexes are restored, but not tags, time to live, stream
or recovery. --at needs point-in-time recovery (`db recovery TABLE --on`), and the latest time is five minutes ago. An
interrupted restore continues in the background; the same command waits for it.
--switch goes on when NEWTABLE is there: it lists what differs in the table; with --yes the table gets back the items
that were changed or deleted since, while it is used. An item that is written in the meantime is left and listed. Items
that were added since stay, unless --delete-added.

tablewright db restore --from before-the-move --to pets-again --data ./data
tablewright db restore pets --at 2026-11-16T08:30:00Z --to pets-then --switch --endpoint http://127.0.0.1:8000"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", nargs="?", help="the table to restore, with --at")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--from", dest="backup", metavar="BACKUP", help="a backup, by name or ARN")
    source.add_argument(
        "--at", type=time_or_latest, metavar="TIME", help="a time in UTC, or `latest`: about five minutes ago"
    )
    parser.add_argument("--to", required=True, metavar="NEWTABLE", help="the table to create")
    parser.add_argument(
        "--switch", action="store_true", help="compare, and put the items that differ back into the table"
    )
    parser.add_argument("--delete-added", action="store_true", help="with --switch: delete items added since")
    add_yes_option(parser)
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    """0 if the table was restored, 1 if that failed, or if differences are left that were to be put back."""
    if (given.backup is None) == (given.table is None):
        raise UsageError("restore needs either TABLE and --at TIME, or --from BACKUP")
    if (given.delete_added or given.yes) and not given.switch:
        raise UsageError("--delete-added and --yes need --switch")
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
    return _switch(given, target, _source_table(summary)) if given.switch else 0


def _start_or_find(given: argparse.Namespace, target: Target) -> tuple[dict[str, Any], int | None]:
    """The RestoreSummary of the new table, and about how many items it will have: started now, or found running."""
    table = target.find_table(given.to)
    if table is not None:
        summary: dict[str, Any] = table.get("RestoreSummary") or {}
        # A restore that continued when this process opened the store may be done by now.
        opened = target.engine.found.get(given.to) if target.engine is not None else None
        is_running = opened.status == "CREATING" if opened is not None else summary.get("RestoreInProgress")
        if not is_running and not (given.switch and _is_of_the_same(given, target, summary)):
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


def _is_of_the_same(given: argparse.Namespace, target: Target, summary: dict[str, Any]) -> bool:
    """Whether an existing table was restored from what is asked for: a plan was shown, and --yes was added."""
    if not summary:
        return False
    if given.backup is not None:
        return bool(summary.get("SourceBackupArn") == backup_arn(target.call, given.backup))
    is_then = given.at == LATEST or float(summary["RestoreDateTime"]) == float(given.at)
    return is_then and "SourceBackupArn" not in summary and _source_table(summary) == given.table


# --- the switch ---


def _switch(given: argparse.Namespace, target: Target, table: str) -> int:
    if not given.yes:
        return _plan(given, target, table)
    began, done, left = time.monotonic(), 0, list[Difference]()
    for difference, is_done in put_back(target.call, given.to, table, delete_added=given.delete_added):
        done += is_done
        left += [] if is_done else [difference]
    print_message(f"time to switch: {duration(time.monotonic() - began)}; {given.to} is kept")
    print(f"{plural(done, 'item')} of {table} put back")
    if left:
        print(
            f"{_listed(left)}\n{plural(len(left), 'item')} written in the meantime and left; repeat the command"
        )
    return 1 if left else 0


def _plan(given: argparse.Namespace, target: Target, table: str) -> int:
    found = list(differences(target.call, given.to, table))
    if found:
        print(_listed(found))
    kinds = [one.kind for one in found]
    added = "deletes" if given.delete_added else "leaves"
    confirm_plan(
        given,
        f"will set back {kinds.count('changed')} changed and put again {kinds.count('removed')} removed items of "
        f"{table}; {added} {kinds.count('added')} added since",
    )
    return 1


def _listed(found: Sequence[Difference]) -> str:
    rows = [(one.kind, as_line(one.key), ", ".join(one.attributes)) for one in found]
    return as_table(("what", "key", "attributes"), rows)


def _source_table(summary: dict[str, Any]) -> str:
    return str(summary.get("SourceTableArn", "")).rpartition("/")[2]


def _source_text(summary: dict[str, Any]) -> str:
    """The source of a restored table, for messages."""
    if summary.get("SourceBackupArn") is not None:
        return f"the backup {summary['SourceBackupArn']}"
    return f"{_source_table(summary)} at {moment(summary['RestoreDateTime'])}"


def _progress(table: dict[str, Any] | None, items: int | None) -> Progress:
    if table is None or table["TableStatus"] == "ACTIVE":
        return Progress(True)
    # AWS reports no items before the end; the past may have had more items than the table has now.
    done = table["ItemCount"]
    return Progress(False, done, max(items, done) if items and done else None)
