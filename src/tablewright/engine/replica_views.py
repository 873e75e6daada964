"""A table's replicas as DescribeTable shows them. Pure.

Each region shows the others, not itself; an override that is not there was inherited.
"""

from collections.abc import Sequence
from typing import Any

from tablewright.engine.replica_group import Group, Member

VERSION = "2019.11.21"


def described_replicas(group: Group, arn: str, indexes: Sequence[str]) -> dict[str, Any]:
    """The members of a TableDescription that only a table with replicas has; none when it has lost them all."""
    others = group.others
    if not others:
        return {}
    return {
        "GlobalTableVersion": VERSION,
        "Replicas": [_described(one, _arn_in(arn, group.region, one.region), indexes) for one in others],
    }


def _arn_in(arn: str, here: str, there: str) -> str:
    return arn.replace(f":dynamodb:{here}:", f":dynamodb:{there}:", 1)


def _described(member: Member, arn: str, indexes: Sequence[str]) -> dict[str, Any]:
    own = member.overrides
    shown: dict[str, Any] = {
        "RegionName": member.region,
        "ReplicaStatus": "DELETING" if member.is_gone else member.status,
        "ReplicaArn": arn,
    }
    if member.why is not None:
        shown["ReplicaStatusDescription"] = member.why
    if own.read_units is not None:
        shown["ProvisionedThroughputOverride"] = {"ReadCapacityUnits": own.read_units}
    if own.on_demand_reads is not None:
        shown["OnDemandThroughputOverride"] = {"MaxReadRequestUnits": own.on_demand_reads}
    if own.table_class is not None:
        shown["ReplicaTableClassSummary"] = {"TableClass": own.table_class}
    if indexes:
        shown["GlobalSecondaryIndexes"] = [_described_index(member, name) for name in indexes]
    return shown


def _described_index(member: Member, name: str) -> dict[str, Any]:
    shown: dict[str, Any] = {"IndexName": name}
    if name in member.overrides.index_reads:
        reads = member.overrides.index_reads[name]
        shown["ProvisionedThroughputOverride"] = {"ReadCapacityUnits": reads}
    if name in member.overrides.index_on_demand:
        reads = member.overrides.index_on_demand[name]
        shown["OnDemandThroughputOverride"] = {"MaxReadRequestUnits": reads}
    return shown
