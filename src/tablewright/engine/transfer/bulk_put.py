"""Bulk loads: their description, and the job that writes the items of objects into an existing table.

Items are written like those of PutItem: index entries, stream, time to live and history change with them. They use no
capacity of the table; MaxWriteRequestUnits limits how fast they are written.
Must hold: the items of a page commit with the position after it, so each record is written once however often the load
is interrupted. A record that PutItem would refuse is counted and reported. A load that is cancelled or fails keeps
what it has written.
Elsewhere: reading objects (input_objects.py, import_formats.py), the requests (api/bulk_operations.py).
"""

from typing import Any, NamedTuple, TypeAlias

import orjson

from tablewright.engine.background.pacing import UnitRate
from tablewright.engine.background.session import Session
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.consumed_capacity import write_units
from tablewright.engine.errors import ServiceError
from tablewright.engine.history.bulk_load import step_of
from tablewright.engine.history.store import StoredItem
from tablewright.engine.mutations import Evaluated, Mutation, check_local_indexes
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.transfer import store
from tablewright.engine.transfer.buckets import Bucket, Buckets, BucketUnusable
from tablewright.engine.transfer.export import transfer_id
from tablewright.engine.transfer.import_ import PAGE_BYTES, REPORTED_ERRORS, admitted
from tablewright.engine.transfer.import_formats import PLAIN, ImportFormat, RecordPage
from tablewright.engine.transfer.input_objects import ALL, Input, OpenObject, close_object, opened
from tablewright.engine.transfer.store import (
    BULK_OPERATIONS,
    CANCELLED,
    CANCELLING,
    COMPLETED,
    COMPLETED_WITH_ERRORS,
    FAILED,
    IN_PROGRESS,
    BulkOperation,
    FailedRecord,
)
from tablewright.engine.vectors.entries import put_bytes

# An item with its place in its object.
NumberedItem: TypeAlias = tuple[int, StoredItem]

MEMORY = "bulk operations"
RATE = "bulk rate"
# Before the name of a vector index in the bytes written; no name begins with it.
VECTOR = "vector/"
GONE = {"FailureCode": "ResourceNotFoundException", "FailureMessage": "The table was deleted during the load"}
GLOBAL = {
    "FailureCode": "ValidationException",
    "FailureMessage": "The table became a global table during the load, and these are not loaded",
}
STOPPED = {"FailureCode": "Cancelled", "FailureMessage": "The load was cancelled by CancelBulkOperation"}


def described(operation: BulkOperation) -> dict[str, Any]:
    """The BulkOperationDescription."""
    description = store.described(operation, "BulkOperation")
    return description | {
        "ProcessedItemCount": operation.processed,
        "ProcessedInputBytes": operation.size,
        "FailedItemCount": operation.errors,
        "BulkOperationUsage": [_usage(operation, description["TableDetails"][0]["TableName"])],
    }


def _usage(operation: BulkOperation, table: str) -> dict[str, Any]:
    written: dict[str, int] = orjson.loads(operation.usage)
    used = {name: size for name, size in written.items() if not name.startswith(VECTOR)}
    vectors = {name.removeprefix(VECTOR): size for name, size in written.items() if name not in used}
    body = orjson.loads(operation.body)
    shown: dict[str, Any] = {
        "TableName": table,
        "BulkPutBytes": sum(used.values()),
        "Table": {"BulkPutBytes": used.get("", 0)},
    }
    for member, names in (
        ("LocalSecondaryIndexes", body["local"]),
        ("GlobalSecondaryIndexes", sorted({*used} - {"", *body["local"]})),
    ):
        sizes = {name: {"BulkPutBytes": used[name]} for name in names if name in used}
        if sizes:
            shown[member] = sizes
    if vectors:
        shown["VectorIndexes"] = {name: {"BulkPutVectorBytes": vectors[name]} for name in sorted(vectors)}
    return shown


# --- a step ---


