"""What a call has cost: the ConsumedCapacity of an answer as values that can be added.

The service names a kind (read, write) only in transactions; elsewhere the verb decides.
Must hold: no member is counted twice; `read` and `write` include what the indexes used.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_READS = frozenset(("BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"))
_WRITES = frozenset(("BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"))


@dataclass(frozen=True, slots=True)
class Share:
    """What one index took of the whole."""

    read: float = 0.0
    write: float = 0.0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.read + other.read, self.write + other.write)


@dataclass(frozen=True, slots=True)
class Units:
    """Units used of one table; `by_index` is filled when the call asked for INDEXES."""

    table: str
    read: float = 0.0
    write: float = 0.0
    by_index: Mapping[str, Share] = field(default_factory=dict, hash=False)

    def __add__(self, other: "Units") -> "Units":
        if other.table != self.table:
            raise ValueError(f"units of {self.table} and {other.table} do not add up; see total_units")
        names = [*self.by_index, *(name for name in other.by_index if name not in self.by_index)]
        by_index = {name: self.by_index.get(name, _NONE) + other.by_index.get(name, _NONE) for name in names}
        return Units(self.table, self.read + other.read, self.write + other.write, by_index)


_NONE = Share()


def units_of(verb: str, answer: Mapping[str, Any]) -> tuple[Units, ...]:
    """What the answer says it cost, table by table; nothing if the request did not ask."""
    if verb not in _READS | _WRITES:
        return ()
    told = answer.get("ConsumedCapacity") or ()
    return tuple(_units(verb, one) for one in ([told] if isinstance(told, Mapping) else told))


def total_units(units: Iterable[Units]) -> dict[str, Units]:
    """The sum for each table."""
    total: dict[str, Units] = {}
    for one in units:
        total[one.table] = total[one.table] + one if one.table in total else one
    return total


def _units(verb: str, told: Mapping[str, Any]) -> Units:
    whole = _share(verb, told)
    by_index = {
        name: _share(verb, one)
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for name, one in (told.get(kind) or {}).items()
    }
    return Units(told["TableName"], whole.read, whole.write, by_index)


def _share(verb: str, told: Mapping[str, Any]) -> Share:
    if "ReadCapacityUnits" in told or "WriteCapacityUnits" in told:
        return Share(told.get("ReadCapacityUnits") or 0.0, told.get("WriteCapacityUnits") or 0.0)
    used = told.get("CapacityUnits") or 0.0
    return Share(read=used) if verb in _READS else Share(write=used)
