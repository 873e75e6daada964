"""Imports: their description, and the job that reads them, one page of an object after the other.

Must hold: the items of a page commit with the position after it, so each record counts once however often the import is
interrupted. The table is CREATING until the last page; an item that PutItem would refuse is counted and reported, never
stored. Of two items with the same key the later one wins.
Elsewhere: opening and parsing objects (input_objects.py, import_formats.py), the request (api/imports.py).
"""

from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from tablewright.engine.api.arguments import put_key_bytes, refuse_bad_index_keys
from tablewright.engine.background.session import Session
from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError
from tablewright.engine.history.bulk_load import drop_unloaded, numbered, step_of, upsert_items
from tablewright.engine.history.store import StoredItem
from tablewright.engine.limits import ITEM_BYTES
from tablewright.engine.mutations import TOO_LARGE
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.transfer import store
from tablewright.engine.transfer.buckets import Bucket, Buckets, BucketUnusable
from tablewright.engine.transfer.export import transfer_id
from tablewright.engine.transfer.import_formats import CSV, ImportFormat, RecordPage
from tablewright.engine.transfer.input_objects import (
    ALL,
    REPORTS,
    Input,
    OpenObject,
    close_object,
    opened,
)
from tablewright.engine.transfer.store import COMPLETED, FAILED, IMPORTS, FailedRecord, Import
from tablewright.values import BadValue, Item, WrongJson, admit_item

PAGE_BYTES = 256 * 1024
# Failed records that are reported one by one; beyond that they are only counted.
REPORTED_ERRORS = 1000
MEMORY = "imports"
NOT_ALL_IMPORTED = (
    "Some of the items failed validation checks and were not imported. "
    "Please check CloudWatch error logs for more details."
)


def described(job: Import) -> dict[str, Any]:
    """The ImportTableDescription."""
    return store.described(job, "Import") | {
        "ErrorCount": job.errors,
        "ProcessedSizeBytes": job.size,
        "ProcessedItemCount": job.processed,
        "ImportedItemCount": job.imported,
    }


def report_key(arn: str) -> str:
    """The key of the report of failed records: the service's log group and stream."""
    return f"{REPORTS}{transfer_id(arn)}/error"


# --- a step ---


class ImportJob(NamedTuple):
    """An import with its description, its table and its buckets."""

    job: Import
    description: dict[str, Any]
    table: Table
    buckets: Buckets
    now: int

    @property
    def bucket(self) -> Bucket:
        # The service describes the account as the owner where the request has none; `owner` is the request's.
        return Bucket(self.description["S3BucketSource"]["S3Bucket"], orjson.loads(self.job.body)["owner"])

    @property
    def prefix(self) -> str:
        return str(self.description["S3BucketSource"].get("S3KeyPrefix") or "")

    @property
    def format(self) -> ImportFormat:
        options = (self.description.get("InputFormatOptions") or {}).get("Csv") or {}
        header = options.get("HeaderList")
        return ImportFormat(
            self.description["InputFormat"],
            self.description["InputCompressionType"],
            options.get("Delimiter") or ",",
            None if header is None else tuple(header),
            self.table.types if self.description["InputFormat"] == CSV else {},
        )

    @property
    def input(self) -> Input:
        return Input(MEMORY, self.job.number, self.buckets, self.bucket, self.prefix, self.format)


def import_batch(session: Session) -> bool:
    """A job: import the next page of the oldest import in progress; False when there is none."""
    plan = session.read(_next_job)
    if plan is None:
        return False
    try:
        found = opened(session, plan.input, plan.job.object, plan.job.records)
        if found is None:
            _finish(session, plan)
        else:
            _take_page(session, plan, found)
    except BucketUnusable as trouble:
        close_object(session, MEMORY)
        reason = trouble.as_failure()
        session.write(lambda txn: _fail(txn, plan, reason))
    except BaseException:
        close_object(session, MEMORY)
        raise
    return True


def _next_job(txn: ReadTransaction) -> ImportJob | None:
    job = IMPORTS.next(txn.rows)
    if job is None:
        return None
    buckets = txn.place.buckets
    assert buckets is not None, "an engine without buckets takes no imports"
    table = numbered(txn.tables, job.owner)
    return ImportJob(job, orjson.loads(job.body)["told"], table, buckets, txn.now_us())


