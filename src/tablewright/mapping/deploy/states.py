"""A table with its settings, as a value: the same for what a design wants and for what is live.

Must hold: `table_state` reads a CreateTable request and a DescribeTable answer alike, so that two equal tables have
equal states, in whatever order the service lists their parts.
Elsewhere: where the states come from (desired.py, live.py), and what makes one of the other (plan.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Key: TypeAlias = tuple[tuple[str, str], ...]
Types: TypeAlias = Mapping[str, str]
What: TypeAlias = Literal["Read", "Write"]
Dimension: TypeAlias = tuple[str, What]  # an index, or "" for the table
DIMENSIONS: tuple[What, ...] = ("Read", "Write")
STANDARD = "STANDARD"


@dataclass(frozen=True, slots=True)
class Units:
    read: int
    write: int

    def __str__(self) -> str:
        return f"{self.read} read and {self.write} write units"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between which units something is scaled, and at what per cent of use. `policy` is the name of the rule."""

    low: int
    high: int
    target: int
    policy: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.low} to {self.high} units at {self.target} %"


@dataclass(frozen=True, slots=True)
class IndexState:
    """A secondary index: its key with the types, and what it carries."""

    name: str
    key: Key
    types: Types
    carried: tuple[str, frozenset[str]]
    local: bool = False
    units: Units | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{_key_text(self.key, self.types)}, {_carried_text(self.carried)}"


@dataclass(frozen=True, slots=True)
class VectorState:
    """A vector index."""

    name: str
    of: str
    dimensions: int
    distance: str
    searched: Key
    types: Types
    carried: tuple[str, frozenset[str]]

    def __str__(self) -> str:
        by = f", by {_key_text(self.searched, self.types)}" if self.searched else ""
        return f"{self.of}, {self.dimensions} dimensions, {self.distance}{by}, {_carried_text(self.carried)}"


@dataclass(frozen=True)
class TableState:
    """A table. `recovery_days` is 0 if recovery is off, None if it is on for a time that the endpoint does not tell.

    `scaling` is None where there is no autoscaling; `unavailable` names settings that the endpoint does not have,
    `extras` those that no design can ask for. `items` and `size` are what the service last counted; `busy` says what
    is not ACTIVE."""

    name: str
    key: Key
    types: Types
    indexes: Mapping[str, IndexState] = field(default_factory=dict)
    vectors: Mapping[str, VectorState] = field(default_factory=dict)
    units: Units | None = None
    stream: str | None = None
    ttl: str | None = None
    recovery_days: int | None = 0
    is_protected: bool = False
    encryption: Literal["owned", "managed", "customer"] = "owned"
    tags: Mapping[str, str] = field(default_factory=dict)
    replicas: frozenset[str] = frozenset()
    scaling: Mapping[Dimension, Bounds] | None = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    unavailable: frozenset[str] = frozenset()
    arn: str = ""
    items: int = 0
    size: int = 0
    busy: str = ""

    @property
    def all_types(self) -> Types:
        """The types of every attribute that is part of a key or searched by."""
        found = dict(self.types)
        for index in self.indexes.values():
            found |= index.types
        for vector in self.vectors.values():
            found |= vector.types
        return found

    @property
    def key_text(self) -> str:
        return _key_text(self.key, self.types)


def table_state(told: Mapping[str, Any]) -> TableState:
    """What a CreateTable request or the answer of DescribeTable says. The rest of the settings are asked for apart."""
    letters = {one["AttributeName"]: one["AttributeType"] for one in told["AttributeDefinitions"]}
    units = _units(told)
    if told.get("BillingModeSummary", told).get("BillingMode") == "PAY_PER_REQUEST":
        units = None
    key = _key(told["KeySchema"])
    stream = told.get("StreamSpecification") or {}
    return TableState(
        told["TableName"],
        key,
        _only(letters, key),
        {index.name: index for index in _indexes(told, letters, is_provisioned=units is not None)},
        {index.name: index for index in _vectors(told, letters)},
        units,
        stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        is_protected=told.get("DeletionProtectionEnabled", False),
        encryption=_encryption(told),
        tags={tag["Key"]: tag["Value"] for tag in told.get("Tags", ())},
        replicas=frozenset(replica["RegionName"] for replica in told.get("Replicas", ())),
        extras=tuple(_extras(told)),
        arn=told.get("TableArn", ""),
        items=told.get("ItemCount", 0),
        size=told.get("TableSizeBytes", 0),
        busy=_busy(told),
    )


