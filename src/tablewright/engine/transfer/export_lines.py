"""The lines of an export in key order, one file at a time.

Must hold: each key has one line; memory holds one file and the keys of one part of the changes, never a table. The
state between two files only saves work: reading can begin after any key.
Elsewhere: the format of a line (export_format.py), writing the files (export.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from tablewright.engine.background.session import Session
from tablewright.engine.history import store as history_store
from tablewright.engine.history import time_travel
from tablewright.engine.keys import HASH_SPACE
from tablewright.engine.transaction import ReadTransaction
from tablewright.engine.transfer import export_format
from tablewright.engine.transfer.export_filter import ExportFilter
from tablewright.engine.transfer.export_format import FULL
from tablewright.engine.transfer.store import Export

# The lines of a data file before compression, as they are in memory.
FILE_BYTES = 16 * 1024 * 1024
# Journal rows that one transaction reads, and rows whose keys are in memory at a time (some 40 MB).
JOURNAL_ROWS = 5000
PART_ROWS = 200_000
IMAGES = 200
IMAGE_BYTES = 1024 * 1024
# The first and the last change of a key, as journal numbers.
ChangeRange: TypeAlias = tuple[int, int]
# A key, when it was last changed, and its images before the first and after the last change.
ChangedImages: TypeAlias = tuple[bytes, int, bytes | None, bytes | None]
# Greater than any key: an export whose `done` is END has all of its data files.
END = b"\xff"


def pin_name(arn: str) -> str:
    """The name of an export's pin."""
    return f"export {arn}"


class ExportLine(NamedTuple):
    """A line with its key and its size as billed; no text where the key did not change or is filtered out."""

    key: bytes
    text: bytes | None
    size: int


@dataclass(slots=True)
class LineReader:
    """The lines of an export that are not yet in a file, after the key `done`."""

    number: int
    source: Iterator[ExportLine]
    done: bytes

    def take(self) -> tuple[list[bytes], int]:
        """The lines of the next file and their size as billed. After the last file `done` is END.

        A file ends with what was read, not with what matched: so a step takes about as long with a filter.
        """
        lines: list[bytes] = []
        size = weight = 0
        for line in self.source:
            self.done = line.key
            if line.text is not None:
                lines.append(line.text)
                size += line.size
            weight += line.size if line.text is None else len(line.text)
            if weight >= FILE_BYTES:
                return lines, size
        self.done = END
        return lines, size


def lines_of(
    session: Session, export: Export, description: dict[str, Any], keys: list[str], only: ExportFilter
) -> LineReader:
    """The lines of an export after its last file; `keys` are the table's key attributes."""
    if description["ExportType"] == FULL:
        return LineReader(export.number, _items(session, export, only), export.done)
    view = description["IncrementalExportSpecification"]["ExportViewType"]
    return LineReader(export.number, _changes(session, export, keys, view, only), export.done)


def _items(session: Session, export: Export, only: ExportFilter) -> Iterator[ExportLine]:
    # A key just below the range: the page before it need not be read.
    start = max(export.done, only.low[:-1])
    for page in time_travel.items_as_of(session, pin_name(export.arn), start):
        for stored in page:
            if only.high is not None and stored.key >= only.high:
                return
            is_in = only.has_key(stored.key) and only.matches(stored.item)
            text = export_format.item_line(only.shown(stored.item)) if is_in else None
            yield ExportLine(stored.key, text, stored.size)


# --- changes: for each key the image before and the image after ---


def _changes(
    session: Session, export: Export, names: list[str], view: str, only: ExportFilter
) -> Iterator[ExportLine]:
    """In key order, one part of the hash space after the other, so that memory holds the keys of one part only."""
    for low, high in parts(export.last - export.first + 1):
        if high <= export.done:
            continue
        found = _change_ranges(session, export, max(low, export.done), high)
        spans = sorted(span for span in found.items() if only.has_key(span[0]))
        place = 0
        while place < len(spans):
            images = session.read(partial(_images, spans[place : place + IMAGES]))
            place += len(images)
            for key, at, old, new in images:
                before, after = (image if only.matches(image) else None for image in (old, new))
                text = export_format.change_line(names, at, before, after, view, only.shown)
                yield ExportLine(key, text, len(text or old or new or b""))


def parts(changes: int) -> list[tuple[bytes, bytes]]:
    """The hash space in as many parts as that many changes need."""
    count = max(1, -(-changes // PART_ROWS))
    borders = [b"", *((place * HASH_SPACE // count).to_bytes(4) for place in range(1, count)), END]
    return list(pairwise(borders))


def _change_ranges(session: Session, export: Export, after: bytes, high: bytes) -> dict[bytes, ChangeRange]:
    """The keys with after < key < high that have changed."""
    spans: dict[bytes, ChangeRange] = {}
    for first in range(export.first, export.last + 1, JOURNAL_ROWS):
        last = min(first + JOURNAL_ROWS - 1, export.last)
        for seq, key in session.read(partial(_changed_keys, export.owner, first, last)):
            if after < key < high:
                spans[key] = spans.get(key, (seq, seq))[0], seq
    return spans


def _changed_keys(table: int, first: int, last: int, txn: ReadTransaction) -> list[tuple[int, bytes]]:
    return history_store.changed_keys(txn.rows, table, first, last)


def _images(spans: list[tuple[bytes, ChangeRange]], txn: ReadTransaction) -> list[ChangedImages]:
    """The images of these keys, up to IMAGE_BYTES."""
    found: list[ChangedImages] = []
    size = 0
    for key, (first, last) in spans:
        old = history_store.image(txn.rows, first, is_old=True)
        new = history_store.image(txn.rows, last, is_old=False)
        found.append((key, txn.rows.journal_time(last) or 0, old, new))
        size += len(old or b"") + len(new or b"")
        if size > IMAGE_BYTES:
            break
    return found
