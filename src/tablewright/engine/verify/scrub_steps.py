"""The steps of a pass of the scrub: each step reads one snapshot and returns which parts are damaged.

Must hold: damage is reported, never raised; tables that are created or dropped during a pass are not damage.
Elsewhere: when a pass begins, and its report (scrub.py).
"""

import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar
from zlib import crc32

import orjson

from tablewright.engine.background.session import EngineClosed, Session
from tablewright.engine.catalog import Table
from tablewright.engine.history.chunks import name_of
from tablewright.engine.storage.rows import RowReader, index_name
from tablewright.engine.transaction import ReadTransaction
from tablewright.engine.verify import store
from tablewright.engine.verify.index_entries import EntryCheck
from tablewright.engine.verify.invariants import (
    entries_of,
    expiries_of,
    wrong_catalog,
    wrong_item,
    wrong_streams,
    wrong_tables,
)

# About half a millisecond for small items, longer for large ones: a request may wait for so long.
STEP_ROWS = 50
# A chunk has up to half a megabyte before compression.
STEP_CHUNKS = 4

_ITEMS = re.compile(r"t\d+")

Where = TypeVar("Where", int, bytes)


class ScrubStep(NamedTuple):
    """The result of a step: how many rows it read, and for each damaged place the name of its part."""

    rows: int
    found: list[str]


def scrub_steps(session: Session, is_over: Callable[[], bool]) -> Iterator[ScrubStep]:
    yield _run_step("the catalog", lambda: session.read(_catalog), is_over)
    for name in session.read(lambda txn: sorted(txn.rows.sql_tables())):
        part = session.read(partial(_part, name))
        yield _run_step(part, partial(session.read, partial(_structure, name, is_over)), is_over)
    for number in session.read(lambda txn: sorted(table.number for table in txn.tables.values())):
        yield from _items(session, number)
        for index in session.read(partial(_lists, number)):
            part = session.read(partial(_part, index_name(number, index)))
            yield from _walk(session, part, b"", STEP_ROWS, partial(_entries, number, index))
    yield from _walk(session, "journal", 0, STEP_ROWS, _changes)
    yield from _walk(session, "snapshots", 0, STEP_CHUNKS, _chunks)


def total_rows(txn: ReadTransaction) -> int:
    """About how many rows a pass reads."""
    rows = txn.rows
    items = sum(rows.counts(name)[0] for table in txn.tables.values() for name in table.sql_tables())
    return items + rows.last_sequence()[0] - rows.first_sequence() + 1


def named(txn: ReadTransaction, number: int) -> str:
    table = _table(txn, number)
    return f"table {number}" if table is None else f"table {table.name}"


def _run_step(part: str, fn: Callable[[], ScrubStep], is_over: Callable[[], bool]) -> ScrubStep:
    """Run a step; an error is itself a finding, unless the engine is being closed."""
    try:
        return fn()
    except EngineClosed:
        raise
    except Exception:
        if is_over():
            raise EngineClosed("the store was closed during a scrub") from None
        return ScrubStep(0, [part])


def _walk(
    session: Session,
    part: str,
    start: Where,
    limit: int,
    fn: Callable[[Where, ReadTransaction], tuple[list[Where], int]],
) -> Iterator[ScrubStep]:
    """Read a list in steps: `fn` returns at most `limit` places after one, and how many of them are damaged."""
    after: Where | None = start
    while after is not None:
        try:
            places, damaged = session.read(partial(fn, after))
        except EngineClosed:
            raise
        except Exception:  # it cannot be read any further
            yield ScrubStep(0, [part])
            return
        yield ScrubStep(len(places), [part] * damaged)
        after = places[-1] if len(places) == limit else None


def _table(txn: ReadTransaction, number: int) -> Table | None:
    return next((table for table in txn.tables.values() if table.number == number), None)


def _part(name: str, txn: ReadTransaction) -> str:
    """The name of the part of the store that an SQL table belongs to."""
    for table in txn.tables.values():
        for index in table.indexes:
            if name == index_name(table.number, index.number):
                return f"table {table.name}, index {index.name}"
        if name in table.sql_tables():
            return f"table {table.name}"
    return f"the store's own {name}"


