"""What a request will do: the exact DynamoDB call, the index it uses, the units it costs. Nothing is run.

Units of a create, change or delete of a known item are exact; those of an update, and of a read, rest on the
design's own figures (Load), because an item's size is unknown before it is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from typing import Any

import orjson

from tablewright.design.entity_spec import EntitySpec
from tablewright.design.requests import Get, Query, Write
from tablewright.design.table_spec import projected
from tablewright.design.tables import Index
from tablewright.design.traits import Load
from tablewright.design.units import items_of_shard, read_units, write_units
from tablewright.design.vectors import Search
from tablewright.english import grouped, plain, plural
from tablewright.mapping.items import item_of
from tablewright.mapping.read_requests import get_request, query_request, search_request
from tablewright.mapping.update_steps import initial_create, resolve_trackers
from tablewright.mapping.write_requests import VERBS, Action, Physical, actions
from tablewright.values import Item, item_size

# What an item is taken to weigh where the design says nothing.
ASSUMED_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Explanation:
    """A request laid open. `calls` are the verbs and bodies as they would be sent."""

    name: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    index: str | None
    read_units: float
    write_units: float
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        lines = [f"{self.name}: {plural(len(self.calls), 'call')}"]
        lines.append(f"index: {self.index or 'none (the table itself)'}")
        lines.append(f"units: {self.read_units:g} read, {self.write_units:g} write")
        lines += self.notes
        for verb, body in self.calls:
            lines += [verb, orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()]
        return "\n".join(lines)


def explain(
    requests: Sequence[Get[Any] | Query[Any] | Write[Any]],
    physical: Physical,
    now: int,
    loads: Mapping[str, Load],
) -> Explanation:
    """The explanation of a read, or of one or more writes as they would be sent together.

    `loads` are the figures of patterns, by name.
    """
    first = requests[0]
    if isinstance(first, Get):
        return _get(first, physical, loads.get(first.name))
    if isinstance(first, Query):
        return _query(first, physical, now, loads.get(first.name))
    return _writes([request for request in requests if isinstance(request, Write)], physical, now)


def explain_search(search: Search[Any], physical: Physical, load: Load | None) -> Explanation:
    """A search uses no units: it is charged for the bytes it compares."""
    index = search.index
    notes = [f"the {search.top} nearest by {index.distance}, without their vectors"]
    if load is not None:
        size = max(load.items * (index.vector_bytes + load.item_bytes), 1024)
        notes.append(f"about {plain(grouped(size))} bytes compared, for {load.items:g} vectors")
    elif index.partition is None:
        notes.append("compares with every vector of the index")
    body = search_request(search, physical)
    return Explanation(search.name, (("SearchVectors", body),), index.name, 0.0, 0.0, tuple(notes))


def _get(get: Get[Any], physical: Physical, load: Load | None) -> Explanation:
    size = load.item_bytes if load else _assumed(get.shape, "get")
    units = float(read_units(size, consistent=get.consistent))
    note = f"for an item of {size} bytes; {'a consistent' if get.consistent else 'an eventual'} read"
    body = get_request(get, physical, get.consistent)
    return Explanation(get.name, (("GetItem", body),), None, units, 0.0, (note,))


def _assumed(shape: EntitySpec, kind: str) -> int:
    load = shape.load.get(kind) or next(iter(shape.load.values()), None)
    return load.item_bytes if load else ASSUMED_BYTES


def _query(query: Query[Any], physical: Physical, now: int, load: Load | None) -> Explanation:
    size = load.item_bytes if load else _assumed(query.shapes[0], query.name)
    count = min(query.page, ceil(load.items)) if load else query.page
    calls = tuple(
        ("Query", query_request(query, partition, physical, now) | {"Limit": query.page + 1})
        for partition in query.partitions
    )
    shards = len(calls)
    each = items_of_shard(Decimal(count), query.page, query.page, shards)
    units = float(read_units(each * shards * size, consistent=query.consistent, shards=shards))
    notes = [f"for a page of {count} items of {size} bytes"]
    if shards > 1:
        read = f", up to {each:g} items read of each" if each > count else ""
        notes.append(f"{shards} shards, merged in order{read}")
    index = query.index.name if query.index is not None else None
    return Explanation(query.name, calls, index, units, 0.0, tuple(notes))


def _writes(writes: Sequence[Write[Any]], physical: Physical, now: int) -> Explanation:
    planned = [action for write in writes for action in actions(resolve_trackers(write, None), physical, now)]
    together = len(planned) > 1 or planned[0].verb == "ConditionCheck"
    units, notes = 0.0, []
    for action in planned:
        base, indexes = _write_units(action)
        units += base * (2 if together else 1) + sum(indexes.values())
        what = (
            f"guard {action.guard.unique.name}" if action.guard else action.write.name if action.write else ""
        )
        arms = "".join(f", {name} {cost:g}" for name, cost in indexes.items())
        notes.append(f"{what}: table {base:g}{' x 2 (transaction)' if together else ''}{arms}")
    name = "+".join(dict.fromkeys(write.name for write in writes))
    if together:
        body = {"TransactItems": [{action.verb: action.body} for action in planned]}
        return Explanation(name, (("TransactWriteItems", body),), None, 0.0, units, tuple(notes))
    calls = [(VERBS[planned[0].verb], planned[0].body)]
    if writes[0].kind == "upsert":
        calls.append(("PutItem", actions(initial_create(writes[0]), physical, now)[0].body))
        notes.append("the second call only if there is no item yet")
    return Explanation(name, tuple(calls), None, 0.0, units, tuple(notes))


def _write_units(action: Action) -> tuple[float, dict[str, float]]:
    """Units of the table and of each index that is touched."""
    write = action.write
    if action.guard is not None or write is None:
        return _units(item_size(action.body.get("Item", action.body.get("Key", {})))), {}
    shape = write.shape
    if write.item is None or write.kind == "upsert":
        size = _assumed(shape, write.kind)
        arms = {index.name: _units(size) for index in shape.on} if write.kind != "check" else {}
        return _units(size), arms
    before = item_of(shape, write.before) if write.before is not None else None
    after = item_of(shape, write.item) if write.kind != "delete" else None
    base = _units(max(item_size(item) for item in (before, after) if item is not None))
    arms = {index.name: _index_units(index, shape, before, after) for index in shape.on}
    return base, {name: cost for name, cost in arms.items() if cost}


def _index_units(index: Index, shape: EntitySpec, before: Item | None, after: Item | None) -> float:
    old, new = _entry(index, shape, before), _entry(index, shape, after)
    if old == new:
        return 0.0
    if old is None or new is None:
        return _units(item_size(old or new or {}))
    moved = any(old[name] != new[name] for name in index.key_names)
    # An entry whose key changes is deleted and written again: two writes.
    return (
        _units(item_size(old)) + _units(item_size(new))
        if moved
        else _units(max(item_size(old), item_size(new)))
    )


def _entry(index: Index, shape: EntitySpec, item: Item | None) -> Item | None:
    if item is None or any(name not in item for name in index.key_names):
        return None
    if index.project == "ALL":
        return item
    kept = {*projected(index, [shape]), *index.key_names, *index.table.key_names}
    return {name: value for name, value in item.items() if name in kept}


def _units(size: int) -> float:
    return float(write_units(size))
