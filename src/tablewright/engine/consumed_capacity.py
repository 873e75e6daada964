"""Consumed capacity: the units of each read and write, and the ConsumedCapacity member of answers.

Reads count 4 KB, writes 1 KB; an eventually consistent read costs half, a transactional one double. The index entries
of a transactional write are not doubled: that is what the service bills.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tablewright.engine.catalog import Index, Table
from tablewright.engine.indexes import EntryChange, same_entry
from tablewright.engine.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES
from tablewright.values import Item


def read_units(size: int, consistent: bool) -> float:
    """At least one unit, or half of one if eventually consistent, even for a missing item."""
    units = -(-size // READ_UNIT_BYTES) or 1
    return float(units) if consistent else units / 2


def write_units(size: int, other: int = 0) -> float:
    """The larger of the sizes before and after counts; at least one unit."""
    return float(-(-(size if size > other else other) // WRITE_UNIT_BYTES) or 1)


@dataclass(slots=True)
class Consumed:
    """The units one request has consumed of one table and of its indexes."""

    table: Table
    base: float = 0.0
    local: dict[str, float] = field(default_factory=dict)
    other: dict[str, float] = field(default_factory=dict)
    # VectorWriteRequestBytes, which are not units and in no total.
    vectors: dict[str, float] = field(default_factory=dict)

    def add_index(self, index: Index, units: float) -> None:
        arm = self.local if index.local else self.other
        arm[index.name] = arm.get(index.name, 0.0) + units

    def add_entries(self, entries: Iterable[EntryChange], old: Item | None, new: Item | None) -> None:
        for entry in entries:
            units = entry_units(self.table, entry, old, new)
            if units:
                self.add_index(entry.index, units)

    def add_vectors(self, written: Mapping[str, float]) -> None:
        for name, size in written.items():
            self.vectors[name] = self.vectors.get(name, 0.0) + size

    def as_member(self, how: str | None, transactional: str | None = None) -> dict[str, Any] | None:
        """The ConsumedCapacity member; `transactional` is Read or Write where the service names the kind."""
        if how not in ("TOTAL", "INDEXES"):
            return None
        total = self.base
        if self.local or self.other:
            total += sum(self.local.values(), 0.0) + sum(self.other.values(), 0.0)
        answer: dict[str, Any] = {"TableName": self.table.name, **_units(total, transactional)}
        if how == "INDEXES":
            answer["Table"] = _units(self.base, transactional)
            if self.local:
                answer["LocalSecondaryIndexes"] = {n: _units(u, transactional) for n, u in self.local.items()}
            if self.other:
                answer["GlobalSecondaryIndexes"] = {
                    n: _units(u, transactional) for n, u in self.other.items()
                }
            if self.vectors:
                answer["VectorIndexes"] = {
                    name: {"VectorWriteRequestBytes": size} for name, size in self.vectors.items()
                }
        return answer


def _units(units: float, transactional: str | None) -> dict[str, float]:
    if transactional is None:
        return {"CapacityUnits": units}
    return {"CapacityUnits": units, f"{transactional}CapacityUnits": units}


def entry_units(table: Table, entry: EntryChange, old: Item | None, new: Item | None) -> float:
    """The units of one index entry of a write."""
    if entry.old_key is None or old is None:
        return write_units(entry.new_size)
    if entry.new_key is None or new is None:
        return write_units(entry.old_size)
    if entry.old_key != entry.new_key:
        return write_units(entry.old_size) + write_units(entry.new_size)
    return 0.0 if same_entry(table, entry.index, old, new) else write_units(entry.old_size, entry.new_size)


def capacity_members(
    consumed: Iterable[Consumed], how: str | None, transactional: str | None = None
) -> dict[str, Any]:
    """The ConsumedCapacity member of a request that touches several tables; nothing if none is wanted."""
    members = [one for used in consumed if (one := used.as_member(how, transactional)) is not None]
    return {"ConsumedCapacity": members} if members else {}
