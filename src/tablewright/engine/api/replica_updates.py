"""UpdateTable's ReplicaUpdates: create a replica, change its overrides, delete it.

Refusals are the service's, in its words and order. What is accepted is only stored in the catalog of the region that
was asked; following (follow.py) carries it out in the region concerned, and DescribeTable shows the progress.
Must hold: one replica is created or deleted at a time; a table that gets replicas has a stream.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablewright.engine.api.common_members import INDEX_NAME
from tablewright.engine.api.replica_overrides import requested_overrides
from tablewright.engine.api.shapes import ListOf, Request, Shape, Struct, Text, Whole
from tablewright.engine.catalog import Index, Table
from tablewright.engine.errors import invalid, resource_in_use
from tablewright.engine.metrics.store import all_scaling
from tablewright.engine.replication.group import Group, Member, Overrides
from tablewright.engine.replication.stamps import with_group, without_group
from tablewright.engine.streams.shards import open_stream
from tablewright.engine.throughput.autoscaling_settings import settings_here, shared
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.vectors.definition import VectorIndex

_READS = Struct("ProvisionedThroughputOverride", {"ReadCapacityUnits": Whole(1, java="Long")})
_ON_DEMAND_READS = Struct("OnDemandThroughputOverride", {"MaxReadRequestUnits": Whole(java="Long")})
_INDEXES = ListOf(
    Struct(
        "ReplicaGlobalSecondaryIndex",
        {
            "IndexName": INDEX_NAME,
            "ProvisionedThroughputOverride": _READS,
            "OnDemandThroughputOverride": _ON_DEMAND_READS,
        },
        required=("IndexName",),
    ),
    least=1,
)
_SETTINGS: Mapping[str, Shape] = {
    "RegionName": Text(),
    "ProvisionedThroughputOverride": _READS,
    "OnDemandThroughputOverride": _ON_DEMAND_READS,
    "GlobalSecondaryIndexes": _INDEXES,
    "TableClassOverride": Text(),
    "KMSMasterKeyId": Text(1, 2048),
}
_CREATE = Struct("CreateReplicationGroupMemberAction", _SETTINGS, ("RegionName",))
REPLICA_UPDATES = ListOf(
    Struct(
        "ReplicationGroupUpdate",
        {
            "Create": _CREATE,
            "Update": replace(_CREATE, name="UpdateReplicationGroupMemberAction"),
            "Delete": Struct(
                "DeleteReplicationGroupMemberAction", {"RegionName": Text()}, required=("RegionName",)
            ),
        },
        refused=("Disassociate",),
    ),
    least=1,
)
DAY = 86_400_000_000
_NO_ACTION = "There are no actions specified in the Replica Update Action of the request."
_LOCAL = (
    "Cannot add or delete the local region through ReplicaUpdates. "
    "Use CreateTable, DeleteTable, or UpdateTable as required."
)
_WAS_SOURCE = (
    "Replica cannot be deleted because it has acted as a source region for new replica(s) being added to the table "
    "in the last 24 hours."
)


def asked_action(updates: Sequence[Request]) -> tuple[str, Request]:
    """The one action of a request; refuses what can be refused without the table."""
    found: list[tuple[str, Request]] = []
    for one in updates:
        given = [(kind, one[kind]) for kind in ("Create", "Update", "Delete") if one.get(kind) is not None]
        if not given or (given[0][0] == "Update" and not _changes_something(given[0][1])):
            raise invalid(_NO_ACTION)
        if len(given) > 1 or (found and found[0][0] != given[0][0]):
            raise invalid("Update table operation with more than one type of replica actions not allowed.")
        if given[0] not in found:
            found.append(given[0])
    if len(found) > 1:
        raise invalid(
            "Update table operation with more than one create or delete replica actions not allowed"
        )
    return found[0]


def _changes_something(asked: Request) -> bool:
    indexes = asked.get("GlobalSecondaryIndexes") or ()
    return any(
        asked.get(name) is not None
        for name in _SETTINGS
        if name not in ("RegionName", "GlobalSecondaryIndexes")
    ) or any(len(one) > 1 for one in indexes)


def with_replica_change(txn: WriteTransaction, table: Table, kind: str, asked: Request) -> Table:
    """The table after that action; following carries out the rest."""
    region: str = asked["RegionName"]
    if region == txn.place.region:
        raise invalid(_LOCAL)
    if kind == "Create":
        return _with_new(txn, table, region, asked)
    group = table.replicas
    member = None if group is None else group.member(region)
    if group is None or member is None or member.status == "GONE":
        raise invalid(
            "Update global table operation failed because one or more replicas were not part of the global table. "
            f"Please retry the request without these replicas: [{region}]."
        )
    if kind == "Delete":
        return _without(txn, table, group, member)
    _refuse_busy(group)
    said = (max(txn.position.at, member.said[0] + 1), group.region)
    overrides = requested_overrides(txn.place, table, member.overrides, asked, is_new=False)
    # The shared settings are sent as well: a replica whose override ends needs them.
    group = group.with_settings_changed(txn.position.at)
    return replace(table, replicas=group.with_member(replace(member, said=said, overrides=overrides)))


def _refuse_busy(group: Group | None, indexes: Sequence[Index | VectorIndex] = ()) -> None:
    others = () if group is None else group.others
    if any(one.is_gone or one.status in ("CREATING", "UPDATING") for one in others) or any(
        index.status != "ACTIVE" for index in indexes
    ):
        raise resource_in_use("The resource which you are attempting to change is in use.")


# --- create ---


def _with_new(txn: WriteTransaction, table: Table, region: str, asked: Request) -> Table:
    place = txn.place
    if region not in place.regions:
        known = ", ".join([*place.regions, place.region])
        raise invalid(
            f"Region {region} is not supported. The latest version of global tables are only supported in the "
            f"following regions: [{known}]"
        )
    group = table.replicas
    known_member = None if group is None else group.member(region)
    there = place.regions[region]()
    if table.name in there or (
        known_member is not None and known_member.status not in ("GONE", "CREATION_FAILED")
    ):
        raise invalid(
            f"Failed to create a the new replica of table with name: ‘{table.name}’ because one or more replicas "
            "already existed as tables."
        )
    _refuse_busy(group, table.every_index)
    _refuse_fixed_capacity(txn, table)
    overrides = requested_overrides(place, table, Overrides(), asked, is_new=True)
    if table.stream_view is None:
        table = open_stream(txn, table, "NEW_AND_OLD_IMAGES")
    table = with_group(txn, table)
    assert table.replicas is not None, "it just got a group"
    said = (max(txn.position.at, 0 if known_member is None else known_member.said[0] + 1), place.region)
    overrides = replace(overrides, scaling=shared(settings_here(txn.rows, table)))
    member = Member(region, said, source=place.region, added=txn.position.at, overrides=overrides)
    return replace(table, replicas=table.replicas.with_member(member))


def _refuse_fixed_capacity(txn: WriteTransaction, table: Table) -> None:
    """Each replica writes what all write: the service refuses one that could fall behind for want of capacity."""
    if table.billing != "PROVISIONED":
        return
    scaled = {
        one.index_name for one in all_scaling(txn.rows) if one.table == table.name and one.kind == "Write"
    }
    if "" not in scaled:
        raise invalid("Table write capacity should either be Pay-Per-Request or AutoScaled.")
    if not all(index.name in scaled for index in table.indexes if not index.local):
        raise invalid("GSI write capacity should either be Pay-Per-Request or AutoScaled.")


# --- delete ---


def _without(txn: WriteTransaction, table: Table, group: Group, member: Member) -> Table:
    refuse_source(group, member.region, txn.position.at)
    refuse_writer(table.name, group, member.region)
    catalog = txn.place.regions.get(member.region)
    there = {} if catalog is None else catalog()
    if table.name in there and there[table.name].protected:
        raise invalid(
            f"Cannot delete table {table.name} in region {member.region} because it has deletion protection "
            "enabled. Disable deletion protection first."
        )
    # A replica that could not be created can be deleted at any time.
    if member.status != "CREATION_FAILED":
        _refuse_busy(group)
    said = (max(txn.position.at, member.said[0] + 1), group.region)
    # A region that this process does not have cannot confirm it.
    status = "GONE" if catalog is None else "DELETING"
    group = group.with_member(replace(member, said=said, is_gone=True, status=status, why=None))
    table = replace(table, replicas=group)
    return table if group.others else without_group(txn, table)


def refuse_source(group: Group, region: str, now: int) -> None:
    """Refuse to delete a region that others were copied from, for a day or until they are gone."""
    for one in group.members:
        is_there = not one.is_gone or one.status == "DELETING"
        if is_there and one.source == region and now - one.added < DAY:
            raise invalid(_WAS_SOURCE)


def refuse_writer(table: str, group: Group, region: str) -> None:
    """Refuse to delete the writer while there are other replicas: none of them would take writes."""
    if group.writer == region and group.readers:
        raise invalid(
            f"{region} is the writer of {table} since epoch {group.epoch}: fail over to another region first"
        )


def shown_at_once(described: Mapping[str, Any], kind: str, region: str) -> dict[str, Any]:
    """The description in the response: the service shows a new replica only a moment later."""
    if kind != "Create":
        return dict(described)
    return {**described, "Replicas": [one for one in described["Replicas"] if one["RegionName"] != region]}
