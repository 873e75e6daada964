"""What a replica has of its own: as UpdateTable requests it, and as it changes the table. Pure.

Read capacity, on-demand reads, table class and KMS key may differ between the replicas of a table; all else is shared.
"""

from dataclasses import replace

from tablewright.engine.api.encryption import MANAGED_ALIAS, key_arn
from tablewright.engine.api.shapes import Request
from tablewright.engine.api.table_definitions import table_class
from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid, invalid_parameter
from tablewright.engine.replication.group import Overrides
from tablewright.engine.transaction import EngineContext


def requested_overrides(
    place: EngineContext, table: Table, known: Overrides, asked: Request, is_new: bool
) -> Overrides:
    reads = (asked.get("ProvisionedThroughputOverride") or {}).get("ReadCapacityUnits")
    most = (asked.get("OnDemandThroughputOverride") or {}).get("MaxReadRequestUnits")
    # The service checks an override against the billing mode only in an Update.
    if not is_new:
        _refuse_other_billing(table, reads, most)
    new_class = table_class(asked.get("TableClassOverride"))
    index_reads, index_most = dict(known.index_reads), dict(known.index_on_demand)
    for one in asked.get("GlobalSecondaryIndexes") or ():
        index = table.index(one["IndexName"])
        if index is None:
            continue  # the service ignores an unknown index
        own = (one.get("ProvisionedThroughputOverride") or {}).get("ReadCapacityUnits")
        _set(index_reads, index.name, own, index.throughput.read)
        own = (one.get("OnDemandThroughputOverride") or {}).get("MaxReadRequestUnits")
        _set(index_most, index.name, own, (index.on_demand or {}).get("MaxReadRequestUnits"))
    shared = (table.on_demand or {}).get("MaxReadRequestUnits")
    return Overrides(
        # An override that equals the shared setting is removed.
        read_units=known.read_units if reads is None else None if reads == table.throughput.read else reads,
        on_demand_reads=known.on_demand_reads if most is None else None if most == shared else most,
        table_class=new_class or known.table_class,
        index_reads=index_reads,
        index_on_demand=index_most,
        scaling=known.scaling,
        key=_requested_key(place, table, asked, is_new) or known.key,
    )


def _requested_key(place: EngineContext, table: Table, asked: Request, is_new: bool) -> str | None:
    """The KMS key of a replica. All replicas have keys of their owner, or all have keys that Amazon manages."""
    key = asked.get("KMSMasterKeyId")
    is_managed = table.encryption in (None, key_arn(MANAGED_ALIAS, place))
    if key is None:
        if is_new and not is_managed:
            raise invalid_parameter("KMSMasterKeyId must be specified for each replica.")
        return None
    there = replace(place, region=asked["RegionName"])
    arn = key_arn(key, there)
    if table.encryption is None or is_managed != (arn == key_arn(MANAGED_ALIAS, there)):
        raise invalid_parameter("All replica keys must either be Customer Managed CMK or AWS Managed CMK.")
    return arn


def _set(own: dict[str, int], index: str, value: int | None, shared: int | None) -> None:
    if value is not None:
        own[index] = value
        if value == shared:
            del own[index]


def _refuse_other_billing(table: Table, reads: int | None, most: int | None) -> None:
    if reads is not None and table.billing == "PAY_PER_REQUEST":
        raise invalid_parameter(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
        )
    if most is not None and table.billing == "PROVISIONED":
        raise invalid(
            "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"
        )


def with_overrides(table: Table) -> Table:
    """The table with the overrides of its region."""
    group = table.replicas
    me = None if group is None else group.member(group.region)
    own = Overrides() if me is None else me.overrides
    if own.table_class is not None:
        table = replace(table, table_class=own.table_class)
    if own.key is not None:
        table = replace(table, encryption=own.key)
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


def without_overrides(theirs: Table, ours: Table) -> Table:
    """Another region's table with our settings in the place of its overrides."""
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
