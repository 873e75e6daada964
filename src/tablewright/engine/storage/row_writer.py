"""Writing rows of the store: items, index entries, the journal, counters, the catalog and tokens.

Must hold: buffered rows are written before anything else is read or committed.
Elsewhere: reading them, and the names of SQL tables (rows.py), the transactions (sqlite.py).
"""

from collections.abc import Iterable, Sequence

import apsw

from tablewright.engine.storage.checksum import crc32
from tablewright.engine.storage.rows import (
    ROWS_PRUNED,
    TABLES_EVER,
    Execute,
    RowReader,
    SqlValue,
    change_sum,
    collections_name,
    index_name,
    index_sql,
    table_name,
    table_sql,
)

_APPEND = "INSERT INTO journal(seq, at, source, owner, key, old, new, sum) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"


class RowWriter(RowReader):
    """Reads and writes through the writer's connection, inside its transaction.

    New index entries and journal rows are buffered, because one statement for many rows is cheaper than as many
    statements. The buffers are flushed at the end of the transaction, when the connection is asked for, and before
    every statement except those that touch one item by its key or row.
    """

    def __init__(self, connection: apsw.Connection, damaged: set[int] | None = None) -> None:
        super().__init__(connection, damaged)
        self._execute_many = connection.cursor().executemany
        self._journal: list[tuple[int, int, int, int, bytes, bytes | None, bytes | None, int]] = []
        self._entries: dict[tuple[int, int], list[tuple[bytes, int]]] = {}
        self.execute = self._flushing(connection.execute)
        self._execute_now = self._flushing(self._shared_execute)

    def _flushing(self, execute: Execute) -> Execute:
        def flushed(sql: str, values: Sequence[SqlValue] = ()) -> apsw.Cursor:
            self.flush_buffers()
            return execute(sql, values)

        return flushed

    @property
    def connection(self) -> apsw.Connection:
        self.flush_buffers()
        return self._connection

    def flush_buffers(self) -> None:
        """Write the buffered entries and journal rows."""
        for (table, index), entries in self._entries.items():
            if entries:
                self._execute_many(index_sql(table, index).insert, entries)
                entries.clear()
        if self._journal:
            self._execute_many(_APPEND, self._journal)
            self._journal.clear()

    def discard_buffers(self) -> None:
        """Discard them: the transaction is rolled back."""
        self._entries.clear()
        self._journal.clear()

    def add_row(self, table: str, conflict: str = "", /, **columns: SqlValue) -> int:
        """Insert a row into one of the store's own tables; its row number. `conflict` may be OR REPLACE."""
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT {conflict} INTO {table}({', '.join(columns)}) VALUES({marks})"
        self.execute(sql, tuple(columns.values()))
        return self._connection.last_insert_rowid()

    def set_columns(self, table: str, number: int, /, **columns: SqlValue) -> None:
        """Change columns of a row."""
        changes = ", ".join(f"{name} = ?" for name in columns)
        self.execute(f"UPDATE {table} SET {changes} WHERE id = ?", (*columns.values(), number))

    def insert(self, table: int, key: bytes, size: int, item: bytes) -> int | None:
        """The row number of the new item; None if the key already has an item, which is not changed."""
        self._shared_execute(table_sql(table).insert, (key, size, item, crc32(item)))
        return self._connection.last_insert_rowid() if self._connection.changes() else None

    def update(self, table: int, row: int, size: int, item: bytes) -> None:
        self._shared_execute(table_sql(table).update, (size, item, crc32(item), row))

    def delete(self, table: int, row: int) -> None:
        self._shared_execute(table_sql(table).delete, (row,))

    def add_entry(self, table: int, index: int, key: bytes, row: int) -> None:
        buffer = self._entries.get((table, index))
        if buffer is None:
            buffer = self._entries[table, index] = []
        buffer.append((key, row))

    def drop_entry(self, table: int, index: int, key: bytes) -> None:
        self._execute_now(index_sql(table, index).delete, (key,))

    def append(
        self, seq: int, at: int, source: int, table: int, key: bytes, old: bytes | None, new: bytes | None
    ) -> None:
        self._journal.append(
            (seq, at, source, table, key, old, new, change_sum(table, seq, at, source, key, old, new))
        )

    def add_to_collection(self, table: int, partition: bytes, delta: int) -> None:
        self._execute_now(
            f"INSERT INTO {collections_name(table)}(partition, bytes) VALUES(?, ?) "
            "ON CONFLICT(partition) DO UPDATE SET bytes = bytes + excluded.bytes",
            (partition, delta),
        )

    def add_to_counts(self, *counts: tuple[str, int, int]) -> None:
        """Add to counters: each with its name, items and bytes."""
        self.flush_buffers()
        self._execute_many(
            "INSERT INTO counts(owner, items, bytes) VALUES(?, ?, ?) "
            "ON CONFLICT(owner) DO UPDATE SET items = items + excluded.items, bytes = bytes + excluded.bytes",
            counts,
        )

    def create_table(self, name: str, body: bytes) -> int:
        """Returns the table's number. Numbers are never reused, so old journal rows stay valid."""
        self.add_to_counts((TABLES_EVER, 1, 0))
        table = self.counts(TABLES_EVER)[0]
        self.execute("INSERT INTO tables(id, name, body) VALUES(?, ?, ?)", (table, name, body))
        self.execute(
            f"CREATE TABLE {table_name(table)}"
            "(id INTEGER PRIMARY KEY, k BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, item BLOB NOT NULL, sum INTEGER)"
        )
        return table

    def create_collections(self, table: int) -> None:
        self.execute(
            f"CREATE TABLE {collections_name(table)}(partition BLOB PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID"
        )

    def create_index(self, table: int, index: int) -> None:
        self.execute(
            f"CREATE TABLE {index_name(table, index)}(k BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID"
        )

    def save_table(self, table: int, body: bytes) -> None:
        self.execute("UPDATE tables SET body = ? WHERE id = ?", (body, table))

    def forget_table(self, table: int) -> None:
        self.execute("DELETE FROM tables WHERE id = ?", (table,))

    def schedule_drop(self, names: Iterable[str]) -> None:
        """Delete these SQL tables later, in small steps between other writes (`drop_batch`)."""
        for name in names:
            self.execute("INSERT OR IGNORE INTO doomed(name) VALUES(?)", (name,))
            self.execute("DELETE FROM counts WHERE owner = ?", (name,))

    def drop_batch(self, name: str, limit: int) -> bool:
        """Delete at most `limit` rows of a table whose drop is pending; True when the table is dropped."""
        rowid = name.count("_") == 0
        by = "id" if rowid else ("partition" if name.endswith("_collections") else "k")
        self.execute(f"DELETE FROM {name} WHERE {by} IN (SELECT {by} FROM {name} LIMIT ?)", (limit,))
        if self.connection.changes() == limit:
            return False
        self.execute(f"DROP TABLE {name}")
        self.execute("DELETE FROM doomed WHERE name = ?", (name,))
        return True

    def prune(self, before: int) -> None:
        """Delete the journal rows before that number."""
        self.execute("DELETE FROM journal WHERE seq < ?", (before,))
        self.add_to_counts((ROWS_PRUNED, self.connection.changes(), 0))

    def save_token(self, token: str, at: int, body: bytes, answer: bytes) -> None:
        self.execute(
            "INSERT OR REPLACE INTO tokens(token, at, body, answer) VALUES(?, ?, ?, ?)",
            (token, at, body, answer),
        )

    def forget_tokens(self, before: int) -> None:
        self.execute("DELETE FROM tokens WHERE at < ?", (before,))
