"""Retention of the journal: rows are kept as long as a reader may ask for them, and no longer.

Readers are streams (a day), windows of point-in-time recovery (up to 35 days), and pinned states: backups, restores and
exports in progress.
Must hold: rows are pruned from the beginning only, so numbers have no gaps; the newest row stays, since it carries the
numbering; pruned rows are counted, so that a missing row can be distinguished from a pruned one. Where the journal is
kept for the sake of some tables, the rows of the others are stripped of their images after a day: only their numbers
are still needed.
"""

from collections.abc import Iterator

from tablewright.engine.catalog import Catalog
from tablewright.engine.history import store
from tablewright.engine.history.pitr_window import window
from tablewright.engine.journal import first_since
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.streams.shards import DAY, open_streams_since
from tablewright.engine.transaction import WriteTransaction

PRUNED_ROWS = 500
STRIPPED_ROWS = 500


def needed_since(rows: RowReader, tables: Catalog, now: int) -> int:
    """The moment from which on changes may be asked for. Add a new reader that goes by time here."""
    return min(_moments(rows, tables, now), default=now + 1)


def _moments(rows: RowReader, tables: Catalog, now: int) -> Iterator[int]:
    if open_streams_since(rows, now - DAY):
        yield now - DAY
    for table in tables.values():
        if table.recovery_since is not None:
            yield window(table, now)[0]


def needed_from(rows: RowReader, newest: int) -> int:
    """The number from which on changes are pinned. Add a new reader that goes by number here."""
    return min((one.floor for one in store.pins(rows)), default=newest)


def image_readers(rows: RowReader, tables: Catalog) -> set[int]:
    """Numbers of the tables whose changes may be read when they are older than a day."""
    held = {one.owner for one in store.pins(rows)}
    return held | {table.number for table in tables.values() if table.recovery_since is not None}


def prune_batch(txn: WriteTransaction) -> bool:
    """Delete a batch of rows that are not needed any more; False when there are none."""
    rows = txn.rows
    first = rows.first_sequence()
    since = first_since(rows, needed_since(rows, txn.tables, txn.position.at))
    border = min(since, needed_from(rows, txn.position.seq), txn.position.seq)
    if border <= first:
        return False
    rows.prune(min(border, first + PRUNED_ROWS))
    return True


def strip_images(txn: WriteTransaction) -> bool:
    """Strip the images from a batch of rows that are kept only for their numbers; False when there are none."""
    rows = txn.rows
    first = max(rows.first_sequence(), rows.counts(store.ROWS_STRIPPED)[0] + 1)
    border = first_since(rows, txn.position.at - DAY)
    readers = image_readers(rows, txn.tables)
    # Without such a reader every row is pruned before it would be stripped.
    if not readers or border <= first:
        return False
    store.strip_images(rows, first, min(border, first + STRIPPED_ROWS) - 1, readers)
    return True
