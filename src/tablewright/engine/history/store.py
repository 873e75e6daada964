"""SQL of history: chunks, snapshots, pins, backups and restores. Pins are in the SQL table `holds`.

Must hold: a chunk exists as long as a snapshot references it, and no longer.
Elsewhere: what they mean (time_travel.py, snapshots.py, backups.py, pitr_window.py); the tables (storage/schema.py).
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

from tablewright.engine.storage.checksum import crc32
from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import Change, RowReader, SqlValue, table_name

_REF = "low, hash, items, bytes"  # the columns of a ChunkRef
# Larger than any journal number.
NO_CHANGE = 1 << 62
# The counter of the last journal row whose image may be stripped (retention.py).
ROWS_STRIPPED = "blanked"


class StoredItem(NamedTuple):
    """An item as it is stored: its key bytes, its size, its raw JSON."""

    key: bytes
    size: int
    item: bytes


class Snapshot(NamedTuple):
    """The state of a table after a change of the journal, as a list of chunks.

    While it is MAKING, keys below `done` are in it. `changes` of its table were counted among the journal's rows
    after it, up to `counted`.
    """

    number: int
    owner: int
    seq: int
    at: int
    kind: str
    status: str
    done: bytes
    items: int
    size: int
    counted: int
    changes: int


class ChunkRef(NamedTuple):
    """A chunk of a snapshot: it has the keys from `low` up to the next chunk's."""

    low: bytes
    hash: bytes
    items: int
    size: int


class Pin(NamedTuple):
    """A state of a table that is being read: after change `seq`, computed from the snapshot `base` (after `origin`).

    Without a base it is computed from the table itself.
    """

    name: str
    owner: int
    seq: int
    base: int | None
    origin: int | None

    @property
    def floor(self) -> int:
        """The first journal row that it needs; NO_CHANGE if it needs none."""
        if self.origin == self.seq:
            return NO_CHANGE
        return (self.seq if self.origin is None else min(self.seq, self.origin)) + 1


class Backup(NamedTuple):
    """`source` is the catalog's JSON of the table that was backed up; `status` is its snapshot's."""

    arn: str
    snapshot: int
    name: str
    type: str
    at: int
    expires: int | None
    size: int
    items: int
    source: bytes
    status: str


# --- the journal ---


def changed_keys(rows: RowReader, table: int, first: int, last: int) -> list[tuple[int, bytes]]:
    """Numbers and keys of the changes of a table in the journal rows from `first` to `last`."""
    sql = "SELECT seq, key FROM journal WHERE seq BETWEEN ? AND ? AND owner = ? ORDER BY seq"
    return list(rows.execute(sql, (first, last, table)))


def image(rows: RowReader, seq: int, is_old: bool) -> bytes | None:
    sql = "SELECT owner, sum, seq, at, source, key, old, new FROM journal WHERE seq = ?"
    for owner, checksum, *row in list(rows.execute(sql, (seq,))):
        change = Change(*row)
        rows.refuse_damaged_change(owner, checksum, change)
        return change.old if is_old else change.new
    raise LookupError(f"the journal has no row {seq}")


def strip_images(writes: RowWriter, first: int, last: int, readers: Iterable[int]) -> None:
    """Strip the images from the rows of all tables but `readers`."""
    unstripped = ", ".join(str(int(reader)) for reader in readers)
    writes.execute(
        "UPDATE journal SET old = NULL, new = NULL, sum = NULL "
        f"WHERE seq BETWEEN ? AND ? AND owner NOT IN ({unstripped})",
        (first, last),
    )
    writes.add_to_counts((ROWS_STRIPPED, last - writes.counts(ROWS_STRIPPED)[0], 0))


# --- a table's rows, in key order ---


def items_from(rows: RowReader, table: int, low: bytes, limit: int) -> Generator[StoredItem, None, None]:
    """The items of a table with keys from `low` on."""
    sql = f"SELECT k, size, item, sum FROM {table_name(table)} WHERE k >= ? ORDER BY k LIMIT ?"
    cursor = rows.execute(sql, (low, limit))
    try:
        for key, size, item, checksum in cursor:
            rows.refuse_damaged(table, (item,), (checksum,))
            yield StoredItem(key, size, item)
    finally:
        # A statement that is left half read keeps its snapshot open.
        cursor.close(True)


def insert_all(writes: RowWriter, table: int, first_row: int, items: Iterable[StoredItem]) -> None:
    """Insert items under new keys, with row numbers from `first_row` on."""
    writes.connection.executemany(
        f"INSERT INTO {table_name(table)}(id, k, size, item, sum) VALUES(?, ?, ?, ?, ?)",
        ((row, *stored, crc32(stored.item)) for row, stored in enumerate(items, first_row)),
    )


# --- snapshots ---


def snapshots(rows: RowReader, table: int | None = None) -> list[Snapshot]:
    """The snapshots of one table or of all, oldest first."""
    where, bound = ("", ()) if table is None else (" WHERE owner = ?", (table,))
    return rows.select(Snapshot, f"SELECT * FROM snapshots{where} ORDER BY seq, id", *bound)


def snapshot(rows: RowReader, number: int) -> Snapshot | None:
    return rows.first(Snapshot, "SELECT * FROM snapshots WHERE id = ?", number)


def unfinished(rows: RowReader) -> Snapshot | None:
    """The oldest snapshot that is still being made."""
    return rows.first(Snapshot, "SELECT * FROM snapshots WHERE status = 'MAKING' ORDER BY id LIMIT 1")


def add_snapshot(writes: RowWriter, table: int, seq: int, at: int, kind: str) -> int:
    progress: dict[str, SqlValue] = {"done": b"", "items": 0, "bytes": 0, "counted": seq, "changes": 0}
    return writes.add_row("snapshots", owner=table, seq=seq, at=at, kind=kind, status="MAKING", **progress)


