"""`tablewright db autoscaling TABLE`: which provisioned units follow what is used, and how far; and changing that."""

import argparse
from collections.abc import Mapping
from typing import Any

from tablewright.cli import where
from tablewright.cli.words import as_json, as_table

SUMMARY = "Show or set how a table's provisioned units follow what is used of them."
EXAMPLES = """Units stay between MIN and MAX and are moved so that TARGET percent of them are used (20 to 90). Write
units and their settings are shared by all replicas of a table; read units are each region's own, and set for --region.
With --index it is about a global index instead of the table itself.

examples:
  tablewright db autoscaling pets --data ./data --read 5 100 70 --write 5 50 70
  tablewright db autoscaling pets --endpoint http://127.0.0.1:8000 --off read --json"""
_KINDS = ("read", "write")
_SETTINGS = "Provisioned{}CapacityAutoScalingSettings"
_UPDATE = "Provisioned{}CapacityAutoScalingUpdate"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name")
    parser.add_argument(
        "--index", default="", metavar="NAME", help="of this global index instead of the table itself"
    )
    for kind in _KINDS:
        parser.add_argument(
            f"--{kind}",
            nargs=3,
            type=_number,
            metavar=("MIN", "MAX", "TARGET"),
            help=f"let {kind} units follow what is used: from MIN to MAX, TARGET percent of them used",
        )
    parser.add_argument(
        "--off",
        nargs="?",
        const="both",
        choices=(*_KINDS, "both"),
        help="leave the units as they are from now on (default: of both kinds)",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    where.arguments(parser)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1e12:
        raise argparse.ArgumentTypeError(f"it is a number above 0, not {text!r}")
    return number


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _show(given, place))


def _show(given: argparse.Namespace, place: where.Place) -> int:
    table = place.call("DescribeTable", {"TableName": given.table})["Table"]
    region = table["TableArn"].split(":")[3]
    indexes = [one["IndexName"] for one in table.get("GlobalSecondaryIndexes", ())]
    if given.index and given.index not in indexes:
        raise where.Misused(
            f"{given.table} has no global index {given.index}; it has: {', '.join(indexes) or 'none'}"
        )
    request = asked(given, region)
    verb = "UpdateTableReplicaAutoScaling" if len(request) > 1 else "DescribeTableReplicaAutoScaling"
    found = rows(place.call(verb, request)["TableAutoScalingDescription"], given.index)
    if given.json:
        print(as_json(found))
        return 0
    print(as_table(("region", "of", "units", "least", "most", "target"), [_line(one) for one in found]))
    return 0


def _line(one: Mapping[str, Any]) -> list[str]:
    target = "off" if one["target"] is None else f"{one['target']:g} %"
    return [*("-" if value is None else str(value) for value in list(one.values())[:-1]), target]


def asked(given: argparse.Namespace, region: str) -> dict[str, Any]:
    """The request: one that only names the table changes nothing."""
    changes = {kind: change for kind in _KINDS if (change := _change(given, kind)) is not None}
    request: dict[str, Any] = {"TableName": given.table}
    if "write" in changes:
        update = {_UPDATE.format("Write"): changes["write"]}
        request |= (
            {"GlobalSecondaryIndexUpdates": [{"IndexName": given.index, **update}]} if given.index else update
        )
    if "read" in changes:
        read = {_UPDATE.format("Read"): changes["read"]}
        if given.index:
            replica: dict[str, Any] = {
                "ReplicaGlobalSecondaryIndexUpdates": [{"IndexName": given.index, **read}]
            }
        else:
            replica = {f"Replica{name}": change for name, change in read.items()}
        request["ReplicaUpdates"] = [{"RegionName": region, **replica}]
    return request


def _change(given: argparse.Namespace, kind: str) -> dict[str, Any] | None:
    wanted = getattr(given, kind)
    if given.off in (kind, "both"):
        if wanted is not None:
            raise where.Misused(f"--{kind} and --off {given.off} do not go together")
        return {"AutoScalingDisabled": True}
    if wanted is None:
        return None
    least, most, target = wanted
    if least != int(least) or most != int(most):
        raise where.Misused(f"--{kind}: MIN and MAX are whole units")
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": target}}
    return {
        "MinimumUnits": int(least),
        "MaximumUnits": int(most),
        "AutoScalingDisabled": False,
        "ScalingPolicyUpdate": policy,
    }


def rows(described: Mapping[str, Any], index: str) -> list[dict[str, Any]]:
    """A line for each region, table or index, and kind of units."""
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
    policies = [
        one["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] for one in shown["ScalingPolicies"]
    ]
    return {
        "least": shown["MinimumUnits"],
        "most": shown["MaximumUnits"],
        "target": policies[0] if policies else None,
    }