def _key(schema: Iterable[Mapping[str, str]]) -> Key:
    """HASH before RANGE; the order counts among several attributes of one half."""
    pairs = [(one["AttributeName"], one["KeyType"]) for one in schema]
    return tuple(sorted(pairs, key=lambda pair: pair[1]))


def _only(letters: Types, key: Key) -> Types:
    return {name: letters[name] for name, _ in key if name in letters}


def _units(told: Mapping[str, Any]) -> Units | None:
    given = told.get("ProvisionedThroughput") or {}
    read, write = given.get("ReadCapacityUnits", 0), given.get("WriteCapacityUnits", 0)
    return Units(read, write) if read or write else None


def _indexes(told: Mapping[str, Any], letters: Types, *, is_provisioned: bool) -> Iterable[IndexState]:
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        is_local = member.startswith("Local")
        for index in told.get(member) or ():
            if index.get("IndexStatus") == "DELETING":
                continue
            key = _key(index["KeySchema"])
            units = _units(index) if is_provisioned and not is_local else None
            carried = _carried(index["Projection"])
            yield IndexState(index["IndexName"], key, _only(letters, key), carried, is_local, units)


def _vectors(told: Mapping[str, Any], letters: Types) -> Iterable[VectorState]:
    for index in told.get("VectorIndexes") or ():
        if index.get("IndexStatus") == "DELETING":
            continue
        schema = index.get("SearchSchema") or ()
        searched = tuple((one["AttributeName"], one["SearchSchemaElementType"]) for one in schema)
        yield VectorState(
            index["IndexName"],
            index["VectorAttribute"]["AttributeName"],
            index["Dimensions"],
            index["DistanceFunction"],
            searched,
            _only(letters, searched),
            _carried(index["Projection"]),
        )


def _carried(projection: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    return projection["ProjectionType"], frozenset(projection.get("NonKeyAttributes") or ())


def _encryption(told: Mapping[str, Any]) -> Literal["owned", "managed"]:
    """An answer does not tell a key of one's own from Amazon's for the account: both are `managed` here."""
    described = told.get("SSEDescription") or {}
    is_on = described.get("Status") in ("ENABLED", "ENABLING", "UPDATING")
    return "managed" if is_on or (told.get("SSESpecification") or {}).get("Enabled") else "owned"


def _extras(told: Mapping[str, Any]) -> Iterable[str]:
    kind = (told.get("TableClassSummary") or {}).get("TableClass", STANDARD)
    if kind != STANDARD:
        yield f"table class {kind}"
    for member, value in (told.get("OnDemandThroughput") or {}).items():
        if value is not None and value >= 0:
            yield f"{member} {value}"


def _busy(told: Mapping[str, Any]) -> str:
    """What is not ACTIVE: `CREATING`, or `UPDATING, index by-age CREATING`; empty when all is."""
    parts = [*(told.get("GlobalSecondaryIndexes") or ()), *(told.get("VectorIndexes") or ())]
    found = {"": told.get("TableStatus", "ACTIVE")}
    found |= {f"index {one['IndexName']} ": one.get("IndexStatus", "ACTIVE") for one in parts}
    return ", ".join(f"{name}{status}" for name, status in found.items() if status != "ACTIVE")


def _key_text(key: Key, types: Types) -> str:
    return " / ".join(f"{name} ({types.get(name, '?')})" for name, _ in key)


def _carried_text(carried: tuple[str, frozenset[str]]) -> str:
    kind, names = carried
    return f"{kind} {', '.join(sorted(names))}" if names else kind
