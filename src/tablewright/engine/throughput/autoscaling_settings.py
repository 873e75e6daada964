"""The settings of autoscaling in every region: which units follow consumption, and within which limits.

A region's own settings are in its store (metrics/store.py); autoscaling uses only these. Of a table with replicas each
region also has the settings of all others, as part of its group (replication/group.py): so a setting can be made for
any region from any other, and is replicated with the group. Write units are shared by all replicas, and so are their
settings; read units are each region's own. A setting is a list: the target, the least and the most units, and then, if
more was given, a mapping of it by the service's names (DETAILS), which is stored with the table.
Must hold: the settings in a region's store equal its settings in the group.
Elsewhere: scaling (autoscaling.py), the verbs (api/replica_autoscaling.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablewright.engine.catalog import Index, Table
from tablewright.engine.metrics.store import ScalingTarget, all_scaling, forget_scaling, save_scaling
from tablewright.engine.replication.group import Settings
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

UNIT_KINDS = ("Read", "Write")
TARGETS = (20.0, 90.0)
UNITS = 1 << 53
# Details of how a target is followed, and all details beside target and limits.
TRACKING = ("DisableScaleIn", "ScaleInCooldown", "ScaleOutCooldown")
DETAILS = ("PolicyName", "AutoScalingRoleArn", *TRACKING)
_ROLE = (
    "arn:aws:iam::{}:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)


def wrong_setting(target: float, least: int, most: int) -> str | None:
    """Why a setting is invalid; None if it is valid."""
    if not TARGETS[0] <= target <= TARGETS[1]:
        return f"a target is {TARGETS[0]:g} to {TARGETS[1]:g} percent, not {target:g}"
    if not 1 <= least <= most <= UNITS:
        return f"units go from at least 1 up to most, not from {least} to {most}"
    return None


# --- as they are stored ---


def settings_here(rows: RowReader, table: Table) -> Settings:
    """This region's settings of a table."""
    found: dict[str, list[Any]] = {}
    for one in all_scaling(rows):
        if one.table == table.name:
            place = setting_key(one.kind, one.index_name)
            details = table.scaling.get(place)
            found[place] = [one.target, one.least, one.most, *([dict(details)] if details else [])]
    return found


def details_of(setting: Sequence[Any]) -> Mapping[str, Any]:
    """The details beside the target and the limits."""
    details: Mapping[str, Any] = setting[3] if len(setting) > 3 else {}
    return details


def setting_key(kind: str, index: str) -> str:
    return f"{kind}:{index}"


def settings_in(seen: ReadTransaction | WriteTransaction, table: Table, region: str) -> Settings:
    """A table's settings in a region, as this region knows them."""
    if region == seen.place.region or table.replicas is None:
        return settings_here(seen.rows, table)
    member = table.replicas.member(region)
    return {} if member is None else member.overrides.scaling or {}


def shared(settings: Settings) -> Settings:
    """The part that all replicas have: that of write units."""
    return {place: one for place, one in settings.items() if place.startswith("Write:")}


def change(
    txn: WriteTransaction, table: Table, changed: Mapping[str, Mapping[str, list[Any] | None]]
) -> None:
    """Change settings of regions, by setting key (None removes a setting)."""
    saved = _with_saved(txn, table, changed.get(txn.place.region, {}))
    group = table.replicas
    if group is None:
        if saved != table:
            txn.save_table(saved)
        return
    table = saved
    for member in group.members:
        if member.region not in changed or member.is_gone:
            continue
        known = settings_in(txn, table, member.region)
        settings = {
            place: one for place, one in {**known, **changed[member.region]}.items() if one is not None
        }
        said = (max(txn.position.at, member.said[0] + 1), group.region)
        overrides = replace(member.overrides, scaling=settings)
        group = group.with_member(replace(member, said=said, overrides=overrides))
    txn.save_table(replace(table, replicas=group))


def adopt_settings(txn: WriteTransaction, table: Table) -> Table:
    """Store the settings that another region made for this one; returns the table with their details."""
    group = table.replicas
    me = None if group is None else group.member(group.region)
    if me is None or me.overrides.scaling is None:
        return table
    known, said = settings_here(txn.rows, table), me.overrides.scaling
    places = [place for place in {**known, **said} if known.get(place) != said.get(place)]
    return _with_saved(txn, table, {place: said.get(place) for place in places})


def _with_saved(txn: WriteTransaction, table: Table, given: Mapping[str, list[Any] | None]) -> Table:
    """Store settings of this region; returns the table with their details."""
    details = dict(table.scaling)
    for place, one in given.items():
        kind, _, index = place.partition(":")
        details.pop(place, None)
        if one is None:
            forget_scaling(txn.rows, table.name, index, kind)
            continue
        target, least, most = one[:3]
        save_scaling(txn.rows, ScalingTarget(table.name, index, kind, target, int(least), int(most)))
        if details_of(one):
            details[place] = details_of(one)
    return replace(table, scaling=details)


def scaled(tables: Mapping[str, Table], table: str, index: str) -> Table | Index | None:
    """The table or index of that name, if it has provisioned units and so can be scaled."""
    found = tables.get(table)
    if found is None or found.billing != "PROVISIONED":
        return None
    if not index:
        return found
    wanted = found.index(index)
    return wanted if wanted is not None and not wanted.local and wanted.status == "ACTIVE" else None


# --- as the service describes them ---


def described(seen: ReadTransaction | WriteTransaction, table: Table) -> dict[str, Any]:
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


def _described_replica(
    seen: ReadTransaction | WriteTransaction, table: Table, region: str, status: str
) -> dict[str, Any]:
    known = settings_in(seen, table, region)

    def described_setting(kind: str, index: str = "") -> dict[str, Any]:
        return _described_setting(
            table.name, kind, index, known.get(setting_key(kind, index)), seen.place.account
        )

    return {
        "RegionName": region,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index.name,
                "IndexStatus": index.status,
                "ProvisionedReadCapacityAutoScalingSettings": described_setting("Read", index.name),
                "ProvisionedWriteCapacityAutoScalingSettings": described_setting("Write", index.name),
            }
            for index in table.indexes
            if not index.local
        ],
        "ReplicaProvisionedReadCapacityAutoScalingSettings": described_setting("Read"),
        "ReplicaProvisionedWriteCapacityAutoScalingSettings": described_setting("Write"),
        "ReplicaStatus": status,
    }


def _described_setting(
    table: str, kind: str, index: str, one: list[Any] | None, account: str
) -> dict[str, Any]:
    if one is None:
        return {"AutoScalingDisabled": True}
    (target, least, most), details = one[:3], details_of(one)
    resource = f"table/{table}/index/{index}" if index else f"table/{table}"
    return {
        "MinimumUnits": int(least),
        "MaximumUnits": int(most),
        "AutoScalingDisabled": False,
        "AutoScalingRoleArn": details.get("AutoScalingRoleArn", _ROLE.format(account)),
        "ScalingPolicies": [
            {
                "PolicyName": details.get("PolicyName", f"DynamoDB{kind}CapacityUtilization:{resource}"),
                "TargetTrackingScalingPolicyConfiguration": {
                    **{name: details[name] for name in TRACKING if name in details},
                    "TargetValue": float(target),
                },
            }
        ],
    }
