"""Which partition keys a design's load falls on, and at which multiple of that load they are exceeded. Pure.

    for group in key_groups(TRAVEL): print(group.place, group.keys, group.breaks_at)

A partition key whose template names a user, an order or a file gets more values as the load grows. One whose template
has only literals, a state, a day or a shard does not: all of its load meets the limits of one partition, or of as many
as there are shards (cardinality.py). Of several states one is busy, because most items are in the same one; of days or
hours the current one.
Must hold: what is not bounded by its template is never reported as hot; load without a stated figure counts nothing.
Elsewhere: units of a call (cost/calls.py), size of what is stored (cost/storage.py), the engine's own limits when it
throttles (engine/limits.py has the same figures).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil

from tablewright.design.cardinality import Cardinality, template_cardinality
from tablewright.design.cost.calls import CallKind, PlannedCall, calls_of
from tablewright.design.cost.storage import stored_items
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec, KeyAttribute
from tablewright.design.patterns import Plan
from tablewright.design.templates import Template

# Units a second of one partition; bytes of one; the quota of a table and of each index, which AWS raises on request.
PARTITION: Mapping[CallKind, int] = {"read": 3_000, "write": 1_000}
PARTITION_BYTES = 10 * 10**9
TABLE_QUOTA = 40_000
# The busiest second of a month against its mean. Of the five documents only one states a peak (10 times).
PEAK = 10
SECONDS_A_MONTH = 30 * 86_400


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """The calls that meet partition keys of one template, of which there are `values`; `shards` of them are busy.

    `units`: a second, the mean of the stated load."""

    table: str
    index: str
    keys: str
    kind: CallKind
    values: int
    shards: int
    units: Decimal
    calls: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.table}.{self.index}" if self.index else self.table

    @property
    def breaks_at(self) -> Decimal:
        """The multiple of the stated load whose busiest second the partitions can just serve."""
        return self.shards * PARTITION[self.kind] / (self.units * PEAK)


@dataclass(frozen=True, slots=True)
class KeyUse:
    """The calls of one kind that go to partition keys of one template. `requests` and `units`: a second, the mean of
    the stated load."""

    table: str
    index: str
    template: Template
    kind: CallKind
    cardinality: Cardinality
    requests: Decimal
    units: Decimal
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlaceLoad:
    """A table or an index at a multiple of the stated load: units in the busiest second, bytes, partitions."""

    table: str
    index: str
    read: Decimal
    write: Decimal
    bytes: Decimal

    @property
    def partitions(self) -> int:
        """As many as throughput or size needs; a key that is too hot does not become cooler by more of them."""
        by_units = self.read / PARTITION["read"] + self.write / PARTITION["write"]
        return max(1, ceil(by_units), ceil(self.bytes / PARTITION_BYTES))

    @property
    def quota(self) -> Decimal:
        """The larger of reads and writes against the quota of a table; above 1 it has to be raised."""
        return max(self.read, self.write) / TABLE_QUOTA


def key_groups(design: Design) -> tuple[KeyGroup, ...]:
    """The bounded partition keys that have load, the first to be exceeded first."""
    groups = [
        KeyGroup(use.table, use.index, use.template.text, use.kind, values, busy, use.units, use.calls)
        for use in key_uses(design)
        if (values := use.cardinality.values) is not None
        and (busy := use.cardinality.busy) is not None
        and use.units
    ]
    return tuple(sorted(groups, key=lambda group: group.breaks_at))


def key_uses(design: Design) -> tuple[KeyUse, ...]:
    """Every template of a partition key with its load, in the order of the calls."""
    found: dict[tuple[str, str, str, CallKind], list[KeyUse]] = defaultdict(list)
    for use in _uses(design):
        found[(use.table, use.index, use.template.text, use.kind)].append(use)
    return tuple(
        replace(
            uses[0],
            requests=sum((use.requests for use in uses), Decimal()),
            units=sum((use.units for use in uses), Decimal()),
            calls=tuple(name for use in uses for name in use.calls),
        )
        for uses in found.values()
    )


def place_loads(design: Design, times: Decimal = Decimal(1), months: int = 12) -> tuple[PlaceLoad, ...]:
    """Every table and index at `times` the stated load, after some months."""
    units: dict[tuple[str, str], dict[CallKind, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for call in calls_of(design, times):
        for use in call.uses:
            units[(use.table, use.index)][call.kind] += _a_second(call, use.units) * PEAK
    bytes_: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for stored in stored_items(design, months, times):
        for index in ("", *stored.indexes):
            bytes_[(stored.table, index)] += stored.bytes_in_table
    places = sorted({*units, *bytes_})
    return tuple(
        PlaceLoad(*place, units[place]["read"], units[place]["write"], bytes_[place]) for place in places
    )


# --- parts ---


def _a_second(call: PlannedCall, units: Decimal) -> Decimal:
    return call.a_month * units / SECONDS_A_MONTH


def _uses(design: Design) -> Iterator[KeyUse]:
    """Every use of a table or an index by one call, with the template of its partition key."""
    plans = {plan.name: plan for plan in design.plans}
    shapes = {shape.tag: shape for shape in design.shapes}
    for call in calls_of(design):
        requests = call.a_month / SECONDS_A_MONTH
        for use in call.uses:
            plan = plans.get(call.name)
            found = _key_of_plan(plan) if plan else _key_of_entity(call, use.table, use.index, shapes)
            if found is not None:
                template, counted = found
                units = _a_second(call, use.units)
                yield KeyUse(
                    use.table, use.index, template, call.kind, counted, requests, units, (call.name,)
                )


def _key_of_plan(plan: Plan) -> tuple[Template, Cardinality] | None:
    """Counted as its entity writes the key: the pattern may have other names for the same parts."""
    shape = plan.shapes[0]
    written = plan.keys_of(shape)[0].template
    return (plan.pk[0], template_cardinality(written, shape.fields)) if plan.pk else None


def _key_of_entity(
    call: PlannedCall, table: str, index: str, shapes: Mapping[str, EntitySpec]
) -> tuple[Template, Cardinality] | None:
    shape = shapes[call.name.rpartition(".")[0]]
    if shape.table.name != table:
        return None  # a receipt or a guard elsewhere: their keys are as many as what they stand for
    keys: tuple[KeyAttribute, ...] = shape.index_keys[index] if index else shape.primary
    return keys[0].template, template_cardinality(keys[0].template, shape.fields)