def _take_page(session: Session, plan: ImportJob, reading: OpenObject) -> None:
    job, page = plan.job, reading.source.page(step_of(plan.table), PAGE_BYTES)
    items, mistakes = _validated(plan.table, reading.key, page)
    records = ALL if page.is_last else reading.records + page.records

    def take(txn: WriteTransaction) -> None:
        upsert_items(txn, numbered(txn.tables, job.owner), items)
        counts = len(items), len(mistakes)
        store.add_import_progress(txn.rows, job.number, reading.key, records, page.size, *counts)
        reported = mistakes[: max(0, REPORTED_ERRORS - job.errors)]
        store.add_import_errors(txn.rows, job.number, job.errors, reported)

    session.write(take)
    reading.records = records
    if page.is_last:
        reading.close()


def _validated(table: Table, key: str, page: RecordPage) -> tuple[list[StoredItem], list[FailedRecord]]:
    """The items that can be stored, and the records that cannot, with reasons."""
    items: list[StoredItem] = []
    mistakes: list[FailedRecord] = []
    for place, item, error in page.parsed:
        stored = error or "" if item is None else admitted(table, item)
        if isinstance(stored, str):
            mistakes.append(FailedRecord(key, place, stored))
        else:
            items.append(stored)
    return items, mistakes


def refusal_of(table: Table, item: Item) -> str | None:
    """Why a table would refuse an item; None if it accepts it."""
    stored = admitted(table, item)
    return stored if isinstance(stored, str) else None


def admitted(table: Table, item: Item) -> StoredItem | str:
    """An item as PutItem would store it, or why it would be refused."""
    try:
        canonical, size = admit_item(item)
        if size > ITEM_BYTES:
            return TOO_LARGE
        key = put_key_bytes(table, canonical)
        refuse_bad_index_keys(table, None, canonical, by_update=False)
    except (BadValue, WrongJson) as reason:
        return str(reason)
    except ServiceError as reason:
        return reason.message
    try:
        return StoredItem(key, size, orjson.dumps(canonical))
    except orjson.JSONEncodeError as reason:
        return str(reason)


# --- the end ---


def _finish(session: Session, plan: ImportJob) -> None:
    job = plan.job
    reason: dict[str, str] = {}
    if job.errors:
        mistakes = session.read(lambda txn: store.import_errors(txn.rows, job.number))
        message = f"{NOT_ALL_IMPORTED} {_report(plan, mistakes)}{_advice(mistakes)}"
        reason = {"FailureCode": "ItemValidationError", "FailureMessage": message}
    session.write(lambda txn: _close(txn, plan, FAILED if job.errors else COMPLETED, reason))


def _advice(mistakes: list[FailedRecord]) -> str:
    """A hint for an import of an export whose prefix includes more than its data files."""
    manifest = next((one.object for one in mistakes if one.object.endswith("/manifest-summary.json")), None)
    if manifest is None:
        return ""
    return f" To import an export name its data: S3KeyPrefix {manifest.rpartition('/')[0]}/data/"


def _report(plan: ImportJob, mistakes: list[FailedRecord]) -> str:
    """Write the report of failed records into the bucket; returns a sentence with its key."""
    job, bucket = plan.job, plan.bucket
    lines = [
        orjson.dumps(
            {
                "itemS3Pointer": {"bucket": bucket.name, "key": one.object, "itemIndex": one.place},
                "importArn": job.arn,
                "errorMessages": [one.message],
            }
        )
        for one in mistakes
    ]
    key = report_key(job.arn)
    try:
        plan.buckets.put(bucket, key, b"\n".join(lines) + b"\n")
    except BucketUnusable as trouble:
        return f"(They could not be written to {key} in the bucket {bucket.name}: {trouble.message})"
    return f"(This engine writes them to {key} in the bucket {bucket.name}.)"


def _fail(txn: WriteTransaction, plan: ImportJob, reason: dict[str, str]) -> None:
    """A bucket that cannot be used ends an import; if nothing was read yet, the table is dropped."""
    if plan.job.object:
        _close(txn, plan, FAILED, reason)
        return
    drop_unloaded(txn, numbered(txn.tables, plan.job.owner))
    IMPORTS.close(txn.rows, plan.job, FAILED, plan.now, reason)


def _close(txn: WriteTransaction, plan: ImportJob, status: str, reason: dict[str, str]) -> None:
    txn.save_table(replace(numbered(txn.tables, plan.job.owner), status="ACTIVE"))
    IMPORTS.close(txn.rows, plan.job, status, plan.now, reason)
