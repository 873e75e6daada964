"""The scrub: once a day a pass over the whole store that looks for damage to the file, in small steps.

Reads compare the checksum of each item they return; the scrub finds damage in what is not read: items, index entries,
journal rows, chunks of snapshots, the structure of the file, and the counters. Rows that an earlier version wrote get
their checksums here.
Must hold: a step reads one snapshot and keeps nothing open; it writes only missing checksums and its own report. A
report names parts of the store, never keys or contents. Damage is reported, never raised; tables that are created or
dropped during a pass are not damage.
Elsewhere: the thread and its pauses (background/threads.py), a check of every invariant in one snapshot, which needs
the store exclusively (invariants.py).
"""

import logging
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar

import orjson

from tablewright.engine.background.session import EngineClosed, Session
from tablewright.engine.catalog import Table
from tablewright.engine.history.chunks import is_whole
from tablewright.engine.storage.checksum import crc32
from tablewright.engine.storage.rows import index_name
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.verify import store
from tablewright.engine.verify.index_entries import EntryCheck, entry_checks
from tablewright.engine.verify.invariants import wrong_catalog, wrong_item, wrong_streams, wrong_tables
from tablewright.engine.verify.store import ScrubReport

log = logging.getLogger("tablewright.engine")

# Microseconds between the end of a pass and the next.
EVERY = 24 * 3600 * 1_000_000
# About half a millisecond for small items, longer for large ones: a request may wait for so long.
STEP_ROWS = 50
# A chunk has up to half a megabyte before compression.
STEP_CHUNKS = 4

Where = TypeVar("Where", int, bytes)


class ScrubStep(NamedTuple):
    """The result of a step: how many rows it read, and for each damaged place the name of its part."""

    rows: int
    found: list[str]


class Scrub:
    """The passes over one open store. `damaged` are the tables in which requests found damage (storage/sqlite.py)."""

    def __init__(self, session: Session, damaged: set[int], is_over: Callable[[], bool]) -> None:
        self._session, self._damaged, self._is_over = session, damaged, is_over
        self._steps: Iterator[ScrubStep] | None = None
        self.current: ScrubReport | None = None

    def last(self) -> ScrubReport | None:
        """The last finished pass."""
        return self._session.read(lambda txn: store.last_ended(txn.rows))

    def damage(self) -> list[str]:
        """The parts of the store in which requests or a pass found damage."""
        parts = {name for one in (self.last(), self.current) if one is not None for name, _ in one.found}
        met = tuple(self._damaged)
        return sorted(parts | set(self._session.read(lambda txn: [_named(one, txn) for one in met])))

    def is_due(self) -> bool:
        if self._steps is not None:
            return True
        last, now = self.last(), self._session.read(lambda txn: txn.now_us())
        return last is None or now >= (last.ended or 0) + EVERY

    def step(self) -> bool:
        """One step of the current pass, or of a new one; False at the end of a pass."""
        if self._steps is None or self.current is None:
            now, total = self._session.read(lambda txn: (txn.now_us(), _total_rows(txn)))
            self.current = ScrubReport(now, None, 0, total, ())
            self._steps = _steps(self._session, self._is_over)
        try:
            step = next(self._steps, None)
        except BaseException:
            # Interrupted, for example by a full disk: rows that were not read must not count as read.
            self._steps = self.current = None
            raise
        if step is None:
            self._end(self.current)
            return False
        self.current = self._with(self.current, step)
        return True

    def run(self) -> ScrubReport:
        """A whole pass at once, from its beginning."""
        self._steps = None
        while self.step():
            pass
        last = self.last()
        assert last is not None, "a finished pass is saved"
        return last

    def _with(self, report: ScrubReport, step: ScrubStep) -> ScrubReport:
        found = dict(report.found)
        for part in step.found:
            if part not in found:
                log.error("damage found", extra={"part": part})
            found[part] = found.get(part, 0) + 1
        return report._replace(rows=report.rows + step.rows, found=tuple(sorted(found.items())))

    def _end(self, report: ScrubReport) -> None:
        self._session.write(lambda txn: store.save(txn.rows, report._replace(ended=txn.position.at)))
        log.info("scrub finished", extra={"rows": report.rows, "damaged_parts": len(report.found)})
        self._steps = self.current = None
        # Damage found by requests is in the pass now, unless it was repaired: a restored table has another number.
        self._damaged.clear()


# --- the steps of a pass ---


def _steps(session: Session, is_over: Callable[[], bool]) -> Iterator[ScrubStep]:
    yield from _walk(session, is_over, "the catalog", 0, 1, _catalog)
    for name in session.read(lambda txn: sorted(txn.rows.sql_tables())):
        part = session.read(partial(_part, name))
        yield from _walk(session, is_over, part, 0, 1, partial(_structure, name, is_over))
    for number in session.read(lambda txn: sorted(table.number for table in txn.tables.values())):
        part, unsummed = session.read(partial(_named, number)), list[int]()
        for step in _walk(session, is_over, part, 0, STEP_ROWS, partial(_items, number, unsummed)):
            yield step
            if unsummed:
                session.write(partial(_add_sums, number, unsummed))
        for index in session.read(partial(_lists, number)):
            part = session.read(partial(_part, index_name(number, index)))
            yield from _walk(session, is_over, part, b"", STEP_ROWS, partial(_entries, number, index))
    yield from _walk(session, is_over, "journal", 0, STEP_ROWS, _changes)
    yield from _walk(session, is_over, "snapshots", 0, STEP_CHUNKS, _chunks)


