"""The rules for definitions of tables and indexes, checked in the service's order and with its messages.

Elsewhere: lengths, enums and required members (the shapes); defined tables (catalog.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tablewright.engine.api.common_members import FLAG, INDEX_NAME
from tablewright.engine.api.shapes import ListOf, Request, Struct, Text, Whole
from tablewright.engine.catalog import Index, KeySchema, Table, Throughput, warm_units
from tablewright.engine.errors import invalid, invalid_parameter
from tablewright.engine.limits import (
    GLOBAL_HASH_KEYS,
    GLOBAL_INDEXES,
    GLOBAL_RANGE_KEYS,
    LOCAL_INDEXES,
    PROJECTED_ATTRIBUTES,
    THROUGHPUT_UNITS,
)

Owner = TypeVar("Owner", Table, Index)

KEY_NAME = Text(1, 255)
ATTRIBUTE_DEFINITIONS = ListOf(
    Struct(
        "AttributeDefinition",
        {"AttributeName": KEY_NAME, "AttributeType": Text(one_of=("B", "N", "S"))},
        required=("AttributeName", "AttributeType"),
    )
)
_KEY_ELEMENT = Struct(
    "KeySchemaElement",
    {"AttributeName": KEY_NAME, "KeyType": Text(one_of=("HASH", "RANGE"))},
    required=("AttributeName", "KeyType"),
)
KEY_SCHEMA = ListOf(_KEY_ELEMENT, least=1, most=2)
GLOBAL_KEY_SCHEMA = ListOf(_KEY_ELEMENT, least=1)
PROJECTION = Struct(
    "Projection",
    {
        "ProjectionType": Text(one_of=("ALL", "INCLUDE", "KEYS_ONLY")),
        "NonKeyAttributes": ListOf(Text(1, 255), least=1),
    },
)
_UNITS = Whole(least=1, java="Long")
PROVISIONED = Struct(
    "ProvisionedThroughput",
    {"ReadCapacityUnits": _UNITS, "WriteCapacityUnits": _UNITS},
    required=("ReadCapacityUnits", "WriteCapacityUnits"),
)
_ANY_UNITS = Whole(java="Long")
ON_DEMAND = Struct(
    "OnDemandThroughput", {"MaxReadRequestUnits": _ANY_UNITS, "MaxWriteRequestUnits": _ANY_UNITS}
)
WARM = Struct("WarmThroughput", {"ReadUnitsPerSecond": _ANY_UNITS, "WriteUnitsPerSecond": _ANY_UNITS})
BILLING_MODE = Text(one_of=("PROVISIONED", "PAY_PER_REQUEST"))
TABLE_CLASSES = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")
STREAM = Struct(
    "StreamSpecification",
    {
        "StreamEnabled": FLAG,
        "StreamViewType": Text(one_of=("NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY")),
    },
    required=("StreamEnabled",),
)
ENCRYPTION = Struct(
    "SSESpecification",
    {"Enabled": FLAG, "SSEType": Text(one_of=("AES256", "KMS")), "KMSMasterKeyId": Text(1, 2048)},
)
GLOBAL_INDEX = Struct(
    "GlobalSecondaryIndex",
    {
        "IndexName": INDEX_NAME,
        "KeySchema": GLOBAL_KEY_SCHEMA,
        "Projection": PROJECTION,
        "ProvisionedThroughput": PROVISIONED,
        "OnDemandThroughput": ON_DEMAND,
        "WarmThroughput": WARM,
    },
    required=("IndexName", "KeySchema", "Projection"),
)
LOCAL_INDEX = Struct(
    "LocalSecondaryIndex",
    {"IndexName": INDEX_NAME, "KeySchema": KEY_SCHEMA, "Projection": PROJECTION},
    required=("IndexName", "KeySchema", "Projection"),
)

SAME_NAME = "Both the Hash Key and the Range Key element in the KeySchema have the same name"

# --- settings ---


def check_billing(mode: str, units: Request | None) -> None:
    if mode == "PAY_PER_REQUEST" and units is not None:
        raise invalid_parameter(
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
        )
    if mode == "PROVISIONED" and units is None:
        raise invalid_parameter(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        )


def throughput(units: Request | None, index: str | None = None) -> Throughput:
    if units is None:
        return Throughput()
    for member in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if units[member] > THROUGHPUT_UNITS:
            where = f" for index {index}" if index is not None else ""
            raise invalid(f"Given value {units[member]} for {member} is out of bounds{where}")
    return Throughput(int(units["ReadCapacityUnits"]), int(units["WriteCapacityUnits"]))


def _units_of(asked: Request, shape: Struct) -> dict[str, int]:
    return {member: int(asked[member]) for member in shape.members if asked.get(member) is not None}


def ceilings(asked: Request | None, mode: str, owner: str) -> dict[str, int] | None:
    """The requested OnDemandThroughput; only a PAY_PER_REQUEST table has ceilings."""
    if asked is None:
        return None
    given = _units_of(asked, ON_DEMAND)
    for member, value in given.items():
        if mode != "PAY_PER_REQUEST":
            raise invalid_parameter(
                f"{member} for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"
            )
        if value < 1 and value != -1:
            raise invalid_parameter(
                f"Requested {member} for OnDemandThroughput for {owner} is outside of valid range"
            )
    return given


def merged_ceilings(now: Mapping[str, int] | None, asked: Mapping[str, int] | None) -> dict[str, int] | None:
    """The current ceilings with the requested changes; -1 removes a ceiling."""
    merged = {**(now or {}), **(asked or {})}
    return {member: value for member, value in merged.items() if value != -1} or None


def with_warm(table: Table, owner: Owner, asked: Request | None) -> Owner:
    """The table or index with the requested increases of its WarmThroughput; it cannot decrease."""
    if asked is None:
        return owner
    now, given = warm_units(table, owner), _units_of(asked, WARM)
    for member, value in given.items():
        if value < now[member]:
            name = f"index {owner.name}" if isinstance(owner, Index) else "table"
            raise invalid_parameter(
                f"Requested {member} for WarmThroughput for {name} is lower than current WarmThroughput, "
                "decreasing WarmThroughput is not supported"
            )
    return replace(owner, warm={**now, **given})


NEW_STREAM = (
    "Table is being created with a stream enabled, UpdateViewType is required",
    "Table is being created with a stream disabled, UpdateViewType should not be specified",
)
STREAM_CHANGE = (
    "If stream is being enabled then UpdateViewType is required",
    "If stream is being disabled, then UpdateViewType must not be specified",
)


def stream_view(asked: Request | None, rules: tuple[str, str]) -> str | None:
    """The requested view type; None for no stream."""
    if asked is None:
        return None
    view: str | None = asked.get("StreamViewType")
    if asked["StreamEnabled"] == (view is None):
        raise invalid_parameter(rules[view is not None])
    return view


def table_class(asked: str | None) -> str | None:
    if asked is not None and asked not in TABLE_CLASSES:
        raise invalid(
            "Invalid table-class parameter provided. "
            f"Please try again with a valid table-class value: [{', '.join(TABLE_CLASSES)}]."
        )
    return asked


# --- keys ---


def attribute_types(definitions: Sequence[Request] | None) -> dict[str, str]:
    types: dict[str, str] = {}
    for one in definitions or ():
        name = one["AttributeName"]
        if name in types:
            raise invalid(f"Attribute Name is duplicated: {name}")
        types[name] = one["AttributeType"]
    return types


def table_schema(elements: Sequence[Request], types: Mapping[str, str]) -> KeySchema:
    names = [one["AttributeName"] for one in elements]
    if len(names) > 1 and (len(types) < len(names) or any(name not in types for name in names)):
        raise invalid("Invalid KeySchema: Some index key attribute have no definition")
    _refuse_undefined(names, types)
    return _hash_then_range(elements)


def _refuse_undefined(names: Sequence[str], types: Mapping[str, str]) -> None:
    if any(name not in types for name in names):
        raise invalid_parameter(
            "Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: [{', '.join(names)}], AttributeDefinitions: [{', '.join(types)}]"
        )


def _hash_then_range(elements: Sequence[Request]) -> KeySchema:
    if elements[0]["KeyType"] != "HASH":
        raise invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(elements) > 1 and elements[1]["KeyType"] != "RANGE":
        raise invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
    names = [one["AttributeName"] for one in elements]
    if len(set(names)) < len(names):
        raise invalid(SAME_NAME)
    return KeySchema(tuple(names[:1]), tuple(names[1:]))


def refuse_local_on_hash(asked: Sequence[Request] | None, schema: KeySchema) -> None:
    if asked and not schema.range:
        raise invalid_parameter(
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
        )


def refuse_repeated(asked: Sequence[Request]) -> None:
    """Refuse an index whose key schema names an attribute twice; the service finds this before unused definitions."""
    for index in asked:
        names = [element["AttributeName"] for element in index["KeySchema"]]
        if len(set(names)) < len(names):
            raise invalid(SAME_NAME)


def refuse_unused(
    types: Mapping[str, str], schema: KeySchema, asked: Sequence[Request], searched: Sequence[str] = ()
) -> None:
    """Refuse AttributeDefinitions that are not a key attribute of the table or of a requested index.

    `searched` are the attributes of requested vector indexes.
    """
    of_indexes = (element["AttributeName"] for index in asked for element in index["KeySchema"])
    used = list(dict.fromkeys([*schema.names, *of_indexes, *searched]))
    if all(name in used for name in types):
        return
    if not asked and not searched:
        raise invalid_parameter(
            "Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )
    raise invalid_parameter(
        "Some AttributeDefinitions are not used. "
        f"AttributeDefinitions: [{', '.join(types)}], keys used: [{', '.join(used)}]"
    )


# --- indexes ---


def local_indexes(asked: Sequence[Request] | None, table: KeySchema, types: Mapping[str, str]) -> list[Index]:
    if asked is None:
        return []
    if not asked:
        raise invalid_parameter("List of LocalSecondaryIndexes is empty")
    indexes = [_local_index(number, one, table, types) for number, one in enumerate(asked, 1)]
    if len(indexes) > LOCAL_INDEXES:
        raise invalid_parameter(f"Number of LocalSecondaryIndexes exceeds per-table limit of {LOCAL_INDEXES}")
    return indexes


def _local_index(number: int, asked: Request, table: KeySchema, types: Mapping[str, str]) -> Index:
    name = asked["IndexName"]
    elements = asked["KeySchema"]
    _refuse_undefined([one["AttributeName"] for one in elements], types)
    schema = _hash_then_range(elements)
    if not schema.range:
        raise invalid_parameter(f"Index KeySchema does not have a range key for index: {name}")
    if schema.hash != table.hash:
        raise invalid_parameter(
            f"Index KeySchema does not have the same leading hash key as table KeySchema for index: {name}. "
            f"index hash key: {schema.hash[0]}, table hash key: {table.hash[0]}"
        )
    return Index(number, name, schema, True, *projection(asked["Projection"]))


def global_indexes(
    asked: Sequence[Request] | None, first_number: int, types: Mapping[str, str], mode: str
) -> list[Index]:
    if asked is None:
        return []
    if not asked:
        raise invalid_parameter("List of GlobalSecondaryIndexes is empty")
    indexes = [global_index(one, number, types, mode) for number, one in enumerate(asked, first_number)]
    refuse_many(indexes)
    return indexes


def refuse_many(indexes: Sequence[Index]) -> None:
    if sum(not index.local for index in indexes) > GLOBAL_INDEXES:
        raise invalid_parameter(f"GlobalSecondaryIndex count exceeds the per-table limit of {GLOBAL_INDEXES}")


def global_index(asked: Request, number: int, types: Mapping[str, str], mode: str) -> Index:
    name = asked["IndexName"]
    schema = _global_schema(asked["KeySchema"], types)
    kind, included = projection(asked["Projection"])
    units = asked.get("ProvisionedThroughput")
    if mode == "PAY_PER_REQUEST" and units is not None:
        raise invalid_parameter(
            f"ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"
        )
    if mode == "PROVISIONED" and units is None:
        raise invalid_parameter(f"ProvisionedThroughput is not specified for index: {name}")
    return Index(
        number,
        name,
        schema,
        False,
        kind,
        included,
        throughput=throughput(units, name),
        on_demand=merged_ceilings(None, ceilings(asked.get("OnDemandThroughput"), mode, f"index {name}")),
    )


def _global_schema(elements: Sequence[Request], types: Mapping[str, str]) -> KeySchema:
    """One HASH and at most one RANGE attribute, or up to four of each."""
    _refuse_undefined([one["AttributeName"] for one in elements], types)
    kinds = [one["KeyType"] for one in elements]
    names = [one["AttributeName"] for one in elements]
    if kinds[0] != "HASH":
        raise invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(set(names)) != len(names):
        raise invalid(SAME_NAME)
    hashes = kinds.count("HASH")
    if kinds != ["HASH"] * hashes + ["RANGE"] * (len(kinds) - hashes):
        raise invalid_parameter("All HASH key attributes must precede RANGE key attributes in the KeySchema")
    if hashes > GLOBAL_HASH_KEYS:
        raise invalid_parameter("The KeySchema exceeds the maximum allowed number of HASH key attributes")
    if len(kinds) - hashes > GLOBAL_RANGE_KEYS:
        raise invalid_parameter("The KeySchema exceeds the maximum allowed number of RANGE key attributes")
    return KeySchema(tuple(names[:hashes]), tuple(names[hashes:]))


def projection(asked: Request) -> tuple[str, tuple[str, ...]]:
    kind: str | None = asked.get("ProjectionType")
    names: list[str] | None = asked.get("NonKeyAttributes")
    if kind is None:
        raise invalid_parameter("Unknown ProjectionType: null")
    if kind == "INCLUDE" and names is None:
        raise invalid_parameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind != "INCLUDE" and names is not None:
        raise invalid_parameter(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    names = names or []
    for place, name in enumerate(names):
        if name in names[:place]:
            raise invalid_parameter(f"Duplicate element in NonKeyAttributes: {name}")
    return kind, tuple(names)


def refuse_clashes(indexes: Sequence[Index]) -> None:
    """Check the rules over all indexes of a table together."""
    names: set[str] = set()
    for index in indexes:
        if index.name in names:
            raise invalid_parameter(f"Duplicate index name: {index.name}")
        names.add(index.name)
    projected = sum(len(index.included) for index in indexes)
    if projected > PROJECTED_ATTRIBUTES:
        raise invalid_parameter(
            f"Number of attributes projected into all secondary indexes ({projected}) "
            f"exceeds the per-table limit of {PROJECTED_ATTRIBUTES}"
        )
