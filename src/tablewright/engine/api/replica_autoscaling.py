"""DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling: autoscaling in this region and in every replica.

Write units are the same in every region, read units each region's own. A change takes effect in this region at once;
the other regions get it with the replication of settings. Unlike on the service, the table need not have replicas: its
own region is then the only one.
Must hold: all of a request takes effect or none of it. A policy's name and a role are stored and described, and have no
effect.
"""

from collections.abc import Mapping
from typing import Any

from tablewright.engine.api.common_members import FLAG, INDEX_NAME, TABLE_NAME
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, ListOf, Request, Struct, Text, Whole
from tablewright.engine.api.tables import settled_table
from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid, resource_not_found
from tablewright.engine.throughput.autoscaling_settings import (
    DETAILS,
    change,
    described,
    details_of,
    scaled,
    setting_key,
    settings_in,
    wrong_setting,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction


@read_verb("DescribeTableReplicaAutoScaling", {"TableName": TABLE_NAME}, required=("TableName",))
def describe_table_replica_auto_scaling(txn: ReadTransaction, request: Request) -> Answer:
    table = settled_table(txn.tables, request)
    return {"TableAutoScalingDescription": described(txn, table)}


LONGEST_COOLDOWN = 1 << 31
_SETTINGS = Struct(
    "AutoScalingSettingsUpdate",
    {
        "MinimumUnits": Whole(1, java="Long"),
        "MaximumUnits": Whole(1, java="Long"),
        "AutoScalingDisabled": FLAG,
        "AutoScalingRoleArn": Text(1, 1600),
        "ScalingPolicyUpdate": Struct(
            "AutoScalingPolicyUpdate",
            {
                "PolicyName": Text(1, 256),
                "TargetTrackingScalingPolicyConfiguration": Struct(
                    "AutoScalingTargetTrackingScalingPolicyConfigurationUpdate",
                    {
                        "DisableScaleIn": FLAG,
                        "ScaleInCooldown": Whole(),
                        "ScaleOutCooldown": Whole(),
                        "TargetValue": Whole(java="Long"),
                    },
                    required=("TargetValue",),
                ),
            },
            required=("TargetTrackingScalingPolicyConfiguration",),
        ),
    },
)
Changes = dict[str, dict[str, list[Any] | None]]


@write_verb(
    "UpdateTableReplicaAutoScaling",
    {
        "GlobalSecondaryIndexUpdates": ListOf(
            Struct(
                "GlobalSecondaryIndexAutoScalingUpdate",
                {"IndexName": INDEX_NAME, "ProvisionedWriteCapacityAutoScalingUpdate": _SETTINGS},
            ),
            least=1,
        ),
        "TableName": TABLE_NAME,
        "ProvisionedWriteCapacityAutoScalingUpdate": _SETTINGS,
        "ReplicaUpdates": ListOf(
            Struct(
                "ReplicaAutoScalingUpdate",
                {
                    "RegionName": Text(),
                    "ReplicaGlobalSecondaryIndexUpdates": ListOf(
                        Struct(
                            "ReplicaGlobalSecondaryIndexAutoScalingUpdate",
                            {"IndexName": INDEX_NAME, "ProvisionedReadCapacityAutoScalingUpdate": _SETTINGS},
                        )
                    ),
                    "ReplicaProvisionedReadCapacityAutoScalingUpdate": _SETTINGS,
                },
                required=("RegionName",),
            ),
            least=1,
        ),
    },
    required=("TableName",),
)
def update_table_replica_auto_scaling(txn: WriteTransaction, request: Request) -> Answer:
    table = settled_table(txn.tables, request)
    changed: Changes = {}
    written = [("", request.get("ProvisionedWriteCapacityAutoScalingUpdate"))]
    written += [
        (_index(one), one.get("ProvisionedWriteCapacityAutoScalingUpdate"))
        for one in request.get("GlobalSecondaryIndexUpdates") or ()
    ]
    for index, asked in written:
        for region in _regions(txn, table):
            _add(txn, table, changed, region, "Write", index, asked)
    for replica in request.get("ReplicaUpdates") or ():
        region = replica["RegionName"]
        if region not in _regions(txn, table):
            raise invalid(
                "Update global table operation failed because one or more replicas were not part of the global table. "
                f"Please retry the request without these replicas: [{region}]."
            )
        read = [("", replica.get("ReplicaProvisionedReadCapacityAutoScalingUpdate"))]
        read += [
            (_index(one), one.get("ProvisionedReadCapacityAutoScalingUpdate"))
            for one in replica.get("ReplicaGlobalSecondaryIndexUpdates") or ()
        ]
        for index, asked in read:
            _add(txn, table, changed, region, "Read", index, asked)
    if not changed:
        raise invalid(
            "At least one of the auto scaling settings of a table, an index or a replica is required"
        )
    change(txn, table, changed)
    return {"TableAutoScalingDescription": described(txn, txn.tables[table.name])}


def _index(asked: Request) -> str:
    name: str | None = asked.get("IndexName")
    if name is None:
        raise invalid("IndexName is required where the auto scaling settings of an index are updated")
    return name


def _regions(txn: WriteTransaction, table: Table) -> list[str]:
    others = [] if table.replicas is None else [one.region for one in table.replicas.readers]
    return [txn.place.region, *others]


def _add(
    txn: WriteTransaction,
    table: Table,
    changed: Changes,
    region: str,
    kind: str,
    index: str,
    asked: Request | None,
) -> None:
    if asked is None:
        return
    known = table.index(index) if index else None
    if index and (known is None or known.local):
        raise resource_not_found()
    place = setting_key(kind, index)
    mine = changed.setdefault(region, {})
    if asked.get("AutoScalingDisabled"):
        mine[place] = None
        return
    if scaled(txn.tables, table.name, index) is None:
        name = f"index {index} of table {table.name}" if index else f"table {table.name}"
        raise invalid(f"There are no provisioned units of {name} to be scaled")
    before = mine.get(place, settings_in(txn, table, region).get(place))
    mine[place] = _setting(asked, before)


def _setting(asked: Request, before: list[Any] | None) -> list[Any]:
    update = asked.get("ScalingPolicyUpdate") or {}
    policy = update.get("TargetTrackingScalingPolicyConfiguration") or {}
    given = [policy.get("TargetValue"), asked.get("MinimumUnits"), asked.get("MaximumUnits")]
    whole = [old if new is None else new for old, new in zip((before or [None] * 3)[:3], given, strict=True)]
    target, least, most = whole
    if target is None or least is None or most is None:
        raise invalid(
            "MinimumUnits, MaximumUnits and a ScalingPolicyUpdate are required where there was no auto scaling"
        )
    least, most = int(least), int(most)
    wrong = wrong_setting(target, least, most)
    if wrong is not None:
        raise invalid(f"Auto scaling settings are invalid: {wrong}")
    details = _details({**asked, **update, **policy}, details_of(before or ()))
    return [float(target), least, most, *([details] if details else [])]


def _details(asked: Request, before: Mapping[str, Any]) -> Answer:
    """The details beside target and limits; those not in the request stay as they were."""
    given = {name: asked[name] for name in DETAILS if asked.get(name) is not None}
    for name in ("ScaleInCooldown", "ScaleOutCooldown"):
        if not 0 <= given.get(name, 0) <= LONGEST_COOLDOWN:
            raise invalid(f"Auto scaling settings are invalid: {name} is 0 to {LONGEST_COOLDOWN} seconds")
    return {**before, **given}
