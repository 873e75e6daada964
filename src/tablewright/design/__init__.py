"""The design language: tables, entities, keys, access patterns and guarantees as one value.

A design is written with these names and built once; see README.md for a tour.
"""

from tablewright.design.alarms import Alarm
from tablewright.design.design import Design, DesignTable
from tablewright.design.entities import Entity, Readable
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.environments import (
    Backups,
    Budget,
    Environment,
    ObjectBucket,
    OnDemand,
    Provisioned,
)
from tablewright.design.errors import (
    DesignClosed,
    DesignMistake,
    DesignRefused,
    FieldIsFixed,
    Finding,
    IndexKeyNeedsTheItem,
    KeyPartUnusable,
    KeyTextUnusable,
    MoveNotAllowed,
    NotAPath,
    NotStorable,
    StateNeedsAMove,
    UnknownField,
    VectorMisfit,
)
from tablewright.design.key_codecs import normalised
from tablewright.design.large import Large
from tablewright.design.paths import absent, begins_with, contains, exists, one_of, size
from tablewright.design.patterns import (
    GetPattern,
    Pattern,
    Plan,
    above,
    at_least,
    at_most,
    begins,
    below,
    between,
    equals,
)
from tablewright.design.requests import Get, Query, Slot, Step, Write
from tablewright.design.tables import Index, Keys, Table
from tablewright.design.traits import (
    Copy,
    Data,
    Expires,
    Load,
    Refresh,
    Retention,
    Schema,
    SoftDelete,
    States,
    Unique,
)
from tablewright.design.vectors import Search, SearchPattern, SearchPlan, VectorIndex

__all__ = [
    "Alarm", "Backups", "Budget", "Copy", "Data", "Design", "DesignClosed", "DesignMistake", "DesignRefused",
    "DesignTable", "Entity", "EntitySpec", "Environment", "Expires", "FieldIsFixed", "Finding", "Get",
    "GetPattern", "Index", "IndexKeyNeedsTheItem", "KeyPartUnusable", "KeyTextUnusable", "Keys", "Large", "Load",
    "MoveNotAllowed", "NotAPath", "NotStorable", "ObjectBucket", "OnDemand", "Pattern", "Plan", "Provisioned", "Query",
    "Readable", "Refresh", "Retention", "Schema", "Search", "SearchPattern", "SearchPlan", "Slot",
    "SoftDelete", "StateNeedsAMove", "States", "Step", "Table", "Unique", "UnknownField", "VectorIndex",
    "VectorMisfit", "Write", "above", "absent", "at_least", "at_most", "begins", "begins_with", "below",
    "between", "contains", "equals", "exists", "normalised", "one_of", "size",
]  # fmt: skip
