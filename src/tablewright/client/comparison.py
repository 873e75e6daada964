"""Which items differ between two tables with the same key, such as a table and what was restored of it.

Both tables are read once, page by page, so the memory needed does not grow with them; a page of the one is looked up in
the other by its keys. Writes while this runs may show up as differences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tablewright.client.batches import batch_get
from tablewright.client.call import Call
from tablewright.client.item_identity import identity_of
from tablewright.client.paging import pages

Item: TypeAlias = dict[str, Any]


class KeysDiffer(ValueError):
    """Two tables whose items cannot be compared, because they are found by different keys."""

    def __init__(self, table: str, other: str) -> None:
        super().__init__(f"{table} and {other} have different keys, so their items cannot be compared")


@dataclass(frozen=True, slots=True)
class Difference:
    """An item that is not the same in both tables; `attributes` are those that differ, for an item in both."""

    key: Item
    kind: Literal["changed", "added", "removed"]
    attributes: tuple[str, ...] = ()


def differences(call: Call, table: str, other: str, other_call: Call | None = None) -> Iterator[Difference]:
    """What happened on the way from `table` to `other`: items changed, added and removed.

    `other_call` is where the other table is, if it is elsewhere.
    """
    for difference, _, _ in differing_items(call, table, other, other_call):
        yield difference


def differing_items(
    call: Call, table: str, other: str, other_call: Call | None = None
) -> Iterator[tuple[Difference, Item | None, Item | None]]:
    """The same, each with the item in `table` and the one in `other`."""
    there = other_call or call
    key = _key_of(call, table)
    if key != _key_of(there, other):
        raise KeysDiffer(table, other)
    names = [name for name, _ in key]
    for item, found in _looked_up(call, table, there, other, names):
        if found is None:
            yield Difference(_only(item, names), "removed"), item, None
        elif attributes := _changed(item, found):
            yield Difference(_only(item, names), "changed", attributes), item, found
    for item, found in _looked_up(there, other, call, table, names):
        if found is None:
            yield Difference(_only(item, names), "added"), None, item


def _key_of(call: Call, table: str) -> list[tuple[str, str]]:
    described = call("DescribeTable", {"TableName": table})["Table"]
    types = {one["AttributeName"]: one["AttributeType"] for one in described["AttributeDefinitions"]}
    return [(one["AttributeName"], types[one["AttributeName"]]) for one in described["KeySchema"]]


def _looked_up(
    call: Call, table: str, there: Call, other: str, names: Sequence[str]
) -> Iterator[tuple[Item, Item | None]]:
    """Each item of a table with the item under its key in the other."""
    for page in pages(call, "Scan", {"TableName": table, "ConsistentRead": True}):
        keys = [_only(item, names) for item in page["Items"]]
        read = batch_get(there, {other: keys}, consistent=True)
        if read.unread:
            raise TimeoutError(f"{other} is too busy to be compared: some of its items could not be read")
        found = {identity_of(other, _only(item, names)): item for _, item in read.items}
        for item, item_key in zip(page["Items"], keys, strict=True):
            yield item, found.get(identity_of(other, item_key))


def _only(item: Mapping[str, Any], names: Sequence[str]) -> Item:
    return {name: item[name] for name in names}


def _changed(item: Item, other: Item) -> tuple[str, ...]:
    """Which attributes differ. A set has no order, and its members come in any."""
    return tuple(
        name
        for name in sorted(item.keys() | other.keys())
        if identity_of("", {name: item.get(name)}) != identity_of("", {name: other.get(name)})
    )
