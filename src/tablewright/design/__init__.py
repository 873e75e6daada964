"""The design language: tables, entities, keys, patterns and promises as one value.

A design is written with these names and built once; see the room's README for a tour.
"""

from tablewright.design.design import Design, DesignTable
from tablewright.design.entities import Entity, Readable
from tablewright.design.environments import Alarm, Backups, Budget, Environment, OnDemand, Provisioned
from tablewright.design.facets import (
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
from tablewright.design.mistakes import (
    DesignClosed,
    DesignMistake,
    DesignRefused,
    FieldIsFixed,
    Finding,
    IndexKeyNeedsTheItem,
    KeyPartUnusable,
    MoveNotAllowed,
    NotAPath,
    NotStorable,
    StateNeedsAMove,
    UnknownField,
)
from tablewright.design.parts import normalised
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
from tablewright.design.shape import Shape
from tablewright.design.tables import Index, Keys, Table

__all__ = [
    "Alarm", "Backups", "Budget", "Copy", "Data", "Design", "DesignClosed", "DesignMistake", "DesignRefused",
    "DesignTable", "Entity", "Environment", "Expires", "FieldIsFixed", "Finding", "Get", "GetPattern", "Index",
    "IndexKeyNeedsTheItem", "KeyPartUnusable", "Keys", "Load", "MoveNotAllowed", "NotAPath", "NotStorable",
    "OnDemand", "Pattern", "Plan", "Provisioned", "Query", "Readable", "Refresh", "Retention", "Schema", "Shape",
    "Slot", "SoftDelete", "StateNeedsAMove", "States", "Step", "Table", "Unique", "UnknownField", "Write", "above",
    "absent", "at_least", "at_most", "begins", "begins_with", "below", "between", "contains", "equals", "exists",
    "normalised", "one_of", "size",
]  # fmt: skip
