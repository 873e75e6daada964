"""A table's replicas as DescribeTable shows them. Pure.

Each region shows the others, not itself; an override that is not shown was inherited.
"""

from collections.abc import Sequence
from typing import Any

from tablewright.engine.replication.group import Group, Member

VERSION = "2019.11.21"


def described_replicas(group: Group, arn: str, indexes: Sequence[str]) -> dict[str, Any]:
    """What only the TableDescription of a table with replicas has; nothing when it has lost them all."""
    if not group.others:
        return {}
    return {
        "GlobalTableVersion": VERSION,
        "Replicas": [
            _described(one, arn.replace(f":dynamodb:{group.region}:", f":dynamodb:{one.region}:", 1), indexes)
            for one in group.others
        ],
    }


def _described(member: Member, arn: str, indexes: Sequence[str]) -> dict[str, Any]:
    own = member.overrides
    shown: dict[str, Any] = {
        "RegionName": member.region,
        "ReplicaStatus": "DELETING" if member.is_gone else member.status,
        "ReplicaArn": arn,
        **_reads(own.read_units, own.on_demand_reads),
    }
    if member.why is not None:
        shown["ReplicaStatusDescription"] = member.why
    if own.key is not None:
        shown["KMSMasterKeyId"] = own.key
    if own.table_class is not None:
        shown["ReplicaTableClassSummary"] = {"TableClass": own.table_class}
    if indexes:
        shown["GlobalSecondaryIndexes"] = [
            {"IndexName": name, **_reads(own.index_reads.get(name), own.index_on_demand.get(name))}
            for name in indexes
        ]
    return shown


def _reads(units: int | None, on_demand: int | None) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if units is not None:
        shown["ProvisionedThroughputOverride"] = {"ReadCapacityUnits": units}
    if on_demand is not None:
        shown["OnDemandThroughputOverride"] = {"MaxReadRequestUnits": on_demand}
    return shown
