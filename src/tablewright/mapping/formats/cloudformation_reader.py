"""Tables in a CloudFormation template: AWS::DynamoDB::Table and AWS::DynamoDB::GlobalTable.

Parameters have their defaults: `Ref`, `Fn::Sub` and `Fn::FindInMap` of them are resolved, `Fn::Join` of what is, and
`Fn::If` by the template's conditions. Any other function, or a parameter without a default, leaves its property out,
and a note names it; a table without a name is called by its logical id. Autoscaling of AWS::DynamoDB::Table (separate
resources) is not read.
Elsewhere: the functions (cloudformation_functions.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from tablewright.mapping.deploy.states import table_state
from tablewright.mapping.formats.cloudformation_functions import Template, resolved, template_of
from tablewright.mapping.formats.imported_environment import MOST_RECOVERY_DAYS
from tablewright.mapping.formats.imported_tables import ImportedTable

KINDS = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")


def read_tag(tag: str, value: Any) -> Any:
    """What a tag of YAML is in JSON: `!Ref a` is {"Ref": "a"}."""
    if tag in ("Ref", "Condition"):
        return {tag: value}
    if tag == "GetAtt" and isinstance(value, str):
        return {"Fn::GetAtt": value.split(".", 1)}
    return {f"Fn::{tag}": value}


def cloudformation_tables(template: Mapping[str, Any]) -> Iterator[ImportedTable]:
    known = template_of(template)
    for logical, resource in template["Resources"].items():
        if resource.get("Type") in KINDS:
            yield _table(logical, resource, known)


def _table(logical: str, resource: Mapping[str, Any], template: Template) -> ImportedTable:
    notes: list[str] = []
    said = resolved(resource["Properties"], template, logical, notes)
    is_global = resource["Type"] == KINDS[1]
    replicas = said.get("Replicas") or []
    home: dict[str, Any] = replicas[0] if is_global and replicas else said
    told = {
        **said,
        "ProvisionedThroughput": _units(said),
        "GlobalSecondaryIndexes": [
            {**each, "ProvisionedThroughput": _units(each)}
            for each in said.get("GlobalSecondaryIndexes") or ()
        ],
        "TableName": said.get("TableName") or logical,
        "Replicas": [{"RegionName": each["Region"]} for each in replicas[1:] if "Region" in each],
        "StreamSpecification": _stream(said),
        "DeletionProtectionEnabled": _is_true(home.get("DeletionProtectionEnabled")),
        "Tags": home.get("Tags") or [],
        "SSESpecification": {},
    }
    if said.get("BillingMode") != "PAY_PER_REQUEST" and is_global:
        notes.append(f"{logical}: the units of a global table are not read; state its capacity.")
    if "TableName" not in said:
        notes.append(f"{logical}: it has no fixed name; it is called by its logical id.")
    if said.get("TableClass", "STANDARD") != "STANDARD":
        notes.append(f"{logical}: table class {said['TableClass']} is not part of a design.")
    ttl = said.get("TimeToLiveSpecification") or {}
    state = replace(
        table_state(told),
        ttl=ttl.get("AttributeName") if _is_true(ttl.get("Enabled")) else None,
        recovery_days=_recovery(home),
        encryption=_encryption(said),
    )
    region = home.get("Region", "") if is_global else ""
    return ImportedTable(state, region=region, notes=tuple(notes))


def _is_true(value: Any) -> bool:
    """Templates write truths as texts, too."""
    return value is True or str(value).lower() == "true"


def _units(said: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(value) for name, value in (said.get("ProvisionedThroughput") or {}).items()}


def _stream(said: Mapping[str, Any]) -> dict[str, Any]:
    """A template has a stream if it names its view."""
    view = (said.get("StreamSpecification") or {}).get("StreamViewType")
    return {"StreamEnabled": view is not None, "StreamViewType": view}


def _recovery(said: Mapping[str, Any]) -> int:
    found = said.get("PointInTimeRecoverySpecification") or {}
    if not _is_true(found.get("PointInTimeRecoveryEnabled")):
        return 0
    return int(found.get("RecoveryPeriodInDays") or MOST_RECOVERY_DAYS)


def _encryption(said: Mapping[str, Any]) -> Literal["owned", "managed", "customer"]:
    found = said.get("SSESpecification") or {}
    if not _is_true(found.get("SSEEnabled")):
        return "owned"
    return "customer" if "KMSMasterKeyId" in found else "managed"
