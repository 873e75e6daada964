"""Entries of secondary indexes: their attributes and size, and how a write changes them. Pure.

Elsewhere: the write itself (transaction.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tablewright.engine.catalog import Index, Table
from tablewright.engine.keys import entry_key
from tablewright.values import Item, item_size


@dataclass(slots=True)
class EntryChange:
    """The entry of an item in one index before and after a write. A key is None where there is no entry."""

    index: Index
    old_key: bytes | None
    new_key: bytes | None
    old_size: int
    new_size: int


def projected_names(table: Table, index: Index) -> tuple[str, ...] | None:
    """The attributes an entry may have; None when it has them all."""
    return table.entry_plans[index.number].carried


def project_entry(table: Table, index: Index, item: Item) -> Item:
    names = projected_names(table, index)
    return item if names is None else {name: item[name] for name in names if name in item}


def entry_size(table: Table, index: Index, item: Item, size: int) -> int:
    return size if index.projection == "ALL" else item_size(project_entry(table, index, item))


def changes(
    table: Table, key: bytes, row: int, old: Item | None, old_size: int, new: Item | None, new_size: int
) -> list[EntryChange]:
    """The changes of the entries of an item: for each index whose entry differs before and after."""
    changed = []
    for index in table.indexes:
        if index.backfill is not None and index.awaits(row):
            continue
        if old is not None and new is not None and _carries_the_same(table, index, old, new):
            continue  # most updates of most indexes
        old_key = entry_key(table, index, old, key) if old is not None else None
        if new is None:
            new_key = None
        elif old is not None and _same_values(index.schema.names, old, new):
            # Most updates do not change the key.
            new_key = old_key
        else:
            new_key = entry_key(table, index, new, key)
        was = 0 if old is None or old_key is None else entry_size(table, index, old, old_size)
        will = 0 if new is None or new_key is None else entry_size(table, index, new, new_size)
        if old_key is not None or new_key is not None:
            changed.append(EntryChange(index, old_key, new_key, was, will))
    return changed


def _same_values(names: Sequence[str], old: Item, new: Item) -> bool:
    for name in names:
        before, after = old.get(name), new.get(name)
        # An update shares with the old item what it did not change.
        if before is not after and before != after:
            return False
    return True


def _carries_the_same(table: Table, index: Index, old: Item, new: Item) -> bool:
    names = projected_names(table, index)
    return names is not None and _same_values(names, old, new)


def additions(table: Table, key: bytes, row: int, new: Item, size: int) -> list[EntryChange]:
    """`changes` for a new item, which is the common case."""
    added = []
    for index in table.indexes:
        if index.backfill is not None and index.awaits(row):
            continue
        place = entry_key(table, index, new, key)
        if place is not None:
            added.append(EntryChange(index, None, place, 0, entry_size(table, index, new, size)))
    return added


def same_entry(table: Table, index: Index, old: Item, new: Item) -> bool:
    if index.projection == "ALL":
        return old == new
    return project_entry(table, index, old) == project_entry(table, index, new)
