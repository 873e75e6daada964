"""SQL of streams and their shards.

Must hold: numbers of streams and shards are never used again, since a shard's name contains its number.
Elsewhere: when streams and shards open, roll, split and close (shards.py); the tables (storage/schema.py).
"""

from typing import NamedTuple

from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader, SqlValue


class Stream(NamedTuple):
    """A table's stream. `keys` is its key schema as JSON; `closed` is when it was disabled, if it was."""

    number: int
    owner: int
    arn: str
    table: str
    label: str
    view: str
    keys: bytes
    at: int
    closed: int | None


class Shard(NamedTuple):
    """The changes numbered `first` to `last` (None while it is open) of keys whose hash is in [low, high).

    `records` of them were counted among the changes up to the number `counted`.
    """

    number: int
    stream: int
    parent: str | None
    first: int
    last: int | None
    low: int
    high: int
    at: int
    closed: int | None
    records: int
    counted: int


def streams(rows: RowReader) -> list[Stream]:
    return rows.select(Stream, "SELECT * FROM streams ORDER BY arn")


def find_stream(rows: RowReader, arn: str) -> Stream | None:
    return rows.first(Stream, "SELECT * FROM streams WHERE arn = ?", arn)


def add_stream(writes: RowWriter, **columns: SqlValue) -> int:
    """The number of the new stream."""
    return writes.add_row("streams", **columns)


def close_stream(writes: RowWriter, stream: int, at: int) -> None:
    writes.set_columns("streams", stream, closed=at)


def shards(rows: RowReader, stream: int) -> list[Shard]:
    """The shards of a stream, oldest first."""
    return rows.select(Shard, "SELECT * FROM shards WHERE stream = ? ORDER BY id", stream)


def all_shards(rows: RowReader) -> list[Shard]:
    return rows.select(Shard, "SELECT * FROM shards ORDER BY id")


def add_shard(writes: RowWriter, **columns: SqlValue) -> None:
    writes.add_row("shards", records=0, **columns)


def change_shard(writes: RowWriter, shard: int, **columns: SqlValue) -> None:
    writes.set_columns("shards", shard, **columns)


def delete_closed(writes: RowWriter, before: int) -> bool:
    """Delete the shards and streams that were closed before that moment; returns whether there were any."""
    changes = writes.connection.total_changes()
    for table in ("shards", "streams"):
        writes.execute(f"DELETE FROM {table} WHERE closed < ?", (before,))
    return writes.connection.total_changes() != changes
