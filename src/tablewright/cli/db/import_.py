"""`tablewright db import`: create a table from files: an export, DynamoDB JSON lines, or CSV.

Files of a directory, or of a bucket in a local store, are inspected first (import_files.py, export_directory.py). A
local store reads them itself, and is created if missing; to a server they are sent as writes (import_upload.py). The
buckets of a server are read only by the server, which knows the exports it wrote. After an
interruption, the same command waits for the running import, or writes all items again.
Must hold: each refused item is reported once, by the user's own file and line.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tablewright.cli.db import import_files
from tablewright.cli.db.export import table_definition
from tablewright.cli.db.export_directory import ExportUnusable, verify_checksum
from tablewright.cli.db.import_files import COMPRESSIONS, FORMATS, ImportFiles
from tablewright.cli.db.import_outcome import (
    ImportJob,
    RefusedItem,
    is_empty_import,
    print_outcome,
    refused_items,
)
from tablewright.cli.db.import_upload import EXISTS, trial_table, upload
from tablewright.cli.format import moment
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.progress import Progress, progress_bar, wait_for
from tablewright.cli.target import REGION, Target, add_target_options, with_target
from tablewright.client import CallRefused
from tablewright.engine import Engine
from tablewright.engine.storage.sqlite import exists

EXAMPLES = """An export is verified against its manifest before it is imported. The keys of the new table come from
the export (table.json), from another table (--like) or from --keys owner:S,name:S. An item that PutItem would refuse
is reported with its file and line and skipped; the exit code is then 1. DIR is not changed. A --data store that does
not exist is created. With --endpoint the items are sent to the server.

tablewright db import ./pets-export --to pets --endpoint http://127.0.0.1:8000
tablewright db import ./people --to people --keys email:S --format csv --data ./data"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="DIR", type=Path, nargs="?", help="a directory or a file")
    parser.add_argument(
        "--bucket", metavar="NAME", help="instead of DIR, a bucket of the store, of the server or of AWS"
    )
    parser.add_argument("--prefix", metavar="TEXT", help="only files whose path starts with TEXT")
    parser.add_argument("--to", required=True, metavar="TABLE", help="the table to create")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--like", metavar="TABLE", help="use the keys and indexes of this table")
    keys.add_argument(
        "--keys",
        type=key_schema,
        metavar="NAME:TYPE[,...]",
        help="the key of the new table, such as owner:S,name:S",
    )
    parser.add_argument("--format", choices=tuple(FORMATS), help="the file format (default: by file name)")
    parser.add_argument(
        "--compression",
        choices=tuple(COMPRESSIONS),
        help="the compression (default: by file name; gzip in a server's bucket)",
    )
    parser.add_argument("--delimiter", help="the CSV delimiter (default: a comma)")
    add_target_options(parser, json="print DynamoDB's description as JSON")


def key_schema(text: str) -> list[tuple[str, str]]:
    parts = [tuple(part.rpartition(":")[::2]) for part in text.split(",")]
    if not 1 <= len(parts) <= 2 or any(not name or kind not in ("S", "N", "B") for name, kind in parts):
        raise argparse.ArgumentTypeError(
            f"must be one or two attributes with types (S, N or B), such as owner:S,name:S, got {text!r}"
        )
    return [(name, kind) for name, kind in parts]


def run(given: argparse.Namespace) -> int:
    """0 if all items were imported; 1 if some were refused, there were none, or the import failed."""
    if (given.source is None) == (given.bucket is None):
        raise UsageError("import needs either DIR or --bucket NAME")
    if given.source is not None and not given.source.exists():
        raise UsageError(f"no such file or directory: {given.source}")
    _make_store(given)
    return _import(given)


def _make_store(given: argparse.Namespace) -> None:
    """Create the --data store if it does not exist, after the files and keys have been checked."""
    if given.data is None or given.source is None or given.like is not None or exists(given.data):
        return
    files = import_files.select_files(given.source, given.prefix, given.format, given.compression)
    trial_table(_new_definition(given, import_files.saved_definition(files)))
    print_message(f"creating a new store in {given.data}")
    with Engine.open(given.data, region=given.region or REGION):
        pass


