"""`tablewright db import`: a new table from files: an export, lines of DynamoDB JSON, or CSV.

Files of a directory, or of a bucket of a store, are looked at first (import_files.py, exports_found.py); the buckets of
a server are its own, and of those only the exports it knows of are understood. The same command again, after it was cut
off, waits for the import that is under way.
Must hold: mistakes are told by the files and lines the caller knows, each once.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tablewright.cli import import_files, where
from tablewright.cli.db_export import about
from tablewright.cli.exports_found import ExportUnusable, check
from tablewright.cli.import_files import COMPRESSIONS, FORMATS, Chosen
from tablewright.cli.import_outcome import Job, is_of_nothing, refused_of, show
from tablewright.cli.waiting import Stand, waited
from tablewright.cli.words import moment

SUMMARY = "Make a new table from an export, from lines of DynamoDB JSON, or from CSV."
EXAMPLES = """A directory that holds an export is compared with its manifest and imported whole. The keys of the new
table come from the export (its table.json), from another table (--like), or are said: --keys owner:S,name:S. An item
that a put would refuse is told with its file and line and left out; the code is then 1. Nothing is written into DIR.

examples:
  tablewright db import ./pets-export --to pets-again --data ./data
  tablewright db import ./people --to people --keys email:S --format csv --data ./data"""


class TableIsThere(where.Misused):
    """The table that is to be made is there already."""

    def __init__(self, table: str) -> None:
        super().__init__(
            f"{table} is there already, and an import makes a new table: name one that is not there with --to"
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="DIR", type=Path, nargs="?", help="a directory, or a file, for a store on disk"
    )
    parser.add_argument(
        "--bucket",
        metavar="NAME",
        help="instead of DIR, a bucket of the store, of the server or of Amazon S3",
    )
    parser.add_argument("--prefix", metavar="TEXT", help="only what begins with it")
    parser.add_argument("--to", required=True, metavar="TABLE", help="the table to be made")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--like", metavar="TABLE", help="keys and indexes as this table has them")
    keys.add_argument(
        "--keys", type=key_schema, metavar="NAME:TYPE[,...]", help="its key, such as owner:S,name:S"
    )
    parser.add_argument("--format", choices=tuple(FORMATS), help="of the files (default: by their names)")
    parser.add_argument(
        "--compression",
        choices=tuple(COMPRESSIONS),
        help="of the files (default: by their names; in a server's bucket, gzip)",
    )
    parser.add_argument("--delimiter", help="between the fields of CSV (default: a comma)")
    parser.add_argument("--json", action="store_true", help="print the service's description as JSON")
    where.arguments(parser)


def key_schema(text: str) -> list[tuple[str, str]]:
    parts = [tuple(part.rpartition(":")[::2]) for part in text.split(",")]
    if not 1 <= len(parts) <= 2 or any(not name or kind not in ("S", "N", "B") for name, kind in parts):
        raise argparse.ArgumentTypeError(
            f"a key is one or two attributes with their types (S, N, B), such as owner:S,name:S, not {text!r}"
        )
    return [(name, kind) for name, kind in parts]


def run(given: argparse.Namespace) -> int:
    """0 when all items are in, 1 when some were left out, or there were none, or it failed."""
    if (given.source is None) == (given.bucket is None):
        return where.misused("import takes either a directory DIR or --bucket NAME")
    if given.source is not None and not given.source.exists():
        return where.misused(f"there is no directory, and no file, {given.source}")
    return where.at(given, lambda place: _import(given, place))


def _import(given: argparse.Namespace, place: where.Place) -> int:
    if given.source is not None and place.engine is None:
        raise where.Misused("DIR is for a store (--data); a server reads from a bucket: --bucket NAME")
    job = _of_server(given, place) if place.engine is None else _of_store(given, place)
    arn = _known(given, place, job)
    with _lent(place, job, is_new=arn is None) as bucket:
        if arn is None:
            arn = place.call("ImportTable", _request(given, job))["ImportTableDescription"]["ImportArn"]
        done = _waited(given, place, arn, job.weight)
        refused = refused_of(given, job, done, bucket)
    is_whole = done["ImportStatus"] == "COMPLETED" and job.items in (None, done["ProcessedItemCount"])
    show(given, job, done, refused, is_whole)
    return 0 if is_whole and not is_of_nothing(job, done) else 1


def _waited(given: argparse.Namespace, place: where.Place, arn: str, weight: int | None) -> dict[str, Any]:
    """The import when it is over."""
    return waited(
        f"importing {given.to}",
        lambda: dict(place.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]),
        lambda seen: Stand(
            seen["ImportStatus"] != "IN_PROGRESS",
            min(seen.get("ProcessedSizeBytes", 0), weight or 0),
            weight,
        ),
        is_resumable=True,
    )


def _known(given: argparse.Namespace, place: where.Place, job: Job) -> str | None:
    """The import that makes this table from there, if an earlier run of this command asked for it and was cut off."""
    from tablewright.client import CallRefused

    try:
        table = place.call("DescribeTable", {"TableName": given.to})["Table"]
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return None
    # What is still lent was not told of, though the import may have ended by now.
    is_lent = job.files is not None and (_buckets(place) / job.bucket).is_dir()
    for one in place.call("ListImports", {"TableArn": table["TableArn"]})["ImportSummaryList"]:
        is_open = is_lent or (job.files is None and one["ImportStatus"] == "IN_PROGRESS")
        if is_open and one["S3BucketSource"]["S3Bucket"] == job.bucket:
            print(f"{given.to} is imported from there by an earlier request", file=sys.stderr)
            return str(one["ImportArn"])
    raise TableIsThere(given.to)


def _request(given: argparse.Namespace, job: Job) -> dict[str, Any]:
    source = {"S3Bucket": job.bucket} | ({"S3KeyPrefix": job.prefix} if job.prefix else {})
    request: dict[str, Any] = {
        "S3BucketSource": source,
        "InputFormat": FORMATS[job.form],
        "InputCompressionType": COMPRESSIONS[job.packed],
        "TableCreationParameters": {"TableName": given.to} | job.table,
    }
    if given.delimiter is not None:
        request["InputFormatOptions"] = {"Csv": {"Delimiter": given.delimiter}}
    return request


# --- the files of a store: a directory, or one of its buckets ---


def _of_store(given: argparse.Namespace, place: where.Place) -> Job:
    source = given.source if given.source is not None else _buckets(place) / given.bucket
    if not source.exists():
        raise where.Misused(f"there is no bucket {given.bucket} in {place.name}: it would be {source}")
    files = import_files.chosen(source, given.prefix, given.format, given.compression)
    table = _table(given, place, import_files.table_of(files))
    print(f"importing {import_files.source_words(files)}", file=sys.stderr)
    if files.left_out:
        print(f"left out, by their names: {', '.join(files.left_out)}", file=sys.stderr)
    if files.export is not None:
        _check(files)
    items = None if files.export is None else files.export.items
    name = import_files.lent_name(source, given.to)
    return Job(name, "", files.form, files.packed, table, files.weight or None, items, files)


def _check(files: Chosen) -> None:
    """Compare an export's files with the checksums its manifest tells; a bar, since they may be large."""
    from tablewright.app.progress import Terminal

    told = Terminal(sys.stderr, has_bar=True)
    try:
        for number, file in enumerate(files.listed):
            told(number, len(files.listed), "comparing checksums")
            check(file)
    finally:
        told.end()
    print("checksums and counts are as its manifest says", file=sys.stderr)


