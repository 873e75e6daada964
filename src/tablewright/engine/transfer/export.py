"""Exports: their description, and the job that writes them, file by file.

A full export is a past state of the table (history/time_travel.py). An incremental one reads the journal between two
numbers: for each key the image before its first change and the image after its last (export_lines.py).
Must hold: a file is recorded after it is in its bucket, together with its last key; so an interrupted export continues
with the next file, and the manifest lists complete files only. The summary is written after everything else.
Elsewhere: names and lines (export_format.py), the request (api/exports.py).
"""

from typing import Any, NamedTuple

import orjson

from tablewright.engine.background.session import Session
from tablewright.engine.history import time_travel
from tablewright.engine.history.pitr_window import DAY
from tablewright.engine.limits import TRANSFERS_DAYS
from tablewright.engine.storage.rows import DamagedRow
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.transfer import export_format, store
from tablewright.engine.transfer.buckets import Bucket, Buckets, BucketUnusable
from tablewright.engine.transfer.export_filter import filter_of
from tablewright.engine.transfer.export_format import FILES, STARTED, SUMMARY, DataFile, home
from tablewright.engine.transfer.export_lines import END, LineReader, lines_of, pin_name
from tablewright.engine.transfer.store import BULK_OPERATIONS, COMPLETED, EXPORTS, FAILED, IMPORTS, Export

MEMORY = "exports"


def described(export: Export) -> dict[str, Any]:
    """The ExportDescription; while it is IN_PROGRESS the counts are those of its files so far."""
    counts = {"BilledSizeBytes": export.size, "ItemCount": export.items}
    description: dict[str, Any] = {**store.described(export, "Export"), **counts}
    if export.status == COMPLETED:
        description["ExportManifest"] = home(description.get("S3Prefix"), transfer_id(export.arn)) + SUMMARY
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
    only: dict[str, Any] | None
    files: int
    buckets: Buckets
    now: int

    def put(self, key: str, body: bytes) -> str:
        described = self.description
        # S3 encrypts every object with AES256 anyway; asking for it would only need one more permission.
        encryption = "KMS" if described["S3SseAlgorithm"] == "KMS" else None
        owner, encryption_key = described.get("S3BucketOwner"), described.get("S3SseKmsKeyId")
        return self.buckets.put(Bucket(described["S3Bucket"], owner, encryption, encryption_key), key, body)

    @property
    def prefix(self) -> str | None:
        return self.description.get("S3Prefix")

    @property
    def id(self) -> str:
        return transfer_id(self.export.arn)


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
        _close(session, plan, FAILED, trouble.as_failure())
    except (LookupError, DamagedRow) as gone:
        message = f"the history of the table cannot be read: {gone}"
        _close(session, plan, FAILED, {"FailureCode": "InternalServerError", "FailureMessage": message})
    return True


def forget_batch(session: Session) -> bool:
    """A job: delete the records of transfers that ended ninety days ago; False when there are none."""
    before = session.read(lambda txn: txn.now_us()) - TRANSFERS_DAYS * DAY
    kinds = (EXPORTS, IMPORTS, BULK_OPERATIONS)
    if not session.read(lambda txn: any(one.has_older_than(txn.rows, before) for one in kinds)):
        return False
    session.write(lambda txn: [one.forget(txn.rows, before) for one in kinds])
    return True


def _next_job(txn: ReadTransaction) -> ExportJob | None:
    export = EXPORTS.next(txn.rows)
    if export is None:
        return None
    buckets = txn.place.buckets
    assert buckets is not None, "an engine without buckets takes no exports"
    body = orjson.loads(export.body)
    files = len(store.export_files(txn.rows, export.number))
    return ExportJob(export, body["told"], body["keys"], body.get("only"), files, buckets, txn.now_us())


def _write_file(session: Session, plan: ExportJob) -> None:
    export, number = plan.export, plan.files
    if number == 0:
        plan.put(home(plan.prefix, plan.id) + STARTED, b"")
    held: LineReader | None = session.memory.get(MEMORY)
    if held is None or (held.number, held.done) != (export.number, export.done):
        only = filter_of(plan.only)
        held = session.memory[MEMORY] = lines_of(session, export, plan.description, plan.keys, only)
    lines, size = held.take()
    done = held.done
    if not lines and (number or done != END):
        session.write(lambda txn: store.set_export_done(txn.rows, export.number, done))
        return
    body = export_format.compressed(lines)
    key = export_format.data_key(plan.prefix, plan.id, plan.description["ExportType"], number)
    file = DataFile(key, len(lines), export_format.checksum(body), plan.put(key, body))
    session.write(lambda txn: store.add_export_file(txn.rows, export.number, number, file, size, done))


def _finish(session: Session, plan: ExportJob) -> None:
    """Write the manifests, the summary last, and close the export."""
    export, place = plan.export, home(plan.prefix, plan.id)
    files = export_format.files_manifest(
        session.read(lambda txn: store.export_files(txn.rows, export.number))
    )
    summary = export_format.summary(plan.description, place, export.items, export.size, export.at, plan.now)
    for name, body in (
        (FILES, files),
        (_md5_of(FILES), export_format.checksum(files).encode()),
        (_md5_of(SUMMARY), export_format.checksum(summary).encode()),
        (SUMMARY, summary),
    ):
        plan.put(place + name, body)
    _close(session, plan, COMPLETED, {})


def _md5_of(name: str) -> str:
    return name.removesuffix(".json") + ".md5"


def _close(session: Session, plan: ExportJob, status: str, reason: dict[str, str]) -> None:
    def close(txn: WriteTransaction) -> None:
        EXPORTS.close(txn.rows, plan.export, status, plan.now, reason)
        time_travel.release(txn, pin_name(plan.export.arn))

    session.write(close)
