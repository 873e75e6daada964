"""Reading rows of the store: the catalog, items, index entries, the journal, counters and tokens.

For each table there is one ordered map from key bytes to (size, item as raw JSON); for each index one from index-key
bytes to the row number of the item.
Must hold: an item whose bytes do not match its checksum is not returned to a request (`DamagedRow`).
Elsewhere: writing them (row_writer.py), the file, its lock and its transactions (sqlite.py), what the key bytes mean
(keys.py), what a journal row means (journal.py); SQL that only one folder needs (its store.py).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

import apsw

from tablewright.engine.storage.checksum import crc32

SqlValue: TypeAlias = int | float | str | bytes | None
Execute: TypeAlias = Callable[..., apsw.Cursor]
T = TypeVar("T")


class Row(NamedTuple):
    """An item as it is stored; `id` is its row number, `item` its raw JSON."""

    id: int
    size: int
    item: bytes


class DamagedRow(Exception):
    """A row does not match its checksum: the file was damaged. `table` is the number of its table."""

    def __init__(self, table: int) -> None:
        self.table = table
        super().__init__(f"a row of table {table} does not match its checksum")


def change_sum(
    table: int, seq: int, at: int, source: int, key: bytes, old: bytes | None, new: bytes | None
) -> int:
    """The checksum of a journal row, over all of its columns."""
    # Modulo a prime: a flipped bit in any of the numbers changes the sum.
    numbers = (seq * 31 + at * 17 + source * 7 + table) % 4_294_967_291
    return crc32(new or b"", crc32(old or b"", crc32(key, numbers)))


class Change(NamedTuple):
    """A row of the journal, without the number of its table."""

    seq: int
    at: int
    source: int
    key: bytes
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class RowSql:
    """The statements of one table, or of one index, which is not read by key and not updated."""

    insert: str
    delete: str
    ascending: str
    descending: str
    get: str = ""
    update: str = ""


# Counters that are not named after an SQL table: tables ever created, and rows ever pruned from the journal.
TABLES_EVER = "tables"
ROWS_PRUNED = "journal"


@cache
def table_name(table: int) -> str:
    return f"t{table}"


@cache
def index_name(table: int, index: int) -> str:
    return f"t{table}_i{index}"


def collections_name(table: int) -> str:
    return f"t{table}_collections"


@cache
def table_sql(table: int) -> RowSql:
    t = table_name(table)
    select = f"SELECT size, item, sum FROM {t} WHERE k >= ? AND k < ? ORDER BY k"
    return RowSql(
        get=f"SELECT id, size, item, sum FROM {t} WHERE k = ?",
        insert=f"INSERT INTO {t}(k, size, item, sum) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING",
        update=f"UPDATE {t} SET size = ?, item = ?, sum = ? WHERE id = ?",
        delete=f"DELETE FROM {t} WHERE id = ?",
        ascending=f"{select} LIMIT ?",
        descending=f"{select} DESC LIMIT ?",
    )


@cache
def index_sql(table: int, index: int) -> RowSql:
    t, i = table_name(table), index_name(table, index)
    # CROSS JOIN keeps SQLite from scanning the items and looking each up in the index.
    select = (
        f"SELECT t.size, t.item, t.sum FROM {i} AS i CROSS JOIN {t} AS t ON t.id = i.id "
        "WHERE i.k >= ? AND i.k < ? ORDER BY i.k"
    )
    return RowSql(
        insert=f"INSERT OR REPLACE INTO {i}(k, id) VALUES(?, ?)",
        delete=f"DELETE FROM {i} WHERE k = ?",
        ascending=f"{select} LIMIT ?",
        descending=f"{select} DESC LIMIT ?",
    )


def _range_sql(table: int, index: int | None, backward: bool) -> str:
    sql = table_sql(table) if index is None else index_sql(table, index)
    return sql.descending if backward else sql.ascending


class RowReader:
    """Reads through one connection. `damaged` collects the numbers of tables in which damage was found."""

    def __init__(self, connection: apsw.Connection, damaged: set[int] | None = None) -> None:
        self._connection = connection
        self._damaged = set() if damaged is None else damaged
        # `connection.execute` makes a new cursor for every call, which an open iteration needs. Statements that are
        # finished before the method returns share this cursor: a third faster for a statement of a microsecond.
        self._shared_execute = connection.cursor().execute
        self.execute: Execute = connection.execute
        self._execute_now: Execute = self._shared_execute

    @property
    def connection(self) -> apsw.Connection:
        return self._connection

    def select(self, make: Callable[..., T], sql: str, *values: SqlValue) -> list[T]:
        """Every row of a statement, as `make` of its columns."""
        return [make(*row) for row in self.execute(sql, values)]

    def first(self, make: Callable[..., T], sql: str, *values: SqlValue) -> T | None:
        # Through the whole list: a statement that is left half read keeps its snapshot open.
        return next(iter(self.select(make, sql, *values)), None)

    def items_after(self, table: int, after: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Keys and items in the order of the keys."""
        sql = f"SELECT k, item, sum FROM {table_name(table)} WHERE k > ? ORDER BY k LIMIT ?"
        found = list(self.execute(sql, (after, limit)))
        self.refuse_damaged(table, (row[1] for row in found), (row[2] for row in found))
        return [(key, item) for key, item, _ in found]

    def get(self, table: int, key: bytes) -> Row | None:
        # All rows, so that the statement is finished: one that is left half read keeps its snapshot open.
        found: list[Any] = self._shared_execute(table_sql(table).get, (key,)).fetchall()
        if not found:
            return None
        number, size, item, checksum = found[0]
        if crc32(item) != checksum:
            self.refuse_damaged(table, (item,), (checksum,))
        return Row(number, size, item)

    def refuse_damaged(self, table: int, items: Iterable[bytes], sums: Iterable[int | None]) -> None:
        """Raise DamagedRow if an item does not match its checksum; rows of a store of format 3 may have none."""
        for item, checksum in zip(items, sums, strict=True):
            if self.is_damaged(table, item, checksum):
                raise DamagedRow(table)

    def is_damaged(self, table: int, item: bytes, checksum: int | None) -> bool:
        """Whether an item does not match its checksum. Damage is recorded, as by `refuse_damaged`."""
        if checksum is None or crc32(item) == checksum:
            return False
        self._damaged.add(table)
        return True

    def walk(
        self, table: int, index: int | None, low: bytes, high: bytes, backward: bool, limit: int
    ) -> Iterator[tuple[int, bytes, int | None]]:
        """Items (size, raw JSON, checksum) with low <= key < high, in order, at most `limit` (-1 for all).

        The caller compares the checksums: comparing a page at a time is cheaper (range_read.py).
        """
        return self.execute(_range_sql(table, index, backward), (low, high, limit))

    def fetch_range(
        self, table: int, index: int | None, low: bytes, high: bytes, backward: bool, limit: int
    ) -> list[tuple[int, bytes, int | None]]:
        """The same all at once, which is cheaper for a few items."""
        found: list[Any] = self._execute_now(
            _range_sql(table, index, backward), (low, high, limit)
        ).fetchall()
        return found

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads inside see the same committed state."""
        if self.connection.in_transaction:
            yield
            return
        self.execute("BEGIN")
        try:
            yield
        finally:
            # Nothing was written. In a damaged file even this may fail, but what was read is valid.
            with suppress(apsw.Error):
                self.execute("ROLLBACK")

    def tables(self) -> list[tuple[int, str, bytes]]:
        return list(self.execute("SELECT id, name, body FROM tables ORDER BY name"))

    def counts(self, owner: str) -> tuple[int, int]:
        for items, size in self.execute("SELECT items, bytes FROM counts WHERE owner = ?", (owner,)):
            return items, size
        return 0, 0

    def collection(self, table: int, partition: bytes) -> int:
        sql = f"SELECT bytes FROM {collections_name(table)} WHERE partition = ?"
        return self.first(int, sql, partition) or 0

    def token(self, token: str) -> tuple[int, bytes, bytes] | None:
        for at, body, answer in self.execute("SELECT at, body, answer FROM tokens WHERE token = ?", (token,)):
            return at, body, answer
        return None

    def last_sequence(self) -> tuple[int, int]:
        """Number and time of the newest journal row."""
        for seq, at in self.execute("SELECT seq, at FROM journal ORDER BY seq DESC LIMIT 1"):
            return seq, at
        return 0, 0

    def journal(
        self, after: int = 0
    ) -> Iterator[tuple[int, int, int, int, bytes, bytes | None, bytes | None]]:
        return self.execute(
            "SELECT seq, at, source, owner, key, old, new FROM journal WHERE seq > ? ORDER BY seq", (after,)
        )

    def first_sequence(self) -> int:
        """The number of the oldest journal row; 1 if there is none yet."""
        ((first,),) = self.execute("SELECT coalesce(min(seq), 1) FROM journal")
        return int(first)

    def journal_time(self, seq: int) -> int | None:
        return self.first(int, "SELECT at FROM journal WHERE seq = ?", seq)

    def journal_keys(self, after: int, limit: int) -> list[tuple[int, int, bytes]]:
        """Number, table and key of the journal rows after a number."""
        sql = "SELECT seq, owner, key FROM journal WHERE seq > ? ORDER BY seq LIMIT ?"
        return list(self.execute(sql, (after, limit)))

    @contextmanager
    def changes_of(
        self, table: int, low: bytes, high: bytes, first: int, last: int, limit: int
    ) -> Iterator[Iterator[Change]]:
        """The journal rows from `first` to `last` about keys of a table with low <= key < high."""
        # A cursor of its own, closed at the end: a statement that is left half read keeps its snapshot open.
        cursor = self.execute(
            "SELECT seq, at, source, key, old, new, sum FROM journal "
            "WHERE seq BETWEEN ? AND ? AND owner = ? AND key >= ? AND key < ? ORDER BY seq LIMIT ?",
            (first, last, table, low, high, limit),
        )
        try:
            yield (self._change(table, row[-1], Change(*row[:-1])) for row in cursor)
        finally:
            cursor.close(True)

    def _change(self, table: int, checksum: int | None, change: Change) -> Change:
        self.refuse_damaged_change(table, checksum, change)
        return change

    def refuse_damaged_change(self, table: int, checksum: int | None, change: Change) -> None:
        """Raise DamagedRow if a journal row does not match its checksum; an old row may have none."""
        if checksum is not None and change_sum(table, *change) != checksum:
            self._damaged.add(table)
            raise DamagedRow(table)

    def expired(self, table: int, index: int, low: bytes, high: bytes, limit: int) -> list[tuple[bytes, Row]]:
        """Keys and rows of the items whose expiry is in [low, high), in order; damaged items are skipped."""
        t, i = table_name(table), index_name(table, index)
        sql = (
            f"SELECT t.sum, t.k, t.id, t.size, t.item FROM {i} AS i CROSS JOIN {t} AS t ON t.id = i.id "
            "WHERE i.k >= ? AND i.k < ? ORDER BY i.k"
        )
        found: list[tuple[bytes, Row]] = []
        cursor = self.execute(sql, (low, high))
        for checksum, key, *row in cursor:
            if not self.is_damaged(table, row[-1], checksum):
                found.append((key, Row(*row)))
            if len(found) == limit:
                break
        cursor.close(True)
        return found

    def rows_with_checksums(
        self, table: int, after: int, limit: int
    ) -> list[tuple[int, bytes, int, bytes, int | None]]:
        """Items by row number, for work that reads a whole table in steps; the checksums are not compared."""
        sql = f"SELECT id, k, size, item, sum FROM {table_name(table)} WHERE id > ? ORDER BY id LIMIT ?"
        return list(self.execute(sql, (after, limit)))

    def last_row(self, table: int) -> int:
        ((last,),) = self.execute(f"SELECT coalesce(max(id), 0) FROM {table_name(table)}")
        return int(last)

    def all_entries(self, table: int, index: int) -> Iterator[tuple[bytes, int]]:
        return self.execute(f"SELECT k, id FROM {index_name(table, index)} ORDER BY k")

    def all_collections(self, table: int) -> list[tuple[bytes, int]]:
        return list(self.execute(f"SELECT partition, bytes FROM {collections_name(table)}"))

    def all_counts(self) -> dict[str, tuple[int, int]]:
        return {o: (i, b) for o, i, b in self.execute("SELECT owner, items, bytes FROM counts")}

    def sql_tables(self) -> set[str]:
        return set(self.select(str, "SELECT name FROM sqlite_master WHERE type = 'table'"))

    def pending_drops(self) -> list[str]:
        """Names of SQL tables whose rows are still to be deleted (RowWriter.schedule_drop)."""
        return self.select(str, "SELECT name FROM doomed")

    def integrity_errors(self) -> list[str]:
        """What SQLite's integrity check reports about the file."""
        return [text for text in self.select(str, "PRAGMA integrity_check") if text != "ok"]
