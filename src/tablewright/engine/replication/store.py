"""The SQL of replication: the stamps of items, and how far each region's writes have been read.

A table with replicas has a table of stamps: for each key that was written since, when and in which region the last
write was made, its number among that region's writes to the table, and whether it deleted the item.
Elsewhere: what stamps mean (stamps.py), all other SQL (storage/rows.py).
"""

from collections.abc import Iterator
from typing import NamedTuple

from tablewright.engine.replication.group import Group, StampTable
from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader, table_name

_COLUMNS = "at, region, number, gone"


class Stamp(NamedTuple):
    """The last write of a key. Stamps are ordered by time, then by the region's name.

    `gone` is 0 if the write left an item and 1 if it deleted it. A delete by time to live is stamped just after the
    write it deletes, so that a write elsewhere that extends the item's life wins; there `gone` is its real time.
    """

    at: int
    region: str
    number: int
    gone: int

    @property
    def is_gone(self) -> bool:
        return self.gone != 0

    @property
    def committed(self) -> int:
        """When it was written, in microseconds."""
        return self.gone if self.gone > 1 else self.at


class ReadMark(NamedTuple):
    """How far a region's writes have been read here; of this region itself, how many there are.

    `heard` is that region's own vector, as JSON, when it was last followed.
    """

    number: int
    heard: bytes | None


class StampedItem(NamedTuple):
    """A key with its item (None: it was deleted) and its stamp, if it has one."""

    key: bytes
    item: bytes | None
    stamp: Stamp | None


# --- stamps ---


def create_stamps(writes: RowWriter, stamps: StampTable) -> None:
    name = stamps.name
    writes.execute(
        f"CREATE TABLE {name}(k BLOB PRIMARY KEY, at INTEGER NOT NULL, region TEXT NOT NULL, "
        "number INTEGER NOT NULL, gone INTEGER NOT NULL) WITHOUT ROWID; "
        f"CREATE INDEX {name}_read ON {name}(region, number); "
        f"CREATE INDEX {name}_gone ON {name}(region, number) WHERE gone"
    )


def get_stamp(rows: RowReader, stamps: StampTable, key: bytes) -> Stamp | None:
    sql = f"SELECT {_COLUMNS} FROM {stamps.name} WHERE k = ?"
    return rows.first(Stamp, sql, key)


def stamp_own(writes: RowWriter, stamps: StampTable, key: bytes, new: Stamp) -> None:
    """Stamp a write made here: at its time, or just after the write it follows if that was stamped later."""
    name = stamps.name
    writes.execute(
        f"INSERT INTO {name}(k, {_COLUMNS}) VALUES(?, ?, ?, ?, ?) ON CONFLICT(k) DO UPDATE SET "
        f"at = max(excluded.at, {name}.at + 1), region = excluded.region, number = excluded.number, "
        "gone = excluded.gone",
        (key, *new),
    )


def set_expired(writes: RowWriter, stamps: StampTable, key: bytes, at: int) -> None:
    """Store when time to live deleted an item whose stamp was just set."""
    writes.execute(f"UPDATE {stamps.name} SET gone = ? WHERE k = ? AND gone", (at, key))


def set_stamp(writes: RowWriter, stamps: StampTable, key: bytes, new: Stamp | None) -> None:
    """Store a stamp made in another region; None removes the stamp."""
    if new is None:
        writes.execute(f"DELETE FROM {stamps.name} WHERE k = ?", (key,))
    else:
        sql = f"INSERT OR REPLACE INTO {stamps.name}(k, {_COLUMNS}) VALUES(?, ?, ?, ?, ?)"
        writes.execute(sql, (key, *new))


def written_since(
    rows: RowReader, stamps: StampTable, region: str, after: int, limit: int
) -> Iterator[StampedItem]:
    """A region's writes after a number, in their order, without those that were overwritten since."""
    sql = (
        "SELECT t.sum, s.k, t.item, s.at, s.region, s.number, s.gone "
        f"FROM {stamps.name} AS s INDEXED BY {stamps.name}_read "
        f"LEFT JOIN {table_name(stamps.table)} AS t ON t.k = s.k "
        "WHERE s.region = ? AND s.number > ? ORDER BY s.number LIMIT ?"
    )
    for checksum, key, item, *stamp in list(rows.execute(sql, (region, after, limit))):
        if item is not None:
            rows.refuse_damaged(stamps.table, (item,), (checksum,))
        yield StampedItem(key, item, Stamp(*stamp))