def _buckets(place: where.Place) -> Path:
    return Path(place.name) / "buckets"


@contextmanager
def _lent(place: where.Place, job: Job, *, is_new: bool) -> Iterator[Path | None]:
    """While the import is at work, its files are lent to the store, in the directory that is handed out."""
    if job.files is None:
        yield None
        return
    buckets = _buckets(place)
    listed = place.call("ListImports", {})["ImportSummaryList"]
    at_work = {one["S3BucketSource"]["S3Bucket"] for one in listed if one["ImportStatus"] == "IN_PROGRESS"}
    import_files.take_back_all(buckets, at_work if is_new else {*at_work, job.bucket})
    if is_new:
        import_files.lend(buckets, job.bucket, job.files)
    try:
        yield buckets / job.bucket
    except KeyboardInterrupt:
        raise  # the import goes on when the store is opened again, and needs its files then
    except BaseException:
        if is_new:
            import_files.take_back(buckets, job.bucket)
        raise
    import_files.take_back(buckets, job.bucket)


# --- the bucket of a server: only the exports it knows of ---


def _of_server(given: argparse.Namespace, place: where.Place) -> Job:
    export = None if given.format == "csv" else _export_known(given, place)
    if export is None:
        form, packed = given.format or "json", given.compression or "gzip"
        return Job(given.bucket, given.prefix or "", form, packed, _table(given, place, None))
    made = moment(export.get("ExportTime"))
    source = str(export["TableArn"]).rpartition("/")[2]
    print(f"importing the export of {source} of {made} in {given.bucket}", file=sys.stderr)
    table = _table(given, place, _described(place, source))
    return Job(given.bucket, _data_of(export), "json", "gzip", table, None, export.get("ItemCount"))