class BulkJob(NamedTuple):
    """A bulk load with its description, its table (None: it was deleted) and its buckets."""

    operation: BulkOperation
    description: dict[str, Any]
    table: Table | None
    buckets: Buckets
    now: int

    @property
    def input(self) -> Input:
        given = self.description["InputS3Configuration"]
        form = ImportFormat(given["InputFormat"], given.get("InputCompressionType") or PLAIN, ",", None, {})
        bucket = Bucket(given["S3Bucket"], given.get("S3BucketOwner"))
        prefix = given.get("S3KeyPrefix") or ""
        return Input(MEMORY, self.operation.number, self.buckets, bucket, prefix, form)


def put_batch(session: Session) -> bool:
    """A job: write the next page of the oldest bulk load; False when there is none."""
    plan = session.read(_next_job)
    if plan is None:
        session.memory.pop(RATE, None)
        return False
    try:
        _step(session, plan)
    except BucketUnusable as trouble:
        _end(session, plan, FAILED, trouble.as_failure())
    except BaseException:
        close_object(session, MEMORY)
        raise
    return True


def _next_job(txn: ReadTransaction) -> BulkJob | None:
    operation = BULK_OPERATIONS.next(txn.rows)
    if operation is None:
        return None
    buckets = txn.place.buckets
    assert buckets is not None, "an engine without buckets takes no bulk loads"
    table = _table(txn.tables, operation)
    return BulkJob(operation, orjson.loads(operation.body)["told"], table, buckets, txn.now_us())


def _table(tables: Catalog, operation: BulkOperation) -> Table | None:
    return next((table for table in tables.values() if table.number == operation.owner), None)


def _step(session: Session, plan: BulkJob) -> None:
    if plan.operation.status == CANCELLING:
        _report(session, plan)
        _end(session, plan, CANCELLED, STOPPED)
    elif plan.table is None:
        _end(session, plan, FAILED, GONE)
    elif plan.table.replicas is not None:
        # Its writer may be another region by now.
        _report(session, plan)
        _end(session, plan, FAILED, GLOBAL)
    elif _rate(session, plan).rest():
        reading = opened(session, plan.input, plan.operation.object, plan.operation.records)
        if reading is None:
            _finish(session, plan)
        else:
            _take_page(session, plan, plan.table, reading)


def _rate(session: Session, plan: BulkJob) -> UnitRate:
    """How fast the load may write; the first one of a load begins with no units used."""
    held: tuple[int, UnitRate] | None = session.memory.get(RATE)
    if held is None or held[0] != plan.operation.number:
        most = plan.description.get("MaxWriteRequestUnits") or 2**62
        held = session.memory[RATE] = plan.operation.number, UnitRate(most)
    return held[1]


def _take_page(session: Session, plan: BulkJob, table: Table, reading: OpenObject) -> None:
    operation, page = plan.operation, reading.source.page(step_of(table), PAGE_BYTES)
    admitted_before = _admitted(table, reading.key, page)
    records = ALL if page.is_last else reading.records + page.records

    def take(txn: WriteTransaction) -> float:
        current, there = BULK_OPERATIONS.named(txn.rows, operation.arn), _table(txn.tables, operation)
        if current is None or current.status != IN_PROGRESS or there is None or there.replicas is not None:
            return 0.0  # the next step ends the load
        # An index may have been added since.
        items, mistakes = admitted_before if there is table else _admitted(there, reading.key, page)
        used, refused = _put(txn, there, reading.key, items)
        failed = [*mistakes, *refused]
        progress = current._replace(
            object=reading.key,
            records=records,
            size=current.size + page.size,
            processed=current.processed + len(page.parsed),
            errors=current.errors + len(failed),
            usage=_added(current.usage, used),
        )
        store.add_bulk_progress(txn.rows, progress, failed[: max(0, REPORTED_ERRORS - current.errors)])
        return sum(write_units(stored.size) for _, stored in items)

    _rate(session, plan).spend(session.write(take))
    reading.records = records
    if page.is_last:
        reading.close()


