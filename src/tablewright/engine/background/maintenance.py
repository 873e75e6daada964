"""Maintenance in small write transactions between client writes.

Pending work comes from changes of the catalog: backfilling new indexes and expiry lists, deleting the rows of dropped
tables. Scheduled work is due by time: sweeping expired items, rolling and splitting shards, beginning checkpoints,
pruning what can no longer be read.
Must hold: each step is one transaction that leaves the store consistent, so stopping anywhere loses nothing and the
next process continues where this one stopped. Damaged items are skipped: one of them stops nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import orjson

from tablewright.engine.background.ttl import sweep_batch
from tablewright.engine.catalog import Index, Table
from tablewright.engine.history import snapshots
from tablewright.engine.history.retention import prune_batch, strip_images
from tablewright.engine.history.time_travel import pinned_tables
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import entry_key, expiry_key
from tablewright.engine.replication.stamps import prune_stamps
from tablewright.engine.storage.rows import index_name
from tablewright.engine.streams.shards import maintain_batch
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.vectors import entries as vector_entries
from tablewright.engine.vectors import store as vector_store
from tablewright.engine.vectors.definition import VectorIndex
from tablewright.values import Item

# Small enough that a write waits a few milliseconds at most.
BACKFILL_ROWS = 200
DROPPED_ROWS = 500


def run_pending_step(txn: WriteTransaction) -> bool:
    """Run one step of the work that changes of the catalog left; False when there is none."""
    for table in txn.tables.values():
        for index in table.indexes:
            if index.backfill is not None:
                _backfill_index_batch(txn, table, index, index.backfill)
                return True
        for vector in table.vectors:
            if vector.backfill is not None:
                _backfill_vector_batch(txn, table, vector, vector.backfill)
                return True
        if table.ttl_index is not None and table.ttl_backfill is not None:
            _backfill_ttl_batch(txn, table, table.ttl_index, table.ttl_backfill)
            return True
    pending = txn.rows.pending_drops()
    # Tables that a backup or a restore still reads are dropped when their pin is released.
    pinned = pinned_tables(txn.rows) if pending else set()
    for name in pending:
        if name not in pinned:
            txn.rows.drop_batch(name, DROPPED_ROWS)
            return True
    return False


def run_scheduled_step(txn: WriteTransaction, ttl_lag: timedelta, turn: int) -> bool:
    """Run one step of the work that is due by now; False when there is none.

    `turn` selects which kind is tried first, so that a long sweep does not delay shards and journal.
    """
    steps: list[Callable[[], bool]] = [
        lambda: sweep_batch(txn, ttl_lag),
        lambda: maintain_batch(txn),
        lambda: prune_batch(txn),
        lambda: strip_images(txn),
        lambda: prune_stamps(txn),
        lambda: snapshots.maintain_batch(txn),
    ]
    first = turn % len(steps)
    return any(step() for step in steps[first:] + steps[:first])


def _backfill_index_batch(
    txn: WriteTransaction, table: Table, index: Index, backfill: tuple[int, int]
) -> None:
    rows, progress = _next_rows(txn, table, backfill, BACKFILL_ROWS)
    owner = index_name(table.number, index.number)
    for number, key, size, item in rows:
        entry = entry_key(table, index, item, key)
        if entry is not None:
            txn.rows.add_entry(table.number, index.number, entry, number)
            txn.count(owner, 1, entry_size(table, index, item, size))
    status = "ACTIVE" if progress is None else index.status
    txn.save_table(table.with_index(replace(index, status=status, backfill=progress)))


def _backfill_vector_batch(
    txn: WriteTransaction, table: Table, index: VectorIndex, backfill: tuple[int, int]
) -> None:
    """Items whose vector does not fit the index are left out."""
    most = vector_entries.rows_at_once(BACKFILL_ROWS, [index])
    rows, progress = _next_rows(txn, table, backfill, most)
    for number, key, _, item in rows:
        entry = vector_entries.entry_of(table, index, item, key)
        if entry is not None:
            vector_store.put(txn.rows, table.number, index.number, number, entry)
            txn.count(vector_entries.counted(table, index), 1, entry.size)
    status = "ACTIVE" if progress is None else index.status
    txn.save_table(table.with_vector(replace(index, status=status, backfill=progress)))


def _backfill_ttl_batch(txn: WriteTransaction, table: Table, index: int, backfill: tuple[int, int]) -> None:
    """Add items from before TTL was enabled to the expiry list."""
    rows, progress = _next_rows(txn, table, backfill, BACKFILL_ROWS)
    for number, key, _, item in rows:
        entry = expiry_key(table, item, key)
        if entry is not None:
            txn.rows.add_entry(table.number, index, entry, number)
    txn.save_table(replace(table, ttl_backfill=progress))


def _next_rows(
    txn: WriteTransaction, table: Table, backfill: tuple[int, int], most: int
) -> tuple[list[tuple[int, bytes, int, Item]], tuple[int, int] | None]:
    """The next items to be filled in, without damaged ones, and the progress after them; None at the end."""
    done, last = backfill
    rows = [row for row in txn.rows.rows_with_checksums(table.number, done, most) if row[0] <= last]
    found = [
        (number, key, size, orjson.loads(raw))
        for number, key, size, raw, checksum in rows
        if not txn.rows.is_damaged(table.number, raw, checksum)
    ]
    return found, None if len(rows) < most else (rows[-1][0], last)
