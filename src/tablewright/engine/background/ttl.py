"""TTL: which items have expired, and the sweep that deletes them.

A table with TTL has an expiry list: its items in the order of the number in their TTL attribute (keys.expiry_key), so a
sweep reads only expired items. The deletes are ordinary ones, with index entries and journal row, but their journal
source is TIME_TO_LIVE and they consume no units.
Must hold: an item is deleted when its time is in the past by at most five years; strings, numbers of milliseconds, zero
and negative numbers never expire. A step is small, so that writers wait for milliseconds.
Elsewhere: when steps run (threads.py), backfilling the expiry list of an old table (maintenance.py).
"""

from datetime import datetime, timedelta

from tablewright.engine.journal import TIME_TO_LIVE, microseconds
from tablewright.engine.metrics.names import EXPIRED_ITEMS
from tablewright.engine.replication.store import set_expired
from tablewright.engine.transaction import WriteTransaction
from tablewright.values import key_part

# A client write waits for at most this many deletes and their commit.
SWEPT_ITEMS = 20
TOO_OLD = timedelta(days=5 * 365 + 1)


def sweep_batch(txn: WriteTransaction, lag: timedelta) -> bool:
    """Delete at most SWEPT_ITEMS items that expired at least `lag` ago; False when there are none."""
    now = txn.world.now() - lag
    low, high = _expiry_prefix(now - TOO_OLD), _expiry_prefix(now)
    for table in txn.tables.values():
        if table.ttl_index is None or (table.replicas is not None and not table.replicas.takes_writes):
            continue  # the region that writes the table also deletes its expired items
        expired = txn.rows.expired(table.number, table.ttl_index, low, high, SWEPT_ITEMS)
        for key, row in expired:
            txn.change(table, key, row, None, None, 0, TIME_TO_LIVE)
            if table.replicas is not None:
                set_expired(txn.rows, table.stamp_table, key, txn.position.at)
        if expired:
            txn.samples.append(((EXPIRED_ITEMS, table.name, "", ""), float(len(expired))))
            return True
    return False


def _expiry_prefix(when: datetime) -> bytes:
    return key_part({"N": f"{microseconds(when)}E-6"})
