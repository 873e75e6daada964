"""What SQL says about replicas: stamps of items, and how far each region's changes have been read.

A replicated table has a table of stamps beside it: for each key that was written since it got replicas, when and where
its last write was made, that write's number among its region's writes to the table, and whether it left nothing. The
newest write of a key is all there is of it here: what happened in between is the journal's.
Elsewhere: what stamps mean (replicas.py), the SQL of everything else (storage_rows.py).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tablewright.engine.replica_group import Ledger
from tablewright.engine.storage_rows import Rows, Writes, table_name


class Stamp(NamedTuple):
    """The last write of a key. Order is by time, then by the region's name.

    `gone` is 0 where it left an item, 1 where it left none. What time has deleted is stamped just after the write it
    deletes, so that whoever prolonged the item elsewhere wins: there `gone` is the moment when it was really done.
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


class Mark(NamedTuple):
    """How far a region's writes have been read here; of this region itself, how far they go.

    `heard` is what that region said when everything it had was read. `pruned`: the number up to which traces of its
    deletes were given up here although somebody had not read them.
    """

    number: int
    heard: bytes | None
    pruned: int


class Kept(NamedTuple):
    """A key as a copy of the table needs it: the item (None: the trace of a delete), and its stamp if it has one."""

    key: bytes
    item: bytes | None
    stamp: Stamp | None


# --- stamps ---


def create_stamps(writes: Writes, ledger: Ledger) -> None:
    name = ledger.name
    writes.connection.execute(
        f"CREATE TABLE {name}(k BLOB PRIMARY KEY, at INTEGER NOT NULL, region TEXT NOT NULL, "
        "number INTEGER NOT NULL, gone INTEGER NOT NULL) WITHOUT ROWID; "
        f"CREATE INDEX {name}_read ON {name}(region, number); "
        f"CREATE INDEX {name}_gone ON {name}(region, number) WHERE gone; "
        f"CREATE INDEX {name}_old ON {name}(at) WHERE gone"
    )


def stamp(rows: Rows, ledger: Ledger, key: bytes) -> Stamp | None:
    sql = f"SELECT at, region, number, gone FROM {ledger.name} WHERE k = ?"
    for at, region, number, gone in list(rows.connection.execute(sql, (key,))):
        return Stamp(at, region, number, gone)
    return None


def stamp_own(writes: Writes, ledger: Ledger, key: bytes, new: Stamp) -> None:
    """Stamp a write made here: at its time, or just after the write it follows if that was stamped later."""
    name = ledger.name
    writes.connection.execute(
        f"INSERT INTO {name}(k, at, region, number, gone) VALUES(?, ?, ?, ?, ?) ON CONFLICT(k) DO UPDATE SET "
        f"at = max(excluded.at, {name}.at + 1), region = excluded.region, number = excluded.number, "
        "gone = excluded.gone",
        (key, *new),
    )


def note_expired(writes: Writes, ledger: Ledger, key: bytes, at: int) -> None:
    """Note when time has deleted an item whose stamp was just set."""
    writes.connection.execute(f"UPDATE {ledger.name} SET gone = ? WHERE k = ? AND gone", (at, key))


def stamp_theirs(writes: Writes, ledger: Ledger, key: bytes, new: Stamp | None) -> None:
    """The stamp as it is somewhere else; None: none."""
    name = ledger.name
    if new is None:
        writes.connection.execute(f"DELETE FROM {name} WHERE k = ?", (key,))
    else:
        writes.connection.execute(
            f"INSERT OR REPLACE INTO {name}(k, at, region, number, gone) VALUES(?, ?, ?, ?, ?)", (key, *new)
        )


def written_since(rows: Rows, ledger: Ledger, region: str, after: int, limit: int) -> Iterator[Kept]:
    """The newest writes made in a region, in their order, as far as nothing newer has come over them."""
    sql = (
        "SELECT s.k, t.item, s.at, s.region, s.number, s.gone "
        f"FROM {ledger.name} AS s INDEXED BY {ledger.name}_read "
        f"LEFT JOIN {table_name(ledger.table)} AS t ON t.k = s.k "
        "WHERE s.region = ? AND s.number > ? ORDER BY s.number LIMIT ?"
    )
    for row in list(rows.connection.execute(sql, (region, after, limit))):
        yield _kept(*row)


def unread(rows: Rows, ledger: Ledger, region: str, after: int) -> tuple[int, int | None]:
    """How many keys have a newer write of that region, and when the oldest of those writes was made."""
    sql = f"SELECT count(*), min(at) FROM {ledger.name} WHERE region = ? AND number > ?"
    ((count, at),) = rows.connection.execute(sql, (region, after))
    return count, at


def kept_in_order(rows: Rows, ledger: Ledger, after: bytes, limit: int) -> tuple[list[Kept], bool]:
    """Keys in order, items and traces of deletes; and whether that was the end."""
    stamps, items = ledger.name, table_name(ledger.table)
    found = list(
        rows.connection.execute(
            f"SELECT t.k, t.item, s.at, s.region, s.number, s.gone FROM {items} AS t "
            f"LEFT JOIN {stamps} AS s ON s.k = t.k WHERE t.k > ? ORDER BY t.k LIMIT ?",
            (after, limit),
        )
    )
    traces = list(
        rows.connection.execute(
            f"SELECT k, NULL, at, region, number, gone FROM {stamps} WHERE k > ? AND gone ORDER BY k LIMIT ?",
            (after, limit),
        )
    )
    ends = [part[-1][0] for part in (found, traces) if len(part) == limit]
    last = min(ends, default=None)
    both = sorted((row for row in found + traces if last is None or row[0] <= last), key=lambda row: row[0])
    return [_kept(*row) for row in both], last is None


