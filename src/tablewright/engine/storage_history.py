"""SQL of the past: chunks of items, snapshots made of them, who holds on to what, backups and restores.

Must hold: a chunk is there as long as a snapshot names it, and no longer.
Elsewhere: what is said here is meant (history.py, checkpoints.py, backups.py, recovery.py); the tables (schema.py).
"""

from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from tablewright.engine.storage_rows import Rows, Writes, table_name

# More changes than there will ever be.
NO_CHANGE = 1 << 62
# Rows of the journal whose images nobody needs have lost them, up to this number.
ROWS_BLANKED = "blanked"


class Kept(NamedTuple):
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


class Ref(NamedTuple):
    """A chunk in a snapshot: it has the keys from `low` on, up to the next one's."""

    low: bytes
    hash: bytes
    items: int
    size: int


class Hold(NamedTuple):
    """Somebody reads the state of a table after `seq`, going from a snapshot (`base`, which is that of `origin`), or
    from the table itself where there is none."""

    name: str
    owner: int
    seq: int
    base: int | None
    origin: int | None

    @property
    def floor(self) -> int:
        """The first change of the journal that is needed for it; beyond all there will be, if none is."""
        if self.origin == self.seq:
            return NO_CHANGE
        return (self.seq if self.origin is None else min(self.seq, self.origin)) + 1


class Backup(NamedTuple):
    """`source` is the catalog's body of the table that was backed up; `status` is its snapshot's."""

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


# --- the journal, as the past reads it ---


def journal_part(rows: Rows, table: int, first: int, last: int) -> list[tuple[int, bytes]]:
    """Numbers and keys of the changes of a table among the rows from `first` to `last`."""
    sql = "SELECT seq, key FROM journal WHERE seq BETWEEN ? AND ? AND owner = ? ORDER BY seq"
    return list(rows.connection.execute(sql, (first, last, table)))


def image(rows: Rows, seq: int, is_old: bool) -> bytes | None:
    for (found,) in list(
        rows.connection.execute(f"SELECT {'old' if is_old else 'new'} FROM journal WHERE seq = ?", (seq,))
    ):
        kept: bytes | None = found
        return kept
    raise LookupError(f"the journal has no row {seq}")


def owners_of(rows: Rows, after: int, limit: int) -> list[tuple[int, int]]:
    """Number and table of the rows that follow."""
    sql = "SELECT seq, owner FROM journal WHERE seq > ? ORDER BY seq LIMIT ?"
    return list(rows.connection.execute(sql, (after, limit)))


def blank(writes: Writes, first: int, last: int, readers: Iterable[int]) -> None:
    """Take the images from the rows of all tables but those."""
    kept = ", ".join(str(int(reader)) for reader in readers)
    writes.connection.execute(
        f"UPDATE journal SET old = NULL, new = NULL WHERE seq BETWEEN ? AND ? AND owner NOT IN ({kept})",
        (first, last),
    )
    writes.add_to_counts(ROWS_BLANKED, last - writes.counts(ROWS_BLANKED)[0], 0)


# --- a table's own rows, in the order of their keys ---


def is_stored(rows: Rows, table: int) -> bool:
    """Whether the rows of a table are there, be it that nobody may see them any more."""
    sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return bool(list(rows.connection.execute(sql, (table_name(table),))))


def stored(rows: Rows, table: int, low: bytes, limit: int) -> Generator[Kept, None, None]:
    """Its items with keys from `low` on."""
    sql = f"SELECT k, size, item FROM {table_name(table)} WHERE k >= ? ORDER BY k LIMIT ?"
    cursor = rows.connection.execute(sql, (low, limit))
    try:
        yield from map(Kept._make, cursor)
    finally:
        # A statement left half read would keep its snapshot.
        cursor.close(True)


def insert_all(writes: Writes, table: int, first_row: int, items: Iterable[Kept]) -> None:
    """Items under new keys, numbered from `first_row` on."""
    writes.connection.executemany(
        f"INSERT INTO {table_name(table)}(id, k, size, item) VALUES(?, ?, ?, ?)",
        ((row, *kept) for row, kept in enumerate(items, first_row)),
    )


# --- snapshots ---


def snapshots(rows: Rows, table: int | None = None) -> list[Snapshot]:
    """Of one table or of all, oldest first."""
    where, bound = ("", ()) if table is None else (" WHERE owner = ?", (table,))
    sql = f"SELECT * FROM snapshots{where} ORDER BY seq, id"
    return [Snapshot(*row) for row in rows.connection.execute(sql, bound)]


def snapshot(rows: Rows, number: int) -> Snapshot | None:
    for row in list(rows.connection.execute("SELECT * FROM snapshots WHERE id = ?", (number,))):
        return Snapshot(*row)
    return None


def unfinished(rows: Rows) -> Snapshot | None:
    """The first snapshot that is being made."""
    sql = "SELECT * FROM snapshots WHERE status = 'MAKING' ORDER BY id LIMIT 1"
    for row in list(rows.connection.execute(sql)):
        return Snapshot(*row)
    return None


def add_snapshot(writes: Writes, table: int, seq: int, at: int, kind: str) -> int:
    writes.connection.execute(
        "INSERT INTO snapshots(owner, seq, at, kind, status, done, items, bytes, counted, changes) "
        "VALUES(?, ?, ?, ?, 'MAKING', x'', 0, 0, ?, 0)",
        (table, seq, at, kind, seq),
    )
    return writes.connection.last_insert_rowid()


