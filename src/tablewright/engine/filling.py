"""Filling a new table with items that come from elsewhere: a restore or an import.

Must hold: the table is CREATING, so nobody else writes to it. Items, index entries and counters change together,
as always; but nothing is written into the journal: the history of a table begins when it is ACTIVE, and the catalog
says so (`Table.is_filled`).
"""

from collections.abc import Sequence

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import entry_key, partition_of
from tablewright.engine.storage_history import Kept, insert_all
from tablewright.engine.storage_rows import index_name, table_name
from tablewright.engine.writing import Writing

# Small enough that a write waits a few milliseconds at most.
FILLED_ITEMS = 250
# Of a table with indexes, whose items must be parsed.
INDEXED_ITEMS = 100


def step_of(table: Table) -> int:
    """How many items one transaction should put into the table."""
    return INDEXED_ITEMS if table.indexes else FILLED_ITEMS


def fill(writing: Writing, table: Table, items: Sequence[Kept]) -> None:
    """Put items where nothing is."""
    first = writing.rows.last_row(table.number) + 1
    insert_all(writing.rows, table.number, first, items)
    writing.count(table_name(table.number), len(items), sum(kept.size for kept in items))
    if table.indexes:
        for row, kept in enumerate(items, first):
            _enter(writing, table, row, kept, 1)


def fill_over(writing: Writing, table: Table, items: Sequence[Kept]) -> None:
    """Put items where something may be; of two with one key the later stays."""
    last = {kept.key: kept for kept in items}
    for key in last:
        row = writing.rows.get(table.number, key)
        if row is not None:
            writing.rows.delete(table.number, row.id)
            writing.count(table_name(table.number), -1, -row.size)
            if table.indexes:
                _enter(writing, table, row.id, Kept(key, row.size, row.item), -1)
    fill(writing, table, list(last.values()))


def _enter(writing: Writing, table: Table, row: int, kept: Kept, sign: int) -> None:
    """Put an item into the indexes of its table, or take it out of them."""
    item = orjson.loads(kept.item)
    held = kept.size
    for index in table.indexes:
        entry = entry_key(table, index, item, kept.key)
        if entry is not None:
            weight = entry_size(table, index, item, kept.size)
            if sign > 0:
                writing.rows.add_entry(table.number, index.number, entry, row)
            else:
                writing.rows.drop_entry(table.number, index.number, entry)
            writing.count(index_name(table.number, index.number), sign, sign * weight)
            held += weight if index.local else 0
    if table.has_local_indexes:
        writing.rows.add_to_collection(table.number, partition_of(table, item), sign * held)
