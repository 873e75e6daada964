"""Work the store owes, done in small steps beside other writes.

What a change of the catalog left to do: filling new indexes and lists of what expires, removing what was dropped.
And what time brings: sweeping expired items, rolling and splitting shards, beginning checkpoints, forgetting what
nobody can read any more.
Must hold: each step is one transaction that leaves the store whole, so stopping anywhere loses nothing and
opening the store again goes on where it stopped.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import orjson

from tablewright.engine import checkpoints
from tablewright.engine.catalog import Catalog, Index, Table
from tablewright.engine.history import held_tables
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import entry_key, expiry_key
from tablewright.engine.replicas import prune_traces
from tablewright.engine.retention import blank_some, prune_some
from tablewright.engine.storage_rows import index_name
from tablewright.engine.streams import tend_some
from tablewright.engine.ttl import sweep_some
from tablewright.engine.writing import Writing

# Small enough that a write waits a few milliseconds at most.
BACKFILL_ROWS = 200
REMOVED_ROWS = 500


def do_some(writing: Writing) -> bool:
    """One step of what changes of the catalog left to do; False when nothing is."""
    unfilled = _unfilled(writing.tables)
    if unfilled is not None:
        _fill_some(writing, *unfilled)
        return True
    unlisted = next((table for table in writing.tables.values() if table.ttl_backfill is not None), None)
    if unlisted is not None:
        _list_some(writing, unlisted)
        return True
    doomed = writing.rows.doomed()
    # What somebody still reads (a backup, a restore) goes when it is released.
    kept = held_tables(writing.rows) if doomed else set()
    for name in doomed:
        if name not in kept:
            writing.rows.remove_some(name, REMOVED_ROWS)
            return True
    return False


def do_due(writing: Writing, ttl_lag: timedelta, turn: int) -> bool:
    """One step of what is due by now; False when nothing is.

    `turn` says who may go first, so that a long sweep does not keep shards and journal waiting.
    """
    kinds: list[Callable[[], bool]] = [
        lambda: sweep_some(writing, ttl_lag),
        lambda: tend_some(writing),
        lambda: prune_some(writing),
        lambda: blank_some(writing),
        lambda: prune_traces(writing),
        lambda: checkpoints.tend_some(writing),
    ]
    first = turn % len(kinds)
    return any(kind() for kind in kinds[first:] + kinds[:first])


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


def _list_some(writing: Writing, table: Table) -> None:
    """Put items from before TTL was enabled on the list of what expires."""
    done, last = table.ttl_backfill or (0, 0)
    rows = [row for row in writing.rows.all_rows(table.number, done, BACKFILL_ROWS) if row[0] <= last]
    for number, key, _, raw in rows:
        entry = expiry_key(table, orjson.loads(raw), key)
        if entry is not None and table.ttl_index is not None:
            writing.rows.add_entry(table.number, table.ttl_index, entry, number)
    is_done = len(rows) < BACKFILL_ROWS
    writing.save_table(replace(table, ttl_backfill=None if is_done else (rows[-1][0], last)))
