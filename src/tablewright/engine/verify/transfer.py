"""Invariants of the records of exports, imports and bulk loads; each violated one is a sentence."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.history import store as history_store
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.transfer import store as transfer_store
from tablewright.engine.transfer.export_format import FULL, INCREMENTAL
from tablewright.engine.transfer.export_lines import END, pin_name
from tablewright.engine.transfer.store import (
    BULK_OPERATIONS,
    CANCELLED,
    CANCELLING,
    COMPLETED,
    COMPLETED_WITH_ERRORS,
    EXPORTS,
    FAILED,
    IMPORTS,
    IN_PROGRESS,
    BulkOperation,
    Export,
    Import,
)

STATUSES = (IN_PROGRESS, COMPLETED, FAILED)
# Members that the description of each kind has, beside its ARN and those of its table.
MEMBERS = {
    "Export": ("ExportFormat", "ExportType", "S3Bucket", "S3SseAlgorithm"),
    "Import": ("S3BucketSource", "InputFormat", "TableCreationParameters"),
}
TIMES = {FULL: "ExportTime", INCREMENTAL: "IncrementalExportSpecification"}


def wrong_transfers(rows: RowReader, tables: Sequence[Table]) -> Iterator[str]:
    for number in EXPORTS.orphans(rows):
        yield f"exports: there are files of export {number}, which does not exist"
    for number in IMPORTS.orphans(rows):
        yield f"imports: there are failed records of import {number}, which does not exist"
    for export in EXPORTS.all(rows):
        yield from (f"export {export.arn}: {wrong}" for wrong in _wrong_export(rows, export))
    for job in IMPORTS.all(rows):
        yield from (f"import {job.arn}: {wrong}" for wrong in _wrong_import(rows, job, tables))
    for number in BULK_OPERATIONS.orphans(rows):
        yield f"bulk loads: there are failed records of load {number}, which does not exist"
    for load in BULK_OPERATIONS.all(rows):
        yield from (f"bulk load {load.arn}: {wrong}" for wrong in _wrong_load(rows, load))
    filling = {job.owner for job in IMPORTS.all(rows) if job.status == IN_PROGRESS}
    for table in tables:
        # A restored table has `restored`; a replica is copied, without `is_filled`.
        is_imported = table.is_filled and table.restored is None
        if table.status == "CREATING" and is_imported and table.number not in filling:
            yield f"table {table.name} is CREATING, and there is no import in progress for it"


def _wrong_record(record: Export | Import, kind: str) -> Iterator[str]:
    description: dict[str, Any] = orjson.loads(record.body)["told"]
    members = (f"{kind}Arn", "TableArn", "TableId", *MEMBERS[kind])
    if record.status not in STATUSES:
        yield f"its status is {record.status}"
    if (record.closed is None) != (record.status == IN_PROGRESS):
        yield f"it is {record.status} and has an end, or has ended without one"
    if (record.status == FAILED) != ("FailureCode" in description and "FailureMessage" in description):
        yield f"it is {record.status} and has a reason for failing, or failed without a reason"
    if missing := [name for name in members if name not in description]:
        yield f"its description lacks {', '.join(missing)}"
    elif description[f"{kind}Arn"] != record.arn:
        yield "its description has another ARN"


def _wrong_export(rows: RowReader, export: Export) -> Iterator[str]:
    yield from _wrong_record(export, "Export")
    description = orjson.loads(export.body)["told"]
    if TIMES.get(description.get("ExportType")) not in description:
        yield "its description has no time that fits its kind"
    files = transfer_store.export_files(rows, export.number)
    if sum(file.items for file in files) != export.items:
        yield f"its files have {sum(file.items for file in files)} items, it has {export.items}"
    if len({file.key for file in files}) < len(files):
        yield "two of its files have the same key"
    if any(not (file.md5 and file.etag and file.key) for file in files):
        yield "a file lacks its key, MD5 or ETag"
    if export.status == COMPLETED and (export.done != END or not files):
        yield "it is COMPLETED and its files are not"
    is_pinned = history_store.find_pin(rows, pin_name(export.arn)) is not None
    if is_pinned != (export.status == IN_PROGRESS):
        yield f"it is {export.status} and {'still has' if is_pinned else 'does not have'} a pin"


def _wrong_import(rows: RowReader, job: Import, tables: Sequence[Table]) -> Iterator[str]:
    yield from _wrong_record(job, "Import")
    if job.processed != job.imported + job.errors:
        yield f"it processed {job.processed} items, imported {job.imported} and refused {job.errors}"
    if len(transfer_store.import_errors(rows, job.number)) > job.errors:
        yield "it reports more failed records than it counted"
    if job.status == COMPLETED and job.errors:
        yield f"it is COMPLETED with {job.errors} errors"
    table = next((table for table in tables if table.number == job.owner), None)
    if job.status == IN_PROGRESS and (table is None or table.status != "CREATING"):
        yield "it is in progress, and its table is not CREATING"


def _wrong_load(rows: RowReader, load: BulkOperation) -> Iterator[str]:
    description = orjson.loads(load.body)["told"]
    has_ended = load.status not in (IN_PROGRESS, CANCELLING)
    if has_ended and load.status not in (COMPLETED, COMPLETED_WITH_ERRORS, CANCELLED, FAILED):
        yield f"its status is {load.status}"
    if has_ended != (load.closed is not None):
        yield f"it is {load.status} and has an end, or has ended without one"
    if (load.status in (CANCELLED, FAILED)) != ("FailureCode" in description):
        yield f"it is {load.status} and has a reason for ending, or ended early without a reason"
    if load.errors > load.processed:
        yield f"it processed {load.processed} items and refused {load.errors}"
    if load.status in (COMPLETED, COMPLETED_WITH_ERRORS) and (load.errors > 0) != (load.status != COMPLETED):
        yield f"it is {load.status} with {load.errors} errors"
    if len(transfer_store.bulk_errors(rows, load.number)) > load.errors:
        yield "it reports more failed records than it counted"
    if description.get("BulkOperationArn") != load.arn:
        yield "its description has another ARN"