def grow(writes: Writes, number: int, done: bytes, refs: Iterable[Ref], bodies: dict[bytes, bytes]) -> None:
    """Add chunks to a snapshot, which now has all keys below `done`."""
    for name, body in bodies.items():
        writes.connection.execute("INSERT OR IGNORE INTO chunks(hash, body) VALUES(?, ?)", (name, body))
    items = size = 0
    for ref in refs:
        writes.connection.execute(
            "INSERT INTO snapshot_chunks(snapshot, low, hash, items, bytes) VALUES(?, ?, ?, ?, ?)",
            (number, *ref),
        )
        items += ref.items
        size += ref.size
    writes.connection.execute(
        "UPDATE snapshots SET done = ?, items = items + ?, bytes = bytes + ? WHERE id = ?",
        (done, items, size, number),
    )


def mark(writes: Writes, number: int, status: str) -> None:
    writes.connection.execute("UPDATE snapshots SET status = ? WHERE id = ?", (status, number))


def count_changes(writes: Writes, number: int, changes: int, counted: int) -> None:
    sql = "UPDATE snapshots SET changes = ?, counted = ? WHERE id = ?"
    writes.connection.execute(sql, (changes, counted, number))


def remove_chunks(writes: Writes, number: int, limit: int) -> bool:
    """Take at most `limit` chunks from a snapshot; True when it had no more and is gone."""
    found = list(
        writes.connection.execute(
            "SELECT low, hash FROM snapshot_chunks WHERE snapshot = ? LIMIT ?", (number, limit)
        )
    )
    for low, name in found:
        writes.connection.execute("DELETE FROM snapshot_chunks WHERE snapshot = ? AND low = ?", (number, low))
        writes.connection.execute(
            "DELETE FROM chunks WHERE hash = ? AND NOT EXISTS(SELECT 1 FROM snapshot_chunks WHERE hash = ?)",
            (name, name),
        )
    if len(found) == limit:
        return False
    writes.connection.execute("DELETE FROM snapshots WHERE id = ?", (number,))
    return True


def ref_at(rows: Rows, number: int, low: bytes) -> Ref | None:
    """The chunk that has the key `low`, if the snapshot has it."""
    sql = (
        "SELECT low, hash, items, bytes FROM snapshot_chunks WHERE snapshot = ? AND low <= ? "
        "ORDER BY low DESC LIMIT 1"
    )
    for row in list(rows.connection.execute(sql, (number, low))):
        return Ref(*row)
    return None


def refs_from(rows: Rows, number: int, low: bytes, limit: int) -> list[Ref]:
    """The chunks that begin at `low` or later."""
    sql = (
        "SELECT low, hash, items, bytes FROM snapshot_chunks WHERE snapshot = ? AND low >= ? "
        "ORDER BY low LIMIT ?"
    )
    return [Ref(*row) for row in rows.connection.execute(sql, (number, low, limit))]


def chunk(rows: Rows, name: bytes) -> bytes:
    for (body,) in list(rows.connection.execute("SELECT body FROM chunks WHERE hash = ?", (name,))):
        found: bytes = body
        return found
    raise LookupError(f"the chunk {name.hex()} is not there")


def all_chunks(rows: Rows) -> Iterator[tuple[bytes, bytes, int]]:
    """Name and body of every chunk, and how many snapshots have it."""
    return rows.connection.execute(
        "SELECT hash, body, (SELECT count(*) FROM snapshot_chunks AS s WHERE s.hash = c.hash) FROM chunks AS c"
    )


# --- holds ---


def holds(rows: Rows) -> list[Hold]:
    return [Hold(*row) for row in rows.connection.execute("SELECT * FROM holds ORDER BY name")]


def hold(rows: Rows, name: str) -> Hold | None:
    for row in list(rows.connection.execute("SELECT * FROM holds WHERE name = ?", (name,))):
        return Hold(*row)
    return None


def add_hold(writes: Writes, made: Hold) -> None:
    writes.connection.execute(
        "INSERT OR REPLACE INTO holds(name, owner, seq, base, origin) VALUES(?, ?, ?, ?, ?)", made
    )


def drop_hold(writes: Writes, name: str) -> None:
    writes.connection.execute("DELETE FROM holds WHERE name = ?", (name,))


# --- backups ---

_BACKUPS = (
    "SELECT b.*, coalesce(s.status, 'GONE') FROM backups AS b LEFT JOIN snapshots AS s ON s.id = b.snapshot"
)


def backups(rows: Rows) -> list[Backup]:
    """By name of their ARN, which is by table, then by time."""
    return [Backup(*row) for row in rows.connection.execute(f"{_BACKUPS} ORDER BY b.arn")]


def backup(rows: Rows, arn: str) -> Backup | None:
    for row in list(rows.connection.execute(f"{_BACKUPS} WHERE b.arn = ?", (arn,))):
        return Backup(*row)
    return None


def backup_of(rows: Rows, number: int) -> Backup | None:
    for row in list(rows.connection.execute(f"{_BACKUPS} WHERE b.snapshot = ?", (number,))):
        return Backup(*row)
    return None


def add_backup(writes: Writes, made: Backup) -> None:
    writes.connection.execute(
        "INSERT INTO backups(arn, snapshot, name, type, at, expires, bytes, items, source) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        made[:-1],
    )


def forget_backup(writes: Writes, arn: str) -> None:
    writes.connection.execute("DELETE FROM backups WHERE arn = ?", (arn,))


# --- restores ---


def restores(rows: Rows) -> list[tuple[int, bytes]]:
    """Tables that are being filled, and the last key each has."""
    return list(rows.connection.execute("SELECT owner, done FROM restores ORDER BY owner"))


def save_restore(writes: Writes, table: int, done: bytes) -> None:
    writes.connection.execute("INSERT OR REPLACE INTO restores(owner, done) VALUES(?, ?)", (table, done))


def forget_restore(writes: Writes, table: int) -> None:
    writes.connection.execute("DELETE FROM restores WHERE owner = ?", (table,))
