"""Rows of the store: what can be read and written of tables, indexes, journal, streams, counters and tokens.

For each table one ordered map from key bytes to (size, item as raw JSON); for each index one from
index-key bytes to the row of the item.
Must hold: what waits to be written (`Writes.settle`) is written before anything else is read or committed.
Elsewhere: the file, its lock and its transactions (storage.py), what the key bytes mean (keys.py), what a journal
row means (journal.py), how shards come and go (streams.py).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import apsw


class Row(NamedTuple):
    """An item as it lies in the store."""

    id: int
    size: int
    item: bytes


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


class Change(NamedTuple):
    """A row of the journal, without the table it is about."""

    seq: int
    at: int
    source: int
    key: bytes
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class _TableSql:
    get: str
    insert: str
    update: str
    delete: str
    ascending: str
    descending: str


@dataclass(frozen=True, slots=True)
class _IndexSql:
    insert: str
    delete: str
    ascending: str
    descending: str


# The counters of all tables there have ever been and of all rows ever taken from the journal's beginning; the
# others are named after SQL tables.
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


def _table_sql(table: int) -> _TableSql:
    t = table_name(table)
    walk = f"SELECT size, item FROM {t} WHERE k >= ? AND k < ? ORDER BY k"
    return _TableSql(
        get=f"SELECT id, size, item FROM {t} WHERE k = ?",
        insert=f"INSERT INTO {t}(k, size, item) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
        update=f"UPDATE {t} SET size = ?, item = ? WHERE id = ?",
        delete=f"DELETE FROM {t} WHERE id = ?",
        ascending=f"{walk} LIMIT ?",
        descending=f"{walk} DESC LIMIT ?",
    )


def _index_sql(table: int, index: int) -> _IndexSql:
    t, i = table_name(table), index_name(table, index)
    # CROSS JOIN keeps SQLite from walking the items and looking each up in the index.
    walk = (
        f"SELECT t.size, t.item FROM {i} AS i CROSS JOIN {t} AS t ON t.id = i.id "
        "WHERE i.k >= ? AND i.k < ? ORDER BY i.k"
    )
    return _IndexSql(
        insert=f"INSERT OR REPLACE INTO {i}(k, id) VALUES(?, ?)",
        delete=f"DELETE FROM {i} WHERE k = ?",
        ascending=f"{walk} LIMIT ?",
        descending=f"{walk} DESC LIMIT ?",
    )


Execute: TypeAlias = Callable[..., apsw.Cursor]
_APPEND = "INSERT INTO journal(seq, at, source, owner, key, old, new) VALUES(?, ?, ?, ?, ?, ?, ?)"


class Rows:
    """Reading through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        # Every call makes a cursor of its own, which is what a walk needs. What is done before it returns
        # takes this one: a third less for a statement of a microsecond.
        self._straight = connection.cursor().execute
        self._execute: Execute = connection.execute
        self._at_once: Execute = self._straight
        self._tables: dict[int, _TableSql] = {}
        self._indexes: dict[tuple[int, int], _IndexSql] = {}

    @property
    def connection(self) -> apsw.Connection:
        """For what is said in the other files of SQL (storage_*.py)."""
        return self._connection

    def get(self, table: int, key: bytes) -> Row | None:
        sql = self._tables.get(table) or self._table(table)
        # The whole list, so that the statement is over: one left half read would keep its snapshot.
        for number, size, item in list(self._straight(sql.get, (key,))):
            return Row(number, size, item)
        return None

    def walk(
        self, table: int, index: int | None, low: bytes, high: bytes, backward: bool, limit: int
    ) -> Iterator[tuple[int, bytes]]:
        """Items (size, raw JSON) with low <= key < high, in order, at most `limit` (-1 for all)."""
        sql: _TableSql | _IndexSql = self._table(table) if index is None else self._index(table, index)
        return self._execute(sql.descending if backward else sql.ascending, (low, high, limit))

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads inside see one moment."""
        if self.connection.in_transaction:
            yield
            return
        self._execute("BEGIN")
        try:
            yield
        finally:
            # Nothing was written; in a damaged file even this may fail, and what was read is still true.
            with suppress(apsw.Error):
                self._execute("ROLLBACK")

    def tables(self) -> list[tuple[int, str, bytes]]:
        return list(self._execute("SELECT id, name, body FROM tables ORDER BY name"))

    def counts(self, owner: str) -> tuple[int, int]:
        for items, size in self._execute("SELECT items, bytes FROM counts WHERE owner = ?", (owner,)):
            return items, size
        return 0, 0

    def collection(self, table: int, partition: bytes) -> int:
        sql = f"SELECT bytes FROM {collections_name(table)} WHERE partition = ?"
        for (size,) in self._execute(sql, (partition,)):
            return int(size)
        return 0

    def token(self, token: str) -> tuple[int, bytes, bytes] | None:
        for at, body, answer in self._execute(
            "SELECT at, body, answer FROM tokens WHERE token = ?", (token,)
        ):
            return at, body, answer
        return None

    def last_sequence(self) -> tuple[int, int]:
        """Number and time of the newest journal row."""
        for seq, at in self._execute("SELECT seq, at FROM journal ORDER BY seq DESC LIMIT 1"):
            return seq, at
        return 0, 0

    def journal(
        self, after: int = 0
    ) -> Iterator[tuple[int, int, int, int, bytes, bytes | None, bytes | None]]:
        return self._execute(
            "SELECT seq, at, source, owner, key, old, new FROM journal WHERE seq > ? ORDER BY seq", (after,)
        )

    def first_sequence(self) -> int:
        """Number of the oldest journal row; of the first there will be, if there is none."""
        ((first,),) = self._execute("SELECT coalesce(min(seq), 1) FROM journal")
        return int(first)

    def journal_time(self, seq: int) -> int | None:
        for (at,) in list(self._at_once("SELECT at FROM journal WHERE seq = ?", (seq,))):
            return int(at)
        return None

    def journal_keys(self, after: int, limit: int) -> list[tuple[int, int, bytes]]:
        """Number, table and key of the rows that follow."""
        sql = "SELECT seq, owner, key FROM journal WHERE seq > ? ORDER BY seq LIMIT ?"
        return list(self._execute(sql, (after, limit)))

    @contextmanager
    def changes_of(
        self, table: int, low: bytes, high: bytes, first: int, last: int, limit: int
    ) -> Iterator[Iterator[Change]]:
        """The journal's rows from `first` to `last` about keys of a table with low <= key < high."""
        # A cursor of its own, closed at the end: a statement left half read would keep its snapshot.
        cursor = self._execute(
            "SELECT seq, at, source, key, old, new FROM journal "
            "WHERE seq BETWEEN ? AND ? AND owner = ? AND key >= ? AND key < ? ORDER BY seq LIMIT ?",
            (first, last, table, low, high, limit),
        )
        try:
            yield map(Change._make, cursor)
        finally:
            cursor.close(True)

    def streams(self) -> list[Stream]:
        return [Stream(*row) for row in self._execute("SELECT * FROM streams ORDER BY arn")]

    def stream(self, arn: str) -> Stream | None:
        for row in list(self._execute("SELECT * FROM streams WHERE arn = ?", (arn,))):
            return Stream(*row)
        return None

    def shards(self, stream: int) -> list[Shard]:
        """The shards of a stream, oldest first."""
        sql = "SELECT * FROM shards WHERE stream = ? ORDER BY id"
        return [Shard(*row) for row in self._execute(sql, (stream,))]

    def all_shards(self) -> list[Shard]:
        return [Shard(*row) for row in self._execute("SELECT * FROM shards ORDER BY id")]

    def expired(self, table: int, index: int, low: bytes, high: bytes, limit: int) -> list[tuple[bytes, Row]]:
        """Keys and rows of the items whose expiry is in [low, high), the first first."""
        t, i = table_name(table), index_name(table, index)
        sql = (
            f"SELECT t.k, t.id, t.size, t.item FROM {i} AS i CROSS JOIN {t} AS t ON t.id = i.id "
            "WHERE i.k >= ? AND i.k < ? ORDER BY i.k LIMIT ?"
        )
        return [(key, Row(*row)) for key, *row in self._execute(sql, (low, high, limit))]

    def all_rows(self, table: int, after: int, limit: int) -> list[tuple[int, bytes, int, bytes]]:
        """Items by row number, for work that walks a whole table in steps."""
        sql = f"SELECT id, k, size, item FROM {table_name(table)} WHERE id > ? ORDER BY id LIMIT ?"
        return list(self._execute(sql, (after, limit)))

    def last_row(self, table: int) -> int:
        ((last,),) = self._execute(f"SELECT coalesce(max(id), 0) FROM {table_name(table)}")
        return int(last)

    def all_entries(self, table: int, index: int) -> Iterator[tuple[bytes, int]]:
        return self._execute(f"SELECT k, id FROM {index_name(table, index)} ORDER BY k")

    def all_collections(self, table: int) -> list[tuple[bytes, int]]:
        return list(self._execute(f"SELECT partition, bytes FROM {collections_name(table)}"))

    def all_counts(self) -> dict[str, tuple[int, int]]:
        return {o: (i, b) for o, i, b in self._execute("SELECT owner, items, bytes FROM counts")}

    def sql_tables(self) -> set[str]:
        return {name for (name,) in self._execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def doomed(self) -> list[str]:
        return [name for (name,) in self._execute("SELECT name FROM doomed")]

    def file_mistakes(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        return [text for (text,) in self._execute("PRAGMA integrity_check") if text != "ok"]

    def _table(self, table: int) -> _TableSql:
        sql = self._tables.get(table)
        if sql is None:
            sql = self._tables[table] = _table_sql(table)
        return sql

    def _index(self, table: int, index: int) -> _IndexSql:
        sql = self._indexes.get((table, index))
        if sql is None:
            sql = self._indexes[table, index] = _index_sql(table, index)
        return sql


class Writes(Rows):
    """Reading and writing through the writer's connection, inside its transaction.

    New entries of indexes and rows of the journal wait until the end of the transaction, or until anybody looks,
    because many rows of one statement are cheaper than as many statements. Whoever asks for the connection, and
    every statement but those that touch an item by its key or row, settles them first.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._execute_many = connection.cursor().executemany
        self._journal: list[tuple[int, int, int, int, bytes, bytes | None, bytes | None]] = []
        self._entries: dict[tuple[int, int], list[tuple[bytes, int]]] = {}
        self._execute = self._settling(connection.execute)
        self._at_once = self._settling(self._straight)

    def _settling(self, execute: Execute) -> Execute:
        def settled(sql: str, values: Sequence[int | float | str | bytes | None] = ()) -> apsw.Cursor:
            self.settle()
            return execute(sql, values)

        return settled

    @property
    def connection(self) -> apsw.Connection:
        self.settle()
        return self._connection

    def settle(self) -> None:
        """Write what waits."""
        for (table, index), entries in self._entries.items():
            if entries:
                self._execute_many(self._index(table, index).insert, entries)
                entries.clear()
        if self._journal:
            self._execute_many(_APPEND, self._journal)
            self._journal.clear()

    def forget(self) -> None:
        """Drop what waits: its transaction is undone."""
        self._entries.clear()
        self._journal.clear()

    def insert(self, table: int, key: bytes, size: int, item: bytes) -> int | None:
        """The row of the new item; None if the key has an item already, which then stays as it is."""
        self._straight((self._tables.get(table) or self._table(table)).insert, (key, size, item))
        return self._connection.last_insert_rowid() if self._connection.changes() else None

    def update(self, table: int, row: int, size: int, item: bytes) -> None:
        self._straight(self._table(table).update, (size, item, row))

    def delete(self, table: int, row: int) -> None:
        self._straight(self._table(table).delete, (row,))

    def add_entry(self, table: int, index: int, key: bytes, row: int) -> None:
        waiting = self._entries.get((table, index))
        if waiting is None:
            waiting = self._entries[table, index] = []
        waiting.append((key, row))

    def drop_entry(self, table: int, index: int, key: bytes) -> None:
        self._at_once(self._index(table, index).delete, (key,))

    def append(
        self, seq: int, at: int, source: int, table: int, key: bytes, old: bytes | None, new: bytes | None
    ) -> None:
        self._journal.append((seq, at, source, table, key, old, new))

    def add_to_collection(self, table: int, partition: bytes, delta: int) -> None:
        self._at_once(
            f"INSERT INTO {collections_name(table)}(partition, bytes) VALUES(?, ?) "
            "ON CONFLICT(partition) DO UPDATE SET bytes = bytes + excluded.bytes",
            (partition, delta),
        )

    def add_to_counts(self, owner: str, items: int, size: int) -> None:
        self._at_once(
            "INSERT INTO counts(owner, items, bytes) VALUES(?, ?, ?) "
            "ON CONFLICT(owner) DO UPDATE SET items = items + excluded.items, bytes = bytes + excluded.bytes",
            (owner, items, size),
        )

    def create_table(self, name: str, body: bytes) -> int:
        """Reserve the table's number; numbers are never used twice, so old journal rows stay true."""
        self.add_to_counts(TABLES_EVER, 1, 0)
        table = self.counts(TABLES_EVER)[0]
        self._execute("INSERT INTO tables(id, name, body) VALUES(?, ?, ?)", (table, name, body))
        self._execute(
            f"CREATE TABLE {table_name(table)}"
            "(id INTEGER PRIMARY KEY, k BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, item BLOB NOT NULL)"
        )
        return table

    def create_collections(self, table: int) -> None:
        self._execute(
            f"CREATE TABLE {collections_name(table)}(partition BLOB PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID"
        )

    def create_index(self, table: int, index: int) -> None:
        self._execute(
            f"CREATE TABLE {index_name(table, index)}(k BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID"
        )

    def save_table(self, table: int, body: bytes) -> None:
        self._execute("UPDATE tables SET body = ? WHERE id = ?", (body, table))

    def forget_table(self, table: int) -> None:
        self._execute("DELETE FROM tables WHERE id = ?", (table,))

    def doom(self, names: Iterable[str]) -> None:
        """Give up tables whose rows are then removed in small steps beside other writes."""
        for name in names:
            self._execute("INSERT OR IGNORE INTO doomed(name) VALUES(?)", (name,))
            self._execute("DELETE FROM counts WHERE owner = ?", (name,))

    def remove_some(self, name: str, limit: int) -> bool:
        """Remove at most `limit` rows of a doomed table; True when it is gone."""
        rowid = name.count("_") == 0
        by = "id" if rowid else ("partition" if name.endswith("_collections") else "k")
        self._execute(f"DELETE FROM {name} WHERE {by} IN (SELECT {by} FROM {name} LIMIT ?)", (limit,))
        if self.connection.changes() == limit:
            return False
        self._execute(f"DROP TABLE {name}")
        self._execute("DELETE FROM doomed WHERE name = ?", (name,))
        return True

    def prune(self, before: int) -> None:
        """Take the rows before that number from the journal's beginning."""
        self._execute("DELETE FROM journal WHERE seq < ?", (before,))
        self.add_to_counts(ROWS_PRUNED, self.connection.changes(), 0)

    def add_stream(self, table: int, arn: str, name: str, label: str, view: str, keys: bytes, at: int) -> int:
        self._execute(
            "INSERT INTO streams(owner, arn, name, label, view, keys, at) VALUES(?, ?, ?, ?, ?, ?, ?)",
            (table, arn, name, label, view, keys, at),
        )
        return self.connection.last_insert_rowid()

    def close_stream(self, stream: int, at: int) -> None:
        self._execute("UPDATE streams SET closed = ? WHERE id = ?", (at, stream))

    def add_shard(self, stream: int, parent: str | None, first: int, low: int, high: int, at: int) -> None:
        self._execute(
            "INSERT INTO shards(stream, parent, first, low, high, at, records, counted) "
            "VALUES(?, ?, ?, ?, ?, ?, 0, ?)",
            (stream, parent, first, low, high, at, first - 1),
        )

    def close_shard(self, shard: int, last: int, at: int) -> None:
        self._execute("UPDATE shards SET last = ?, closed = ? WHERE id = ?", (last, at, shard))

    def count_shard(self, shard: int, records: int, counted: int) -> None:
        self._execute("UPDATE shards SET records = ?, counted = ? WHERE id = ?", (records, counted, shard))

    def forget_closed(self, before: int) -> bool:
        """Forget the shards and streams that were closed before that moment; whether there were any."""
        changes = self.connection.total_changes()
        self._execute("DELETE FROM shards WHERE closed < ?", (before,))
        self._execute("DELETE FROM streams WHERE closed < ?", (before,))
        return self.connection.total_changes() != changes

    def save_token(self, token: str, at: int, body: bytes, answer: bytes) -> None:
        self._execute(
            "INSERT OR REPLACE INTO tokens(token, at, body, answer) VALUES(?, ?, ?, ?)",
            (token, at, body, answer),
        )

    def forget_tokens(self, before: int) -> None:
        self._execute("DELETE FROM tokens WHERE at < ?", (before,))
