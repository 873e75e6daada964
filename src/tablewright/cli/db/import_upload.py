"""Import local files into a table of a server or of AWS, with batch writes.

The table is created with a tag that names the import; the tag is removed when all items are written. After an
interruption the same command finds the tag and writes all items again, which changes nothing already written.
Must hold: an item is checked as PutItem would before it is sent; refusals are reported by file and line; an incomplete
table is always reported.
Elsewhere: which files (import_files.py), the printed outcome (import_outcome.py), local stores (import_.py).
"""

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tablewright.cli.db.import_outcome import ImportJob, RefusedItem
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.progress import Progress, progress_bar, wait_for
from tablewright.cli.target import Target
from tablewright.client import CallRefused, batch_write
from tablewright.client.batches import BatchStopped
from tablewright.engine import Engine
from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError
from tablewright.engine.transfer.import_ import refusal_of
from tablewright.engine.transfer.import_formats import RECORD_BYTES, ObjectReader

TAG = "tablewright:importing"
# The limit of BatchWriteItem.
BATCH = 25
EXISTS = "{} already exists, and an import creates a new table; name another with --to"


@dataclass(slots=True)
class Upload:
    """Progress: items written, items refused, bytes read."""

    written: int = 0
    size: int = 0
    refused: list[RefusedItem] = field(default_factory=list)

    def description(self) -> dict[str, Any]:
        """As DescribeImport describes a finished import."""
        errors = len(self.refused)
        description: dict[str, Any] = {
            "ImportStatus": "FAILED" if errors else "COMPLETED",
            "ProcessedItemCount": self.written + errors,
            "ImportedItemCount": self.written,
            "ErrorCount": errors,
            "ProcessedSizeBytes": self.size,
        }
        if errors:
            description |= {"FailureCode": "ItemValidationError", "FailureMessage": ""}
        return description


@dataclass(frozen=True, slots=True)
class _Line:
    """An item with its file and line."""

    file: str
    number: int
    item: dict[str, Any]


def trial_table(table: dict[str, Any]) -> Table:
    """The table as the engine would create it; raises UsageError for a wrong definition, before anything is created."""
    with Engine.open() as engine:
        try:
            engine.call("CreateTable", {**table, "TableName": "trial"})
        except ServiceError as refused:
            raise UsageError(f"the keys or indexes of the table are not valid: {refused.message}") from None
        return engine.tables["trial"]


def upload(given: argparse.Namespace, target: Target, job: ImportJob) -> Upload:
    """Create the table and write all items."""
    as_made = trial_table(job.table)
    arn = _create_table(given, target, job)
    done = Upload()
    try:
        _write_all(given, target, job, as_made, done)
        target.call("UntagResource", {"ResourceArn": arn, "TagKeys": [TAG]})
    except BaseException:
        print_message(
            f"tablewright: {given.to} is not complete: {done.written} items were written. "
            "Run the same command again to write all of them."
        )
        raise
    return done


def _create_table(given: argparse.Namespace, target: Target, job: ImportJob) -> str:
    """Create the table, or find the one of an interrupted import; returns its ARN."""
    ours = {"Key": TAG, "Value": job.bucket}
    tags = [*job.table.get("Tags", ()), ours]
    is_new = True
    try:
        target.call("CreateTable", {**job.table, "TableName": given.to, "Tags": tags})
    except CallRefused as refusal:
        if refusal.name != "ResourceInUseException":
            raise
        is_new = False
    table = wait_for(
        f"creating {given.to}",
        lambda: target.describe_table(given.to),
        lambda seen: Progress(seen["TableStatus"] == "ACTIVE"),
    )
    arn = str(table["TableArn"])
    if not is_new:
        if ours not in target.call("ListTagsOfResource", {"ResourceArn": arn})["Tags"]:
            raise UsageError(EXISTS.format(given.to))
        print_message(f"continuing an earlier import into {given.to}; all items are written again")
    return arn


def _write_all(
    given: argparse.Namespace, target: Target, job: ImportJob, as_made: Table, done: Upload
) -> None:
    waiting: list[_Line] = []
    with progress_bar() as terminal:
        for line in _lines(given, job, as_made, done):
            waiting.append(line)
            if len(waiting) == BATCH:
                _write(given, target, waiting, done)
                waiting = []
                terminal(min(done.size, (job.weight or 1) - 1), job.weight, f"importing {given.to}")
        _write(given, target, waiting, done)
        terminal(job.weight or 0, job.weight, f"importing {given.to}")


def _lines(given: argparse.Namespace, job: ImportJob, as_made: Table, done: Upload) -> Iterator[_Line]:
    """The items that the table accepts; the others are added to `done.refused`."""
    assert job.files is not None, "only local files are uploaded"
    form = job.format(given.delimiter, as_made.types if job.form == "csv" else {})
    for name in job.files.names:
        path = job.files.root / name
        before = done.size
        with path.open("rb") as raw, closing(ObjectReader(raw, form)) as source:
            is_last = False
            while not is_last:
                page = source.page(1, RECORD_BYTES)
                is_last, done.size = page.is_last, before + raw.tell() if not raw.closed else done.size
                for _, item, error in page.parsed:
                    why = error if item is None else refusal_of(as_made, item)
                    if item is None or why is not None:
                        done.refused.append(RefusedItem(str(path), source.line, why or ""))
                    else:
                        yield _Line(str(path), source.line, item)
        done.size = before + path.stat().st_size


def _write(given: argparse.Namespace, target: Target, lines: list[_Line], done: Upload) -> None:
    if not lines:
        return
    try:
        puts = [{"PutRequest": {"Item": line.item}} for line in lines]
        left = batch_write(target.call, {given.to: puts})
    except BatchStopped as stopped:
        if not isinstance(stopped.why, CallRefused) or stopped.why.is_retryable:
            raise
        # The server refuses an item that passed the check here: put one by one, to find which.
        for line in lines:
            _put(given, target, line, done)
        return
    if left:
        raise OSError(f"{target.name} is throttling: {len(left[given.to])} items of a batch were not written")
    done.written += len(lines)


def _put(given: argparse.Namespace, target: Target, line: _Line, done: Upload) -> None:
    try:
        target.call("PutItem", {"TableName": given.to, "Item": line.item})
    except CallRefused as refusal:
        if refusal.name != "ValidationException":
            raise
        done.refused.append(RefusedItem(line.file, line.number, refusal.message))
    else:
        done.written += 1