def _walk(
    session: Session,
    is_over: Callable[[], bool],
    part: str,
    start: Where,
    limit: int,
    fn: Callable[[Where, ReadTransaction], tuple[list[Where], int]],
) -> Iterator[ScrubStep]:
    """Read a list in steps: `fn` returns at most `limit` places after one, and how much damage it found."""
    after: Where | None = start
    while after is not None:
        try:
            places, damaged = session.read(partial(fn, after))
        except Exception as error:
            if isinstance(error, EngineClosed) or is_over():
                raise EngineClosed("the store was closed during a scrub") from None
            yield ScrubStep(0, [part])  # it cannot be read any further
            return
        yield ScrubStep(len(places), [part] * damaged)
        after = places[-1] if len(places) == limit else None


def _total_rows(txn: ReadTransaction) -> int:
    """About how many rows a pass reads."""
    rows = txn.rows
    items = sum(rows.counts(name)[0] for table in txn.tables.values() for name in table.sql_tables())
    return items + rows.last_sequence()[0] - rows.first_sequence() + 1


def _table(number: int, txn: ReadTransaction) -> Table | None:
    return next((table for table in txn.tables.values() if table.number == number), None)


def _named(number: int, txn: ReadTransaction) -> str:
    table = _table(number, txn)
    return f"table {number}" if table is None else f"table {table.name}"


def _part(name: str, txn: ReadTransaction) -> str:
    """The name of the part of the store that an SQL table belongs to."""
    for table in txn.tables.values():
        for index in table.every_index:
            if name == index_name(table.number, index.number):
                return f"table {table.name}, index {index.name}"
        if name in table.sql_tables():
            return f"table {table.name}"
    return f"the store's own {name}"


def _catalog(_: int, txn: ReadTransaction) -> tuple[list[int], int]:
    tables: list[Table] = []
    rows = txn.rows
    wrong = [*wrong_catalog(rows, tables), *wrong_tables(rows, tables), *wrong_streams(rows, tables)]
    return [], bool(wrong)


def _structure(name: str, is_over: Callable[[], bool], _: int, txn: ReadTransaction) -> tuple[list[int], int]:
    """SQLite's check of a table, and the counter of a table with items."""
    rows = txn.rows
    if name not in rows.sql_tables():
        return [], 0
    is_counted = re.fullmatch(r"t\d+", name) is not None and _part(name, txn).startswith("table ")
    wrong = store.structure_mistakes(rows, name, is_over)
    return [], bool(wrong) or (is_counted and store.counted(rows, name) != rows.counts(name))


def _items(number: int, unsummed: list[int], after: int, txn: ReadTransaction) -> tuple[list[int], int]:
    """The items of a table; `unsummed` are those that get a checksum."""
    table = _table(number, txn)
    if table is None:
        return [], 0
    checks = entry_checks(txn.rows, table)
    rows = txn.rows.rows_with_checksums(number, after, STEP_ROWS)
    whole = [row for row in rows if _is_whole(table, checks, row)]
    unsummed[:] = [row[0] for row in whole if row[4] is None]
    return [row[0] for row in rows], len(rows) - len(whole)


def _add_sums(number: int, unsummed: list[int], txn: WriteTransaction) -> None:
    store.add_sums(txn.rows, number, unsummed)


def _is_whole(table: Table, checks: list[EntryCheck], row: tuple[int, bytes, int, bytes, int | None]) -> bool:
    """Whether an item matches its checksum, is stored under its own key, and has its entries."""
    number, key, size, raw, summed = row
    try:
        if summed is not None and crc32(raw) != summed:
            return False
        item = orjson.loads(raw)
        if any(wrong_item(table, "", key, size, item)):
            return False
        entries = [(one, one.entry_of(number, key, item)) for one in checks]
        return all(entry is None or one.find(entry) == number for one, entry in entries)
    except Exception:  # not an item at all
        return False


def _lists(number: int, txn: ReadTransaction) -> list[int]:
    """The numbers of a table's indexes and of its expiry list."""
    table = _table(number, txn)
    return [] if table is None else [one.number for one in entry_checks(txn.rows, table)]


def _entries(number: int, index: int, after: bytes, txn: ReadTransaction) -> tuple[list[bytes], int]:
    """Entries of an index; those of no item, or of another item, are damaged."""
    table = _table(number, txn)
    checks = [] if table is None else entry_checks(txn.rows, table)
    for one in checks:
        if one.number == index:
            entries = store.entries_after(txn.rows, number, index, after, STEP_ROWS)
            return [key for key, _ in entries], sum(not one.is_expected(key, row) for key, row in entries)
    return [], 0


def _changes(after: int, txn: ReadTransaction) -> tuple[list[int], int]:
    """Journal rows against their checksums."""
    rows = store.changes_after(txn.rows, after, STEP_ROWS)
    return [seq for seq, _ in rows], sum(not is_right for _, is_right in rows)


def _chunks(after: int, txn: ReadTransaction) -> tuple[list[int], int]:
    """Chunks of snapshots against their names."""
    rows = store.chunks_after(txn.rows, after, STEP_CHUNKS)
    return [number for number, *_ in rows], sum(not is_whole(name, body) for _, name, body in rows)
