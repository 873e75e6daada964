"""A design as a model of NoSQL Workbench: the JSON it imports (version 3.0 of its format).

A facet for each entity shows the templates of its keys. The format has no local indexes, vector indexes, TTL, streams
or keys of several attributes; they are left out, and `left_out` names them.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from tablewright.design import Design, EntitySpec, Environment, Index, Table
from tablewright.design.environments import Provisioned
from tablewright.design.table_spec import key_types, projection

_ROLE = "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"


def workbench_model(design: Design, at: datetime, environment: Environment | None = None) -> dict[str, Any]:
    """The model of a design, made at this time."""
    moment = f"{at:%b %d, %Y, %I:%M %p}"
    return {
        "ModelName": design.name,
        "ModelMetadata": {
            "Author": "",
            "DateCreated": moment,
            "DateLastModified": moment,
            "Description": design.about,
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [_table(design, table, environment) for table in design.tables.values()],
    }


def left_out(design: Design) -> list[str]:
    """What of a design the format does not have."""
    return list(_left_out(design))


def _left_out(design: Design) -> Iterator[str]:
    for table in design.tables.values():
        yield from (
            f"{table.name}: {what}" for what in (table.ttl and "TTL", table.stream and "stream") if what
        )
    for index in design.indexes:
        if index.local:
            yield f"{index.table.name}: local index {index.name}"
        elif not _is_single(index):
            yield f"{index.table.name}: index {index.name}, whose key has several attributes in one half"
    yield from (f"{index.table.name}: vector index {index.name}" for index in design.vectors)


def _is_single(index: Index) -> bool:
    return len(index.pk) == 1 and len(index.sk) <= 1


def _table(design: Design, table: Table, environment: Environment | None) -> dict[str, Any]:
    shapes = [shape for shape in design.shapes if shape.table == table]
    every = [index for index in design.indexes if index.table == table]
    letters = key_types(table, every, shapes)
    shown = [index for index in every if not index.local and _is_single(index)]
    return {
        "TableName": environment.physical(table.name) if environment else table.name,
        "KeyAttributes": _key(table.pk, table.sk, letters),
        "NonKeyAttributes": [
            {"AttributeName": name, "AttributeType": letter}
            for name, letter in _attributes(shapes, letters).items()
            if name not in table.key_names
        ],
        "TableFacets": [_facet(shape) for shape in shapes],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index.name,
                "KeyAttributes": _key(index.pk[0], index.sk[0] if index.sk else None, letters),
                "Projection": _projection(index, shapes),
            }
            for index in shown
        ],
        "TableData": [],
        "DataAccess": {"MySql": {}},
        **_capacity(table, environment),
    }


def _key(pk: str, sk: str | None, letters: dict[str, str]) -> dict[str, Any]:
    halves = (("PartitionKey", pk), ("SortKey", sk))
    return {
        half: {"AttributeName": name, "AttributeType": letters[name]}
        for half, name in halves
        if name is not None
    }


def _attributes(shapes: Sequence[EntitySpec], letters: dict[str, str]) -> dict[str, str]:
    """Every attribute of the table with its type, the keys of indexes and what is derived among them."""
    found = dict(letters)
    for shape in shapes:
        for name, attribute in shape.stored.items():
            found.setdefault(name, attribute.kind.letter)
        for name in shape.derivations:
            found.setdefault(name, "S")
        if shape.expires and shape.table.ttl:
            found.setdefault(shape.table.ttl, "N")
    return found


def _facet(shape: EntitySpec) -> dict[str, Any]:
    keys = set(shape.table.key_names)
    names = dict.fromkeys((*shape.stored, *shape.derivations))
    return {
        "FacetName": shape.tag,
        "KeyAttributeAlias": {
            "PartitionKeyAlias": shape.pk.text,
            **({"SortKeyAlias": shape.sk.text} if shape.sk else {}),
        },
        "TableData": [],
        "NonKeyAttributes": [name for name in names if name not in keys],
        "DataAccess": {"MySql": {}},
    }


def _projection(index: Index, shapes: Sequence[EntitySpec]) -> dict[str, Any]:
    kind, listed = projection(index, shapes)
    return {"ProjectionType": kind, **({"NonKeyAttributes": listed} if listed else {})}


def _capacity(table: Table, environment: Environment | None) -> dict[str, Any]:
    units = environment.capacity_of(table.name) if environment else None
    if not isinstance(units, Provisioned):
        return {"BillingMode": "PAY_PER_REQUEST"}
    settings: dict[str, Any] = {
        "ProvisionedThroughput": {"ReadCapacityUnits": units.read, "WriteCapacityUnits": units.write}
    }
    for what, low, high in (("Read", units.read, units.max_read), ("Write", units.write, units.max_write)):
        if high:
            settings[f"AutoScaling{what}"] = {
                "ScalableTargetRequest": {"MinCapacity": low, "MaxCapacity": high, "ServiceRole": _ROLE},
                "ScalingPolicyConfiguration": {"TargetValue": units.target},
            }
    return {"BillingMode": "PROVISIONED", "ProvisionedCapacitySettings": settings}
