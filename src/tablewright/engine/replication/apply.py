"""Applying what another region has: its writes, if they are later than those here, and whole copies of a table.

Must hold: how far a region has been read is committed together with what was applied of it, so that a process that is
killed loses nothing and applies nothing twice.
Elsewhere: reading it (follow.py), which write is later (stamps.py).
"""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.consumed_capacity import entry_units, write_units
from tablewright.engine.journal import REPLICA
from tablewright.engine.metrics.names import CONSUMED_WRITE
from tablewright.engine.metrics.names import Sample as Used
from tablewright.engine.replication import store
from tablewright.engine.replication.group import Copying, Group
from tablewright.engine.replication.store import StampedItem
from tablewright.engine.transaction import WriteTransaction
from tablewright.values import admit_item


def apply_writes(txn: WriteTransaction, table: Table, found: Sequence[StampedItem]) -> list[int]:
    """Apply writes of other regions that are later than those here; when each of the applied ones was committed."""
    applied = []
    for one in found:
        theirs, mine = one.stamp, store.get_stamp(txn.rows, table.stamp_table, one.key)
        assert theirs is not None, "a region's writes since a number are stamped"
        if mine is None or (mine.at, mine.region) < (theirs.at, theirs.region):
            # Every replica pays for what all write, as on the service.
            txn.samples += _put_in_place(txn, table, one)
            applied.append(theirs.committed)
    return applied


def _put_in_place(txn: WriteTransaction, table: Table, theirs: StampedItem) -> list[Used]:
    """Make the key what it is in another region, with its stamp; the units that uses."""
    row = txn.rows.get(table.number, theirs.key)
    new, size = (None, 0) if theirs.item is None else admit_item(orjson.loads(theirs.item))
    used = {"": write_units(0 if row is None else row.size, size)}
    if row is not None or new is not None:
        old = None if row is None else orjson.loads(row.item)
        for entry in txn.change(table, theirs.key, row, old, new, size, REPLICA):
            owner = "" if entry.index.local else entry.index.name
            used[owner] = used.get(owner, 0.0) + entry_units(table, entry, old, new)
    store.set_stamp(txn.rows, table.stamp_table, theirs.key, theirs.stamp)
    return [((CONSUMED_WRITE, table.name, index, ""), units) for index, units in used.items() if units]


def apply_copy(
    txn: WriteTransaction, table: Table, group: Group, page: Sequence[StampedItem], last: bytes | None
) -> Table:
    """Make a range of keys, up to `last` (None: to the end), what it is in the source; the table with its progress."""
    copying = group.copying
    assert copying is not None, "only a table that is being copied takes pages"
    there = {one.key for one in page}
    for key in store.keys_between(txn.rows, table.stamp_table, bytes.fromhex(copying.after), last):
        if key not in there:
            _put_in_place(txn, table, StampedItem(key, None, None))
    for one in page:
        _put_in_place(txn, table, one)
    if last is not None:
        return replace(table, replicas=replace(group, copying=replace(copying, after=last.hex())))
    return _copied(txn, table, group, copying)


def _copied(txn: WriteTransaction, table: Table, group: Group, copying: Copying) -> Table:
    """The table once everything is copied: from here on it follows the writes since the copy's beginning."""
    rows, start = txn.rows, copying.start or {}
    for region in {*store.vector(rows, table.number), *start} - {group.region}:
        known = store.read_mark(rows, table.number, region)
        store.save_mark(rows, table.number, region, known._replace(number=start.get(region, 0)))
    me = group.member(group.region)
    assert me is not None, "a region is a member of the groups it keeps"
    group = replace(
        group.with_member(replace(me, status="ACTIVE", why=None)),
        copying=None,
        fenced=None,
        takeovers=copying.takeovers,
        born=txn.position.seq,
    )
    return replace(table, status="ACTIVE", replicas=group)
