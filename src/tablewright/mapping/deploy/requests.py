"""Requests that make a part of a table what its state says. Pure."""

from collections.abc import Mapping
from typing import Any

from tablewright.mapping.deploy.live import resource_id
from tablewright.mapping.deploy.states import (
    Bounds,
    Dimension,
    IndexState,
    Key,
    TableState,
    Units,
    VectorState,
)
from tablewright.mapping.deploy.steps import Request


def create_request(state: TableState) -> Request:
    """CreateTable with all that it can set; TTL, recovery, scaling and replicas come after it."""
    local = [index_definition(one) for one in state.indexes.values() if one.local]
    other = [index_definition(one) for one in state.indexes.values() if not one.local]
    request = {
        "TableName": state.name,
        "KeySchema": _schema(state.key),
        "AttributeDefinitions": _definitions(state.all_types),
        **billing(state.units),
        "LocalSecondaryIndexes": local,
        "GlobalSecondaryIndexes": other,
        "VectorIndexes": [vector_definition(one) for one in state.vectors.values()],
        "StreamSpecification": _stream(state.stream) if state.stream else None,
        "DeletionProtectionEnabled": state.is_protected or None,
        "SSESpecification": {"Enabled": True} if state.encryption == "managed" else None,
        "Tags": [{"Key": key, "Value": value} for key, value in state.tags.items()],
    }
    return "CreateTable", {name: value for name, value in request.items() if value not in (None, [])}


def billing(units: Units | None) -> dict[str, Any]:
    if units is None:
        return {"BillingMode": "PAY_PER_REQUEST"}
    return {"BillingMode": "PROVISIONED", "ProvisionedThroughput": throughput(units)}


def throughput(units: Units) -> dict[str, int]:
    return {"ReadCapacityUnits": units.read, "WriteCapacityUnits": units.write}


def index_definition(index: IndexState) -> dict[str, Any]:
    units = {"ProvisionedThroughput": throughput(index.units)} if index.units else {}
    return {
        "IndexName": index.name,
        "KeySchema": _schema(index.key),
        "Projection": _projection(index.carried),
        **units,
    }


def vector_definition(index: VectorState) -> dict[str, Any]:
    searched = [
        {"AttributeName": name, "SearchSchemaElementType": element} for name, element in index.searched
    ]
    return {
        "IndexName": index.name,
        "VectorAttribute": {"AttributeName": index.of},
        "Projection": _projection(index.carried),
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance,
        **({"SearchSchema": searched} if searched else {}),
    }


def create_index(table: str, index: IndexState, types: Mapping[str, str]) -> Request:
    """`types` are those of all attributes that the table has then: a server may take them for the whole list."""
    update = {"GlobalSecondaryIndexUpdates": [{"Create": index_definition(index)}]}
    return update_table(table, AttributeDefinitions=_definitions(types), **update)


def create_vector_index(table: str, index: VectorState, types: Mapping[str, str]) -> Request:
    update = {"VectorIndexUpdates": [{"Create": vector_definition(index)}]}
    return update_table(table, AttributeDefinitions=_definitions(types), **update)


def delete_index(table: str, index: IndexState | VectorState) -> Request:
    member = "GlobalSecondaryIndexUpdates" if isinstance(index, IndexState) else "VectorIndexUpdates"
    return update_table(table, **{member: [{"Delete": {"IndexName": index.name}}]})


def index_units(units: Mapping[str, Units]) -> dict[str, Any]:
    """The part of UpdateTable that changes the units of some indexes."""
    changes = [
        {"Update": {"IndexName": name, "ProvisionedThroughput": throughput(each)}}
        for name, each in units.items()
    ]
    return {"GlobalSecondaryIndexUpdates": changes} if changes else {}


def set_stream(table: str, view: str | None) -> Request:
    return update_table(table, StreamSpecification=_stream(view))


def set_ttl(table: str, attribute: str, *, enabled: bool) -> Request:
    setting = {"Enabled": enabled, "AttributeName": attribute}
    return "UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": setting}


def set_recovery(table: str, days: int) -> Request:
    setting: dict[str, Any] = {"PointInTimeRecoveryEnabled": days > 0}
    if days:
        setting["RecoveryPeriodInDays"] = days
    return "UpdateContinuousBackups", {"TableName": table, "PointInTimeRecoverySpecification": setting}


def update_table(table: str, **changes: Any) -> Request:
    return "UpdateTable", {"TableName": table, **changes}


def scale(table: str, dimension: Dimension, bounds: Bounds) -> tuple[Request, Request]:
    where = _scalable(table, dimension)
    metric = {"PredefinedMetricType": f"DynamoDB{dimension[1]}CapacityUtilization"}
    tracking = {"TargetValue": float(bounds.target), "PredefinedMetricSpecification": metric}
    return (
        ("RegisterScalableTarget", {**where, "MinCapacity": bounds.low, "MaxCapacity": bounds.high}),
        (
            "PutScalingPolicy",
            {
                **where,
                "PolicyName": bounds.policy,
                "PolicyType": "TargetTrackingScaling",
                "TargetTrackingScalingPolicyConfiguration": tracking,
            },
        ),
    )


def stop_scaling(table: str, dimension: Dimension) -> Request:
    """Its policies go with the target."""
    return "DeregisterScalableTarget", _scalable(table, dimension)


def _scalable(table: str, dimension: Dimension) -> dict[str, str]:
    index, what = dimension
    return {
        "ServiceNamespace": "dynamodb",
        "ResourceId": resource_id(table, index),
        "ScalableDimension": f"dynamodb:{'index' if index else 'table'}:{what}CapacityUnits",
    }


def _schema(key: Key) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in key]


def _definitions(types: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": letter} for name, letter in types.items()]


def _projection(carried: tuple[str, frozenset[str]]) -> dict[str, Any]:
    kind, names = carried
    return {"ProjectionType": kind, **({"NonKeyAttributes": sorted(names)} if names else {})}


def _stream(view: str | None) -> dict[str, Any]:
    return {"StreamEnabled": True, "StreamViewType": view} if view else {"StreamEnabled": False}