def _data_of(export: dict[str, Any]) -> str:
    return f"{export['ExportManifest'].rpartition('/')[0]}/data/"


def _export_known(given: argparse.Namespace, place: where.Place) -> dict[str, Any] | None:
    """The newest full export that the server wrote into that bucket, under that prefix."""
    from tablewright.client import CallRefused

    try:
        listed = place.call("ListExports", {"MaxResults": 25})["ExportSummaries"]
    except CallRefused:  # who may import need not be allowed to look at exports
        return None
    prefix, changes = given.prefix or "", False
    for one in sorted(listed, key=lambda one: str(one["ExportArn"]).rpartition("/")[2], reverse=True):
        if one["ExportStatus"] != "COMPLETED":
            continue
        export: dict[str, Any] = place.call("DescribeExport", {"ExportArn": one["ExportArn"]})[
            "ExportDescription"
        ]
        if (
            export["S3Bucket"] != given.bucket
            or export.get("ExportFormat", "DYNAMODB_JSON") != "DYNAMODB_JSON"
        ):
            continue
        is_meant = export["ExportManifest"].startswith(prefix) or prefix == _data_of(export)
        if is_meant and export.get("ExportType", "FULL_EXPORT") == "FULL_EXPORT":
            return export
        changes = changes or is_meant
    if changes:
        raise ExportUnusable(
            f"the bucket {given.bucket} holds an incremental export, which tells what changed, not what there was; "
            "only a full one makes a table (the service cannot import it either)"
        )
    return None


def _described(place: where.Place, table: str) -> dict[str, Any] | None:
    """How to make such a table again, if it is there."""
    from tablewright.client import CallRefused

    try:
        return about(place.call("DescribeTable", {"TableName": table})["Table"])
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return None


# --- the table ---


def _table(given: argparse.Namespace, place: where.Place, known: dict[str, Any] | None) -> dict[str, Any]:
    if given.keys is not None:
        kinds = [{"AttributeName": name, "AttributeType": kind} for name, kind in given.keys]
        roles = zip(given.keys, ("HASH", "RANGE"), strict=False)
        schema = [{"AttributeName": name, "KeyType": role} for (name, _), role in roles]
        return {"AttributeDefinitions": kinds, "KeySchema": schema, "BillingMode": "PAY_PER_REQUEST"}
    if given.like is not None:
        return about(place.call("DescribeTable", {"TableName": given.like})["Table"])
    if known is None:
        raise where.Misused(
            "what the key of the new table is must be said: --keys owner:S,name:S or --like TABLE"
        )
    return known
