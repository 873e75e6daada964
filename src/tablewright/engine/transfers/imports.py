"""Imports: what is told about one, and how it is done, a page of an object after another.

Must hold: the items of a page and the place they were read up to commit together, so each record counts once however
often the import is cut off. The table is CREATING until the last page; an item that a put would refuse is counted and
told, never stored. Where a key comes twice, the later item stays.
Elsewhere: reading objects (sources.py), who may ask for one (operations/import_table.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from tablewright.engine import storage_transfers as stored
from tablewright.engine.arguments import put_key_bytes, refuse_bad_index_keys
from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import ServiceError
from tablewright.engine.filling import fill_over, step_of
from tablewright.engine.item_writes import TOO_LARGE
from tablewright.engine.journal import microseconds
from tablewright.engine.limits import ITEM_BYTES
from tablewright.engine.storage_history import Kept
from tablewright.engine.storage_transfers import COMPLETED, FAILED, IMPORTS, Import, ImportMistake
from tablewright.engine.transfers.buckets import Bucket, Buckets, BucketUnusable
from tablewright.engine.transfers.exports import identity
from tablewright.engine.transfers.sources import CSV, Form, Page, Source
from tablewright.engine.writing import Reading, Writing
from tablewright.values import BadValue, Item, WrongJson, admit_item

PAGE_BYTES = 256 * 1024
# Mistakes that are told one by one; beyond that they are only counted.
TOLD_MISTAKES = 1000
# Records of an object that has been read to its end.
ALL = -1
MEMORY = "imports"
# Where the reports of imports are in their bucket; nothing is imported from there.
REPORTS = "aws-dynamodb/imports/"
NOT_ALL_IMPORTED = (
    "Some of the items failed validation checks and were not imported. "
    "Please check CloudWatch error logs for more details."
)


def described(job: Import) -> dict[str, Any]:
    """The ImportTableDescription."""
    shown: dict[str, Any] = {
        **orjson.loads(job.body)["told"],
        "ImportStatus": job.status,
        "ErrorCount": job.errors,
        "StartTime": job.at // 1000 / 1000,
        "ProcessedSizeBytes": job.size,
        "ProcessedItemCount": job.processed,
        "ImportedItemCount": job.imported,
    }
    if job.closed is not None:
        shown["EndTime"] = job.closed // 1000 / 1000
    return shown


def report_key(arn: str) -> str:
    """Where the mistakes of an import are told: the service's log group and stream, as a key."""
    return f"{REPORTS}{identity(arn)}/error"


# --- a step ---


class Plan(NamedTuple):
    """An import with what its request said, the table it fills and the buckets it comes from."""

    job: Import
    told: dict[str, Any]
    table: Table
    buckets: Buckets
    now: int

    @property
    def bucket(self) -> Bucket:
        # The service shows the account as the owner where none was named; `owner` is who was.
        return Bucket(self.told["S3BucketSource"]["S3Bucket"], orjson.loads(self.job.body)["owner"])

    @property
    def prefix(self) -> str:
        return str(self.told["S3BucketSource"].get("S3KeyPrefix") or "")

    @property
    def form(self) -> Form:
        options = (self.told.get("InputFormatOptions") or {}).get("Csv") or {}
        header = options.get("HeaderList")
        return Form(
            self.told["InputFormat"],
            self.told["InputCompressionType"],
            options.get("Delimiter") or ",",
            None if header is None else tuple(header),
            self.table.types if self.told["InputFormat"] == CSV else {},
        )


@dataclass(slots=True)
class Open:
    """The object an import is reading, and the keys of those that follow. Only saves work."""

    number: int
    key: str
    source: Source
    records: int
    ahead: list[str] = field(default_factory=list)

    def close(self) -> None:
        self.source.close()


def import_some(doors: Doors) -> bool:
    """A page of the import that was asked for first; False when there is none."""
    plan = doors.read(_next_plan)
    if plan is None:
        return False
    try:
        opened = _opened(doors, plan)
        if opened is None:
            _finish(doors, plan)
        else:
            _take_page(doors, plan, opened)
    except BucketUnusable as trouble:
        _put_away(doors)
        reason = {"FailureCode": trouble.code, "FailureMessage": trouble.message}
        doors.write(lambda writing: _fail(writing, plan, reason))
    except BaseException:
        _put_away(doors)
        raise
    return True


def _next_plan(reading: Reading) -> Plan | None:
    job = IMPORTS.next(reading.rows)
    if job is None:
        return None
    buckets = reading.place.buckets
    assert buckets is not None, "an engine without buckets takes no imports"
    table = _table_of(reading, job)
    return Plan(job, orjson.loads(job.body)["told"], table, buckets, microseconds(reading.world.now()))


def _table_of(context: Reading | Writing, job: Import) -> Table:
    return next(table for table in context.tables.values() if table.number == job.owner)


def _opened(doors: Doors, plan: Plan) -> Open | None:
    """The object to read on, where it was left; None when all have been read."""
    job = plan.job
    held: Open | None = doors.memory.get(MEMORY)
    is_current = held is not None and (held.number, held.key) == (job.number, job.object)
    ahead = held.ahead if held is not None and is_current else []
    if job.object and job.records != ALL:
        if held is not None and is_current and held.records == job.records:
            return held
        _put_away(doors)
        return _open(doors, plan, job.object, job.records, ahead)
    _put_away(doors)
    ahead = ahead or _keys(plan, job.object)
    return _open(doors, plan, ahead[0], 0, ahead[1:]) if ahead else None


