"""SQL of verification: finished passes of the scrub, rows to check, and missing checksums."""

from collections.abc import Callable
from typing import NamedTuple

import orjson

from tablewright.engine.storage.checksum import crc32
from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader, change_sum, index_name, table_name

# SQLite's virtual machine steps between two checks whether to stop.
_STEPS = 100_000


class ScrubReport(NamedTuple):
    """A pass: when it began and ended (microseconds; None: in progress), rows it has read of about `total`.

    `found` has the number of damaged places of each damaged part of the store.
    """

    begun: int
    ended: int | None
    rows: int
    total: int
    found: tuple[tuple[str, int], ...]


def last_ended(rows: RowReader) -> ScrubReport | None:
    sql = "SELECT begun, ended, items, found FROM scrubs ORDER BY id DESC LIMIT 1"
    for begun, ended, count, found in list(rows.execute(sql)):
        return ScrubReport(begun, ended, count, count, tuple(map(tuple, orjson.loads(found))))
    return None


def save(writes: RowWriter, one: ScrubReport) -> None:
    """Save a finished pass; it replaces the last one."""
    writes.execute("DELETE FROM scrubs")
    found = orjson.dumps(one.found)
    writes.add_row("scrubs", begun=one.begun, ended=one.ended, items=one.rows, found=found)


def structure_mistakes(rows: RowReader, name: str, is_over: Callable[[], bool]) -> list[str]:
    """What SQLite's integrity check reports about one table; interrupted when the store is being closed."""
    connection = rows.connection
    connection.set_progress_handler(is_over, _STEPS)
    try:
        return [text for (text,) in connection.execute(f"PRAGMA integrity_check({name})") if text != "ok"]
    finally:
        connection.set_progress_handler(None)


def counted(rows: RowReader, name: str) -> tuple[int, int]:
    """The number of items of a table, and the sum of their sizes."""
    ((items, size),) = rows.execute(f"SELECT count(*), coalesce(sum(size), 0) FROM {name}")
    return items, size


def entry_count(rows: RowReader, table: int, index: int) -> int:
    ((count,),) = rows.execute(f"SELECT count(*) FROM {index_name(table, index)}")
    return int(count)


def find_entry(rows: RowReader, table: int, index: int, key: bytes) -> int | None:
    """The row number in the entry at `key`; None if there is none."""
    sql = f"SELECT id FROM {index_name(table, index)} WHERE k = ?"
    return rows.first(int, sql, key)


def entries_after(
    rows: RowReader, table: int, index: int, after: bytes, limit: int
) -> list[tuple[bytes, int]]:
    sql = f"SELECT k, id FROM {index_name(table, index)} WHERE k > ? ORDER BY k LIMIT ?"
    return list(rows.execute(sql, (after, limit)))


def arns(rows: RowReader, table: str) -> list[str]:
    """The ARNs in an SQL table that has such a column, in order."""
    return rows.select(str, f"SELECT arn FROM {table} ORDER BY arn")


def changes_after(rows: RowReader, after: int, limit: int) -> list[tuple[int, bool]]:
    """Journal rows: their numbers, and whether they match their checksums, if they have them."""
    sql = "SELECT sum, owner, seq, at, source, key, old, new FROM journal WHERE seq > ? ORDER BY seq LIMIT ?"
    found = rows.execute(sql, (after, limit))
    return [(change[1], summed is None or change_sum(*change) == summed) for summed, *change in found]


def chunks_after(rows: RowReader, after: int, limit: int) -> list[tuple[int, bytes, bytes]]:
    sql = "SELECT rowid, hash, body FROM chunks WHERE rowid > ? ORDER BY rowid LIMIT ?"
    return list(rows.execute(sql, (after, limit)))


def add_sums(writes: RowWriter, table: int, numbers: list[int]) -> None:
    """Write the checksums of rows that have none."""
    name = table_name(table)
    for number in numbers:
        item = writes.first(bytes, f"SELECT item FROM {name} WHERE id = ? AND sum IS NULL", number)
        if item is not None:
            writes.set_columns(name, number, sum=crc32(item))
