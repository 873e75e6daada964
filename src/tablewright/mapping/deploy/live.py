"""The tables as they are, read over a Call: DescribeTable, and what has to be asked for apart.

Must hold: an endpoint without an operation is not an error: what it cannot tell is `unavailable`; a refusal of any
other kind, such as missing rights, is raised.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tablewright.client import Call, CallRefused
from tablewright.mapping.deploy.states import Bounds, Dimension, TableState, What, table_state

_ABSENT = ("UnknownOperationException", "UnsupportedOperationException", "NotImplemented")
_SERVER_ERROR = 500


def live_tables(
    call: Call, names: Iterable[str], scaling: Call | None = None
) -> dict[str, TableState | None]:
    """Each table by name; None if it does not exist. `scaling` is a Call of Application Auto Scaling, if any."""
    return {name: _live(call, name, scaling) for name in names}


def _live(call: Call, name: str, scaling: Call | None) -> TableState | None:
    try:
        state = table_state(call("DescribeTable", {"TableName": name})["Table"])
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return None
    missing: set[str] = set()
    ttl = _ask(call, "DescribeTimeToLive", {"TableName": name}, "ttl", missing)
    recovery = _ask(call, "DescribeContinuousBackups", {"TableName": name}, "recovery", missing)
    tags = _tags(call, state.arn, missing)
    return replace(
        state,
        ttl=_ttl(ttl),
        recovery_days=_recovery_days(recovery),
        tags=tags,
        scaling=_scaling(scaling, state) if scaling is not None else None,
        unavailable=frozenset(missing),
    )


def _ask(
    call: Call, verb: str, request: Mapping[str, Any], setting: str, missing: set[str]
) -> dict[str, Any]:
    try:
        return call(verb, request)
    except CallRefused as refusal:
        if refusal.name not in _ABSENT and refusal.status < _SERVER_ERROR:
            raise
        missing.add(setting)
        return {}


def _ttl(answer: Mapping[str, Any]) -> str | None:
    told = answer.get("TimeToLiveDescription", {})
    return told.get("AttributeName") if told.get("TimeToLiveStatus") in ("ENABLED", "ENABLING") else None


def _recovery_days(answer: Mapping[str, Any]) -> int | None:
    told = answer.get("ContinuousBackupsDescription", {}).get("PointInTimeRecoveryDescription", {})
    if told.get("PointInTimeRecoveryStatus") not in ("ENABLED", "ENABLING"):
        return 0
    days = told.get("RecoveryPeriodInDays")
    return None if days is None else int(days)


def _tags(call: Call, arn: str, missing: set[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    request = {"ResourceArn": arn}
    while True:
        answer = _ask(call, "ListTagsOfResource", request, "tags", missing)
        found |= {tag["Key"]: tag["Value"] for tag in answer.get("Tags", ())}
        if not answer.get("NextToken"):
            # Tags that AWS itself sets cannot be changed, and say nothing about the design.
            return {key: value for key, value in found.items() if not key.startswith("aws:")}
        request = {"ResourceArn": arn, "NextToken": answer["NextToken"]}


# --- autoscaling ---


def _scaling(call: Call, state: TableState) -> dict[Dimension, Bounds]:
    names = ["", *(name for name, index in state.indexes.items() if not index.local)]
    resources = {resource_id(state.name, name): name for name in names}
    targets = _list(call, "DescribeScalableTargets", "ScalableTargets", {"ResourceIds": list(resources)})
    found: dict[Dimension, Bounds] = {}
    for target in targets:
        where: What = "Read" if ":Read" in target["ScalableDimension"] else "Write"
        policy = _policy(call, target)
        found[resources[target["ResourceId"]], where] = Bounds(
            target["MinCapacity"], target["MaxCapacity"], policy[1], policy[0]
        )
    return found


def _policy(call: Call, target: Mapping[str, Any]) -> tuple[str, int]:
    """The name of what scales a target, and its goal; a target without one has the goal 0."""
    where = {"ResourceId": target["ResourceId"], "ScalableDimension": target["ScalableDimension"]}
    for policy in _list(call, "DescribeScalingPolicies", "ScalingPolicies", where):
        goal = policy.get("TargetTrackingScalingPolicyConfiguration", {}).get("TargetValue")
        if goal is not None:
            return policy["PolicyName"], int(goal)
    return "", 0


def _list(call: Call, verb: str, member: str, more: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    request: dict[str, Any] = {"ServiceNamespace": "dynamodb", **more}
    while True:
        answer = call(verb, request)
        found += answer[member]
        if not answer.get("NextToken"):
            return found
        request["NextToken"] = answer["NextToken"]


def resource_id(table: str, index: str) -> str:
    return f"table/{table}/index/{index}" if index else f"table/{table}"
