"""The tables of a deployment as a CloudFormation template.

A table with replicas is an AWS::DynamoDB::GlobalTable. What is protected from deletion is retained when its stack is
deleted. A key of one's own is a parameter of the template. Not in it: vector indexes, which CloudFormation does not
have (`Metadata` names them), and roles, alarms, backups and budget, which `design repository` writes for Terraform.
"""

import re
from collections.abc import Iterator
from typing import Any

from tablewright.design.deployment import Deployment
from tablewright.mapping.deploy.desired import desired_tables
from tablewright.mapping.deploy.states import Key, TableState, Units

_ROLE = (
    "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)


def template(deployment: Deployment) -> dict[str, Any]:
    """The template of every table, the designs' own and those that running them needs."""
    states = desired_tables(deployment)
    environment = deployment.environment
    regions = (environment.region, *environment.replicas)
    made: dict[str, Any] = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"The DynamoDB tables of {deployment.title}",
    }
    vectors = {state.name: list(state.vectors) for state in states if state.vectors}
    if vectors:
        made["Metadata"] = {"VectorIndexesToCreate": vectors}
    if environment.encryption == "customer":
        made["Parameters"] = {
            _key_parameter(region): {"Type": "String", "Description": f"ARN of the KMS key of the tables in {region}"}
            for region in regions
        }  # fmt: skip
    resources = {_identifier(state.name): _resource(deployment, state) for state in states}
    for state in states:
        resources |= dict(_scaling(state))
    outputs = {
        f"{_identifier(state.name)}Arn": {"Value": {"Fn::GetAtt": [_identifier(state.name), "Arn"]}}
        for state in states
    }
    return made | {"Resources": resources, "Outputs": outputs}


def _identifier(name: str) -> str:
    """A logical id: letters and digits."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def _key_parameter(region: str) -> str:
    return f"{_identifier(region)}KeyArn"


def _resource(deployment: Deployment, state: TableState) -> dict[str, Any]:
    policy = "Retain" if state.is_protected else "Delete"
    is_global = bool(state.replicas)
    return {
        "Type": "AWS::DynamoDB::GlobalTable" if is_global else "AWS::DynamoDB::Table",
        "DeletionPolicy": policy,
        "UpdateReplacePolicy": policy,
        "Properties": {
            **_properties(state),
            **(_of_global(deployment, state) if is_global else _of_table(deployment, state)),
        },
    }


def _properties(state: TableState) -> dict[str, Any]:
    """What both kinds of tables have."""
    searched = {name for vector in state.vectors.values() for name in vector.types}
    keys = {*state.types, *(name for index in state.indexes.values() for name in index.types)}
    made: dict[str, Any] = {
        "TableName": state.name,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": letter}
            for name, letter in state.all_types.items()
            if name in keys or name not in searched
        ],
        "KeySchema": _key_schema(state.key),
        "BillingMode": "PROVISIONED" if state.units else "PAY_PER_REQUEST",
    }
    local = [_index(each, None) for each in state.indexes.values() if each.local]
    other = [_index(each, state.units) for each in state.indexes.values() if not each.local]
    made |= {"LocalSecondaryIndexes": local} if local else {}
    made |= {"GlobalSecondaryIndexes": other} if other else {}
    if state.stream:
        made["StreamSpecification"] = {"StreamViewType": state.stream}
    if state.ttl:
        made["TimeToLiveSpecification"] = {"AttributeName": state.ttl, "Enabled": True}
    return made


def _of_table(deployment: Deployment, state: TableState) -> dict[str, Any]:
    made: dict[str, Any] = {"DeletionProtectionEnabled": state.is_protected, **_recovery(state)}
    if state.units:
        made["ProvisionedThroughput"] = _throughput(state.units)
    if state.encryption != "owned":
        made["SSESpecification"] = {"SSEEnabled": True, "SSEType": "KMS"}
    if state.encryption == "customer":
        made["SSESpecification"]["KMSMasterKeyId"] = {"Ref": _key_parameter(deployment.environment.region)}
    return made | ({"Tags": _tags(state)} if state.tags else {})


def _of_global(deployment: Deployment, state: TableState) -> dict[str, Any]:
    replicas = [
        {
            "Region": region,
            "DeletionProtectionEnabled": state.is_protected,
            **_recovery(state),
            **({"SSESpecification": {"KMSMasterKeyId": {"Ref": _key_parameter(region)}}}
               if state.encryption == "customer" else {}),
            **({"Tags": _tags(state)} if state.tags else {}),
        }
        for region in (deployment.environment.region, *sorted(state.replicas))
    ]  # fmt: skip
    encrypted = {"SSESpecification": {"SSEEnabled": True, "SSEType": "KMS"}}
    return {"Replicas": replicas, **(encrypted if state.encryption != "owned" else {})}


def _recovery(state: TableState) -> dict[str, Any]:
    if not state.recovery_days:
        return {}
    setting = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": state.recovery_days}
    return {"PointInTimeRecoverySpecification": setting}


def _index(index: Any, units: Units | None) -> dict[str, Any]:
    kind, names = index.carried
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.key),
        "Projection": {"ProjectionType": kind, **({"NonKeyAttributes": sorted(names)} if names else {})},
        **({"ProvisionedThroughput": _throughput(units)} if units else {}),
    }


def _key_schema(key: Key) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in key]


def _throughput(units: Units) -> dict[str, int]:
    return {"ReadCapacityUnits": units.read, "WriteCapacityUnits": units.write}


def _tags(state: TableState) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in state.tags.items()]


# --- autoscaling ---


def _scaling(state: TableState) -> Iterator[tuple[str, dict[str, Any]]]:
    for (index, what), bounds in (state.scaling or {}).items():
        table = _identifier(state.name)
        name = "".join((table, _identifier(index), what))
        kind = "index" if index else "table"
        target = f"{name}Target"
        yield (
            target,
            {
                "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
                "Properties": {
                    "MinCapacity": bounds.low,
                    "MaxCapacity": bounds.high,
                    "ResourceId": {"Fn::Sub": _resource_id(table, index)},
                    "RoleARN": {"Fn::Sub": _ROLE},
                    "ScalableDimension": f"dynamodb:{kind}:{what}CapacityUnits",
                    "ServiceNamespace": "dynamodb",
                },
            },
        )
        yield (
            f"{name}Policy",
            {
                "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
                "Properties": {
                    "PolicyName": bounds.policy or name,
                    "PolicyType": "TargetTrackingScaling",
                    "ScalingTargetId": {"Ref": target},
                    "TargetTrackingScalingPolicyConfiguration": {
                        "TargetValue": bounds.target,
                        "PredefinedMetricSpecification": {
                            "PredefinedMetricType": f"DynamoDB{what}CapacityUtilization"
                        },
                    },
                },
            },
        )


def _resource_id(table: str, index: str) -> str:
    name = f"table/${{{table}}}"
    return f"{name}/index/{index}" if index else name
