"""Exports: what is told about one, and how it is done, file by file.

A full export is a state of the table in the past (history.py). An incremental one reads the journal from one number to
another: for each key what was there before the first change and what is there after the last (export_lines.py).
Must hold: a file is noted after it is in its bucket, and the keys it ends with are noted with it; so an export that was
cut off goes on with the next file, and the manifest lists whole files only. The summary is written when all else is.
Elsewhere: names and lines (layout.py), who may ask for one (operations/export_table_to_point_in_time.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from tablewright.engine import history
from tablewright.engine import storage_transfers as stored
from tablewright.engine.doors import Doors
from tablewright.engine.journal import microseconds
from tablewright.engine.limits import TRANSFERS_DAYS
from tablewright.engine.recovery import DAY
from tablewright.engine.storage_transfers import COMPLETED, EXPORTS, FAILED, IMPORTS, Export
from tablewright.engine.transfers import layout
from tablewright.engine.transfers.buckets import Bucket, Buckets, BucketUnusable
from tablewright.engine.transfers.export_lines import END, Lines, hold_name, lines_of
from tablewright.engine.transfers.layout import DataFile
from tablewright.engine.writing import Reading, Writing

MEMORY = "exports"


def described(export: Export) -> dict[str, Any]:
    """The ExportDescription; the counts of one that is under way are those of the files it has."""
    shown: dict[str, Any] = {
        **orjson.loads(export.body)["told"],
        "ExportStatus": export.status,
        "StartTime": export.at // 1000 / 1000,
        "BilledSizeBytes": export.size,
        "ItemCount": export.items,
    }
    if export.closed is not None:
        shown["EndTime"] = export.closed // 1000 / 1000
    if export.status == COMPLETED:
        shown["ExportManifest"] = layout.summary_key(shown.get("S3Prefix"), identity(export.arn))
    return shown


def identity(arn: str) -> str:
    """The last part of the ARN of an export or an import."""
    return arn.rpartition("/")[2]


# --- a step ---


class Plan(NamedTuple):
    """An export with what its request said, and the buckets it goes to."""

    export: Export
    told: dict[str, Any]
    keys: list[str]
    files: int
    buckets: Buckets
    now: int

    @property
    def bucket(self) -> Bucket:
        told = self.told
        # AES256 is what S3 does with every object anyhow; asking for it would only need a further permission.
        encryption = "KMS" if told["S3SseAlgorithm"] == "KMS" else None
        return Bucket(told["S3Bucket"], told.get("S3BucketOwner"), encryption, told.get("S3SseKmsKeyId"))

    def key(self, name: Callable[[str | None, str], str]) -> str:
        return name(self.told.get("S3Prefix"), identity(self.export.arn))


def export_some(doors: Doors) -> bool:
    """The next file of the export that was asked for first; False when there is none."""
    plan = doors.read(_next_plan)
    if plan is None:
        doors.memory.pop(MEMORY, None)
        return False
    try:
        if plan.export.done == END:
            _finish(doors, plan)
        else:
            _write_file(doors, plan)
    except BucketUnusable as trouble:
        _fail(doors, plan, trouble.code, trouble.message)
    except LookupError as gone:
        _fail(doors, plan, "InternalServerError", f"the past of the table cannot be read: {gone}")
    return True


def forget_some(doors: Doors) -> bool:
    """Forget the exports and imports that ended ninety days ago; False when there are none."""

    def border(context: Reading | Writing) -> int:
        return microseconds(context.world.now()) - TRANSFERS_DAYS * DAY

    def are_old(reading: Reading) -> bool:
        before = border(reading)
        return EXPORTS.are_old(reading.rows, before) or IMPORTS.are_old(reading.rows, before)

    def forget(writing: Writing) -> None:
        before = border(writing)
        EXPORTS.forget(writing.rows, before)
        IMPORTS.forget(writing.rows, before)

    if not doors.read(are_old):
        return False
    doors.write(forget)
    return True


def _next_plan(reading: Reading) -> Plan | None:
    export = EXPORTS.next(reading.rows)
    if export is None:
        return None
    buckets = reading.place.buckets
    assert buckets is not None, "an engine without buckets takes no exports"
    body = orjson.loads(export.body)
    files = stored.export_file_count(reading.rows, export.number)
    return Plan(export, body["told"], body["keys"], files, buckets, microseconds(reading.world.now()))


def _write_file(doors: Doors, plan: Plan) -> None:
    export = plan.export
    if plan.files == 0:
        plan.buckets.put(plan.bucket, plan.key(layout.started_key), b"")
    held: Lines | None = doors.memory.get(MEMORY)
    if held is None or (held.number, held.done) != (export.number, export.done):
        held = doors.memory[MEMORY] = lines_of(doors, export, plan.told, plan.keys)
    text = held.take()
    if not text.lines and text.done == END and plan.files:
        doors.write(lambda writing: stored.note_done(writing.rows, export.number, END))
        return
    body = layout.compressed(text.lines)
    told, number = plan.told, plan.files
    key = layout.data_key(told.get("S3Prefix"), identity(export.arn), told["ExportType"], number)
    etag = plan.buckets.put(plan.bucket, key, body)
    file = DataFile(key, len(text.lines), layout.checksum(body), etag)
    doors.write(lambda w: stored.note_file(w.rows, export.number, number, file, text.size, text.done))


def _finish(doors: Doors, plan: Plan) -> None:
    """The manifests, the summary last."""
    export = plan.export
    files = layout.files_manifest(doors.read(lambda r: stored.export_files(r.rows, export.number)))
    summary = layout.summary(plan.told, identity(export.arn), export.items, export.size, export.at, plan.now)
    files_key, summary_key = plan.key(layout.files_key), plan.key(layout.summary_key)
    for key, body in (
        (files_key, files),
        (_md5_of(files_key), layout.checksum(files).encode()),
        (_md5_of(summary_key), layout.checksum(summary).encode()),
        (summary_key, summary),
    ):
        plan.buckets.put(plan.bucket, key, body)
    doors.write(lambda writing: _close(writing, export, COMPLETED, plan.now, {}))


def _md5_of(key: str) -> str:
    return key.removesuffix(".json") + ".md5"


def _fail(doors: Doors, plan: Plan, code: str, message: str) -> None:
    reason = {"FailureCode": code, "FailureMessage": message}
    doors.write(lambda writing: _close(writing, plan.export, FAILED, plan.now, reason))


def _close(writing: Writing, export: Export, status: str, at: int, reason: dict[str, str]) -> None:
    body = orjson.loads(export.body)
    body["told"] |= reason
    EXPORTS.close(writing.rows, export.number, status, max(at, export.at), orjson.dumps(body))
    history.release(writing, hold_name(export.arn))
