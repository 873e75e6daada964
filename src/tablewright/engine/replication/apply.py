"""Applying what another region has: its writes, if they are later than those here, copies of a table, and settings.

All replicas share billing, throughput, global indexes and time to live: a region that changes one of them stores when,
and the others take all of them from the region that changed them last. Each region keeps its own read capacity if it
overrides it, its table class, protection, recovery and tags.
Must hold: how far a region has been read is committed together with what was applied of it, so that a process that is
killed loses nothing and applies nothing twice. A new index is filled here from the items here.
Elsewhere: reading it (follow.py), which write is later (stamps.py).
"""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from tablewright.engine.api.encryption import MANAGED_ALIAS, key_arn
from tablewright.engine.api.replica_overrides import with_overrides, without_overrides
from tablewright.engine.api.time_to_live import disable, enable
from tablewright.engine.api.update_table import follow_catalog
from tablewright.engine.catalog import Index, Table
from tablewright.engine.consumed_capacity import entry_units, write_units
from tablewright.engine.history.bulk_load import create_rows
from tablewright.engine.journal import REPLICA
from tablewright.engine.metrics.names import CONSUMED_WRITE
from tablewright.engine.metrics.names import Sample as Used
from tablewright.engine.replication import store
from tablewright.engine.replication.group import Copying, Group
from tablewright.engine.replication.stamps import with_joined
from tablewright.engine.replication.store import StampedItem
from tablewright.engine.streams.shards import open_stream
from tablewright.engine.throughput.autoscaling_settings import adopt_settings
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


# --- replicas and their shared settings ---


def create_replica(txn: WriteTransaction, theirs: Table, group: Group) -> None:
    """Create the replica that another region asks for, empty, to be copied from there.

    A table of that name that was created since is left alone; the replica is created when it is gone.
    """
    if theirs.name in txn.tables:
        return
    place = txn.place
    table = replace(
        theirs,
        uuid=txn.world.new_id(),
        arn=f"arn:aws:dynamodb:{place.region}:{place.account}:table/{theirs.name}",
        created=txn.now_seconds(),
        indexes=tuple(replace(index, status="ACTIVE", backfill=None) for index in theirs.indexes),
        vectors=tuple(replace(index, status="ACTIVE", backfill=None) for index in theirs.vectors),
        protected=False,
        ttl_backfill=None,
        stream_label=None,
        stream_view=None,
        tags={},
        status="CREATING",
        is_filled=False,
        restored=None,
        recovery_since=None,
        replicas=None,
        # Encrypted like the source, by the key of this region or by the one in its overrides.
        encryption=None if theirs.encryption is None else key_arn(MANAGED_ALIAS, place),
        policies={},
        destinations=(),
        insights={},
    )
    table = create_rows(txn, table)
    if theirs.stream_view is not None:
        table = open_stream(txn, table, theirs.stream_view)
    table = with_joined(txn, table, group, group.region)
    txn.save_table(with_overrides(adopt_settings(txn, table)))


def take_settings(txn: WriteTransaction, table: Table, theirs: Table) -> Table:
    """The table with the shared settings of another region; its SQL tables are changed accordingly."""
    before, theirs = table, without_overrides(theirs, table)
    table = replace(
        table,
        billing=theirs.billing,
        on_demand_since=theirs.on_demand_since,
        throughput=theirs.throughput,
        on_demand=theirs.on_demand,
    )
    for index in before.indexes:
        if not index.local and theirs.index(index.name) is None:
            table = table.without_index(index.name)
    for index in theirs.indexes:
        if not index.local:
            table = _with_index(txn, table, index, theirs)
    table = _with_vectors(txn, table, theirs)
    table = with_overrides(table)
    txn.save_table(table)
    follow_catalog(txn, before, table)
    return table


def _with_index(txn: WriteTransaction, table: Table, index: Index, theirs: Table) -> Table:
    known = table.index(index.name)
    if known is not None:
        return table.with_index(
            replace(known, throughput=index.throughput, on_demand=index.on_demand, warm=index.warm)
        )
    types = {**table.types, **{name: theirs.types[name] for name in index.schema.names}}
    new = replace(
        index, number=table.next_index, status="CREATING", backfill=(0, txn.rows.last_row(table.number))
    )
    return replace(table, types=types, indexes=(*table.indexes, new), next_index=table.next_index + 1)


def _with_vectors(txn: WriteTransaction, table: Table, theirs: Table) -> Table:
    """The table with the vector indexes of another region; a new one is filled here."""
    for index in table.vectors:
        if (known := theirs.vector(index.name)) is None or not known.is_like(index):
            table = table.without_vector(index.name)
    for index in theirs.vectors:
        if table.vector(index.name) is None:
            types = {**table.types, **{name: theirs.types[name] for name in index.schema_names}}
            rows = (0, txn.rows.last_row(table.number))
            new = replace(index, number=table.next_index, status="CREATING", backfill=rows)
            table = replace(table, types=types).with_vector(new)
    return table


def take_time_to_live(txn: WriteTransaction, table: Table, attribute: str | None) -> Table:
    """The table with another region's time to live."""
    if table.ttl_attribute == attribute:
        return table
    if table.ttl_attribute is not None:
        disable(txn, table)
    if attribute is not None:
        enable(txn, txn.tables[table.name], attribute)
    return txn.tables[table.name]
