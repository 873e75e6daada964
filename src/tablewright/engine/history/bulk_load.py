"""Bulk loading a new table: the items of a restore or an import.

Must hold: the table is CREATING, so no request writes to it. Items, index entries and counters change together as
always, but nothing is written to the journal: the history of a table begins when it is ACTIVE, which the catalog
records (`Table.is_filled`).
"""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from tablewright.engine.catalog import Catalog, Table, to_json
from tablewright.engine.history.store import StoredItem, insert_all
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import entry_key, partition_of
from tablewright.engine.storage.rows import index_name, table_name
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.vectors import entries as vector_entries
from tablewright.engine.vectors import store as vector_store
from tablewright.engine.vectors.definition import VectorIndex
from tablewright.values import Item

# Small enough that a write waits a few milliseconds at most.
FILLED_ITEMS = 250
# Of a table with indexes, whose items must be parsed.
INDEXED_ITEMS = 100


def step_of(table: Table) -> int:
    """How many items one transaction should insert."""
    most = INDEXED_ITEMS if table.indexes or table.vectors else FILLED_ITEMS
    return vector_entries.rows_at_once(most, table.vectors)


def numbered(tables: Catalog, number: int) -> Table:
    """The table of that number, which exists."""
    return next(table for table in tables.values() if table.number == number)


def create_rows(txn: WriteTransaction, table: Table) -> Table:
    """The new table with its number, after its SQL tables were created."""
    table = replace(table, number=txn.rows.create_table(table.name, to_json(table)))
    for index in table.indexes:
        txn.rows.create_index(table.number, index.number)
    for vector in table.vectors:
        vector_entries.create(txn.rows, table, vector)
    if table.ttl_index is not None:
        txn.rows.create_index(table.number, table.ttl_index)
    if table.has_local_indexes:
        txn.rows.create_collections(table.number)
    return table


def drop_unloaded(txn: WriteTransaction, table: Table) -> None:
    """Drop a table that could not be loaded."""
    names = table.sql_tables()
    for name in names:
        txn.forget_counts(name)
    txn.rows.schedule_drop(names)
    txn.forget_table(table)


def insert_items(txn: WriteTransaction, table: Table, items: Sequence[StoredItem]) -> None:
    """Insert items; none of their keys may exist yet."""
    first = txn.rows.last_row(table.number) + 1
    insert_all(txn.rows, table.number, first, items)
    txn.count(table_name(table.number), len(items), sum(stored.size for stored in items))
    if table.indexes or table.vectors:
        for row, stored in enumerate(items, first):
            _update_entries(txn, table, row, stored, 1)


def upsert_items(txn: WriteTransaction, table: Table, items: Sequence[StoredItem]) -> None:
    """Insert or replace items; of two with the same key the later one wins."""
    last = {stored.key: stored for stored in items}
    for key in last:
        row = txn.rows.get(table.number, key)
        if row is not None:
            txn.rows.delete(table.number, row.id)
            txn.count(table_name(table.number), -1, -row.size)
            if table.indexes or table.vectors:
                _update_entries(txn, table, row.id, StoredItem(key, row.size, row.item), -1)
    insert_items(txn, table, list(last.values()))


def _update_entries(txn: WriteTransaction, table: Table, row: int, stored: StoredItem, sign: int) -> None:
    """Add an item's index entries (`sign` 1), or remove them (-1)."""
    item = orjson.loads(stored.item)
    held = stored.size
    for index in table.indexes:
        entry = entry_key(table, index, item, stored.key)
        if entry is not None:
            weight = entry_size(table, index, item, stored.size)
            if sign > 0:
                txn.rows.add_entry(table.number, index.number, entry, row)
            else:
                txn.rows.drop_entry(table.number, index.number, entry)
            txn.count(index_name(table.number, index.number), sign, sign * weight)
            held += weight if index.local else 0
    for vector in table.vectors:
        _update_vector(txn, table, vector, row, stored.key, item, sign)
    if table.has_local_indexes:
        txn.rows.add_to_collection(table.number, partition_of(table, item), sign * held)


def _update_vector(
    txn: WriteTransaction, table: Table, index: VectorIndex, row: int, key: bytes, item: Item, sign: int
) -> None:
    entry = vector_entries.entry_of(table, index, item, key)
    if entry is None:
        return
    if sign > 0:
        vector_store.put(txn.rows, table.number, index.number, row, entry)
    else:
        txn.rows.drop_entry(table.number, index.number, entry.key)
    txn.count(vector_entries.counted(table, index), sign, sign * entry.size)
