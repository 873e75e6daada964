"""UpdateTable's ReplicaUpdates: add a replica, change what it has of its own, take it away.

Refusals are the service's, in its words and order. What is accepted is only noted here; the region it is about hears
of it from the follower (replica_pulls.py), and the table shows how far that has come.
Must hold: one replica comes or goes at a time; a table that gets replicas has a stream.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablewright.engine.catalog import Table
from tablewright.engine.definitions import table_class
from tablewright.engine.errors import ServiceError, invalid, invalid_parameter, resource_in_use
from tablewright.engine.members import INDEX_NAME
from tablewright.engine.replica_group import Group, Member, Overrides
from tablewright.engine.replicas import DAY, with_group
from tablewright.engine.scaling_settings import settings_here, shared
from tablewright.engine.shapes import ListOf, Request, Shape, Struct, Text, Whole
from tablewright.engine.storage_metrics import all_scaling
from tablewright.engine.streams import open_stream
from tablewright.engine.writing import Writing

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
}
REPLICA_UPDATES = ListOf(
    Struct(
        "ReplicationGroupUpdate",
        {
            "Create": Struct(
                "CreateReplicationGroupMemberAction",
                _SETTINGS,
                required=("RegionName",),
                refused=("KMSMasterKeyId",),
            ),
            "Update": Struct(
                "UpdateReplicationGroupMemberAction",
                _SETTINGS,
                required=("RegionName",),
                refused=("KMSMasterKeyId",),
            ),
            "Delete": Struct(
                "DeleteReplicationGroupMemberAction", {"RegionName": Text()}, required=("RegionName",)
            ),
        },
        refused=("Disassociate",),
    ),
    least=1,
)
ALONE = "Replica modification must be the only operation in the request"
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
    """The one thing asked for; what needs no look at the table is refused here."""
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
        for name in ("ProvisionedThroughputOverride", "OnDemandThroughputOverride", "TableClassOverride")
    ) or any(len(one) > 1 for one in indexes)


def with_replica_change(writing: Writing, table: Table, kind: str, asked: Request) -> Table:
    """The table after that, for the rest to be done by the regions among themselves."""
    region: str = asked["RegionName"]
    if kind == "Create":
        return _with_new(writing, table, region, asked)
    member = None if table.replicas is None else table.replicas.member(region)
    group = table.replicas
    if region == writing.place.region:
        raise invalid(_LOCAL)
    if group is None or member is None or member.status == "GONE":
        raise invalid(
            "Update global table operation failed because one or more replicas were not part of the global table. "
            f"Please retry the request without these replicas: [{region}]."
        )
    if kind == "Delete":
        return _without(writing, table, group, member)
    _refuse_busy(group)
    said = (max(writing.pen.at, member.said[0] + 1), group.region)
    overrides = _overrides(table, member.overrides, asked, is_new=False)
    # The settings go along: where an override ends, what all have is to be known again.
    group = group.with_settings_changed(writing.pen.at)
    return replace(table, replicas=group.with_member(replace(member, said=said, overrides=overrides)))


def _refuse_busy(group: Group) -> None:
    if any(one.is_gone or one.status in ("CREATING", "UPDATING") for one in group.others):
        raise resource_in_use("The resource which you are attempting to change is in use.")


# --- one more ---


def _with_new(writing: Writing, table: Table, region: str, asked: Request) -> Table:
    place = writing.place
    if region == place.region:
        raise invalid(_LOCAL)
    if region not in place.neighbours:
        known = ", ".join([*place.neighbours, place.region])
        raise invalid(
            f"Region {region} is not supported. The latest version of global tables are only supported in the "
            f"following regions: [{known}]"
        )
    group = table.replicas
    if place.lease is not None and group is not None and not group.takes_writes:
        # A writer must know everybody who could be promoted in its place.
        raise invalid(f"{group.writer} is the writer of {table.name} and has a lease: add replicas there")
    known_member = None if group is None else group.member(region)
    there = place.neighbours[region]() or {}
    if table.name in there or (
        known_member is not None and known_member.status not in ("GONE", "CREATION_FAILED")
    ):
        raise invalid(
            f"Failed to create a the new replica of table with name: ‘{table.name}’ because one or more replicas "
            "already existed as tables."
        )
    if group is not None:
        _refuse_busy(group)
    if any(index.status != "ACTIVE" for index in table.indexes):
        raise resource_in_use("The resource which you are attempting to change is in use.")
    _refuse_fixed_capacity(writing, table)
    overrides = _overrides(table, Overrides(), asked, is_new=True)
    if table.stream_view is None:
        table = open_stream(writing, table, "NEW_AND_OLD_IMAGES")
    table = with_group(writing, table)
    assert table.replicas is not None, "it just got a group"
    said = (max(writing.pen.at, 0 if known_member is None else known_member.said[0] + 1), place.region)
    overrides = replace(overrides, scaling=shared(settings_here(writing.rows, table)))
    member = Member(region, said, source=place.region, added=writing.pen.at, overrides=overrides)
    return replace(table, replicas=table.replicas.with_member(member))


def _refuse_fixed_capacity(writing: Writing, table: Table) -> None:
    """Each replica writes what all write: the service lets none fall behind for want of capacity."""
    if table.billing != "PROVISIONED":
        return
    scaled = {
        one.index_name for one in all_scaling(writing.rows) if one.table == table.name and one.kind == "Write"
    }
    if "" not in scaled:
        raise invalid("Table write capacity should either be Pay-Per-Request or AutoScaled.")
    if not all(index.name in scaled for index in table.indexes if not index.local):
        raise invalid("GSI write capacity should either be Pay-Per-Request or AutoScaled.")


# --- one less ---


def _without(writing: Writing, table: Table, group: Group, member: Member) -> Table:
    refuse_source(group, member.region, writing.pen.at)
    refuse_writer(table.name, group, member.region)
    there = writing.place.neighbours.get(member.region, lambda: None)() or {}
    if table.name in there and there[table.name].protected:
        raise protected_there(table.name, member.region)
    # A replica that never came can be given up while nothing else goes on.
    if member.status != "CREATION_FAILED":
        _refuse_busy(group)
    said = (max(writing.pen.at, member.said[0] + 1), group.region)
    gone = replace(member, said=said, is_gone=True, status="DELETING", why=None)
    return replace(table, replicas=group.with_member(gone))


def refuse_source(group: Group, region: str, now: int) -> None:
    """A region others were copied from stays for a day, or until they are gone."""
    for one in group.members:
        is_there = not one.is_gone or one.status == "DELETING"
        if is_there and one.source == region and now - one.added < DAY:
            raise invalid(_WAS_SOURCE)


def refuse_writer(table: str, group: Group, region: str) -> None:
    """The writer goes last: without it nobody could write."""
    if group.writer == region and group.readers:
        raise invalid(
            f"{region} is the writer of {table} since epoch {group.epoch}: promote another region first"
        )


def protected_there(table: str, region: str) -> ServiceError:
    return invalid(
        f"Cannot delete table {table} in region {region} because it has deletion protection enabled. "
        "Disable deletion protection first."
    )


# --- what a replica has of its own ---


def _overrides(table: Table, known: Overrides, asked: Request, is_new: bool) -> Overrides:
    reads = (asked.get("ProvisionedThroughputOverride") or {}).get("ReadCapacityUnits")
    most = (asked.get("OnDemandThroughputOverride") or {}).get("MaxReadRequestUnits")
    # The service looks at an override that does not go with the billing mode only where it changes one.
    if not is_new:
        _refuse_other_billing(table, reads, most)
    new_class = table_class(asked.get("TableClassOverride"))
    index_reads, index_most = dict(known.index_reads), dict(known.index_on_demand)
    for one in asked.get("GlobalSecondaryIndexes") or ():
        index = table.index(one["IndexName"])
        if index is None:
            continue  # an index nobody has is passed over, as the service does
        own = (one.get("ProvisionedThroughputOverride") or {}).get("ReadCapacityUnits")
        _set(index_reads, index.name, own, index.throughput.read)
        own = (one.get("OnDemandThroughputOverride") or {}).get("MaxReadRequestUnits")
        _set(index_most, index.name, own, (index.on_demand or {}).get("MaxReadRequestUnits"))
    shared = (table.on_demand or {}).get("MaxReadRequestUnits")
    return Overrides(
        # An override that says what all have is none.
        read_units=known.read_units if reads is None else None if reads == table.throughput.read else reads,
        on_demand_reads=known.on_demand_reads if most is None else None if most == shared else most,
        table_class=new_class or known.table_class,
        index_reads=index_reads,
        index_on_demand=index_most,
        scaling=known.scaling,
    )


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


def shown_at_once(described: Mapping[str, Any], kind: str, region: str) -> dict[str, Any]:
    """The answer's description: the service shows a new replica only a moment later."""
    if kind != "Create":
        return dict(described)
    return {**described, "Replicas": [one for one in described["Replicas"] if one["RegionName"] != region]}
