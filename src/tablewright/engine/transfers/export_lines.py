"""The lines of an export, in the order of their keys, enough for a file at a time.

Must hold: each key is told once; memory holds one file and the keys of one part of the changes, never a table. What is
kept between two files only saves work: the lines can be begun after any key.
Elsewhere: what a line looks like (layout.py), where the files go (exports.py).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from tablewright.engine import history
from tablewright.engine import storage_history as past
from tablewright.engine.doors import Doors
from tablewright.engine.keys import HASH_SPACE
from tablewright.engine.storage_transfers import Export
from tablewright.engine.transfers import layout
from tablewright.engine.transfers.layout import FULL
from tablewright.engine.writing import Reading

# Lines of a data file before they are compressed, as they are held in memory.
FILE_BYTES = 16 * 1024 * 1024
# Rows of the journal one look reads, and those whose keys are held in memory at a time (some 40 MB).
JOURNAL_ROWS = 5000
PART_ROWS = 200_000
IMAGES = 200
IMAGE_BYTES = 1024 * 1024
# Greater than any key: an export that is done up to here has all of its data files.
END = b"\xff"


def hold_name(arn: str) -> str:
    """Under what name an export holds on to the past."""
    return f"export {arn}"


class Text(NamedTuple):
    """Lines for a file, what they weigh, and the key up to which they go."""

    lines: list[bytes]
    size: int
    done: bytes


class Line(NamedTuple):
    """A line, what it weighs, and its key; no text where a key has nothing to tell."""

    key: bytes
    text: bytes | None
    size: int


@dataclass(slots=True)
class Lines:
    """The lines of an export that are not yet in a file. Only saves work: it can be begun at any key."""

    number: int
    source: Iterator[list[Line]]
    done: bytes
    waiting: list[Line] = field(default_factory=list)

    def take(self) -> Text:
        """Enough for a file; less when there is no more, and then it is done up to END."""
        lines: list[bytes] = []
        size = weight = 0
        while True:
            for place, line in enumerate(self.waiting):
                if weight >= FILE_BYTES:
                    self.waiting = self.waiting[place:]
                    return Text(lines, size, self.done)
                self.done = line.key
                if line.text is not None:
                    lines.append(line.text)
                    size += line.size
                    weight += len(line.text)
            self.waiting = []
            more = next(self.source, None)
            if more is None:
                self.done = END
                return Text(lines, size, END)
            self.waiting = more


def lines_of(doors: Doors, export: Export, told: dict[str, Any], keys: list[str]) -> Lines:
    """Those of this export, from where its files end; `keys` are the table's key attributes."""
    if told["ExportType"] == FULL:
        return Lines(export.number, _items(doors, export), export.done)
    view = told["IncrementalExportSpecification"]["ExportViewType"]
    return Lines(export.number, _changes(doors, export, keys, view), export.done)


def _items(doors: Doors, export: Export) -> Iterator[list[Line]]:
    for page in history.items_at(doors, hold_name(export.arn), export.done):
        yield [Line(kept.key, layout.item_line(kept.item), kept.size) for kept in page]


# --- changes: each key once, what was before and what is after ---


class Span(NamedTuple):
    """The first and the last change of a key."""

    first: int
    last: int


def _changes(doors: Doors, export: Export, names: list[str], view: str) -> Iterator[list[Line]]:
    """In the order of keys, a part of the hash space after another: so memory holds the keys of one part only."""
    for low, high in parts(export.last - export.first + 1):
        if high <= export.done:
            continue
        spans = sorted(_spans(doors, export, max(low, export.done), high).items())
        place = 0
        while place < len(spans):
            images = doors.read(_look_at_images(spans[place : place + IMAGES]))
            place += len(images)
            yield [_change(names, view, *image) for image in images]


def _change(names: list[str], view: str, key: bytes, at: int, old: bytes | None, new: bytes | None) -> Line:
    text = layout.change_line(names, at, old, new, view)
    return Line(key, text, len(text or b""))


def parts(changes: int) -> list[tuple[bytes, bytes]]:
    """The hash space in as many parts as that many changes need."""
    count = max(1, -(-changes // PART_ROWS))
    borders = [b"", *((place * HASH_SPACE // count).to_bytes(4) for place in range(1, count)), END]
    return list(pairwise(borders))


def _spans(doors: Doors, export: Export, after: bytes, high: bytes) -> dict[bytes, Span]:
    """The keys with after < key < high that have changed."""
    spans: dict[bytes, Span] = {}
    for first in range(export.first, export.last + 1, JOURNAL_ROWS):
        last = min(first + JOURNAL_ROWS - 1, export.last)
        _note(spans, doors.read(_look_at_keys(export.owner, first, last)), after, high)
    return spans


def _note(spans: dict[bytes, Span], found: Iterable[tuple[int, bytes]], after: bytes, high: bytes) -> None:
    for seq, key in found:
        if after < key < high:
            known = spans.get(key)
            spans[key] = Span(seq if known is None else known.first, seq)


def _look_at_keys(table: int, first: int, last: int) -> Callable[[Reading], list[tuple[int, bytes]]]:
    return lambda reading: past.journal_part(reading.rows, table, first, last)


def _look_at_images(
    spans: list[tuple[bytes, Span]],
) -> Callable[[Reading], list[tuple[bytes, int, bytes | None, bytes | None]]]:
    """Key, time of the last change, image before the first and after the last, as many as are quick to read."""

    def look(reading: Reading) -> list[tuple[bytes, int, bytes | None, bytes | None]]:
        found: list[tuple[bytes, int, bytes | None, bytes | None]] = []
        size = 0
        for key, span in spans:
            old = past.image(reading.rows, span.first, is_old=True)
            new = past.image(reading.rows, span.last, is_old=False)
            found.append((key, reading.rows.journal_time(span.last) or 0, old, new))
            size += len(old or b"") + len(new or b"")
            if size > IMAGE_BYTES:
                break
        return found

    return look
