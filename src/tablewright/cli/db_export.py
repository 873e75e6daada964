"""`tablewright db export TABLE`: a table's items, or its changes, as files in the service's own layout.

Of a store they come into a directory, with a `table.json` beside them that says how to make the table again. They are
written inside the store and moved when all are there: killed before, the directory is as it was.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from tablewright.cli import where
from tablewright.cli.import_files import ABOUT
from tablewright.cli.moments import moment_of
from tablewright.cli.waiting import Stand, waited
from tablewright.cli.words import as_json, plural, size

SUMMARY = "Export a table as it was at a moment, or what changed in it, as compressed JSON files."
EXAMPLES = """Recovery must be on (`db recovery TABLE --on`). Of a store (--data) the files go to --to DIR; a server or
Amazon writes to a bucket of its own: --bucket NAME. With --since only changes are exported.

examples:
  tablewright db export pets --to ./pets-export --data ./data
  tablewright db export pets --bucket backups --prefix pets --endpoint http://127.0.0.1:8000"""

BUCKET = "exports"
_NO_PAST = "PointInTimeRecoveryUnavailableException"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--to", type=Path, metavar="DIR", help="a directory, for a store on disk")
    place.add_argument("--bucket", metavar="NAME", help="a bucket of the server, or of Amazon S3")
    parser.add_argument("--prefix", metavar="TEXT", help="what the keys in the bucket begin with")
    parser.add_argument("--at", type=moment_of, metavar="TIME", help="a moment in UTC (default: now)")
    parser.add_argument("--since", type=moment_of, metavar="TIME", help="changes from this moment on")
    parser.add_argument(
        "--until", type=moment_of, metavar="TIME", help="changes up to this moment (default: now)"
    )
    parser.add_argument("--json", action="store_true", help="print the service's description as JSON")
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when all is written, 1 when it failed."""
    if given.until is not None and given.since is None:
        return where.misused("--until goes with --since")
    if given.at is not None and given.since is not None:
        return where.misused("--at is one moment, --since and --until are two: choose")
    return where.at(given, lambda place: _export(given, place))


def _export(given: argparse.Namespace, place: where.Place) -> int:
    if given.to is not None and place.engine is None:
        raise where.Misused("--to DIR is for a store (--data); a server writes to a bucket: --bucket NAME")
    table = place.call("DescribeTable", {"TableName": given.table})["Table"]
    begun = _begun(place, given.table, _request(given, table["TableArn"]))
    items = table["ItemCount"] if given.since is None else 0
    done = waited(
        f"exporting {given.table}",
        lambda: place.call("DescribeExport", {"ExportArn": begun["ExportArn"]})["ExportDescription"],
        lambda seen: Stand(
            seen["ExportStatus"] != "IN_PROGRESS",
            seen.get("ItemCount", 0),
            max(items, seen.get("ItemCount", 0)) or None,
        ),
    )
    is_whole = done["ExportStatus"] == "COMPLETED"
    if is_whole and given.to is not None:
        _move(place, done, given.to)
        (given.to / ABOUT).write_text(as_json(about(table)) + "\n")
    _show(given, done, is_whole)
    return 0 if is_whole else 1


def _begun(place: where.Place, table: str, request: dict[str, Any]) -> dict[str, Any]:
    from tablewright.client import CallRefused

    try:
        begun: dict[str, Any] = place.call("ExportTableToPointInTime", request)["ExportDescription"]
    except CallRefused as refusal:
        if refusal.name != _NO_PAST:
            raise
        raise where.Misused(
            f"the past of {table} is not kept, and an export is of a moment; from now on it is with: "
            f"tablewright db recovery {table} --on"
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


def _move(place: where.Place, done: dict[str, Any], to: Path) -> None:
    """The files of an export out of the store's own bucket; the manifest last, as it was written."""
    bucket = Path(place.name) / "buckets" / BUCKET
    summary = Path(done["ExportManifest"])
    listed = (bucket / summary.with_name("manifest-files.json")).read_text().splitlines()
    data = [json.loads(line)["dataFileS3Key"] for line in listed]
    home = [
        path.relative_to(bucket).as_posix() for path in (bucket / summary).parent.rglob("*") if path.is_file()
    ]
    last = summary.as_posix()
    for key in [*dict.fromkeys([*data, *(key for key in home if key != last)]), last]:
        target = to / key
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(bucket / key, target)
    shutil.rmtree((bucket / summary).parent, ignore_errors=True)


def about(table: dict[str, Any]) -> dict[str, Any]:
    """What makes such a table again: keys and global indexes, as ImportTable wants them."""
    about: dict[str, Any] = {name: table[name] for name in ("AttributeDefinitions", "KeySchema")}
    about["BillingMode"] = "PAY_PER_REQUEST"
    indexes = [
        {name: index[name] for name in ("IndexName", "KeySchema", "Projection")}
        for index in table.get("GlobalSecondaryIndexes", ())
    ]
    used = {one["AttributeName"] for one in [table, *indexes] for one in one["KeySchema"]}
    about["AttributeDefinitions"] = [
        one for one in table["AttributeDefinitions"] if one["AttributeName"] in used
    ]
    return about | ({"GlobalSecondaryIndexes": indexes} if indexes else {})


def _show(given: argparse.Namespace, done: dict[str, Any], is_whole: bool) -> None:
    if given.json:
        print(as_json(done))
    elif is_whole:
        where_to = given.to or f"{done['S3Bucket']}/{done.get('ExportManifest', '').rpartition('/')[0]}"
        print(
            f"{plural(done.get('ItemCount', 0), 'item')}, {size(done.get('BilledSizeBytes', 0))}, in {where_to}"
        )
    else:
        print(f"the export failed: {done.get('FailureCode', '')} {done.get('FailureMessage', '')}".rstrip())
