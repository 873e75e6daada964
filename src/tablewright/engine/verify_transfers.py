"""What must hold of the records of exports and imports, each broken rule a sentence."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from tablewright.engine import storage_history as past
from tablewright.engine import storage_transfers as stored
from tablewright.engine.catalog import Table
from tablewright.engine.storage_rows import Rows
from tablewright.engine.storage_transfers import (
    COMPLETED,
    EXPORTS,
    FAILED,
    IMPORTS,
    IN_PROGRESS,
    Export,
    Import,
)
from tablewright.engine.transfers.export_lines import END, hold_name
from tablewright.engine.transfers.layout import FULL, INCREMENTAL

STATUSES = (IN_PROGRESS, COMPLETED, FAILED)
EXPORT_MEMBERS = (
    "ExportArn",
    "TableArn",
    "TableId",
    "ExportFormat",
    "ExportType",
    "S3Bucket",
    "S3SseAlgorithm",
)
IMPORT_MEMBERS = (
    "ImportArn",
    "TableArn",
    "TableId",
    "S3BucketSource",
    "InputFormat",
    "TableCreationParameters",
)
TIMES = {FULL: "ExportTime", INCREMENTAL: "IncrementalExportSpecification"}


def wrong_transfers(rows: Rows, tables: Sequence[Table]) -> Iterator[str]:
    for number in EXPORTS.orphans(rows):
        yield f"exports: there are files of export {number}, which is not there"
    for number in IMPORTS.orphans(rows):
        yield f"imports: there are mistakes of import {number}, which is not there"
    for export in EXPORTS.all(rows):
        yield from (f"export {export.arn}: {wrong}" for wrong in _wrong_export(rows, export))
    for job in IMPORTS.all(rows):
        yield from (f"import {job.arn}: {wrong}" for wrong in _wrong_import(rows, job, tables))
    filling = {job.owner for job in IMPORTS.all(rows) if job.status == IN_PROGRESS}
    for table in tables:
        # A table that is restored says so; a replica is not filled, it is copied.
        is_imported = table.is_filled and table.restored is None
        if table.status == "CREATING" and is_imported and table.number not in filling:
            yield f"table {table.name} is CREATING, and nobody fills it"


def _wrong_record(record: Export | Import, members: Sequence[str], kind: str) -> Iterator[str]:
    told: dict[str, Any] = orjson.loads(record.body)["told"]
    if record.status not in STATUSES:
        yield f"its status is {record.status}"
    if (record.closed is None) != (record.status == IN_PROGRESS):
        yield f"it is {record.status} and has an end, or has ended without one"
    if (record.status == FAILED) != ("FailureCode" in told and "FailureMessage" in told):
        yield f"it is {record.status} and says why it failed, or failed without a reason"
    if missing := [name for name in members if name not in told]:
        yield f"its description lacks {', '.join(missing)}"
    elif told[f"{kind}Arn"] != record.arn:
        yield "its description is another's"


def _wrong_export(rows: Rows, export: Export) -> Iterator[str]:
    yield from _wrong_record(export, EXPORT_MEMBERS, "Export")
    told = orjson.loads(export.body)["told"]
    if TIMES.get(told.get("ExportType")) not in told:
        yield "its description has no time that goes with its kind"
    files = stored.export_files(rows, export.number)
    if sum(file.items for file in files) != export.items:
        yield f"its files have {sum(file.items for file in files)} items, it has {export.items}"
    if len({file.key for file in files}) < len(files):
        yield "two of its files have one key"
    if any(not (file.md5 and file.etag and file.key) for file in files):
        yield "a file lacks what the manifest says about it"
    if export.status == COMPLETED and (export.done != END or not files):
        yield "it is COMPLETED and its files are not"
    is_held = past.hold(rows, hold_name(export.arn)) is not None
    if is_held != (export.status == IN_PROGRESS):
        yield f"it is {export.status} and {'still holds' if is_held else 'does not hold'} on to the past"


def _wrong_import(rows: Rows, job: Import, tables: Sequence[Table]) -> Iterator[str]:
    yield from _wrong_record(job, IMPORT_MEMBERS, "Import")
    if job.processed != job.imported + job.errors:
        yield f"it processed {job.processed} items, of which {job.imported} came and {job.errors} did not"
    if len(stored.import_mistakes(rows, job.number)) > job.errors:
        yield "it tells of more mistakes than it counted"
    if job.status == COMPLETED and job.errors:
        yield f"it is COMPLETED with {job.errors} errors"
    table = next((table for table in tables if table.number == job.owner), None)
    if job.status == IN_PROGRESS and (table is None or table.status != "CREATING"):
        yield "it is under way, and its table is not being created"
