"""The load of a design as keys: how many values a partition key has, how popular each is, and whether its items can be
divided among partitions. Pure.

A key whose values become more with the load has as many as there are items of the entity that it alone identifies;
where no entity is, as there are items for each query of it. What cannot be counted is ASSUMED_KEYS, and `how` says so.
Of a key with bounded values (cardinality.py) the load is on the `busy` ones: one of the states or moments, each shard;
all of them are used alike.
Must hold: an item collection is never divided where the service does not: a single item, a table with a local index, an
index without a sort key, writes that always go to the end of the sort key.
Elsewhere: what happens to the load (simulation.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tablewright.design.cardinality import CLOCK
from tablewright.design.cost.calls import CallKind
from tablewright.design.cost.storage import stored_items
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec, KeyAttribute
from tablewright.design.partitions import PARTITION, PEAK, KeyUse, key_uses
from tablewright.design.tables import Index
from tablewright.design.templates import Template, may_meet

EXPONENT = 1.0
ASSUMED_KEYS = 10_000
MONTHS = 12
# Sort keys that begin with one of these grow: new items are always behind all others.
_MOMENTS = ("ms", "us", *CLOCK)
_UNKNOWN_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True)
class KeyLoad:
    """The load on the keys of one template. `requests` and `units` are of all keys, in one second of the simulation.

    `keys` are all values, `busy` those that the load falls on: all that grow with it, one state of several.
    `place` is the table or global index whose partitions serve it: those of a local index are the table's. `whole` says
    why the items of one key stay in one partition; empty if they can be divided, into `items` partitions at most.
    """

    table: str
    index: str
    place: str
    key: str
    kind: CallKind
    keys: int
    busy: int
    how: str
    exponent: float
    requests: float
    units: float
    calls: tuple[str, ...]
    items: int
    whole: str

    @property
    def limit(self) -> int:
        return PARTITION[self.kind]

    @property
    def units_a_request(self) -> float:
        return self.units / self.requests


def key_loads(
    design: Design, times: Decimal = Decimal(1), exponent: float = EXPONENT, keys: int | None = None
) -> tuple[KeyLoad, ...]:
    """The load of the busiest second at `times` the stated load. `keys`: how many values each growing key has."""
    stored = {each.name: each.items for each in stored_items(design, MONTHS, times)}
    return tuple(
        _key_load(design, use, stored, times, exponent, keys)
        for use in key_uses(design)
        if use.units and use.requests
    )


def _key_load(
    design: Design,
    use: KeyUse,
    stored: Mapping[str, Decimal],
    times: Decimal,
    exponent: float,
    keys: int | None,
) -> KeyLoad:
    shapes = _shapes(design, use)
    items = sum((stored.get(shape.tag, Decimal()) for shape in shapes), Decimal())
    values, busy = use.cardinality.values, use.cardinality.busy
    if values is not None and busy is not None:
        how, exponent = "bounded", 0.0
    else:
        values, how = (
            (keys, "given") if keys is not None else _growing_keys(design, use, shapes, stored, items)
        )
        busy = values
    if _is_new_each_time(use, shapes):
        exponent = 0.0
    is_local = any(index.local and index.name == use.index for index in _indexes(design, use))
    factor = float(times) * PEAK
    return KeyLoad(
        use.table,
        use.index,
        f"{use.table}.{use.index}" if use.index and not is_local else use.table,
        _key_template(shapes[0], use).text if shapes else use.template.text,
        use.kind,
        values,
        busy,
        how,
        exponent,
        float(use.requests) * factor,
        float(use.units) * factor,
        use.calls,
        max(1, int(items / busy)) if items else _UNKNOWN_ITEMS,
        _whole(design, use, shapes),
    )


def _growing_keys(
    design: Design, use: KeyUse, shapes: Sequence[EntitySpec], stored: Mapping[str, Decimal], items: Decimal
) -> tuple[int, str]:
    fields = set(use.template.fields)
    single = [stored.get(shape.tag, Decimal()) for shape in shapes if _key_fields(shape) <= fields]
    if single and (most := max(single)):
        return max(1, int(most)), "items with this key"
    read = [
        Decimal(str(plan.load.items))
        for plan in design.plans
        if plan.load is not None and plan.name in _readers(design, use)
    ]
    if items:
        each = max((*read, Decimal(1)))
        return max(1, int(items / each)), f"items by {each:g} a query"
    return ASSUMED_KEYS, "assumed"


def _is_new_each_time(use: KeyUse, shapes: Sequence[EntitySpec]) -> bool:
    """Whether each request has a key of its own: an item that alone has its key is created and deleted once."""
    fields = set(use.template.fields)
    single = [shape.tag for shape in shapes if not use.index and _key_fields(shape) <= fields]
    once = {f"{tag}.{verb}" for tag in single for verb in ("create", "delete")}
    return bool(use.calls) and set(use.calls) <= once


def _readers(design: Design, use: KeyUse) -> set[str]:
    index = use.index or None
    return {
        plan.name
        for plan in design.plans
        if plan.table.name == use.table
        and (plan.index.name if plan.index is not None else None) == index
        and plan.pk
        and may_meet(plan.pk[0], use.template)
    }


def _shapes(design: Design, use: KeyUse) -> list[EntitySpec]:
    """The entities with such a partition key."""
    return [
        shape
        for shape in design.shapes
        if shape.table.name == use.table
        and (not use.index or use.index in shape.index_keys)
        and may_meet(_key_template(shape, use), use.template)
    ]


def _key_template(shape: EntitySpec, use: KeyUse) -> Template:
    return (shape.index_keys[use.index] if use.index else shape.primary)[0].template


def _key_fields(shape: EntitySpec) -> set[str]:
    return {name for key in shape.primary for name in key.template.fields}


def _whole(design: Design, use: KeyUse, shapes: Sequence[EntitySpec]) -> str:
    """Why the items of one key are never divided; empty if they are."""
    indexes = _indexes(design, use)
    if any(index.local for index in indexes) and not _is_global(design, use):
        return "the table has a local index"
    if not shapes or not all(_sort_keys(design, use, shape) for shape in shapes):
        return "the index has no sort key" if use.index else "one item"
    if not use.index and len(shapes) == 1 and _key_fields(shapes[0]) <= set(use.template.fields):
        return "one item"
    # By name: `visit.create` is of the entity visit.
    written = [shape for shape in shapes if any(call.rpartition(".")[0] == shape.tag for call in use.calls)]
    if use.kind == "write" and written and all(_grows(design, use, shape) for shape in written):
        return "new items are the last in the sort key"
    return ""


def _grows(design: Design, use: KeyUse, shape: EntitySpec) -> bool:
    parts = _sort_keys(design, use, shape)[0].template.parts
    return bool(parts) and parts[0].codec.name in _MOMENTS


def _sort_keys(design: Design, use: KeyUse, shape: EntitySpec) -> tuple[KeyAttribute, ...]:
    if not use.index:
        return shape.primary[1:]
    (index,) = (index for index in _indexes(design, use) if index.name == use.index)
    return shape.index_keys[use.index][len(index.pk) :]


def _indexes(design: Design, use: KeyUse) -> list[Index]:
    return [index for index in design.indexes if index.table.name == use.table]


def _is_global(design: Design, use: KeyUse) -> bool:
    return any(index.name == use.index and not index.local for index in _indexes(design, use))
