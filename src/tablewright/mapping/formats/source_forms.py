"""What a file of another tool must have so that its tables can be read; each thing that is wrong, by its place. Pure.

A form is a text, a choice of texts, a list of one form, or an object by names; a name with `!` must be there. What is
not named may be there in any form. Must hold: whatever fits its form can be read without an error of Python's.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tablewright.design.files.errors import WHOLE, DesignFileRefused, Problem

_TEXT = "text"
_LETTERS = ("S", "N", "B")
_ANY_LETTERS = (*_LETTERS, "BOOL", "NULL", "L", "M", "SS", "NS", "BS")
_PROJECTION = {"ProjectionType!": ("ALL", "KEYS_ONLY", "INCLUDE"), "NonKeyAttributes": [_TEXT]}
_KEY = [{"AttributeName!": _TEXT, "KeyType!": ("HASH", "RANGE")}]
_INDEX = {"IndexName!": _TEXT, "KeySchema!": _KEY, "Projection!": _PROJECTION, "ProvisionedThroughput": {}}
_TABLE: Mapping[str, Any] = {
    "TableName": _TEXT,
    "AttributeDefinitions!": [{"AttributeName!": _TEXT, "AttributeType!": _LETTERS}],
    "KeySchema!": _KEY,
    "GlobalSecondaryIndexes": [_INDEX],
    "LocalSecondaryIndexes": [_INDEX],
    "VectorIndexes": [{"IndexName!": _TEXT, "VectorAttribute!": {"AttributeName!": _TEXT}}],
    "Tags": [{"Key!": _TEXT, "Value!": _TEXT}],
    "Replicas": [{}],
    "ProvisionedThroughput": {},
    "StreamSpecification": {},
    "TimeToLiveSpecification": {},
    "SSESpecification": {},
    "PointInTimeRecoverySpecification": {},
    "BillingModeSummary": {},
    "SSEDescription": {},
    "TableClassSummary": {},
    "OnDemandThroughput": {},
}
_HALF = {"AttributeName!": _TEXT, "AttributeType!": _LETTERS}
_HALVES = {"PartitionKey!": _HALF, "SortKey": _HALF}
_WORKBENCH = {
    "DataModel!": [
        {
            "TableName!": _TEXT,
            "KeyAttributes!": _HALVES,
            "NonKeyAttributes": [{"AttributeName!": _TEXT, "AttributeType!": _ANY_LETTERS}],
            "TableFacets": [
                {"FacetName!": _TEXT, "KeyAttributeAlias": {"PartitionKeyAlias": _TEXT, "SortKeyAlias": _TEXT},
                 "NonKeyAttributes": [_TEXT], "TableData": [{}]}
            ],
            "GlobalSecondaryIndexes": [{"IndexName!": _TEXT, "KeyAttributes!": _HALVES, "Projection": _PROJECTION}],
            "TableData": [{}],
            "ProvisionedCapacitySettings": {},
        }
    ]
}  # fmt: skip
_TERRAFORM_KEY = [{"attribute_name!": _TEXT, "key_type!": ("HASH", "RANGE")}]
_TERRAFORM_INDEX = {
    "name!": _TEXT,
    "projection_type!": ("ALL", "KEYS_ONLY", "INCLUDE"),
    "non_key_attributes": [_TEXT],
    "key_schema": _TERRAFORM_KEY,
}
_TERRAFORM: Mapping[str, Any] = {
    "name!": _TEXT,
    "hash_key!": _TEXT,
    "range_key": _TEXT,
    "attribute!": [{"name!": _TEXT, "type!": _LETTERS}],
    "global_secondary_index": [_TERRAFORM_INDEX],
    "local_secondary_index": [_TERRAFORM_INDEX],
    "ttl": [{}],
    "point_in_time_recovery": [{}],
    "server_side_encryption": [{}],
    "replica": [{"region_name!": _TEXT}],
    "tags": {},
}


def refuse_workbench(value: Any, place: str = "") -> None:
    _refuse(value, _WORKBENCH, place)


def refuse_described(value: Any, place: str = "") -> None:
    """A CreateTable request, or the table in the answer of DescribeTable."""
    _refuse(value, {**_TABLE, "TableName!": _TEXT}, place)


def refuse_resources(value: Any, kinds: tuple[str, ...]) -> None:
    """The tables of a CloudFormation template."""
    _refuse(value, {"Resources!": {}}, "")
    for name, resource in value["Resources"].items():
        _refuse(resource, {"Type": _TEXT}, f"Resources.{name}")
        if resource.get("Type") in kinds:
            _refuse(resource, {"Properties!": _TABLE}, f"Resources.{name}")


def refuse_terraform(value: Any, kind: str) -> None:
    """The tables of a state or a plan."""
    if "resources" in value:
        _refuse(value, {"resources": [{"type": _TEXT}]}, "")
        for at, resource in enumerate(value["resources"]):
            if resource.get("type") == kind:
                _refuse(resource, {"instances!": [{"attributes!": _TERRAFORM}]}, f"resources[{at}]")
        return
    for name in ("planned_values", "values"):
        _refuse(value, {name: {"root_module": {}}}, "")
        _refuse_module((value.get(name) or {}).get("root_module") or {}, kind, f"{name}.root_module")


def _refuse_module(module: Any, kind: str, place: str) -> None:
    _refuse(module, {"resources": [{"type!": _TEXT}], "child_modules": [{}]}, place)
    for at, resource in enumerate(module.get("resources") or ()):
        if resource["type"] == kind:
            _refuse(resource, {"values!": _TERRAFORM}, f"{place}.resources[{at}]")
    for at, child in enumerate(module.get("child_modules") or ()):
        _refuse_module(child, kind, f"{place}.child_modules[{at}]")


def _refuse(value: Any, form: Any, place: str) -> None:
    found = list(_problems(value, form, place))
    if found:
        raise DesignFileRefused(found)


def _problems(value: Any, form: Any, place: str) -> Iterator[Problem]:
    if isinstance(value, dict) and _is_function(value):
        return  # of a template; what it returns is not known here
    if isinstance(form, dict):
        yield from _in_object(value, form, place)
    elif isinstance(form, list):
        if not isinstance(value, list):
            yield Problem(place or WHOLE, f"is a list, not {_kind(value)}; write it as the tool does: [...]")
            return
        for at, each in enumerate(value):
            yield from _problems(each, form[0], f"{place}[{at}]")
    elif not isinstance(value, str):
        yield Problem(place, f"is text, not {_kind(value)}; write it in quotes")
    elif form != _TEXT and value not in form:
        yield Problem(place, f"is one of {', '.join(form)}, not {value!r}")


def _in_object(value: Any, form: Mapping[str, Any], place: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem(place or WHOLE, f"is an object, not {_kind(value)}; write it as the tool does: {{...}}")
        return
    for marked, inner in form.items():
        name = marked.removesuffix("!")
        here = f"{place}.{name}" if place else name
        if value.get(name) is not None:
            yield from _problems(value[name], inner, here)
        elif marked != name:
            yield Problem(here, "is missing; add it, or export the file again")


def _is_function(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and (next(iter(value)) == "Ref" or next(iter(value)).startswith("Fn::"))


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
