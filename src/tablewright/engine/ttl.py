"""Items that expire: what their time means, and the sweep that deletes them.

A table with TTL keeps a list of its items by the number in their TTL attribute (keys.expiry_key), so a sweep
looks at nothing that has not expired. Deletes are like any others, index entries and journal row with them, but
marked as the service's own and free of charge.
Must hold: an item goes when its time is before now and not more than five years before; texts, numbers of
milliseconds, zero and negative numbers never expire. A step is small, so that writers wait for milliseconds.
Elsewhere: when steps are taken (keeper.py), filling the list of an old table (chores.py).
"""

from datetime import datetime, timedelta

from tablewright.engine.journal import TIME_TO_LIVE, microseconds
from tablewright.engine.metric_names import EXPIRED_ITEMS
from tablewright.engine.replica_lease import may_write
from tablewright.engine.storage_replicas import note_expired
from tablewright.engine.writing import Writing
from tablewright.values import key_part

# A write that comes meanwhile waits for so many, and their commit.
SWEPT_ITEMS = 20
TOO_OLD = timedelta(days=5 * 365 + 1)


def sweep_some(writing: Writing, lag: timedelta) -> bool:
    """Delete a few of the items that expired at least `lag` ago; False when there are none."""
    low, high = expired_range(writing.world.now() - lag)
    for table in writing.tables.values():
        if table.ttl_index is None or not may_write(writing.place.lease, table):
            continue  # where another region writes, it deletes as well
        expired = writing.rows.expired(table.number, table.ttl_index, low, high, SWEPT_ITEMS)
        for key, row in expired:
            writing.change(table, key, row, None, None, 0, TIME_TO_LIVE)
            if table.replicas is not None:
                note_expired(writing.rows, table.ledger, key, writing.pen.at)
        if expired:
            writing.marks.append(((EXPIRED_ITEMS, table.name, "", ""), float(len(expired))))
            return True
    return False


def expired_range(now: datetime) -> tuple[bytes, bytes]:
    """The part of the list, [low, high), whose items have expired."""
    return _moment(now - TOO_OLD), _moment(now)


def _moment(when: datetime) -> bytes:
    return key_part({"N": f"{microseconds(when)}E-6"})