@with_target
def _import(given: argparse.Namespace, target: Target) -> int:
    if given.bucket is not None and target.engine is None:
        job = _job_from_bucket(given, target)
    else:
        job = _job_from_files(given, target)
    if given.source is not None and target.engine is None:
        uploaded = upload(given, target, job)
        done, refused = uploaded.description(), uploaded.refused
    else:
        done, refused = _run_import(given, target, job)
    is_whole = done["ImportStatus"] == "COMPLETED" and job.items in (None, done["ProcessedItemCount"])
    print_outcome(given, job, done, refused, is_whole)
    return 0 if is_whole and not is_empty_import(job, done) else 1


def _run_import(
    given: argparse.Namespace, target: Target, job: ImportJob
) -> tuple[dict[str, Any], list[RefusedItem]]:
    """Start or find the import and wait for it; returns its last description and the refused items."""
    arn = _find_running(given, target, job)
    with _linked(target, job, is_new=arn is None) as bucket:
        if arn is None:
            arn = target.call("ImportTable", _request(given, job))["ImportTableDescription"]["ImportArn"]
        done = wait_for(
            f"importing {given.to}",
            lambda: dict(target.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]),
            lambda seen: Progress(
                seen["ImportStatus"] != "IN_PROGRESS",
                min(seen.get("ProcessedSizeBytes", 0), job.weight or 0),
                job.weight,
            ),
            is_resumable=True,
        )
        return done, refused_items(given, job, done, bucket)


def _find_running(given: argparse.Namespace, target: Target, job: ImportJob) -> str | None:
    """The ARN of the import into this table from the same files, if an interrupted run of this command started it."""
    table = target.find_table(given.to)
    if table is None:
        return None
    # Links that still exist mean that the outcome was not printed, even if the import has ended by now.
    has_links = job.files is not None and (_buckets(target) / job.bucket).is_dir()
    for one in target.call("ListImports", {"TableArn": table["TableArn"]})["ImportSummaryList"]:
        is_open = has_links or (job.files is None and one["ImportStatus"] == "IN_PROGRESS")
        if is_open and one["S3BucketSource"]["S3Bucket"] == job.bucket:
            print_message(f"continuing the import into {given.to} that an earlier command started")
            return str(one["ImportArn"])
    raise UsageError(EXISTS.format(given.to))


def _request(given: argparse.Namespace, job: ImportJob) -> dict[str, Any]:
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


# --- files of a directory, or of a bucket in a local store ---


def _job_from_files(given: argparse.Namespace, target: Target) -> ImportJob:
    source = given.source if given.source is not None else _buckets(target) / given.bucket
    if not source.exists():
        raise UsageError(f"no bucket {given.bucket} in {target.name}: {source} does not exist")
    files = import_files.select_files(source, given.prefix, given.format, given.compression)
    table = _definition(given, target, import_files.saved_definition(files))
    print_message(f"importing {import_files.describe_files(files)}")
    if files.left_out:
        print_message(f"skipped because of their names: {', '.join(files.left_out)}")
    if files.export is not None:
        _verify_checksums(files)
    items = None if files.export is None else files.export.items
    name = import_files.link_bucket(source, given.to)
    return ImportJob(name, "", files.form, files.packed, table, files.weight or None, items, files)


def _verify_checksums(files: ImportFiles) -> None:
    """Verify an export's files against the checksums in its manifest, with a progress bar."""
    with progress_bar() as terminal:
        for number, file in enumerate(files.listed):
            terminal(number, len(files.listed), "verifying checksums")
            verify_checksum(file)
    print_message("checksums and counts match the manifest")


def _buckets(target: Target) -> Path:
    return Path(target.name) / "buckets"