def add_chunks(
    writes: RowWriter, number: int, done: bytes, refs: Sequence[ChunkRef], bodies: dict[bytes, bytes]
) -> None:
    """Add chunks to a snapshot, which now has all keys below `done`."""
    run = writes.connection.executemany
    run("INSERT OR IGNORE INTO chunks(hash, body) VALUES(?, ?)", bodies.items())
    sql = "INSERT INTO snapshot_chunks(snapshot, low, hash, items, bytes) VALUES(?, ?, ?, ?, ?)"
    run(sql, ((number, *ref) for ref in refs))
    items, size = sum(ref.items for ref in refs), sum(ref.size for ref in refs)
    sql = "UPDATE snapshots SET done = ?, items = items + ?, bytes = bytes + ? WHERE id = ?"
    writes.execute(sql, (done, items, size, number))


def set_status(writes: RowWriter, number: int, status: str) -> None:
    writes.set_columns("snapshots", number, status=status)


def count_changes(writes: RowWriter, number: int, changes: int, counted: int) -> None:
    writes.set_columns("snapshots", number, changes=changes, counted=counted)


def remove_chunks(writes: RowWriter, number: int, limit: int) -> bool:
    """Delete at most `limit` chunks of a snapshot; True when it had no more and is deleted itself."""
    sql = f"SELECT {_REF} FROM snapshot_chunks WHERE snapshot = ? LIMIT ?"
    found = writes.select(ChunkRef, sql, number, limit)
    for low, name, *_ in found:
        writes.execute("DELETE FROM snapshot_chunks WHERE snapshot = ? AND low = ?", (number, low))
        writes.execute(
            "DELETE FROM chunks WHERE hash = ? AND NOT EXISTS(SELECT 1 FROM snapshot_chunks WHERE hash = ?)",
            (name, name),
        )
    if len(found) == limit:
        return False
    writes.execute("DELETE FROM snapshots WHERE id = ?", (number,))
    return True


def ref_at(rows: RowReader, number: int, low: bytes) -> ChunkRef | None:
    """The chunk whose range contains the key `low`; None before the first chunk."""
    sql = f"SELECT {_REF} FROM snapshot_chunks WHERE snapshot = ? AND low <= ? ORDER BY low DESC LIMIT 1"
    return rows.first(ChunkRef, sql, number, low)


def refs_from(rows: RowReader, number: int, low: bytes, limit: int) -> list[ChunkRef]:
    """The chunks that begin at `low` or later."""
    sql = f"SELECT {_REF} FROM snapshot_chunks WHERE snapshot = ? AND low >= ? ORDER BY low LIMIT ?"
    return rows.select(ChunkRef, sql, number, low, limit)


def chunk(rows: RowReader, name: bytes) -> bytes:
    found = rows.first(bytes, "SELECT body FROM chunks WHERE hash = ?", name)
    if found is None:
        raise LookupError(f"the chunk {name.hex()} does not exist")
    return found


def all_chunks(rows: RowReader) -> Iterator[tuple[bytes, bytes, int]]:
    """Name and body of every chunk, and how many snapshots reference it."""
    return rows.execute(
        "SELECT hash, body, (SELECT count(*) FROM snapshot_chunks AS s WHERE s.hash = c.hash) FROM chunks AS c"
    )


# --- pins ---


def pins(rows: RowReader) -> list[Pin]:
    return rows.select(Pin, "SELECT * FROM holds ORDER BY name")


def find_pin(rows: RowReader, name: str) -> Pin | None:
    return rows.first(Pin, "SELECT * FROM holds WHERE name = ?", name)


def add_pin(writes: RowWriter, made: Pin) -> None:
    writes.add_row("holds", "OR REPLACE", **made._asdict())


def drop_pin(writes: RowWriter, name: str) -> None:
    writes.execute("DELETE FROM holds WHERE name = ?", (name,))


# --- backups ---

_BACKUPS = (
    "SELECT b.*, coalesce(s.status, 'GONE') FROM backups AS b LEFT JOIN snapshots AS s ON s.id = b.snapshot"
)


def backups(rows: RowReader) -> list[Backup]:
    """All backups, ordered by ARN: by table, then by time."""
    return rows.select(Backup, f"{_BACKUPS} ORDER BY b.arn")


def backup(rows: RowReader, arn: str) -> Backup | None:
    return rows.first(Backup, f"{_BACKUPS} WHERE b.arn = ?", arn)


def last_backup(rows: RowReader, prefix: str) -> Backup | None:
    """The newest backup whose ARN has this prefix."""
    between = "WHERE b.arn > ?1 AND b.arn < ?1 || ':' ORDER BY b.arn DESC LIMIT 1"
    return rows.first(Backup, f"{_BACKUPS} {between}", prefix)


def add_backup(writes: RowWriter, made: Backup) -> None:
    columns = "arn, snapshot, name, type, at, expires, bytes, items, source"
    writes.execute(f"INSERT INTO backups({columns}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", made[:-1])


def forget_backup(writes: RowWriter, arn: str) -> None:
    writes.execute("DELETE FROM backups WHERE arn = ?", (arn,))


# --- restores ---


def restores(rows: RowReader) -> list[tuple[int, bytes]]:
    """Tables that are being restored, and the last loaded key of each."""
    return list(rows.execute("SELECT owner, done FROM restores ORDER BY owner"))


def save_restore(writes: RowWriter, table: int, done: bytes) -> None:
    writes.add_row("restores", "OR REPLACE", owner=table, done=done)


def forget_restore(writes: RowWriter, table: int) -> None:
    writes.execute("DELETE FROM restores WHERE owner = ?", (table,))
