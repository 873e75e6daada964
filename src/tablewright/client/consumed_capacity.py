"""The ConsumedCapacity of an answer as values that can be added.

The service distinguishes read and write units only in transactions; elsewhere the verb decides.
Must hold: no member is counted twice; `read` and `write` include what the indexes used.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_READS = frozenset(("BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"))
_WRITES = frozenset(("BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"))


@dataclass(frozen=True, slots=True)
class IndexUnits:
    """Units used of one index."""

    read: float = 0.0
    write: float = 0.0

    def __add__(self, other: "IndexUnits") -> "IndexUnits":
        return IndexUnits(self.read + other.read, self.write + other.write)


@dataclass(frozen=True, slots=True)
class Units:
    """Units used of one table; `by_index` is filled when the call asked for INDEXES."""

    table: str
    read: float = 0.0
    write: float = 0.0
    by_index: Mapping[str, IndexUnits] = field(default_factory=dict, hash=False)

    def __add__(self, other: "Units") -> "Units":
        if other.table != self.table:
            raise ValueError(f"units of {self.table} and {other.table} cannot be added; see total_units")
        names = [*self.by_index, *(name for name in other.by_index if name not in self.by_index)]
        by_index = {name: self.by_index.get(name, _NONE) + other.by_index.get(name, _NONE) for name in names}
        return Units(self.table, self.read + other.read, self.write + other.write, by_index)


_NONE = IndexUnits()


def units_of(verb: str, answer: Mapping[str, Any]) -> tuple[Units, ...]:
    """The units an answer reports for each table; empty if the request did not ask for them."""
    if verb not in _READS | _WRITES:
        return ()
    reported = answer.get("ConsumedCapacity") or ()
    return tuple(_units(verb, one) for one in ([reported] if isinstance(reported, Mapping) else reported))


def total_units(units: Iterable[Units]) -> dict[str, Units]:
    """The sum for each table."""
    total: dict[str, Units] = {}
    for one in units:
        total[one.table] = total[one.table] + one if one.table in total else one
    return total


def _units(verb: str, reported: Mapping[str, Any]) -> Units:
    whole = _capacity(verb, reported)
    by_index = {
        name: _capacity(verb, one)
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for name, one in (reported.get(kind) or {}).items()
    }
    return Units(reported["TableName"], whole.read, whole.write, by_index)


def _capacity(verb: str, reported: Mapping[str, Any]) -> IndexUnits:
    if "ReadCapacityUnits" in reported or "WriteCapacityUnits" in reported:
        return IndexUnits(reported.get("ReadCapacityUnits") or 0.0, reported.get("WriteCapacityUnits") or 0.0)
    used = reported.get("CapacityUnits") or 0.0
    return IndexUnits(read=used) if verb in _READS else IndexUnits(write=used)
