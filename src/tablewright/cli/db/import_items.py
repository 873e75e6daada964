"""Write the items of local files into a new table, of a local store or of a server, in batches.

The table is created with a tag that names the import; the tag is removed when all items are written. After an
interruption the same command finds the tag and writes all items again, which changes nothing already written.
Must hold: an item is checked as PutItem would before it is sent; refusals are reported by file and line; of two items
with one key the later one is kept; an incomplete table is always reported.
Elsewhere: which files (import_files.py), the printed outcome (import_.py).
"""

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from tablewright.cli.db.import_files import COMPRESSIONS, FORMATS, ImportFiles
from tablewright.cli.format import escape_unprintable
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.progress import Progress, progress_bar, wait_for
from tablewright.cli.target import Target
from tablewright.client import CallRefused, batch_write
from tablewright.client.batches import WRITES, BatchStopped
from tablewright.engine import Engine
from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError
from tablewright.engine.transfer.import_ import refusal_of
from tablewright.engine.transfer.import_formats import RECORD_BYTES, ImportFormat, ObjectReader

TAG = "tablewright:importing"
# Items that are written before progress is shown; a store commits them together.
GROUP = 40 * WRITES
EXISTS = "{} already exists, and an import creates a new table; name another with --to"


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that was not imported: its file and line, and the reason."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {escape_unprintable(self.reason)}"


@dataclass(slots=True)
class Imported:
    """Progress: items written, items refused, bytes read."""

    written: int = 0
    size: int = 0
    refused: list[RefusedItem] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Under the names of DescribeImport."""
        return {
            "ImportStatus": "FAILED" if self.refused else "COMPLETED",
            "ProcessedItemCount": self.written + len(self.refused),
            "ImportedItemCount": self.written,
            "ErrorCount": len(self.refused),
            "ProcessedSizeBytes": self.size,
            "Refused": [{"File": one.file, "Line": one.line, "Message": one.reason} for one in self.refused],
        }


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


def import_items(
    given: argparse.Namespace, target: Target, files: ImportFiles, table: dict[str, Any]
) -> Imported:
    """Create the table and write all items."""
    as_made = trial_table(table)
    arn = _create_table(given, target, table)
    done = Imported()
    try:
        _write_all(given, target, files, as_made, done)
        target.call("UntagResource", {"ResourceArn": arn, "TagKeys": [TAG]})
    except BaseException:
        print_message(
            f"tablewright: {given.to} is not complete: {done.written} items were written. "
            "Run the same command again to write all of them."
        )
        raise
    return done


def _create_table(given: argparse.Namespace, target: Target, table: dict[str, Any]) -> str:
    """Create the table, or find the one of an interrupted import; returns its ARN."""
    source = blake2b(str(given.source.resolve()).encode(), digest_size=8).hexdigest()
    ours = {"Key": TAG, "Value": source}
    is_new = True
    try:
        tags = [*table.get("Tags", ()), ours]
        target.call("CreateTable", {**table, "TableName": given.to, "Tags": tags})
    except CallRefused as refusal:
        if refusal.name != "ResourceInUseException":
            raise
        is_new = False
    described = wait_for(
        f"creating {given.to}",
        lambda: target.describe_table(given.to),
        lambda seen: Progress(seen["TableStatus"] == "ACTIVE"),
    )
    arn = str(described["TableArn"])
    if not is_new:
        if ours not in target.call("ListTagsOfResource", {"ResourceArn": arn})["Tags"]:
            raise UsageError(EXISTS.format(given.to))
        print_message(f"continuing an earlier import into {given.to}; all items are written again")
    return arn


def _write_all(
    given: argparse.Namespace, target: Target, files: ImportFiles, as_made: Table, done: Imported
) -> None:
    waiting: list[_Line] = []
    weight = files.weight
    with progress_bar() as terminal:
        for line in _lines(given, files, as_made, done):
            waiting.append(line)
            if len(waiting) == GROUP:
                _write(given.to, target, waiting, done)
                waiting = []
                terminal(min(done.size, weight - 1), weight, f"importing {given.to}")
        _write(given.to, target, waiting, done)
        terminal(weight, weight or None, f"importing {given.to}")


def _lines(given: argparse.Namespace, files: ImportFiles, as_made: Table, done: Imported) -> Iterator[_Line]:
    """The items that the table accepts; the others are added to `done.refused`."""
    types = as_made.types if files.form == "csv" else {}
    form = ImportFormat(FORMATS[files.form], COMPRESSIONS[files.packed], given.delimiter or ",", None, types)
    for name in files.names:
        path = files.root / name
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


def _write(table: str, target: Target, lines: list[_Line], done: Imported) -> None:
    """Write the items in batches; from the first batch that is refused on, one by one, to find what is refused."""
    count = _write_group(table, target.engine, lines) if target.engine else _send(table, target, lines)
    done.written += count
    for line in lines[count:]:
        try:
            target.call("PutItem", {"TableName": table, "Item": line.item})
        except CallRefused as refusal:
            if refusal.name != "ValidationException":
                raise
            done.refused.append(RefusedItem(line.file, line.number, refusal.message))
        else:
            done.written += 1


def _batches(table: str, lines: list[_Line]) -> list[dict[str, list[dict[str, Any]]]]:
    puts = [{"PutRequest": {"Item": line.item}} for line in lines]
    return [{table: puts[at : at + WRITES]} for at in range(0, len(puts), WRITES)]


def _write_group(table: str, engine: Engine, lines: list[_Line]) -> int:
    """Write to a local store with one commit; how many items there are before the first refused batch."""
    batches = _batches(table, lines)
    group = engine.start_group([("BatchWriteItem", {"RequestItems": one}) for one in batches], wait=True)
    outcomes = [] if group is None else group.finish()
    refused = [number for number, one in enumerate(outcomes) if isinstance(one, ServiceError)]
    return min(refused) * WRITES if refused else len(lines)


def _send(table: str, target: Target, lines: list[_Line]) -> int:
    """Write to a server; how many items there are before the first refused batch."""
    for number, batch in enumerate(_batches(table, lines)):
        try:
            left = batch_write(target.call, batch)
        except BatchStopped as stopped:
            if not isinstance(stopped.why, CallRefused) or stopped.why.is_retryable:
                raise
            return number * WRITES
        if left:
            raise OSError(
                f"{target.name} is throttling: {len(left[table])} items of a batch were not written"
            )
    return len(lines)
