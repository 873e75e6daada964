"""Retention of the journal: rows are kept as long as a reader may ask for them, and no longer.

Readers are streams (a day), windows of point-in-time recovery (up to 35 days), and pinned states: backups, restores and
exports in progress.
Must hold: rows are pruned from the beginning only, so numbers have no gaps; the newest row stays, since it carries the
numbering; pruned rows are counted, so that a missing row can be distinguished from a pruned one. Where the journal is
kept for the sake of some tables, the rows of the others are stripped of their images after a day: only their numbers
are still needed.
"""

from tablewright.engine.history import store
from tablewright.engine.history.pitr_window import window
from tablewright.engine.journal import first_since
from tablewright.engine.streams.shards import DAY, open_streams_since
from tablewright.engine.transaction import WriteTransaction

PRUNED_ROWS = 500
STRIPPED_ROWS = 500


def prune_batch(txn: WriteTransaction) -> bool:
    """Delete a batch of rows that are not needed any more; False when there are none."""
    rows, now, newest = txn.rows, txn.position.at, txn.position.seq
    # A new reader of the journal that goes by time is added to the moments, one that goes by number to the border.
    moments = [window(table, now)[0] for table in txn.tables.values() if table.recovery_since is not None]
    if open_streams_since(rows, now - DAY):
        moments.append(now - DAY)
    pinned = [one.floor for one in store.pins(rows)]
    border = min(first_since(rows, min(moments, default=now + 1)), newest, *pinned)
    first = rows.first_sequence()
    if border <= first:
        return False
    rows.prune(min(border, first + PRUNED_ROWS))
    return True


def strip_images(txn: WriteTransaction) -> bool:
    """Strip the images from a batch of rows that are kept only for their numbers; False when there are none."""
    rows = txn.rows
    first = max(rows.first_sequence(), rows.counts(store.ROWS_STRIPPED)[0] + 1)
    border = first_since(rows, txn.position.at - DAY)
    # Tables whose changes may be read when they are older than a day.
    recoverable = {table.number for table in txn.tables.values() if table.recovery_since is not None}
    readers = recoverable | {one.owner for one in store.pins(rows)}
    # Without such a reader every row is pruned before it would be stripped.
    if not readers or border <= first:
        return False
    store.strip_images(rows, first, min(border, first + STRIPPED_ROWS) - 1, readers)
    return True