@contextmanager
def _linked(target: Target, job: ImportJob, *, is_new: bool) -> Iterator[Path | None]:
    """Link the files into a bucket of the store while the import runs; yields the bucket's directory."""
    if job.files is None:
        yield None
        return
    buckets = _buckets(target)
    listed = target.call("ListImports", {})["ImportSummaryList"]
    running = {one["S3BucketSource"]["S3Bucket"] for one in listed if one["ImportStatus"] == "IN_PROGRESS"}
    import_files.remove_stale_links(buckets, running if is_new else {*running, job.bucket})
    if is_new:
        import_files.link_files(buckets, job.bucket, job.files)
    try:
        yield buckets / job.bucket
    except KeyboardInterrupt:
        raise  # the import continues when the store is opened again, and needs its files then
    except BaseException:
        if is_new:
            import_files.remove_links(buckets, job.bucket)
        raise
    import_files.remove_links(buckets, job.bucket)


# --- a bucket of a server: only exports that it wrote ---


def _job_from_bucket(given: argparse.Namespace, target: Target) -> ImportJob:
    export = None if given.format == "csv" else _find_export(given.bucket, given.prefix or "", target)
    if export is None:
        form, packed = given.format or "json", given.compression or "gzip"
        return ImportJob(given.bucket, given.prefix or "", form, packed, _definition(given, target, None))
    exported_at = moment(export.get("ExportTime"))
    source = str(export["TableArn"]).rpartition("/")[2]
    print_message(f"importing the export of {source} of {exported_at} in {given.bucket}")
    found = target.find_table(source)
    table = _definition(given, target, None if found is None else table_definition(found))
    return ImportJob(given.bucket, _data_prefix(export), "json", "gzip", table, None, export.get("ItemCount"))


def _data_prefix(export: dict[str, Any]) -> str:
    return f"{export['ExportManifest'].rpartition('/')[0]}/data/"


def _find_export(bucket: str, prefix: str, target: Target) -> dict[str, Any] | None:
    """The newest full export that the server wrote into that bucket, under that prefix."""
    try:
        listed = target.call("ListExports", {"MaxResults": 25})["ExportSummaries"]
    except CallRefused:  # permission to import does not imply permission to list exports
        return None
    has_incremental = False
    for one in sorted(listed, key=lambda one: str(one["ExportArn"]).rpartition("/")[2], reverse=True):
        if one["ExportStatus"] != "COMPLETED":
            continue
        described = target.call("DescribeExport", {"ExportArn": one["ExportArn"]})
        export: dict[str, Any] = described["ExportDescription"]
        if export["S3Bucket"] != bucket or export.get("ExportFormat", "DYNAMODB_JSON") != "DYNAMODB_JSON":
            continue
        is_match = export["ExportManifest"].startswith(prefix) or prefix == _data_prefix(export)
        if is_match and export.get("ExportType", "FULL_EXPORT") == "FULL_EXPORT":
            return export
        has_incremental = has_incremental or is_match
    if has_incremental:
        raise ExportUnusable(
            f"the bucket {bucket} contains only an incremental export, which cannot be imported (neither can AWS); "
            "export the table again without --since"
        )
    return None


# --- the table ---


def _definition(given: argparse.Namespace, target: Target, known: dict[str, Any] | None) -> dict[str, Any]:
    if given.like is not None:
        return table_definition(target.describe_table(given.like))
    return _new_definition(given, known)


def _new_definition(given: argparse.Namespace, known: dict[str, Any] | None) -> dict[str, Any]:
    """The definition of the new table: from --keys, or from the export."""
    if given.keys is not None:
        kinds = [{"AttributeName": name, "AttributeType": kind} for name, kind in given.keys]
        roles = zip(given.keys, ("HASH", "RANGE"), strict=False)
        schema = [{"AttributeName": name, "KeyType": role} for (name, _), role in roles]
        return {"AttributeDefinitions": kinds, "KeySchema": schema, "BillingMode": "PAY_PER_REQUEST"}
    if known is None:
        raise UsageError("the key of the new table is unknown; give --keys owner:S,name:S or --like TABLE")
    return known
