"""Work the store owes: filling new indexes, removing what was dropped. Done in small steps beside other writes.

Must hold: each step is one transaction that leaves the store whole, so stopping anywhere loses nothing and
opening the store again goes on where it stopped.
"""

from dataclasses import replace

import orjson

from tablewright.engine.catalog import Catalog, Index, Table
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import entry_key
from tablewright.engine.storage import index_name
from tablewright.engine.writing import Writing

# Small enough that a write waits a few milliseconds at most.
BACKFILL_ROWS = 200
REMOVED_ROWS = 500


def do_some(writing: Writing) -> bool:
    """One step of what is owed; False when nothing is."""
    unfilled = _unfilled(writing.tables)
    if unfilled is not None:
        _fill_some(writing, *unfilled)
        return True
    for name in writing.rows.doomed():
        writing.rows.remove_some(name, REMOVED_ROWS)
        return True
    return False


def _unfilled(tables: Catalog) -> tuple[Table, Index] | None:
    for table in tables.values():
        for index in table.indexes:
            if index.backfill is not None:
                return table, index
    return None


def _fill_some(writing: Writing, table: Table, index: Index) -> None:
    done, last = index.backfill or (0, 0)
    rows = [row for row in writing.rows.all_rows(table.number, done, BACKFILL_ROWS) if row[0] <= last]
    owner = index_name(table.number, index.number)
    for number, key, size, raw in rows:
        item = orjson.loads(raw)
        entry = entry_key(table, index, item, key)
        if entry is not None:
            writing.rows.add_entry(table.number, index.number, entry, number)
            writing.count(owner, 1, entry_size(table, index, item, size))
    if len(rows) < BACKFILL_ROWS:
        writing.save_table(table.with_index(replace(index, status="ACTIVE", backfill=None)))
    else:
        writing.save_table(table.with_index(replace(index, backfill=(rows[-1][0], last))))
