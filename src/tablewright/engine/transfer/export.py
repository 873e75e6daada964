"""Exports: their description, and the job that writes them, file by file.

A full export is a past state of the table (history/time_travel.py). An incremental one reads the journal between two
numbers: for each key the image before its first change and the image after its last (export_lines.py).
Must hold: a file is recorded after it is in its bucket, together with its last key; so an interrupted export continues
with the next file, and the manifest lists complete files only. The summary is written after everything else.
Elsewhere: names and lines (export_format.py), the request (api/exports.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from tablewright.engine.background.session import Session
from tablewright.engine.history import time_travel
from tablewright.engine.history.pitr_window import DAY
from tablewright.engine.journal import microseconds
from tablewright.engine.limits import TRANSFERS_DAYS
from tablewright.engine.storage.rows import DamagedRow
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.transfer import export_format, store
from tablewright.engine.transfer.buckets import Bucket, Buckets, BucketUnusable
from tablewright.engine.transfer.export_format import DataFile
from tablewright.engine.transfer.export_lines import END, LineReader, lines_of, pin_name
from tablewright.engine.transfer.store import COMPLETED, EXPORTS, FAILED, IMPORTS, Export

MEMORY = "exports"


def described(export: Export) -> dict[str, Any]:
    """The ExportDescription; while it is IN_PROGRESS the counts are those of its files so far."""
    description: dict[str, Any] = {
        **orjson.loads(export.body)["told"],
        "ExportStatus": export.status,
        "StartTime": export.at // 1000 / 1000,
        "BilledSizeBytes": export.size,
        "ItemCount": export.items,
    }
    if export.closed is not None:
        description["EndTime"] = export.closed // 1000 / 1000
    if export.status == COMPLETED:
        description["ExportManifest"] = export_format.summary_key(
            description.get("S3Prefix"), transfer_id(export.arn)
        )
    return description


def transfer_id(arn: str) -> str:
    """The last part of the ARN of an export or an import."""
    return arn.rpartition("/")[2]


# --- a step ---


class ExportJob(NamedTuple):
    """An export with its description and its buckets."""

    export: Export
    description: dict[str, Any]
    keys: list[str]
    files: int
    buckets: Buckets
    now: int

    @property
    def bucket(self) -> Bucket:
        description = self.description
        # S3 encrypts every object with AES256 anyway; asking for it would only need one more permission.
        encryption = "KMS" if description["S3SseAlgorithm"] == "KMS" else None
        return Bucket(
            description["S3Bucket"],
            description.get("S3BucketOwner"),
            encryption,
            description.get("S3SseKmsKeyId"),
        )

    def key(self, name: Callable[[str | None, str], str]) -> str:
        return name(self.description.get("S3Prefix"), transfer_id(self.export.arn))


def export_batch(session: Session) -> bool:
    """A job: write the next file of the oldest export in progress; False when there is none."""
    plan = session.read(_next_job)
    if plan is None:
        session.memory.pop(MEMORY, None)
        return False
    try:
        if plan.export.done == END:
            _finish(session, plan)
        else:
            _write_file(session, plan)
    except BucketUnusable as trouble:
        _fail(session, plan, trouble.code, trouble.message)
    except (LookupError, DamagedRow) as gone:
        _fail(session, plan, "InternalServerError", f"the history of the table cannot be read: {gone}")
    return True


def forget_batch(session: Session) -> bool:
    """A job: delete the records of exports and imports that ended ninety days ago; False when there are none."""

    def border(context: ReadTransaction | WriteTransaction) -> int:
        return microseconds(context.world.now()) - TRANSFERS_DAYS * DAY

    def has_older_than(txn: ReadTransaction) -> bool:
        before = border(txn)
        return EXPORTS.has_older_than(txn.rows, before) or IMPORTS.has_older_than(txn.rows, before)

    def forget(txn: WriteTransaction) -> None:
        before = border(txn)
        EXPORTS.forget(txn.rows, before)
        IMPORTS.forget(txn.rows, before)

    if not session.read(has_older_than):
        return False
    session.write(forget)
    return True


def _next_job(txn: ReadTransaction) -> ExportJob | None:
    export = EXPORTS.next(txn.rows)
    if export is None:
        return None
    buckets = txn.place.buckets
    assert buckets is not None, "an engine without buckets takes no exports"
    body = orjson.loads(export.body)
    files = store.export_file_count(txn.rows, export.number)
    return ExportJob(export, body["told"], body["keys"], files, buckets, microseconds(txn.world.now()))


def _write_file(session: Session, plan: ExportJob) -> None:
    export = plan.export
    if plan.files == 0:
        plan.buckets.put(plan.bucket, plan.key(export_format.started_key), b"")
    held: LineReader | None = session.memory.get(MEMORY)
    if held is None or (held.number, held.done) != (export.number, export.done):
        held = session.memory[MEMORY] = lines_of(session, export, plan.description, plan.keys)
    text = held.take()
    if not text.lines and text.done == END and plan.files:
        session.write(lambda txn: store.set_export_done(txn.rows, export.number, END))
        return
    body = export_format.compressed(text.lines)
    description, number = plan.description, plan.files
    key = export_format.data_key(
        description.get("S3Prefix"), transfer_id(export.arn), description["ExportType"], number
    )
    etag = plan.buckets.put(plan.bucket, key, body)
    file = DataFile(key, len(text.lines), export_format.checksum(body), etag)
    session.write(lambda w: store.add_export_file(w.rows, export.number, number, file, text.size, text.done))


def _finish(session: Session, plan: ExportJob) -> None:
    """Write the manifests, the summary last, and close the export."""
    export = plan.export
    files = export_format.files_manifest(session.read(lambda r: store.export_files(r.rows, export.number)))
    summary = export_format.summary(
        plan.description, transfer_id(export.arn), export.items, export.size, export.at, plan.now
    )
    files_key, summary_key = plan.key(export_format.files_key), plan.key(export_format.summary_key)
    for key, body in (
        (files_key, files),
        (_md5_of(files_key), export_format.checksum(files).encode()),
        (_md5_of(summary_key), export_format.checksum(summary).encode()),
        (summary_key, summary),
    ):
        plan.buckets.put(plan.bucket, key, body)
    session.write(lambda txn: _close(txn, export, COMPLETED, plan.now, {}))


def _md5_of(key: str) -> str:
    return key.removesuffix(".json") + ".md5"


def _fail(session: Session, plan: ExportJob, code: str, message: str) -> None:
    reason = {"FailureCode": code, "FailureMessage": message}
    session.write(lambda txn: _close(txn, plan.export, FAILED, plan.now, reason))


def _close(txn: WriteTransaction, export: Export, status: str, at: int, reason: dict[str, str]) -> None:
    body = orjson.loads(export.body)
    body["told"] |= reason
    EXPORTS.close(txn.rows, export.number, status, max(at, export.at), orjson.dumps(body))
    time_travel.release(txn, pin_name(export.arn))
