"""`tablewright db export TABLE`: export a table's items, or its changes, in DynamoDB's export layout.

From a local store the files go to a directory, next to a `table.json` with the definition of the table. They are
written inside the store and moved at the end: if the command is killed earlier, the directory is unchanged.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from tablewright.cli.argument_types import time
from tablewright.cli.db.import_files import DEFINITION
from tablewright.cli.files import refuse_non_directory
from tablewright.cli.format import as_json, plural, size
from tablewright.cli.output import UsageError, print_result
from tablewright.cli.progress import Progress, wait_for
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.client import CallRefused

EXAMPLES = """Point-in-time recovery must be on (`db recovery TABLE --on`). A local store (--data) writes to --to
DIR; a server or AWS writes to a bucket: --bucket NAME. With --since only changes are exported.

tablewright db export pets --to ./pets-export --data ./data
tablewright db export pets --bucket backups --prefix pets --endpoint http://127.0.0.1:8000"""

BUCKET = "exports"
_NO_PAST = "PointInTimeRecoveryUnavailableException"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument("--to", type=Path, metavar="DIR", help="the output directory, for a local store")
    either.add_argument("--bucket", metavar="NAME", help="the output bucket, for a server or AWS")
    parser.add_argument("--prefix", metavar="TEXT", help="the prefix of the keys in the bucket")
    parser.add_argument(
        "--at", type=time, metavar="TIME", help="export the table as of this time, UTC (default: now)"
    )
    parser.add_argument("--since", type=time, metavar="TIME", help="export the changes from this time on")
    parser.add_argument(
        "--until", type=time, metavar="TIME", help="export the changes up to this time (default: now)"
    )
    add_target_options(parser, json="print DynamoDB's description as JSON")


def run(given: argparse.Namespace) -> int:
    """0 if the export completed, 1 if it failed."""
    if given.until is not None and given.since is None:
        raise UsageError("--until needs --since")
    if given.at is not None and given.since is not None:
        raise UsageError("--at cannot be combined with --since and --until")
    return _export(given)


@with_target
def _export(given: argparse.Namespace, target: Target) -> int:
    if given.to is not None and target.engine is None:
        raise UsageError("--to DIR needs a local store (--data); a server writes to a bucket: --bucket NAME")
    if given.to is not None:
        refuse_non_directory(given.to)
    table = target.describe_table(given.table)
    begun = _start(target, given.table, _request(given, table["TableArn"]))
    items = table["ItemCount"] if given.since is None else 0
    done = wait_for(
        f"exporting {given.table}",
        lambda: target.call("DescribeExport", {"ExportArn": begun["ExportArn"]})["ExportDescription"],
        lambda seen: Progress(
            seen["ExportStatus"] != "IN_PROGRESS",
            seen.get("ItemCount", 0),
            max(items, seen.get("ItemCount", 0)) or None,
        ),
    )
    is_whole = done["ExportStatus"] == "COMPLETED"
    if is_whole and given.to is not None:
        _move(target, done, given.to)
        (given.to / DEFINITION).write_text(as_json(table_definition(table)) + "\n")
    print_result(given, done, _outcome(given, done, is_whole))
    return 0 if is_whole else 1


def _start(target: Target, table: str, request: dict[str, Any]) -> dict[str, Any]:
    try:
        begun: dict[str, Any] = target.call("ExportTableToPointInTime", request)["ExportDescription"]
    except CallRefused as refusal:
        if refusal.name != _NO_PAST:
            raise
        raise UsageError(
            f"{table} has no point-in-time recovery, which an export needs; switch it on with "
            f"`tablewright db recovery {table} --on`"
        ) from None
    return begun


def _request(given: argparse.Namespace, arn: str) -> dict[str, Any]:
    request: dict[str, Any] = {"TableArn": arn, "S3Bucket": given.bucket or BUCKET}
    if given.prefix:
        request["S3Prefix"] = given.prefix
    if given.at is not None:
        request["ExportTime"] = given.at
    if given.since is not None:
        period = {"ExportFromTime": given.since}
        if given.until is not None:
            period["ExportToTime"] = given.until
        request |= {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": period}
    return request


def _move(target: Target, done: dict[str, Any], to: Path) -> None:
    """Move the files of an export out of the store's bucket; the manifest last, as it is written last."""
    bucket = Path(target.name) / "buckets" / BUCKET
    summary = Path(done["ExportManifest"])
    listed = (bucket / summary.with_name("manifest-files.json")).read_text().splitlines()
    data = [json.loads(line)["dataFileS3Key"] for line in listed]
    home = [
        path.relative_to(bucket).as_posix() for path in (bucket / summary).parent.rglob("*") if path.is_file()
    ]
    last = summary.as_posix()
    for key in [*dict.fromkeys([*data, *(key for key in home if key != last)]), last]:
        moved = to / key
        moved.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(bucket / key, moved)
    shutil.rmtree((bucket / summary).parent, ignore_errors=True)


def table_definition(table: dict[str, Any]) -> dict[str, Any]:
    """The definition of a table like this one: keys and global indexes, as ImportTable expects."""
    indexes = [
        {name: index[name] for name in ("IndexName", "KeySchema", "Projection")}
        for index in table.get("GlobalSecondaryIndexes", ())
    ]
    used = {one["AttributeName"] for one in [table, *indexes] for one in one["KeySchema"]}
    definition = {
        "AttributeDefinitions": [
            one for one in table["AttributeDefinitions"] if one["AttributeName"] in used
        ],
        "KeySchema": table["KeySchema"],
        "BillingMode": "PAY_PER_REQUEST",
    }
    return definition | ({"GlobalSecondaryIndexes": indexes} if indexes else {})


def _outcome(given: argparse.Namespace, done: dict[str, Any], is_whole: bool) -> str:
    if not is_whole:
        return f"export failed: {done.get('FailureCode', '')} {done.get('FailureMessage', '')}".rstrip()
    where_to = given.to or f"{done['S3Bucket']}/{done.get('ExportManifest', '').rpartition('/')[0]}"
    return (
        f"{plural(done.get('ItemCount', 0), 'item')}, {size(done.get('BilledSizeBytes', 0))}, in {where_to}"
    )
