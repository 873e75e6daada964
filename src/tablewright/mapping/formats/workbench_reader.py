"""A model of NoSQL Workbench (the JSON it exports, versions 2 and 3) as tables.

Elsewhere: facets and sample items as entities (workbench_facets.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tablewright.mapping.deploy.states import Bounds, Dimension, What, table_state
from tablewright.mapping.formats.imported_tables import ImportedTable
from tablewright.mapping.formats.workbench_facets import facet_entities, sampled_attributes


def workbench_tables(model: Mapping[str, Any]) -> Iterator[ImportedTable]:
    for table in model["DataModel"]:
        yield _table(table)


def _table(said: Mapping[str, Any]) -> ImportedTable:
    letters = dict(_letters(said["KeyAttributes"]))
    known = {each["AttributeName"]: each["AttributeType"] for each in said.get("NonKeyAttributes") or ()}
    entities, notes = facet_entities(said)
    indexes = said.get("GlobalSecondaryIndexes") or ()
    for index in indexes:
        letters |= dict(_letters(index["KeyAttributes"]))
    told: dict[str, Any] = {
        "TableName": said["TableName"],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": letter} for name, letter in letters.items()
        ],
        "KeySchema": _key_schema(said["KeyAttributes"]),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index["IndexName"],
                "KeySchema": _key_schema(index["KeyAttributes"]),
                "Projection": index.get("Projection") or {"ProjectionType": "ALL"},
            }
            for index in indexes
        ],
    }
    settings = said.get("ProvisionedCapacitySettings") or {}
    if said.get("BillingMode") == "PROVISIONED":
        told["ProvisionedThroughput"] = settings.get("ProvisionedThroughput", {})
    else:
        told["BillingMode"] = "PAY_PER_REQUEST"
    state = replace(table_state(told), scaling=dict(_scaling(settings)))
    listed = {each.name for entity in entities for each in entity.attributes}
    attributes = [
        each
        for each in sampled_attributes(known, said.get("TableData") or ())
        if each.name not in listed and each.name not in state.types
    ]
    return ImportedTable(
        state,
        attributes=tuple(attributes),
        entities=tuple(entities),
        notes=tuple(notes),
        says_protection=False,
    )


def _halves(key: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for name, kind in (("PartitionKey", "HASH"), ("SortKey", "RANGE")):
        if key.get(name):
            yield kind, key[name]


def _letters(key: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((part["AttributeName"], part["AttributeType"]) for _, part in _halves(key))


def _key_schema(key: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"AttributeName": part["AttributeName"], "KeyType": kind} for kind, part in _halves(key)]


def _scaling(settings: Mapping[str, Any]) -> Iterator[tuple[Dimension, Bounds]]:
    kinds: tuple[What, ...] = ("Read", "Write")
    for kind in kinds:
        said = settings.get(f"AutoScaling{kind}") or {}
        target = said.get("ScalableTargetRequest")
        if target:
            goal = (said.get("ScalingPolicyConfiguration") or {}).get("TargetValue", 70)
            yield ("", kind), Bounds(target["MinCapacity"], target["MaxCapacity"], int(goal))