def _catalog(txn: ReadTransaction) -> ScrubStep:
    tables: list[Table] = []
    rows = txn.rows
    wrong = [*wrong_catalog(rows, tables), *wrong_tables(rows, tables), *wrong_streams(rows, tables)]
    return ScrubStep(0, ["the catalog"] if wrong else [])


def _structure(name: str, is_over: Callable[[], bool], txn: ReadTransaction) -> ScrubStep:
    rows = txn.rows
    if name not in rows.sql_tables():
        return ScrubStep(0, [])
    part = _part(name, txn)
    wrong = store.structure_mistakes(rows, name, is_over)
    is_counted = _ITEMS.fullmatch(name) is not None and part.startswith("table ")
    if is_counted and store.counted(rows, name) != rows.counts(name):
        wrong.append("the counter is wrong")
    return ScrubStep(0, [part] if wrong else [])


def _items(session: Session, number: int) -> Iterator[ScrubStep]:
    """The items of a table; those without a checksum get one."""
    unsummed: list[int] = []

    def fn(after: int, txn: ReadTransaction) -> tuple[list[int], int]:
        table = _table(txn, number)
        if table is None:
            return [], 0
        lists = _entry_lists(txn.rows, table)
        rows = txn.rows.rows_with_checksums(number, after, STEP_ROWS)
        whole = [row for row in rows if _is_whole(table, lists, row)]
        unsummed[:] = [row[0] for row in whole if row[4] is None]
        return [row[0] for row in rows], len(rows) - len(whole)

    for step in _walk(session, session.read(lambda txn: named(txn, number)), 0, STEP_ROWS, fn):
        yield step
        if unsummed:
            session.write(lambda txn: store.add_sums(txn.rows, number, unsummed))


def _entry_lists(rows: RowReader, table: Table) -> list[EntryCheck]:
    lists = [entries_of(rows, "", table, index) for index in table.indexes]
    expiries = expiries_of(rows, "", table)
    return lists if expiries is None else [*lists, expiries]


def _is_whole(table: Table, lists: list[EntryCheck], row: tuple[int, bytes, int, bytes, int | None]) -> bool:
    """Whether an item matches its checksum, is stored under its own key, and has its entries."""
    number, key, size, raw, summed = row
    try:
        if summed is not None and crc32(raw) != summed:
            return False
        item = orjson.loads(raw)
        if any(wrong_item(table, "", key, size, item)):
            return False
        entries = [(one, one.entry_of(number, key, item)) for one in lists]
        return all(entry is None or one.find(entry) == number for one, entry in entries)
    except Exception:  # not an item at all
        return False


def _lists(number: int, txn: ReadTransaction) -> list[int]:
    """The numbers of a table's indexes and of its expiry list."""
    table = _table(txn, number)
    if table is None:
        return []
    indexes = [index.number for index in table.indexes]
    return indexes if table.ttl_index is None else [*indexes, table.ttl_index]


def _entries(number: int, index: int, after: bytes, txn: ReadTransaction) -> tuple[list[bytes], int]:
    """Entries of an index; those of no item, or of another item, are damaged."""
    table = _table(txn, number)
    if table is None or index not in _lists(number, txn):
        return [], 0
    (mine,) = (one for one in _entry_lists(txn.rows, table) if one.index == index)
    entries = store.entries_after(txn.rows, number, index, after, STEP_ROWS)
    return [key for key, _ in entries], sum(not mine.is_expected(key, row) for key, row in entries)


def _changes(after: int, txn: ReadTransaction) -> tuple[list[int], int]:
    """Journal rows against their checksums."""
    rows = store.changes_after(txn.rows, after, STEP_ROWS)
    return [seq for seq, _ in rows], sum(not is_whole for _, is_whole in rows)


def _chunks(after: int, txn: ReadTransaction) -> tuple[list[int], int]:
    """Chunks of snapshots against their names."""
    rows = store.chunks_after(txn.rows, after, STEP_CHUNKS)
    return [number for number, *_ in rows], sum(not _is_chunk(name, body) for _, name, body in rows)


def _is_chunk(name: bytes, body: bytes) -> bool:
    try:
        return name_of(zlib.decompress(body)) == name
    except zlib.error:
        return False
