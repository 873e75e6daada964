"""The settings all replicas of a table share: billing, throughput, global indexes, time to live.

A region that changes one of them stores when, and the others take all of them from the region that changed them last.
Each region keeps its own read capacity if it overrides it, its table class, protection, recovery and tags.
Must hold: a new index is filled here from the items here, a deleted one is removed here.
"""

from dataclasses import replace

from tablewright.engine.api.replica_overrides import with_overrides, without_overrides
from tablewright.engine.api.time_to_live import disable, enable
from tablewright.engine.api.update_table import follow_catalog
from tablewright.engine.catalog import Index, Table, to_json
from tablewright.engine.replication.group import Group
from tablewright.engine.replication.stamps import with_joined
from tablewright.engine.streams.shards import open_stream
from tablewright.engine.throughput.autoscaling_settings import adopt_settings
from tablewright.engine.transaction import WriteTransaction


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
        created=txn.now(),
        indexes=tuple(replace(index, status="ACTIVE", backfill=None) for index in theirs.indexes),
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
    )
    table = replace(table, number=txn.rows.create_table(table.name, to_json(table)))
    for index in table.indexes:
        txn.rows.create_index(table.number, index.number)
    if table.ttl_index is not None:
        txn.rows.create_index(table.number, table.ttl_index)
    if table.has_local_indexes:
        txn.rows.create_collections(table.number)
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


def take_time_to_live(txn: WriteTransaction, table: Table, attribute: str | None) -> Table:
    """The table with another region's time to live."""
    if table.ttl_attribute != attribute:
        if table.ttl_attribute is not None:
            disable(txn, table)
        if attribute is not None:
            enable(txn, txn.tables[table.name], attribute)
        return txn.tables[table.name]
    return table
