"""The settings all replicas of a table share: billing, throughput, global indexes, time to live.

Whoever changes one of them says when, and the others take over all of them from whoever changed them last. What a
region may have of its own stays: its read capacity if it overrides it, table class, protection, recovery, tags.
Must hold: an index that came is filled here from the items here, one that went is removed here.
"""

from dataclasses import replace

import orjson

from tablewright.engine.catalog import Index, Table, from_json, to_json
from tablewright.engine.operations.update_table import follow_catalog
from tablewright.engine.operations.update_time_to_live import disable, enable
from tablewright.engine.replica_group import Group, Overrides
from tablewright.engine.replicas import joined
from tablewright.engine.scaling_settings import take_settings_said
from tablewright.engine.shapes import Request
from tablewright.engine.streams import open_stream
from tablewright.engine.writing import Writing


def definition(table: Table) -> Request:
    """A table's definition as it travels to another region."""
    told: Request = orjson.loads(to_json(table))
    return told


def defined_by(told: Request) -> Table:
    return from_json(0, orjson.dumps(told))


def create_replica(writing: Writing, theirs: Table, group: Group, source: str) -> None:
    """The table another region asks for, empty, to be filled from there."""
    place = writing.place
    table = replace(
        theirs,
        uuid=writing.world.new_id(),
        arn=f"arn:aws:dynamodb:{place.region}:{place.account}:table/{theirs.name}",
        created=writing.now(),
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
    table = replace(table, number=writing.rows.create_table(table.name, to_json(table)))
    for index in table.indexes:
        writing.rows.create_index(table.number, index.number)
    if table.ttl_index is not None:
        writing.rows.create_index(table.number, table.ttl_index)
    if table.has_local_indexes:
        writing.rows.create_collections(table.number)
    if theirs.stream_view is not None:
        table = open_stream(writing, table, theirs.stream_view)
    table = joined(writing, table, group, source)
    writing.save_table(with_overrides(take_settings_said(writing, table)))


def with_overrides(table: Table) -> Table:
    """The table with what its region has of its own."""
    group = table.replicas
    me = None if group is None else group.member(group.region)
    own = Overrides() if me is None else me.overrides
    if own.table_class is not None:
        table = replace(table, table_class=own.table_class)
    if own.read_units is not None and table.billing == "PROVISIONED":
        table = replace(table, throughput=replace(table.throughput, read=own.read_units))
    if own.on_demand_reads is not None and table.billing == "PAY_PER_REQUEST":
        table = replace(
            table, on_demand={**(table.on_demand or {}), "MaxReadRequestUnits": own.on_demand_reads}
        )
    for index in table.indexes:
        reads = own.index_reads.get(index.name)
        if reads is not None and table.billing == "PROVISIONED":
            table = table.with_index(replace(index, throughput=replace(index.throughput, read=reads)))
        most = own.index_on_demand.get(index.name)
        if most is not None and table.billing == "PAY_PER_REQUEST":
            ceilings = {**(index.on_demand or {}), "MaxReadRequestUnits": most}
            table = table.with_index(replace(index, on_demand=ceilings))
    return table


def take_settings(writing: Writing, table: Table, theirs: Table) -> Table:
    """The table with the shared settings of another region; the store follows."""
    before, theirs = table, _without_overrides(theirs, table)
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
            table = _with_index(writing, table, index, theirs)
    table = with_overrides(table)
    writing.save_table(table)
    follow_catalog(writing, before, table)
    return table


def _without_overrides(theirs: Table, ours: Table) -> Table:
    """Their table without what they have of their own: in its place what we had."""
    me = None if theirs.replicas is None else theirs.replicas.member(theirs.replicas.region)
    if me is None:
        return theirs
    own = me.overrides
    if own.read_units is not None:
        theirs = replace(theirs, throughput=replace(theirs.throughput, read=ours.throughput.read))
    if own.on_demand_reads is not None:
        theirs = replace(theirs, on_demand=ours.on_demand)
    for index in theirs.indexes:
        known = ours.index(index.name)
        if known is not None and index.name in own.index_reads:
            shared = replace(index.throughput, read=known.throughput.read)
            theirs = theirs.with_index(replace(index, throughput=shared))
        if known is not None and index.name in own.index_on_demand:
            theirs = theirs.with_index(replace(index, on_demand=known.on_demand))
    return theirs


def _with_index(writing: Writing, table: Table, index: Index, theirs: Table) -> Table:
    known = table.index(index.name)
    if known is not None:
        return table.with_index(
            replace(known, throughput=index.throughput, on_demand=index.on_demand, warm=index.warm)
        )
    types = {**table.types, **{name: theirs.types[name] for name in index.schema.names}}
    new = replace(
        index,
        number=table.next_index,
        status="CREATING",
        backfill=(0, writing.rows.last_row(table.number)),
    )
    return replace(table, types=types, indexes=(*table.indexes, new), next_index=table.next_index + 1)


def take_time_to_live(writing: Writing, table: Table, attribute: str | None) -> Table:
    """The table with another region's time to live."""
    if table.ttl_attribute != attribute:
        if table.ttl_attribute is not None:
            disable(writing, table)
        if attribute is not None:
            enable(writing, writing.tables[table.name], attribute)
        return writing.tables[table.name]
    return table
