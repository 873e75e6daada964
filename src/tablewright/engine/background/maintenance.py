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
from tablewright.engine.catalog import Catalog, Index, Table
from tablewright.engine.history import snapshots
from tablewright.engine.history.retention import prune_batch, strip_images
from tablewright.engine.history.time_travel import pinned_tables
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import entry_key, expiry_key
from tablewright.engine.replication.stamps import prune_stamps
from tablewright.engine.storage.rows import index_name
from tablewright.engine.streams.shards import maintain_batch
from tablewright.engine.transaction import WriteTransaction

# Small enough that a write waits a few milliseconds at most.
BACKFILL_ROWS = 200
DROPPED_ROWS = 500


def run_pending_step(txn: WriteTransaction) -> bool:
    """Run one step of the work that changes of the catalog left; False when there is none."""
    unfilled = _unfilled_index(txn.tables)
    if unfilled is not None:
        _backfill_index_batch(txn, *unfilled)
        return True
    unlisted = next((table for table in txn.tables.values() if table.ttl_backfill is not None), None)
    if unlisted is not None:
        _backfill_ttl_batch(txn, unlisted)
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


def _unfilled_index(tables: Catalog) -> tuple[Table, Index] | None:
    for table in tables.values():
        for index in table.indexes:
            if index.backfill is not None:
                return table, index
    return None


def _backfill_index_batch(txn: WriteTransaction, table: Table, index: Index) -> None:
    done, last = index.backfill or (0, 0)
    rows = [row for row in txn.rows.rows_with_checksums(table.number, done, BACKFILL_ROWS) if row[0] <= last]
    owner = index_name(table.number, index.number)
    for number, key, size, raw, checksum in rows:
        if txn.rows.is_damaged(table.number, raw, checksum):
            continue
        item = orjson.loads(raw)
        entry = entry_key(table, index, item, key)
        if entry is not None:
            txn.rows.add_entry(table.number, index.number, entry, number)
            txn.count(owner, 1, entry_size(table, index, item, size))
    if len(rows) < BACKFILL_ROWS:
        txn.save_table(table.with_index(replace(index, status="ACTIVE", backfill=None)))
    else:
        txn.save_table(table.with_index(replace(index, backfill=(rows[-1][0], last))))


def _backfill_ttl_batch(txn: WriteTransaction, table: Table) -> None:
    """Add items from before TTL was enabled to the expiry list."""
    done, last = table.ttl_backfill or (0, 0)
    rows = [row for row in txn.rows.rows_with_checksums(table.number, done, BACKFILL_ROWS) if row[0] <= last]
    for number, key, _, raw, checksum in rows:
        if txn.rows.is_damaged(table.number, raw, checksum):
            continue
        entry = expiry_key(table, orjson.loads(raw), key)
        if entry is not None and table.ttl_index is not None:
            txn.rows.add_entry(table.number, table.ttl_index, entry, number)
    is_done = len(rows) < BACKFILL_ROWS
    txn.save_table(replace(table, ttl_backfill=None if is_done else (rows[-1][0], last)))
