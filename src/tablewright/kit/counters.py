"""Counters: numbers kept from the changes of a stream, and compared with a real count.

    COUNTS = Counters(d.tallies, "tally", within="counts")
    added = additions(change, lambda tenant: {tenant.status: 1})
    COUNTS.count(db, change, d.tallies.upsert(start), added)     # by the consumer of a stream
    COUNTS.reconcile(db, [start], real_count, consumer)          # by a job

Must hold: a change is counted once, however often and to however many workers it is delivered. A number is corrected
only if two comparisons found the same difference, no change was waiting to be counted after the second, and the row is
as it was read (its version, or else the numbers): else a correction and the stream could both count a change. Parked
changes do not wait; what a replay counts twice is corrected by the next comparison.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from tablewright.design import Entity, Write
from tablewright.mapping import AlreadyExists, Change, Consumer, Db, NoStream, Stale

Numbers: TypeAlias = Mapping[str, int]
C = TypeVar("C", bound=BaseModel)
# Between two comparisons: a real count reads an index, which DynamoDB updates a moment after the table.
PAUSE_SECONDS = 1.0


def additions(change: Change[Any], of: Callable[[Any], Numbers]) -> Numbers:
    """What a change adds to each number, where `of` returns what one record is counted as."""
    before, after = (of(record) if record is not None else {} for record in (change.before, change.after))
    return _differences(before, after)


def _differences(before: Numbers, after: Numbers) -> Numbers:
    off = {name: after.get(name, 0) - before.get(name, 0) for name in sorted({*before, *after})}
    return {name: number for name, number in off.items() if number}


@dataclass(frozen=True, slots=True)
class _Comparison(Generic[C]):
    """A row as it begins and as it is stored, what was really counted, and what the row lacks of that."""

    start: C
    row: C | None
    real: Numbers
    off: Numbers


@dataclass(frozen=True, slots=True)
class Counters(Generic[C]):
    """The rows of an entity: a number is a field, or an entry of the dict `within`. A change counts once by `name`."""

    rows: Entity[C, ...]
    name: str
    within: str | None = None

    def count(self, db: Db, change: Change[Any], write: Write[C], added: Numbers) -> bool:
        """Add to the row of an upsert; False if nothing is to be added or the change was counted already."""
        for name, number in added.items():
            write = write.at(partial(self._number, name=name)).add(number)
        return bool(added) and not db.write(write, once=f"{self.name}/{change.event_id}").repeated

    def reconcile(
        self, db: Db, starts: Sequence[C], real: Callable[[C], Numbers], consumer: Consumer, **stamp: object
    ) -> list[Numbers]:
        """Compare rows with real counts; returns the corrections made.

        `starts` are the rows as they begin, `stamp` are fields to set in every row that is right now. A row that is
        written at the same time, or whose changes wait, stays as it is until the next call.
        """
        first = self._compared(db, starts, real)
        right, wrong = [each for each in first if not each.off], [each for each in first if each.off]
        if wrong and not _is_behind(consumer):
            db.world.sleep(PAUSE_SECONDS)
            second = self._compared(db, [each.start for each in wrong], real)
            if not _is_behind(consumer):
                right += [now for before, now in zip(wrong, second, strict=True) if now.off == before.off]
        return [each.off for each in right if self._store(db, each, stamp) and each.off]

    def _compared(
        self, db: Db, starts: Sequence[C], real: Callable[[C], Numbers]
    ) -> Sequence[_Comparison[C]]:
        keys = [[getattr(start, name) for name in self.rows.shape.parameters] for start in starts]
        # The rows are read first: what is counted from then on makes the correction fail.
        rows = db.many([self.rows.get(*key) for key in keys], consistent=True)
        counts = [real(start) for start in starts]
        return [
            _Comparison(start, row, count, _differences(self._numbers(row or start, count), count))
            for start, row, count in zip(starts, rows, counts, strict=True)
        ]

    def _store(self, db: Db, found: _Comparison[C], stamp: Mapping[str, object]) -> bool:
        """Correct and stamp a row; False if it was written since it was read."""
        before = found.row or found.start
        counted = {name: number for name, number in found.real.items() if number}
        numbers = {self.within: counted} if self.within else found.real
        after = before.model_copy(update={**numbers, **stamp})
        try:
            if after != before:
                db.write(self.rows.create(after) if found.row is None else self.rows.change(before, after))
        except (AlreadyExists, Stale):
            return False
        return True

    def _numbers(self, row: C, names: Numbers) -> Numbers:
        stored: Numbers | None = getattr(row, self.within) if self.within else None
        return {name: getattr(row, name) for name in names} if stored is None else stored

    def _number(self, row: Any, name: str) -> Any:
        return getattr(row, self.within)[name] if self.within else getattr(row, name)


def _is_behind(consumer: Consumer) -> bool:
    """Whether a change is waiting to be counted. Those older than a day are no longer in the stream."""
    try:
        return consumer.is_behind()
    except NoStream:
        return False  # it was switched off: no change will be counted
