"""Tables in Terraform's JSON: `terraform show -json` of a state or a plan, and a state file of version 4.

Autoscaling (aws_appautoscaling_target) is not read. What a plan does not know yet is absent in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from tablewright.mapping.deploy.states import table_state
from tablewright.mapping.formats.imported_environment import MOST_RECOVERY_DAYS
from tablewright.mapping.formats.imported_tables import ImportedTable

KIND = "aws_dynamodb_table"


def is_terraform(value: Mapping[str, Any]) -> bool:
    return "planned_values" in value or "terraform_version" in value


def terraform_tables(value: Mapping[str, Any]) -> Iterator[ImportedTable]:
    for resource in _resources(value):
        yield _table(resource)


def _resources(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The attributes of every table."""
    if "resources" in value:
        for resource in value["resources"]:
            if resource.get("type") == KIND and resource.get("mode", "managed") == "managed":
                yield from (instance["attributes"] for instance in resource["instances"])
        return
    values = value.get("planned_values") or value.get("values") or {}
    yield from _of_module(values.get("root_module") or {})


def _of_module(module: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in module.get("resources") or ():
        if resource["type"] == KIND and resource.get("mode", "managed") == "managed":
            yield resource["values"]
    for child in module.get("child_modules") or ():
        yield from _of_module(child)


def _table(said: Mapping[str, Any]) -> ImportedTable:
    name = said["name"]
    told: dict[str, Any] = {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": each["name"], "AttributeType": each["type"]} for each in said["attribute"]
        ],
        "KeySchema": _key_schema(said),
        "GlobalSecondaryIndexes": [_index(each) for each in said.get("global_secondary_index") or ()],
        "LocalSecondaryIndexes": [
            _index({"hash_key": said["hash_key"], **each}) for each in said.get("local_secondary_index") or ()
        ],
        "StreamSpecification": {
            "StreamEnabled": bool(said.get("stream_enabled")), "StreamViewType": said.get("stream_view_type") or None
        },
        "DeletionProtectionEnabled": bool(said.get("deletion_protection_enabled")),
        "Replicas": [{"RegionName": each["region_name"]} for each in said.get("replica") or ()],
        "Tags": [{"Key": key, "Value": text} for key, text in _tags(said).items()],
    }  # fmt: skip
    if said.get("billing_mode") == "PAY_PER_REQUEST":
        told["BillingMode"] = "PAY_PER_REQUEST"
    else:
        told["ProvisionedThroughput"] = _units(said)
    ttl: Mapping[str, Any] = next((each for each in said.get("ttl") or () if each.get("enabled")), {})
    state = replace(
        table_state(told),
        ttl=ttl.get("attribute_name") or None,
        recovery_days=_recovery(said),
        encryption=_encryption(said),
    )
    arn = said.get("arn") or ""
    region = said.get("region") or (arn.split(":")[3] if arn.count(":") >= 5 else "")
    return ImportedTable(state, region=region)


def _tags(said: Mapping[str, Any]) -> Mapping[str, str]:
    """With the default tags of the provider, which only `tags_all` has."""
    return said.get("tags_all") or said.get("tags") or {}


def _units(said: Mapping[str, Any]) -> dict[str, int]:
    return {
        "ReadCapacityUnits": said.get("read_capacity") or 0,
        "WriteCapacityUnits": said.get("write_capacity") or 0,
    }


def _key_schema(said: Mapping[str, Any]) -> list[dict[str, str]]:
    """A key by its two names, or as newer providers list it."""
    if said.get("key_schema"):
        return [
            {"AttributeName": each["attribute_name"], "KeyType": each["key_type"]}
            for each in said["key_schema"]
        ]
    halves = (("HASH", said.get("hash_key")), ("RANGE", said.get("range_key")))
    return [{"AttributeName": name, "KeyType": kind} for kind, name in halves if name]


def _index(said: Mapping[str, Any]) -> dict[str, Any]:
    names = sorted(said.get("non_key_attributes") or ())
    return {
        "IndexName": said["name"],
        "KeySchema": _key_schema(said),
        "Projection": {"ProjectionType": said["projection_type"], "NonKeyAttributes": names},
        "ProvisionedThroughput": _units(said),
    }


def _recovery(said: Mapping[str, Any]) -> int:
    found = next((each for each in said.get("point_in_time_recovery") or () if each.get("enabled")), None)
    return 0 if found is None else found.get("recovery_period_in_days") or MOST_RECOVERY_DAYS


def _encryption(said: Mapping[str, Any]) -> Literal["owned", "managed", "customer"]:
    found = next((each for each in said.get("server_side_encryption") or () if each.get("enabled")), None)
    if found is None:
        return "owned"
    return "customer" if found.get("kms_key_arn") else "managed"
