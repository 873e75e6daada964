"""The settings of autoscaling, in every region: which units follow what is used, how far, and who is told.

A region's own settings are in its store (storage_metrics.py); that is what autoscaling goes by. Of a table with
replicas each region also knows everybody's, as part of what a member has of its own (replica_group.py): so a setting
can be made for any region from any other, and reaches it with everything else that is said of members. Write units
are shared by all replicas, and so are their settings; read units are each region's own.
Must hold: what a region's store has is what is said of it as a member.
Elsewhere: what is done with them (autoscaling.py), the verbs (operations/*_table_replica_auto_scaling.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tablewright.engine.catalog import Index, Table
from tablewright.engine.replica_group import Settings
from tablewright.engine.storage import Rows
from tablewright.engine.storage_metrics import Scaling, all_scaling, forget_scaling, save_scaling
from tablewright.engine.writing import Reading, Writing

KINDS = ("Read", "Write")
TARGETS = (20.0, 90.0)
UNITS = 1 << 53
_ROLE = (
    "arn:aws:iam::{}:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)


def wrong_setting(target: float, least: int, most: int) -> str | None:
    """Why a setting makes no sense, if it does not."""
    if not TARGETS[0] <= target <= TARGETS[1]:
        return f"a target is {TARGETS[0]:g} to {TARGETS[1]:g} percent, not {target:g}"
    if not 1 <= least <= most <= UNITS:
        return f"units go from at least 1 up to most, not from {least} to {most}"
    return None


# --- as they are kept ---


def settings_here(rows: Rows, table: str) -> Settings:
    """This region's settings of a table."""
    return {
        place_of(one.kind, one.index_name): [one.target, one.least, one.most]
        for one in all_scaling(rows)
        if one.table == table
    }


def place_of(kind: str, index: str) -> str:
    return f"{kind}:{index}"


def settings_in(seen: Reading | Writing, table: Table, region: str) -> Settings:
    """A table's settings in a region, as far as they are known here."""
    if region == seen.place.region or table.replicas is None:
        return settings_here(seen.rows, table.name)
    member = table.replicas.member(region)
    return {} if member is None else member.overrides.scaling or {}


def shared(settings: Settings) -> Settings:
    """The part that all replicas have: that of write units."""
    return {place: one for place, one in settings.items() if place.startswith("Write:")}


def change(writing: Writing, table: Table, changed: Mapping[str, Mapping[str, list[float] | None]]) -> None:
    """Make changes in regions, each to some places (None: no setting any more)."""
    region = writing.place.region
    for mine, given in changed.items():
        if mine == region:
            for place, one in given.items():
                _keep(writing, table.name, place, one)
    group = table.replicas
    if group is None:
        return
    for member in group.members:
        if member.region not in changed or member.is_gone:
            continue
        known = settings_in(writing, table, member.region)
        settings = {
            place: one for place, one in {**known, **changed[member.region]}.items() if one is not None
        }
        said = (max(writing.pen.at, member.said[0] + 1), group.region)
        overrides = replace(member.overrides, scaling=settings)
        group = group.with_member(replace(member, said=said, overrides=overrides))
    writing.save_table(replace(table, replicas=group))


def take_settings_said(writing: Writing, table: Table) -> None:
    """Go by what another region has said of this one."""
    group = table.replicas
    me = None if group is None else group.member(group.region)
    if me is None or me.overrides.scaling is None:
        return
    known, said = settings_here(writing.rows, table.name), me.overrides.scaling
    for place in known.keys() | said.keys():
        if known.get(place) != said.get(place):
            _keep(writing, table.name, place, said.get(place))


def _keep(writing: Writing, table: str, place: str, one: Iterable[float] | None) -> None:
    kind, _, index = place.partition(":")
    if one is None:
        forget_scaling(writing.rows, table, index, kind)
    else:
        target, least, most = one
        save_scaling(writing.rows, Scaling(table, index, kind, target, int(least), int(most)))


def scaled(tables: Mapping[str, Table], table: str, index: str) -> Table | Index | None:
    """What has provisioned units under that name, and so can be scaled."""
    found = tables.get(table)
    if found is None or found.billing != "PROVISIONED":
        return None
    if not index:
        return found
    wanted = found.index(index)
    return wanted if wanted is not None and not wanted.local and wanted.status == "ACTIVE" else None


# --- as the service shows them ---


def described(seen: Reading | Writing, table: Table) -> dict[str, Any]:
    """TableAutoScalingDescription: the settings of every region."""
    group, here = table.replicas, seen.place.region
    members = {here: table.status} if group is None else {here: table.status} | {
        one.region: "DELETING" if one.is_gone else one.status for one in group.others
    }  # fmt: skip
    return {
        "TableName": table.name,
        "TableStatus": table.status,
        "Replicas": [_described_replica(seen, table, region, status) for region, status in members.items()],
    }


def _described_replica(seen: Reading | Writing, table: Table, region: str, status: str) -> dict[str, Any]:
    known = settings_in(seen, table, region)

    def shown(kind: str, index: str = "") -> dict[str, Any]:
        return _described_setting(
            table.name, kind, index, known.get(place_of(kind, index)), seen.place.account
        )

    return {
        "RegionName": region,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index.name,
                "IndexStatus": index.status,
                "ProvisionedReadCapacityAutoScalingSettings": shown("Read", index.name),
                "ProvisionedWriteCapacityAutoScalingSettings": shown("Write", index.name),
            }
            for index in table.indexes
            if not index.local
        ],
        "ReplicaProvisionedReadCapacityAutoScalingSettings": shown("Read"),
        "ReplicaProvisionedWriteCapacityAutoScalingSettings": shown("Write"),
        "ReplicaStatus": status,
    }


def _described_setting(
    table: str, kind: str, index: str, one: list[float] | None, account: str
) -> dict[str, Any]:
    if one is None:
        return {"AutoScalingDisabled": True}
    target, least, most = one
    resource = f"table/{table}/index/{index}" if index else f"table/{table}"
    return {
        "MinimumUnits": int(least),
        "MaximumUnits": int(most),
        "AutoScalingDisabled": False,
        "AutoScalingRoleArn": _ROLE.format(account),
        "ScalingPolicies": [
            {
                "PolicyName": f"DynamoDB{kind}CapacityUtilization:{resource}",
                "TargetTrackingScalingPolicyConfiguration": {"TargetValue": float(target)},
            }
        ],
    }
