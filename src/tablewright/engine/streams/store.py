"""SQL of streams and their shards.

Must hold: numbers of streams and shards are never used again, since a shard's name contains its number.
Elsewhere: when streams and shards open, roll, split and close (shards.py); the tables (storage/schema.py).
"""

from typing import NamedTuple

from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader


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
    return [Stream(*row) for row in rows.connection.execute("SELECT * FROM streams ORDER BY arn")]


def find_stream(rows: RowReader, arn: str) -> Stream | None:
    for row in list(rows.connection.execute("SELECT * FROM streams WHERE arn = ?", (arn,))):
        return Stream(*row)
    return None


def add_stream(
    writes: RowWriter, table: int, arn: str, name: str, label: str, view: str, keys: bytes, at: int
) -> int:
    """The number of the new stream."""
    writes.connection.execute(
        "INSERT INTO streams(owner, arn, name, label, view, keys, at) VALUES(?, ?, ?, ?, ?, ?, ?)",
        (table, arn, name, label, view, keys, at),
    )
    return writes.connection.last_insert_rowid()


def close_stream(writes: RowWriter, stream: int, at: int) -> None:
    writes.connection.execute("UPDATE streams SET closed = ? WHERE id = ?", (at, stream))


def shards(rows: RowReader, stream: int) -> list[Shard]:
    """The shards of a stream, oldest first."""
    sql = "SELECT * FROM shards WHERE stream = ? ORDER BY id"
    return [Shard(*row) for row in rows.connection.execute(sql, (stream,))]


def all_shards(rows: RowReader) -> list[Shard]:
    return [Shard(*row) for row in rows.connection.execute("SELECT * FROM shards ORDER BY id")]


def add_shard(
    writes: RowWriter, stream: int, parent: str | None, first: int, low: int, high: int, at: int
) -> None:
    writes.connection.execute(
        "INSERT INTO shards(stream, parent, first, low, high, at, records, counted) "
        "VALUES(?, ?, ?, ?, ?, ?, 0, ?)",
        (stream, parent, first, low, high, at, first - 1),
    )


def close_shard(writes: RowWriter, shard: int, last: int, at: int) -> None:
    writes.connection.execute("UPDATE shards SET last = ?, closed = ? WHERE id = ?", (last, at, shard))


def count_shard(writes: RowWriter, shard: int, records: int, counted: int) -> None:
    sql = "UPDATE shards SET records = ?, counted = ? WHERE id = ?"
    writes.connection.execute(sql, (records, counted, shard))


def delete_closed(writes: RowWriter, before: int) -> bool:
    """Delete the shards and streams that were closed before that moment; returns whether there were any."""
    connection = writes.connection
    changes = connection.total_changes()
    connection.execute("DELETE FROM shards WHERE closed < ?", (before,))
    connection.execute("DELETE FROM streams WHERE closed < ?", (before,))
    return connection.total_changes() != changes
