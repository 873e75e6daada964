"""The store: ordered byte keys in one SQLite file. This file and the storage_*.py beside it are all that says SQL.

For each table one ordered map from key bytes to (size, item as raw JSON); for each index one from
index-key bytes to the row of the item; beside them the catalog, the journal, streams with their shards,
counters and tokens.
Must hold: one writer at a time, who holds `writing`; what a reader sees has been committed; a store is
open in one process at most.
Elsewhere: what the key bytes mean (keys.py), what a journal row means (journal.py), how shards come and go
(streams.py).
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import sleep
from typing import NamedTuple, TextIO, TypeAlias

import apsw

from tablewright.engine import schema
from tablewright.engine.schema import FORMAT

FILE = "store.sqlite"
DURABILITIES = ("durable", "relaxed")

# Checkpoints run beside the writer once the log is this long (32 MB); found by measuring: a shorter log
# checkpoints the same hot pages again and again, a longer one slows every read that must look it up.
CHECKPOINT_PAGES = 8192
CHECKPOINT_PASSES = 3
# A put changes a leaf here and there in every index, and whole pages go into the log: with pages of 8 KB the
# log was nearly twice as long, and the writer waited longer for its checkpoints.
PAGE_BYTES = 4096
# In memory, how many rows change between two real commits (see Storage._begin_in_memory). Until then SQLite
# keeps a copy of every page that was changed: some 40 MB at most.
ERA_CHANGES = 16384


class StoreInUse(Exception):
    """Another process has the store open."""

    def __init__(self, directory: Path, holder: str) -> None:
        self.directory, self.holder = directory, holder
        by = f" by process {holder}" if holder else ""
        super().__init__(
            f"the store in {directory} is open{by}; stop that process, or open another directory"
        )


class NotAStore(Exception):
    """The directory holds something that is not a store of ours, or one of a newer version."""


class MemoryRanOut(Exception):
    """SQLite found no memory and undid more than the write that asked for it; the store may not be believed."""


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


class Storage:
    """The open store: its lock, its connections, its transactions."""

    def __init__(self, path: str | Path, durability: str) -> None:
        if durability not in DURABILITIES:
            raise ValueError(f"durability is {' or '.join(DURABILITIES)}, not {durability}")
        self.in_memory = str(path) == ":memory:"
        self.commit_blocks = durability == "durable" and not self.in_memory
        self.writing = threading.Lock()
        self._synchronous = "FULL" if durability == "durable" else "NORMAL"
        self._held: TextIO | None = None
        self._closed = False
        self._log_pages = 0
        self._era: int | None = None  # in memory: the writer's changes at the last real commit
        self._is_open = False  # in memory: a savepoint may be open
        self._idle: list[Rows] = []
        self._lent: set[Rows] = set()
        if self.in_memory:
            self._file = ":memory:"
        else:
            directory = Path(path)
            directory.mkdir(parents=True, exist_ok=True)
            self._held = _hold(directory)
            self._file = str(directory / FILE)
        try:
            self._writer = self._connect()
            _prepare(self._writer, self._file)
        except apsw.NotADBError:
            self._release()
            raise NotAStore(f"{self._file} is not a store of this program") from None
        except BaseException:
            self._release()
            raise
        self._writer.set_wal_hook(self._note_log)
        self.writes = Writes(self._writer)
        # Kept open to the end: closing any descriptor of the file would drop SQLite's locks on it.
        self._file_number = -1 if self.in_memory else os.open(self._file, os.O_RDWR)

    # --- the writer ---

    def begin(self) -> None:
        # A transaction that is still open was broken off (Ctrl-C between two lines) and answered nobody.
        self.rollback()
        if self.in_memory:
            self._begin_in_memory()
        else:
            self._writer.execute("BEGIN IMMEDIATE")

    def changes(self) -> int:
        """How many rows the writer has ever changed: a cheap witness of whether something was written."""
        return self._writer.total_changes()

    def commit(self) -> None:
        self.writes.settle()
        if self.in_memory:
            self._commit_in_memory()
        else:
            self._writer.execute("COMMIT")

    def rollback(self) -> None:
        if self._closed:
            return
        self.writes.forget()
        if self.in_memory:
            self._rollback_in_memory()
        elif self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    # In memory our transactions are savepoints inside one of SQLite's that lasts for many of them, an era.
    # Its commit looks at every page of the store whenever leaves changed places, which at 100 000 items was
    # half the time SQLite spent on a put; releasing a savepoint looks at none.

    def _begin_in_memory(self) -> None:
        if not self._writer.in_transaction:
            if self._era is not None:
                raise MemoryRanOut("the store in memory ran out of memory and lost writes; open a new one")
            self._writer.execute("BEGIN IMMEDIATE")
            self._era = self.changes()
        # Said before it is so: Ctrl-C between the two lines must not leave a savepoint nobody knows of.
        self._is_open = True
        self._writer.execute("SAVEPOINT one")

    def _commit_in_memory(self) -> None:
        self._writer.execute("RELEASE one")
        self._is_open = False
        if self._era is None or self.changes() - self._era > ERA_CHANGES:
            self._era = None
            self._writer.execute("COMMIT")

    def _rollback_in_memory(self) -> None:
        if self._is_open:
            # There is none if it was never made, or was released already and only this flag not yet.
            with suppress(apsw.SQLError):
                self._writer.execute("ROLLBACK TO one")
                self._writer.execute("RELEASE one")
            self._is_open = False

    # --- readers ---

    def lend(self) -> Rows:
        """A connection that sees what has been committed, for one read; to be given back."""
        try:
            rows = self._idle.pop()
        except IndexError:
            rows = Rows(self._connect())
        self._lent.add(rows)
        return rows

    def give_back(self, rows: Rows) -> None:
        self._lent.discard(rows)
        self._idle.append(rows)

    # --- the log ---

    def _note_log(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    @property
    def log_is_long(self) -> bool:
        return self._log_pages > CHECKPOINT_PAGES

    def checkpoint(self) -> None:
        """Move the log into the file: most of it beside the writer, the rest while the writer waits.

        Without the last part a busy writer always stays ahead and the log grows without end. SQLite reaches for
        the disk in that part, so we do it before, as often as it takes to leave it little to do.
        """
        rows = self.lend()
        try:
            for _ in range(CHECKPOINT_PASSES):
                self._log_into_file(rows)
                os.fdatasync(self._file_number)
            with self.writing:
                if self._log_into_file(rows):
                    self._log_pages = 0
        finally:
            self.give_back(rows)

    def _log_into_file(self, rows: Rows) -> bool:
        try:
            rows.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.BusyError:
            return False  # the next round will do it
        return True

    # --- the end ---

    def close(self) -> None:
        """Wait for the writer and the readers, then close. Closing twice is closing once."""
        with self.writing:
            if self._closed:
                return
            self._closed = True
            while self._lent:
                sleep(0.001)
            for rows in self._idle:
                rows.connection.close()
            self._writer.close()
            if not self.in_memory:
                os.close(self._file_number)
            self._release()

    def _release(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None

    def _connect(self) -> apsw.Connection:
        # unix-excl: the file is this process's alone (we hold its lock anyway), so no read has to ask the
        # system for a lock, and the log's index lives in our memory.
        vfs = None if self.in_memory else "unix-excl"
        connection = apsw.Connection(self._file, vfs=vfs, statementcachesize=400)
        connection.set_busy_timeout(10_000)
        # Our statements have one good plan each. Without this SQLite prepares them anew for new keys, in the
        # hope of a better one: half the time of a query.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        for pragma in (
            f"page_size = {PAGE_BYTES}",
            "journal_mode = WAL",
            f"synchronous = {self._synchronous}",
            "cache_size = -65536",
            "mmap_size = 8589934592",
            "wal_autocheckpoint = 0",
            "temp_store = MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def _hold(directory: Path) -> TextIO:
    held = open(directory / "lock", "a+")  # noqa: SIM115 (held open for as long as the store is)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.seek(0)
        holder = held.read().strip()
        held.close()
        raise StoreInUse(directory, holder) from None
    held.seek(0)
    held.truncate()
    held.write(str(os.getpid()))
    held.flush()
    return held


def _prepare(connection: apsw.Connection, file: str) -> None:
    ((version,),) = connection.execute("PRAGMA user_version")
    ((owner,),) = connection.execute("PRAGMA application_id")
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_master")
    if tables == 0:
        _in_one_transaction(connection, _create)
    elif owner != schema.APPLICATION:
        raise NotAStore(f"{file} is somebody else's database; open another directory")
    elif version > FORMAT:
        raise NotAStore(
            f"{file} has format {version}; this program knows formats up to {FORMAT}: use a newer one"
        )
    elif version < FORMAT:
        _in_one_transaction(connection, _upgrade_from_1 if version == 1 else _upgrade_from_2)


def _in_one_transaction(connection: apsw.Connection, work: Callable[[apsw.Connection], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        work(connection)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")
        raise


def _create(connection: apsw.Connection) -> None:
    connection.execute(schema.FIRST + schema.STREAMS + schema.THIRD)
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")


def _upgrade_from_1(connection: apsw.Connection) -> None:
    """Format 1 knew no streams, and of TTL only the setting: what expires is still to be listed."""
    connection.execute(schema.STREAMS)
    expiring = list(
        connection.execute(
            "SELECT id, CAST(body AS TEXT) ->> '$.next_index' FROM tables "
            "WHERE CAST(body AS TEXT) ->> '$.ttl_attribute' IS NOT NULL"
        )
    )
    for table, index in expiring:
        Writes(connection).create_index(table, index)
        ((last,),) = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table_name(table)}")
        connection.execute(
            "UPDATE tables SET body = CAST(json_set(CAST(body AS TEXT), '$.next_index', ?, '$.ttl_index', ?, "
            "'$.ttl_backfill', json_array(0, ?)) AS BLOB) WHERE id = ?",
            (index + 1, index, last, table),
        )
    _upgrade_from_2(connection)


def _upgrade_from_2(connection: apsw.Connection) -> None:
    """Format 2 knew no past beyond the journal, no replicas and no figures."""
    if schema.THIRD.strip():
        connection.execute(schema.THIRD)


def exists(path: str | Path) -> bool:
    """Whether a store is in the directory; a file without a byte in it is none."""
    file = Path(path) / FILE
    return file.is_file() and file.stat().st_size > 0
