"""How many values the partition keys of live tables have, and which partitions are the largest: by Scan, on a budget.

    for each in partition_counts(call, DESIGN, environment, budget=100_000): print(each.place, each.key, each.keys)

A table with no more items than the budget is read whole. Of a larger one some segments are read, evenly spaced: a
segment of a Scan is a range of hashes and has all items of its keys, so the number of keys is that of the sample
divided by its share of the segments.
Must hold: no more items are read than the budget; the counts of a partition are of that partition alone.
Elsewhere: what the design predicts (design/heat/).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tablewright.client import Call, CallRefused
from tablewright.design import Design, Environment
from tablewright.design.tables import Index, Table
from tablewright.design.templates import Template, matcher
from tablewright.values import Item, item_size

BUDGET = 100_000
LARGEST = 3
OTHER = "(other keys)"
# Of a sampled table so many segments are read: more would be small, fewer would be chance.
_SEGMENTS = 20
_PAGE = 1000
# Between the attributes of a key that has several.
_DELIMITER = "\0"


@dataclass(frozen=True, slots=True)
class PartitionSize:
    """The items of one partition key that were read, and their bytes."""

    value: str
    items: int
    bytes: int


@dataclass(frozen=True, slots=True)
class KeyCount:
    """The keys of one template in a table or index. `share`: of the place, what was read; `keys` is for all of it."""

    table: str
    index: str
    key: str
    keys: int
    items: int
    share: float
    largest: tuple[PartitionSize, ...]

    @property
    def place(self) -> str:
        return f"{self.table}.{self.index}" if self.index else self.table


def partition_counts(
    call: Call, design: Design, environment: Environment | None = None, *, budget: int = BUDGET
) -> tuple[KeyCount, ...]:
    """Every table and global index of the design that exists. `budget`: how many items of each are read at most."""
    places: list[tuple[Table, Index | None]] = [(table, None) for table in design.tables.values()]
    places += [(index.table, index) for index in design.indexes if not index.local]
    return tuple(
        found for table, index in places for found in _counts(call, design, environment, table, index, budget)
    )


def _counts(
    call: Call,
    design: Design,
    environment: Environment | None,
    table: Table,
    index: Index | None,
    budget: int,
) -> Iterator[KeyCount]:
    name = environment.physical(table.name) if environment is not None else table.name
    total = _item_count(call, name, index)
    if total is None:
        return
    request = {"TableName": name, **({"IndexName": index.name} if index is not None else {})}
    sizes, share = _scan(call, request, (table.pk,) if index is None else index.pk, total, budget)
    templates = _templates(design, table, index)
    grouped: dict[str, list[PartitionSize]] = defaultdict(list)
    for value, (items, size) in sizes.items():
        grouped[_template_of(templates, value)].append(PartitionSize(value, items, size))
    for key, partitions in sorted(grouped.items()):
        largest = sorted(partitions, key=lambda each: (-each.bytes, each.value))[:LARGEST]
        items = sum(each.items for each in partitions)
        keys = ceil(len(partitions) / share)
        yield KeyCount(table.name, index.name if index else "", key, keys, items, share, tuple(largest))


def _item_count(call: Call, name: str, index: Index | None) -> int | None:
    """As the service last counted; None if there is no such table or index."""
    try:
        told = call("DescribeTable", {"TableName": name})["Table"]
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        return None
    if index is None:
        return int(told.get("ItemCount", 0))
    mine = [one for one in told.get("GlobalSecondaryIndexes", ()) if one["IndexName"] == index.name]
    return int(mine[0].get("ItemCount", 0)) if mine else None


def _scan(
    call: Call, request: Mapping[str, Any], names: Sequence[str], total: int, budget: int
) -> tuple[dict[str, tuple[int, int]], float]:
    """Items and bytes by partition key, and the share of the place that was read."""
    segments = 1 if total <= budget else ceil(_SEGMENTS * total / budget)
    wanted = 1 if segments == 1 else _SEGMENTS
    sizes: dict[str, tuple[int, int]] = {}
    left, done = budget, 0
    for number in range(wanted):
        here = {"Segment": number * segments // wanted, "TotalSegments": segments}
        found, is_whole = _segment(call, {**request, **here}, names, left)
        read = sum(items for items, _ in found.values())
        if not is_whole:
            # The budget is used up within a segment, whose share is not known: it counts only if there is no other.
            return (sizes, done / segments) if done else (found, read / max(total, read + 1))
        sizes |= found
        left, done = left - read, done + 1
    return sizes, done / segments


def _segment(
    call: Call, request: Mapping[str, Any], names: Sequence[str], budget: int
) -> tuple[dict[str, tuple[int, int]], bool]:
    """Items and bytes by partition key of a segment, and whether it was read to its end."""
    sizes: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    left = budget
    after: Item | None = {}
    while after is not None and left > 0:
        start = {"ExclusiveStartKey": after} if after else {}
        answer = call("Scan", {**request, **start, "Limit": min(left, _PAGE)})
        for item in answer["Items"]:
            value = _DELIMITER.join(str(*item[name].values()) for name in names)
            items, size = sizes[value]
            sizes[value] = items + 1, size + item_size(item)
        left -= len(answer["Items"])
        after = answer.get("LastEvaluatedKey")
    return dict(sizes), after is None


def _templates(design: Design, table: Table, index: Index | None) -> list[Template]:
    here = [shape for shape in design.shapes if shape.table == table]
    if index is None:
        found = [shape.primary[0].template for shape in here]
    else:
        found = [shape.index_keys[index.name][0].template for shape in here if index.name in shape.index_keys]
    return list({template.text: template for template in found}.values())


def _template_of(templates: Sequence[Template], value: str) -> str:
    first = value.partition(_DELIMITER)[0]
    return next((each.text for each in templates if matcher(each).fullmatch(first)), OTHER)
