"""`tablewright db autoscaling TABLE`: show or change the auto scaling of provisioned capacity."""

import argparse
from collections.abc import Mapping
from typing import Any

from tablewright.cli.format import as_table
from tablewright.cli.output import UsageError, print_result
from tablewright.cli.target import Target, add_target_options, with_target

EXAMPLES = """Capacity stays between MIN and MAX units and is adjusted so that TARGET percent (20 to 90) is consumed.
Write settings are shared by all replicas of a table; read settings belong to one region (--region).

tablewright db autoscaling pets --data ./data --read 5 100 70 --write 5 50 70
tablewright db autoscaling pets --endpoint http://127.0.0.1:8000 --off read --json"""
_KINDS = ("read", "write")
_SETTINGS = "Provisioned{}CapacityAutoScalingSettings"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    parser.add_argument(
        "--index", default="", metavar="NAME", help="a global index instead of the table itself"
    )
    for kind in _KINDS:
        parser.add_argument(
            f"--{kind}",
            nargs=3,
            type=_number,
            metavar=("MIN", "MAX", "TARGET"),
            help=f"scale {kind} capacity between MIN and MAX units, at TARGET percent utilization",
        )
    parser.add_argument(
        "--off",
        nargs="?",
        const="both",
        choices=(*_KINDS, "both"),
        help="disable auto scaling; capacity stays as it is now (default: both)",
    )
    add_target_options(parser, json="print a JSON list")


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1e12:
        raise argparse.ArgumentTypeError(f"must be a number greater than 0, got {text!r}")
    return number


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    table = target.describe_table(given.table)
    region = table["TableArn"].split(":")[3]
    indexes = [one["IndexName"] for one in table.get("GlobalSecondaryIndexes", ())]
    if given.index and given.index not in indexes:
        raise UsageError(
            f"{given.table} has no global index {given.index}; its global indexes: {', '.join(indexes) or 'none'}"
        )
    request = request_of(given, region)
    verb = "UpdateTableReplicaAutoScaling" if len(request) > 1 else "DescribeTableReplicaAutoScaling"
    found = rows(target.call(verb, request)["TableAutoScalingDescription"], given.index)
    head = ("region", "of", "units", "min", "max", "target")
    print_result(given, found, as_table(head, [_line(one) for one in found]))
    return 0


def _line(one: Mapping[str, Any]) -> list[str]:
    percent = "off" if one["target"] is None else f"{one['target']:g} %"
    return [*("-" if value is None else str(value) for value in list(one.values())[:-1]), percent]


def request_of(given: argparse.Namespace, region: str) -> dict[str, Any]:
    """The update request; one with only TableName changes nothing."""
    changes = {kind: change for kind in _KINDS if (change := _change(given, kind)) is not None}
    request: dict[str, Any] = {"TableName": given.table}
    if "write" in changes:
        request |= _update(given.index, "Write", changes["write"], "")
    if "read" in changes:
        request["ReplicaUpdates"] = [
            {"RegionName": region, **_update(given.index, "Read", changes["read"], "Replica")}
        ]
    return request


def _update(index: str, kind: str, change: dict[str, Any], prefix: str) -> dict[str, Any]:
    name = f"Provisioned{kind}CapacityAutoScalingUpdate"
    if index:
        return {f"{prefix}GlobalSecondaryIndexUpdates": [{"IndexName": index, name: change}]}
    return {prefix + name: change}


def _change(given: argparse.Namespace, kind: str) -> dict[str, Any] | None:
    wanted = getattr(given, kind)
    if given.off in (kind, "both"):
        if wanted is not None:
            raise UsageError(f"--{kind} and --off {given.off} cannot be combined")
        return {"AutoScalingDisabled": True}
    if wanted is None:
        return None
    least, most, percent = wanted
    if least != int(least) or most != int(most):
        raise UsageError(f"--{kind}: MIN and MAX must be whole numbers")
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": percent}}
    return {
        "MinimumUnits": int(least),
        "MaximumUnits": int(most),
        "AutoScalingDisabled": False,
        "ScalingPolicyUpdate": policy,
    }


def rows(described: Mapping[str, Any], index: str) -> list[dict[str, Any]]:
    """One row per region, table or index, and kind of capacity."""
    found = []
    for replica in described.get("Replicas", ()):
        owners = [("", "Replica" + _SETTINGS, replica)]
        owners += [(one["IndexName"], _SETTINGS, one) for one in replica.get("GlobalSecondaryIndexes", ())]
        for name, member, owner in owners:
            if not index or name == index:
                found += [
                    {"region": replica["RegionName"], "of": name or "table", "units": kind}
                    | _setting(owner.get(member.format(kind.title())) or {})
                    for kind in _KINDS
                ]
    return found


def _setting(shown: Mapping[str, Any]) -> dict[str, Any]:
    if shown.get("AutoScalingDisabled") or "MaximumUnits" not in shown:
        return {"least": None, "most": None, "target": None}
    policies = [one["TargetTrackingScalingPolicyConfiguration"] for one in shown["ScalingPolicies"]]
    target = policies[0]["TargetValue"] if policies else None
    return {"least": shown["MinimumUnits"], "most": shown["MaximumUnits"], "target": target}