def count_since(rows: RowReader, stamps: StampTable, region: str, after: int) -> tuple[int, int | None]:
    """How many keys have a newer write of that region, and when the oldest of those writes was made."""
    made = "CASE WHEN gone > 1 THEN gone ELSE at END"  # Stamp.committed
    sql = f"SELECT count(*), min({made}) FROM {stamps.name} WHERE region = ? AND number > ?"
    ((count, at),) = rows.execute(sql, (region, after))
    return count, at


def stamped_items(
    rows: RowReader, stamps: StampTable, after: bytes, limit: int
) -> tuple[list[StampedItem], bool]:
    """Items and deleted keys in the order of their keys; True if these are the last."""
    sql = (
        f"SELECT t.k, t.item, t.sum, s.at, s.region, s.number, s.gone FROM {table_name(stamps.table)} AS t "
        f"LEFT JOIN {stamps.name} AS s ON s.k = t.k WHERE t.k > ? ORDER BY t.k LIMIT ?"
    )
    found = list(rows.execute(sql, (after, limit)))
    rows.refuse_damaged(stamps.table, (row[1] for row in found), (row[2] for row in found))
    sql = f"SELECT k, NULL, NULL, {_COLUMNS} FROM {stamps.name} WHERE k > ? AND gone ORDER BY k LIMIT ?"
    deleted = list(rows.execute(sql, (after, limit)))
    last = min((part[-1][0] for part in (found, deleted) if len(part) == limit), default=None)
    page = sorted((row for row in found + deleted if last is None or row[0] <= last), key=lambda row: row[0])
    return [
        StampedItem(key, item, None if stamp[0] is None else Stamp(*stamp)) for key, item, _, *stamp in page
    ], last is None


def keys_between(rows: RowReader, stamps: StampTable, after: bytes, last: bytes | None) -> set[bytes]:
    """Every key that has an item or a stamp, after one and up to another (None: to the end)."""
    border, given = ("", (after, after)) if last is None else ("AND k <= ?", (after, last, after, last))
    sql = (
        f"SELECT k FROM {stamps.name} WHERE k > ? {border} UNION "
        f"SELECT k FROM {table_name(stamps.table)} WHERE k > ? {border}"
    )
    return {key for (key,) in rows.execute(sql, given)}


def all_stamps(rows: RowReader, stamps: StampTable) -> Iterator[tuple[bytes, Stamp]]:
    for key, *stamp in rows.execute(f"SELECT k, {_COLUMNS} FROM {stamps.name} ORDER BY k"):
        yield key, Stamp(*stamp)


def prune_deleted(writes: RowWriter, stamps: StampTable, region: str, upto: int, limit: int) -> int:
    """Remove stamps of a region's deletes up to a number, at most `limit`; how many there were."""
    name = stamps.name
    writes.execute(
        f"DELETE FROM {name} WHERE k IN "
        f"(SELECT k FROM {name} WHERE gone AND region = ? AND number <= ? LIMIT ?)",
        (region, upto, limit),
    )
    return writes.connection.changes()


# --- how far each region has been read ---


def read_mark(rows: RowReader, table: int, region: str) -> ReadMark:
    sql = "SELECT number, heard FROM replica_marks WHERE owner = ? AND region = ?"
    return rows.first(ReadMark, sql, table, region) or ReadMark(0, None)


def vector(rows: RowReader, table: int) -> dict[str, int]:
    """How far every region's writes to a table have been read here; this region's, how many there are."""
    sql = "SELECT region, number FROM replica_marks WHERE owner = ?"
    return dict(rows.execute(sql, (table,)))


def all_marks(rows: RowReader) -> list[tuple[int, str]]:
    return list(rows.execute("SELECT owner, region FROM replica_marks ORDER BY owner, region"))


def save_mark(writes: RowWriter, table: int, region: str, new: ReadMark) -> None:
    # The column `pruned` is of an earlier release and is not read.
    columns = {"owner": table, "region": region, **new._asdict(), "pruned": 0}
    writes.add_row("replica_marks", "OR REPLACE", **columns)


def save_number(writes: RowWriter, table: int, region: str, number: int) -> None:
    writes.execute(
        "INSERT INTO replica_marks(owner, region, number, pruned) VALUES(?, ?, ?, 0) "
        "ON CONFLICT(owner, region) DO UPDATE SET number = excluded.number",
        (table, region, number),
    )


def forget_marks(writes: RowWriter, table: int) -> None:
    writes.execute("DELETE FROM replica_marks WHERE owner = ?", (table,))


def authors(rows: RowReader, table: int, group: Group) -> list[str]:
    """The regions whose writes may be in the table, also those that are not members any more."""
    return sorted({*vector(rows, table), *(one.region for one in group.members)})
