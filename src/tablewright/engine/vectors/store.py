"""SQL of vector indexes: one row for each indexed item.

A row has the key (partition, then the item's key), the item's row number, its size in the index, the value of each
inline filter, the square of the vector's length, the vector's checksum, and the vector as 32-bit floats, in the order
of bytes of x86 and ARM.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader, SqlValue, index_name, table_name


class VectorEntry(NamedTuple):
    """The entry of an item: all but its row number."""

    key: bytes
    size: int
    filters: tuple[bytes | None, ...]
    squared: float
    sum: int
    vector: bytes


def create(rows: RowWriter, table: int, index: int, filters: int) -> None:
    columns = "".join(f", f{number} BLOB" for number in range(filters))
    rows.execute(
        f"CREATE TABLE {index_name(table, index)}(k BLOB PRIMARY KEY, id INTEGER NOT NULL, size INTEGER NOT NULL"
        f"{columns}, squared REAL NOT NULL, sum INTEGER NOT NULL, v BLOB NOT NULL) WITHOUT ROWID"
    )


@cache
def _insert(table: int, index: int, filters: int) -> str:
    return f"INSERT OR REPLACE INTO {index_name(table, index)} VALUES({', '.join('?' * (6 + filters))})"


def put(rows: RowWriter, table: int, index: int, row: int, entry: VectorEntry) -> None:
    key, size, filters, squared, checksum, vector = entry
    rows.execute(_insert(table, index, len(filters)), (key, row, size, *filters, squared, checksum, vector))


def find(rows: RowReader, table: int, index: int, key: bytes, filters: int) -> tuple[int, VectorEntry] | None:
    """The row number and the entry at `key`."""
    for found in list(rows.execute(f"SELECT * FROM {index_name(table, index)} WHERE k = ?", (key,))):
        place, row, size, *values, squared, checksum, vector = found
        return row, VectorEntry(place, size, tuple(values[:filters]), squared, checksum, vector)
    return None


@contextmanager
def walk(
    rows: RowReader,
    table: int,
    index: int,
    partition: tuple[bytes, bytes] | None,
    equal: Sequence[tuple[int, bytes]],
) -> Iterator[Iterator[tuple[bytes, int, int, float, int, bytes]]]:
    """Rows of a partition (None: of all) with these values of filters: key, row number, size, square, sum, vector."""
    tests = ["k >= ? AND k < ?"] if partition is not None else []
    tests += [f"f{number} = ?" for number, _ in equal]
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    values: list[SqlValue] = [*(partition or ()), *(value for _, value in equal)]
    cursor = rows.execute(
        f"SELECT k, id, size, squared, sum, v FROM {index_name(table, index)}{where}", values
    )
    try:
        yield cursor
    finally:
        # A statement that is left half read keeps its snapshot open, and its table from being dropped.
        cursor.close(True)


def item(rows: RowReader, table: int, row: int) -> bytes:
    """The item in that row, which exists."""
    found: list[Any] = list(rows.execute(f"SELECT item, sum FROM {table_name(table)} WHERE id = ?", (row,)))
    rows.refuse_damaged(table, [found[0][0]], [found[0][1]])
    return bytes(found[0][0])
