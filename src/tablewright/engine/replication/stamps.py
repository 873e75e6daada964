"""Stamps: which of two writes of a key is the later one, and when the stamp of a delete is no longer needed.

A table with replicas keeps a stamp for every key that is written: when, in which region, and the write's number among
those of its region. A region applies the others' newest writes whose stamp is later than its own; so all regions end
with the same items, in whatever order they read. A delete leaves its stamp until no region can still send an older
write of that key. An item without a stamp is from before the table had replicas, and older than any write since.
Must hold: a write is stamped later than the write it follows, whatever the clock says.
Elsewhere: stamping a write (transaction.py), applying another region's (apply.py), the SQL (store.py).
"""

from dataclasses import replace

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.replication import store
from tablewright.engine.replication.group import Copying, Group, Member, Overrides, Vector
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.throughput.autoscaling_settings import settings_here
from tablewright.engine.transaction import WriteTransaction

PRUNED_STAMPS = 500


# --- a table gets replicas, and loses them ---


def with_group(txn: WriteTransaction, table: Table) -> Table:
    """The table with a group of replicas, of which it is the only one so far."""
    if table.replicas is not None:
        return table
    region, now = txn.place.region, txn.position.at
    own = Overrides(scaling=settings_here(txn.rows, table))
    me = Member(region, (now, region), added=now, status="ACTIVE", overrides=own)
    group = Group(txn.world.new_id(), region, (me,), txn.position.seq, table.next_index)
    return _with_stamps(txn, table, group)


def with_joined(txn: WriteTransaction, table: Table, group: Group, source: str) -> Table:
    """A table that was just created as a replica, to be copied from the source."""
    group = replace(
        group,
        region=txn.place.region,
        born=txn.position.seq,
        stamps=table.next_index,
        takeovers=(),
        fenced=None,
        copying=Copying(source),
    )
    return _with_stamps(txn, replace(table, status="CREATING"), group)


def _with_stamps(txn: WriteTransaction, table: Table, group: Group) -> Table:
    table = replace(table, replicas=group, next_index=table.next_index + 1)
    store.create_stamps(txn.rows, table.stamp_table)
    # Numbers begin with the time, so that a replica that is created again does not use its numbers twice.
    store.save_number(txn.rows, table.number, group.region, txn.position.at)
    return table


def without_group(txn: WriteTransaction, table: Table) -> Table:
    """The table without replicas."""
    txn.rows.schedule_drop([table.stamp_table.name])
    forget_replicas(txn, table)
    return replace(table, replicas=None)


def forget_replicas(txn: WriteTransaction, table: Table) -> None:
    """Remove what is stored of a table's replicas outside of its own SQL tables."""
    txn.forget_numbers(table)
    store.forget_marks(txn.rows, table.number)


# --- the stamps of deletes ---


def prune_stamps(txn: WriteTransaction) -> bool:
    """Remove a few stamps of deletes that no region needs any more; False when there are none."""
    for table in txn.tables.values():
        group = table.replicas
        if group is None:
            continue
        for region in [one.region for one in group.members]:
            upto = _read_by_all(txn.rows, table.number, group, region)
            if upto and store.prune_deleted(txn.rows, table.stamp_table, region, upto, PRUNED_STAMPS):
                return True
    return False


def _read_by_all(rows: RowReader, table: int, group: Group, region: str) -> int:
    """Up to which of a region's writes no other replica can send an older one: all of them have read them."""
    readers = [one.region for one in group.readers if one.region != region]
    heard = [heard_vector(rows, table, one).get(region, 0) for one in readers]
    return min(heard, default=store.read_mark(rows, table, region).number)


def heard_vector(rows: RowReader, table: int, region: str) -> Vector:
    """How far another region had read everything when it was last followed."""
    heard = store.read_mark(rows, table, region).heard
    return {} if heard is None else orjson.loads(heard)


# --- what is not replicated ---


def count_unknown(rows: RowReader, table: Table, group: Group, known: Vector) -> int:
    """How many keys have a write here that a region which has read so far does not know."""
    return sum(
        store.count_since(rows, table.stamp_table, one, known.get(one, 0))[0]
        for one in store.authors(rows, table.number, group)
    )