def _keys(plan: Plan, after: str) -> list[str]:
    while found := plan.buckets.keys(plan.bucket, plan.prefix, after):
        ours = [key for key in found if not key.startswith(REPORTS)]
        if ours:
            return ours
        after = found[-1]
    return []


def _open(doors: Doors, plan: Plan, key: str, records: int, ahead: list[str]) -> Open:
    stream = plan.buckets.open(plan.bucket, key)
    made = Open(plan.job.number, key, Source(stream, plan.form, records), records, ahead)
    doors.memory[MEMORY] = made
    return made


def _put_away(doors: Doors) -> None:
    held: Open | None = doors.memory.pop(MEMORY, None)
    if held is not None:
        held.close()


def _take_page(doors: Doors, plan: Plan, opened: Open) -> None:
    page = opened.source.page(step_of(plan.table), PAGE_BYTES)
    items, mistakes = _sorted_out(plan.table, opened.key, page)
    records = ALL if page.is_last else opened.records + page.records
    doors.write(_take(plan.job, page, items, mistakes, opened.key, records))
    opened.records = records
    if page.is_last:
        opened.close()


def _sorted_out(table: Table, key: str, page: Page) -> tuple[list[Kept], list[ImportMistake]]:
    """The items that can be stored, and why the others cannot."""
    items: list[Kept] = []
    mistakes: list[ImportMistake] = []
    for place, item, mistake in page.reads:
        try:
            if item is None:
                raise BadValue(mistake)
            items.append(_admitted(table, item))
        except (BadValue, WrongJson) as reason:
            mistakes.append(ImportMistake(key, place, str(reason)))
        except ServiceError as reason:
            mistakes.append(ImportMistake(key, place, reason.message))
    return items, mistakes


def _admitted(table: Table, item: Item) -> Kept:
    """An item as a put would store it."""
    canonical, size = admit_item(item)
    if size > ITEM_BYTES:
        raise BadValue(TOO_LARGE)
    key = put_key_bytes(table, canonical)
    refuse_bad_index_keys(table, None, canonical, by_update=False)
    try:
        return Kept(key, size, orjson.dumps(canonical))
    except orjson.JSONEncodeError as reason:
        raise BadValue(str(reason)) from None


def _take(
    job: Import, page: Page, items: Sequence[Kept], mistakes: Sequence[ImportMistake], key: str, records: int
) -> Callable[[Writing], None]:
    told = mistakes[: max(0, TOLD_MISTAKES - job.errors)]
    processed = len(page.reads)

    def deed(writing: Writing) -> None:
        table = _table_of(writing, job)
        fill_over(writing, table, items)
        stored.note_progress(
            writing.rows,
            job.number,
            key,
            records,
            page.size,
            processed,
            processed - len(mistakes),
            len(mistakes),
        )
        stored.add_mistakes(writing.rows, job.number, job.errors, told)

    return deed


# --- the end ---


def _finish(doors: Doors, plan: Plan) -> None:
    job = plan.job
    reason: dict[str, str] = {}
    if job.errors:
        told = _report(doors, plan) + _advice(doors, plan)
        reason = {"FailureCode": "ItemValidationError", "FailureMessage": f"{NOT_ALL_IMPORTED} {told}"}
    doors.write(lambda writing: _close(writing, plan, FAILED if job.errors else COMPLETED, reason))


def _advice(doors: Doors, plan: Plan) -> str:
    """What to do, where somebody meant an export and named more than its data."""
    mistakes = doors.read(lambda reading: stored.import_mistakes(reading.rows, plan.job.number))
    manifest = next((one.object for one in mistakes if one.object.endswith("/manifest-summary.json")), None)
    if manifest is None:
        return ""
    return f" To import an export name its data: S3KeyPrefix {manifest.rpartition('/')[0]}/data/"


def _report(doors: Doors, plan: Plan) -> str:
    """Put the mistakes where they can be read; where that is."""
    job, bucket = plan.job, plan.bucket
    lines = [
        orjson.dumps(
            {
                "itemS3Pointer": {"bucket": bucket.name, "key": one.object, "itemIndex": one.place},
                "importArn": job.arn,
                "errorMessages": [one.message],
            }
        )
        for one in doors.read(lambda reading: stored.import_mistakes(reading.rows, job.number))
    ]
    key = report_key(job.arn)
    try:
        plan.buckets.put(bucket, key, b"\n".join(lines) + b"\n")
    except BucketUnusable as trouble:
        return f"(They could not be written to {key} in the bucket {bucket.name}: {trouble.message})"
    return f"(This engine writes them to {key} in the bucket {bucket.name}.)"


def _fail(writing: Writing, plan: Plan, reason: dict[str, str]) -> None:
    """A bucket that cannot be used ends an import; nothing came of one that had not begun, not even a table."""
    if plan.job.object:
        _close(writing, plan, FAILED, reason)
        return
    table = _table_of(writing, plan.job)
    doomed = table.sql_tables()
    for name in doomed:
        writing.forget_counts(name)
    writing.rows.doom(doomed)
    writing.forget_table(table)
    _close_record(writing, plan, FAILED, reason)


def _close(writing: Writing, plan: Plan, status: str, reason: dict[str, str]) -> None:
    writing.save_table(replace(_table_of(writing, plan.job), status="ACTIVE"))
    _close_record(writing, plan, status, reason)


def _close_record(writing: Writing, plan: Plan, status: str, reason: dict[str, str]) -> None:
    body = orjson.loads(plan.job.body)
    body["told"] |= reason
    at = max(plan.now, plan.job.at)
    IMPORTS.close(writing.rows, plan.job.number, status, at, orjson.dumps(body))
