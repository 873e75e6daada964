"""The journal: every change to every item, in the order it happened.

A row is (seq, at, source, owner, key, old, new): its number, microseconds since 1970, who wrote it, the
table's number, the item's key bytes, and the item as raw JSON before and after (NULL where there was none
or is none). Both images are kept, so a stream of any view, recovery forward from a checkpoint or backward
from now, and replication are readings of this one list.
Must hold: an item row and its journal row commit together or not at all; seq has no gaps and `at` never
falls; a write that changes nothing leaves no row. The newest row is never removed: it carries the numbering.
Elsewhere: how far back it is kept (retention.py), streams as readings of it (streams.py, records.py).
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from tablewright.engine.storage_rows import Rows, Writes

# Who made a change.
CLIENT = 0
TIME_TO_LIVE = 1
REPLICA = 2

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


@dataclass(slots=True)
class Pen:
    """Where the journal is written on: the number and the time of the last row."""

    seq: int
    at: int

    def write(
        self, writes: Writes, table: int, key: bytes, old: bytes | None, new: bytes | None, source: int
    ) -> None:
        self.seq += 1
        writes.append(self.seq, self.at, source, table, key, old, new)


def pen(rows: Rows) -> Pen:
    return Pen(*rows.last_sequence())


def pen_at(last: Pen, moment: datetime) -> Pen:
    """The pen for changes made now. A clock set back does not turn the journal back."""
    return Pen(last.seq, max(last.at, microseconds(moment)))


def first_since(rows: Rows, moment: int) -> int:
    """The number of the first row at that moment or later; of the next there will be, if there is none.

    `at` never falls and numbers have no gaps, so halving finds it: nobody walks the journal to find a time.
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
