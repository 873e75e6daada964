"""The journal: every change to every item, in the order it happened.

A row is (seq, at, source, owner, key, old, new): its number, microseconds since 1970, what wrote it, the
table's number, the item's key bytes, and the item as raw JSON before and after (NULL where there was none
or is none). Both images are kept, so a stream of any view, recovery forward from a checkpoint or backward
from now, and exports are readings of this one list. Replicas read stamps instead (replication/stamps.py).
Must hold: an item row and its journal row commit together or not at all; seq has no gaps and `at` never
falls; a write that changes nothing leaves no row. The newest row is never removed: it carries the numbering.
Elsewhere: how far back it is kept (history/retention.py), streams as readings of it (streams/shards.py,
streams/records.py).
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader

# What made a change: a client, the sweep of expired items, or another region.
CLIENT = 0
TIME_TO_LIVE = 1
REPLICA = 2

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


@dataclass(slots=True)
class JournalPosition:
    """The end of the journal: the number and the time of its last row."""

    seq: int
    at: int

    def write(
        self, writes: RowWriter, table: int, key: bytes, old: bytes | None, new: bytes | None, source: int
    ) -> None:
        self.seq += 1
        writes.append(self.seq, self.at, source, table, key, old, new)


def last_position(rows: RowReader) -> JournalPosition:
    return JournalPosition(*rows.last_sequence())


def position_at(last: JournalPosition, moment: datetime) -> JournalPosition:
    """The position for changes made now. A clock that is set back does not set `at` back."""
    return JournalPosition(last.seq, max(last.at, microseconds(moment)))


def first_since(rows: RowReader, moment: int) -> int:
    """The number of the first row at that moment or later; the next number if there is no such row.

    `at` never falls and numbers have no gaps, so a binary search finds it.
    """
    low, high = rows.first_sequence(), rows.last_sequence()[0] + 1
    while low < high:
        middle = (low + high) // 2
        at = rows.journal_time(middle)
        if at is not None and at < moment:
            low = middle + 1
        else:
            high = middle
    return low