def _added(usage: bytes, used: dict[str, int]) -> bytes:
    total: dict[str, int] = orjson.loads(usage)
    return orjson.dumps({name: total.get(name, 0) + used.get(name, 0) for name in {**total, **used}})


def _admitted(table: Table, key: str, page: RecordPage) -> tuple[list[NumberedItem], list[FailedRecord]]:
    """The items of a page that the table takes, with their places, and the records that it refuses."""
    items: list[NumberedItem] = []
    mistakes: list[FailedRecord] = []
    for place, item, error in page.parsed:
        stored = error or "" if item is None else admitted(table, item)
        if isinstance(stored, str):
            mistakes.append(FailedRecord(key, place, stored))
        else:
            items.append((place, stored))
    return items, mistakes


def _put(
    txn: WriteTransaction, table: Table, key: str, items: list[NumberedItem]
) -> tuple[dict[str, int], list[FailedRecord]]:
    """Write the items; the bytes written to the table and to each index, and the items that did not fit."""
    used: dict[str, int] = {}
    refused: list[FailedRecord] = []
    for place, stored in items:
        new, row = orjson.loads(stored.item), txn.rows.get(table.number, stored.key)
        old = None if row is None else orjson.loads(row.item)
        if table.has_local_indexes:
            write = Mutation(table, stored.key, new, None, lambda *_: (None, 0))
            try:
                check_local_indexes(txn, Evaluated(write, row, old, new, stored.size))
            except ServiceError as refusal:
                refused.append(FailedRecord(key, place, refusal.message))
                continue
        used[""] = used.get("", 0) + stored.size
        for entry in txn.change(table, stored.key, row, old, new, stored.size):
            used[entry.index.name] = used.get(entry.index.name, 0) + entry.new_size
        if table.vectors:
            for name, size in put_bytes(table, old, new).items():
                used[VECTOR + name] = used.get(VECTOR + name, 0) + size
    return used, refused


# --- the end ---


def _finish(session: Session, plan: BulkJob) -> None:
    _report(session, plan)
    _end(session, plan, COMPLETED_WITH_ERRORS if plan.operation.errors else COMPLETED, {})


def _end(session: Session, plan: BulkJob, status: str, reason: dict[str, str]) -> None:
    close_object(session, MEMORY)
    session.memory.pop(RATE, None)
    session.write(lambda txn: BULK_OPERATIONS.close(txn.rows, plan.operation, status, plan.now, reason))


def report_key(prefix: str | None, arn: str) -> str:
    """The key of the report of failed records."""
    slash = "/" if prefix and not prefix.endswith("/") else ""
    return f"{prefix or ''}{slash}AWSDynamoDB/{transfer_id(arn)}/errors.json"


def _report(session: Session, plan: BulkJob) -> None:
    """Write the failed records to the output bucket, if there are any and they are wanted."""
    arn, given = plan.operation.arn, plan.description["OutputS3Configuration"]
    if not plan.operation.errors or "ERROR" not in given["OutputType"]:
        return
    mistakes = session.read(lambda txn: store.bulk_errors(txn.rows, plan.operation.number))
    source = plan.input.bucket.name
    lines = [
        orjson.dumps(
            {
                "itemS3Pointer": {"bucket": source, "key": one.object, "itemIndex": one.place},
                "bulkOperationArn": arn,
                "errorMessages": [one.message],
            }
        )
        for one in mistakes
    ]
    encryption = "KMS" if given.get("S3SseAlgorithm") == "KMS" else None
    bucket = Bucket(given["S3Bucket"], given.get("S3BucketOwner"), encryption, given.get("S3SseKmsKeyId"))
    plan.buckets.put(bucket, report_key(given.get("S3KeyPrefix"), arn), b"\n".join(lines) + b"\n")
