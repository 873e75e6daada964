"""A table as a dict: what the engine is compared with.

Must hold: it is small enough to be seen to be right. No bytes, no order of its own, no cleverness: an item is a
dict, a table is a dict of items, an index is worked out from the table each time somebody looks.
Elsewhere: values in plain Python (plain.py), conditions (claims.py), updates (edits.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.properties.plain import Item, Value, order, settled_item

Key = tuple[str, ...]


class Refused(Exception):
    """The engine must answer ValidationException and change nothing."""


class Failed(Exception):
    """The engine must say that the condition failed and change nothing. `found` is what was there."""

    def __init__(self, found: Item | None) -> None:
        super().__init__()
        self.found = found


@dataclass(frozen=True)
class Index:
    name: str
    hash: tuple[str, ...]
    range: tuple[str, ...]
    projection: str
    included: tuple[str, ...] = ()
    local: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return self.hash + self.range


@dataclass
class Shape:
    """What a table looks like. `kinds` names the type of every attribute that is or may become a key."""

    hash: str
    range: str | None
    kinds: dict[str, str]
    indexes: dict[str, Index] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.hash,) if self.range is None else (self.hash, self.range)


@dataclass
class Table:
    """A table with its items; `changes` counts the writes that changed something."""

    name: str
    shape: Shape
    items: dict[Key, Item] = field(default_factory=dict)
    changes: int = 0

    # --- writes ---

    def key_of(self, item: Item) -> Key:
        return tuple(str(settled_item(item)[name]) for name in self.shape.keys)

    def found(self, key: Item) -> Item | None:
        return self.items.get(self.key_of(key))

    def put(self, item: Item, holds: Callable[[Item], bool]) -> Item | None:
        """The item that was there."""
        new = settled_item(item)
        self.refuse_bad_index_keys(None, new)
        old = self._checked(item, holds)
        self.become(item, new)
        return old

    def delete(self, key: Item, holds: Callable[[Item], bool]) -> Item | None:
        old = self._checked(key, holds)
        self.become(key, None)
        return old

    def update(
        self, key: Item, change: Callable[[Item | None], Item | None], holds: Callable[[Item], bool]
    ) -> tuple[Item | None, Item | None]:
        """The item before and after."""
        old = self._checked(key, holds)
        new = change(old)
        if new is not None:
            new = settled_item(key) | new
            self.refuse_bad_index_keys(old, new)
        self.become(key, new)
        return old, new

    def check(self, key: Item, holds: Callable[[Item], bool]) -> None:
        self._checked(key, holds)

    def _checked(self, key: Item, holds: Callable[[Item], bool]) -> Item | None:
        old = self.found(key)
        if not holds(old or {}):
            raise Failed(old)
        return old

    def become(self, key: Item, new: Item | None) -> None:
        place = self.key_of(key)
        self.changes += self.items.get(place) != new
        if new is None:
            self.items.pop(place, None)
        else:
            self.items[place] = new

    def refuse_bad_index_keys(self, old: Item | None, new: Item) -> None:
        """An index key of the wrong type or empty refuses the write, unless an update leaves it as it was."""
        for index in self.shape.indexes.values():
            for name in set(index.keys) - set(self.shape.keys):
                changed = old is None or old.get(name) != new.get(name)
                if name in new and changed and not self.can_be_key(name, new[name]):
                    raise Refused

    def can_be_key(self, name: str, value: Value) -> bool:
        return bool(value.get(self.shape.kinds[name]))

    # --- reads ---

    def view(self, index: Index | None, whole: bool = False) -> list[Item]:
        """What a scan of the table or of an index finds, in no order."""
        if index is None:
            return list(self.items.values())
        inside = [
            item
            for item in self.items.values()
            if all(name in item and self.can_be_key(name, item[name]) for name in index.keys)
        ]
        return inside if whole else [self._projected(index, item) for item in inside]

    def _projected(self, index: Index, item: Item) -> Item:
        names = {*self.shape.keys, *index.keys, *index.included}
        return {name: value for name, value in item.items() if index.projection == "ALL" or name in names}

    def shows(self, index: Index | None, name: str) -> bool:
        """Whether every attribute of that name is to be seen there."""
        if index is None or index.projection == "ALL":
            return True
        return name in (*self.shape.keys, *index.keys, *index.included)

    def ranges(self, index: Index | None) -> tuple[str, ...]:
        """The sort key's attributes."""
        if index is not None:
            return index.range
        return () if self.shape.range is None else (self.shape.range,)

    def hashes(self, index: Index | None) -> tuple[str, ...]:
        return (self.shape.hash,) if index is None else index.hash

    def sort_key(self, index: Index | None, item: Item) -> Any:
        return tuple(order(item[name]) for name in self.ranges(index))