def items_between(
    rows: Rows, table: int, after: bytes, upto: bytes | None, limit: int
) -> list[tuple[bytes, bytes]]:
    """Items of any table, by key: after one, up to another (None: to the end)."""
    border, given = ("", (after, limit)) if upto is None else ("AND k <= ?", (after, upto, limit))
    sql = f"SELECT k, item FROM {table_name(table)} WHERE k > ? {border} ORDER BY k LIMIT ?"
    return list(rows.connection.execute(sql, given))


def unknown_to(
    rows: Rows, ledger: Ledger, regions: Iterable[str], known: Mapping[str, int], limit: int
) -> list[Kept]:
    """The keys whose newest write somebody who has read so far does not know, region by region."""
    found: list[Kept] = []
    for region in sorted(regions):
        found += written_since(rows, ledger, region, known.get(region, 0), limit - len(found))
    return found


def keys_between(
    rows: Rows, ledger: Ledger, after: bytes, last: bytes | None
) -> list[tuple[bytes, Stamp | None]]:
    """Every key that has an item or a stamp, after one and up to another (None: to the end)."""
    stamps, items = ledger.name, table_name(ledger.table)
    border, given = ("", (after, after)) if last is None else ("AND k <= ?", (after, last, after, last))
    sql = (
        f"SELECT k, at, region, number, gone FROM {stamps} WHERE k > ? {border} UNION ALL "
        f"SELECT k, NULL, NULL, NULL, NULL FROM {items} WHERE k > ? {border} AND k NOT IN (SELECT k FROM {stamps}) "
    )
    return [
        (key, None if at is None else Stamp(at, region, number, gone))
        for key, at, region, number, gone in rows.connection.execute(sql, given)
    ]


def all_stamps(rows: Rows, ledger: Ledger) -> Iterator[tuple[bytes, Stamp]]:
    for key, at, region, number, gone in rows.connection.execute(
        f"SELECT k, at, region, number, gone FROM {ledger.name} ORDER BY k"
    ):
        yield key, Stamp(at, region, number, gone)


def forget_traces(writes: Writes, ledger: Ledger, region: str, upto: int, limit: int) -> int:
    """Remove the traces of a region's deletes up to a number, at most so many; how many there were."""
    name = ledger.name
    writes.connection.execute(
        f"DELETE FROM {name} WHERE k IN "
        f"(SELECT k FROM {name} WHERE gone AND region = ? AND number <= ? LIMIT ?)",
        (region, upto, limit),
    )
    return writes.connection.changes()


def oldest_traces(rows: Rows, ledger: Ledger, before: int, limit: int) -> list[tuple[bytes, Stamp]]:
    """Traces of deletes that were made before a moment, by a client or by time."""
    sql = f"SELECT k, at, region, number, gone FROM {ledger.name} WHERE gone AND at < ? AND gone < ? LIMIT ?"
    return [
        (key, Stamp(at, region, number, gone))
        for key, at, region, number, gone in rows.connection.execute(sql, (before, before, limit))
    ]


def _kept(
    key: bytes, item: bytes | None, at: int | None, region: str | None, number: int | None, gone: int | None
) -> Kept:
    known = None if at is None or region is None or number is None else Stamp(at, region, number, gone or 0)
    return Kept(key, item, known)


# --- how far everybody has come ---


def mark(rows: Rows, table: int, region: str) -> Mark:
    sql = "SELECT number, heard, pruned FROM replica_marks WHERE owner = ? AND region = ?"
    for row in list(rows.connection.execute(sql, (table, region))):
        return Mark(*row)
    return Mark(0, None, 0)


def vector(rows: Rows, table: int) -> dict[str, int]:
    """How far every region's writes to a table have been read here; this region's, how far they go."""
    sql = "SELECT region, number FROM replica_marks WHERE owner = ?"
    return dict(rows.connection.execute(sql, (table,)))


def all_pruned(rows: Rows, table: int) -> dict[str, int]:
    """Up to which number of each region's writes traces of deletes were given up, where some were."""
    sql = "SELECT region, pruned FROM replica_marks WHERE owner = ? AND pruned > 0"
    return dict(rows.connection.execute(sql, (table,)))


def all_marks(rows: Rows) -> list[tuple[int, str, Mark]]:
    sql = "SELECT owner, region, number, heard, pruned FROM replica_marks ORDER BY owner, region"
    return [(owner, region, Mark(*rest)) for owner, region, *rest in rows.connection.execute(sql)]


def save_mark(writes: Writes, table: int, region: str, new: Mark) -> None:
    writes.connection.execute(
        "INSERT OR REPLACE INTO replica_marks(owner, region, number, heard, pruned) VALUES(?, ?, ?, ?, ?)",
        (table, region, *new),
    )


def save_number(writes: Writes, table: int, region: str, number: int) -> None:
    writes.connection.execute(
        "INSERT INTO replica_marks(owner, region, number, pruned) VALUES(?, ?, ?, 0) "
        "ON CONFLICT(owner, region) DO UPDATE SET number = excluded.number",
        (table, region, number),
    )


def forget_marks(writes: Writes, table: int, regions: Iterable[str] | None = None) -> None:
    """Forget how far some regions had come, or all of them."""
    if regions is None:
        writes.connection.execute("DELETE FROM replica_marks WHERE owner = ?", (table,))
        return
    for region in regions:
        writes.connection.execute("DELETE FROM replica_marks WHERE owner = ? AND region = ?", (table, region))
