"""The entries of an index, or of an expiry list, against the items of its table; each wrong one is a sentence.

While the items are read, the entry of each is looked up. If the index has more entries than were found that way, its
entries are read, and the item of each is looked up. Must hold: memory grows with the number of errors, not with the
table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import orjson

from tablewright.engine.catalog import Index, Table
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import entry_key, expiry_key
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.vectors import entries as vector_entries
from tablewright.engine.vectors import store as vector_store
from tablewright.engine.vectors.definition import VectorIndex
from tablewright.engine.vectors.store import VectorEntry
from tablewright.engine.verify import store
from tablewright.values import Item


@dataclass(slots=True)
class EntryCheck:
    """The check of an index, or of the expiry list (`index` is None); `number` is its own in the store."""

    WRONG: ClassVar[str] = "points to the wrong item"

    rows: RowReader
    where: str
    table: Table
    number: int
    index: Index | None = None
    # The expected entries, and how many of them were found.
    items: int = 0
    size: int = 0
    found: int = 0
    wrong: set[bytes] = field(default_factory=set)
    damage: Exception | None = None

    def entry_of(self, row: int, key: bytes, item: Item) -> bytes | None:
        """The key of an item's entry; None if it has none."""
        if self.index is None:
            return None if self.table.awaits_expiry(row) else expiry_key(self.table, item, key)
        return None if self.index.awaits(row) else entry_key(self.table, self.index, item, key)

    def weight(self, item: Item, size: int) -> int:
        """The size of an item's entry; `size` is the item's."""
        return 0 if self.index is None else entry_size(self.table, self.index, item, size)

    @property
    def is_counted(self) -> bool:
        return self.index is not None

    def expect(self, key: bytes, row: int, size: int = 0) -> Iterator[str]:
        """Check the entry of an item."""
        self.items += 1
        self.size += size
        if self.damage is not None:
            return
        try:
            found = self.find(key)
        except Exception as damage:  # raised once, in `unexpected`
            self.damage = damage
            return
        if found is None:
            yield f"{self.where}: the entry {key.hex()} is missing"
            return
        self.found += 1
        if found != row:
            self.wrong.add(key)
            yield f"{self.where}: the entry {key.hex()} {self.WRONG}"

    def unexpected(self) -> Iterator[str]:
        """After all items: the entries that belong to no item."""
        if self.damage is not None:
            raise self.damage
        if store.entry_count(self.rows, self.table.number, self.number) == self.found:
            return
        for key, row in self.rows.all_entries(self.table.number, self.number):
            if key not in self.wrong and not self.is_expected(key, row):
                yield f"{self.where}: the entry {key.hex()} belongs to no item"

    def find(self, key: bytes) -> int | None:
        return store.find_entry(self.rows, self.table.number, self.number, key)

    def is_expected(self, key: bytes, row: int) -> bool:
        try:
            ((found, place, _, raw, _),) = self.rows.rows_with_checksums(self.table.number, row - 1, 1)
            return found == row and self.entry_of(row, place, orjson.loads(raw)) == key
        except Exception:  # no item, or one that cannot be read
            return False


@dataclass(slots=True)
class VectorCheck(EntryCheck):
    """The check of a vector index, whose entries have a content: it is compared as well."""

    WRONG: ClassVar[str] = "is not that of its item"

    vector: VectorIndex | None = None
    # The entry of the item that was looked at last.
    entry: VectorEntry | None = None

    def entry_of(self, row: int, key: bytes, item: Item) -> bytes | None:
        assert self.vector is not None, "a vector index is what it checks"
        self.entry = (
            None if self.vector.awaits(row) else vector_entries.entry_of(self.table, self.vector, item, key)
        )
        return None if self.entry is None else self.entry.key

    def weight(self, item: Item, size: int) -> int:
        return 0 if self.entry is None else self.entry.size

    @property
    def is_counted(self) -> bool:
        return True

    def find(self, key: bytes) -> int | None:
        """The row number in the entry at `key`; -1 if the rest of the entry is wrong."""
        assert self.vector is not None, "a vector index is what it checks"
        found = vector_store.find(self.rows, self.table.number, self.number, key, len(self.vector.filters))
        return None if found is None else found[0] if found[1] == self.entry else -1


def entry_checks(rows: RowReader, table: Table) -> list[EntryCheck]:
    """The checks of a table's indexes and of its expiry list."""
    where = f"table {table.name}"
    checks = [
        EntryCheck(rows, f"{where}, index {index.name}", table, index.number, index)
        for index in table.indexes
    ]
    checks += [
        VectorCheck(rows, f"{where}, index {vector.name}", table, vector.number, vector=vector)
        for vector in table.vectors
    ]
    if table.ttl_index is not None:
        checks.append(EntryCheck(rows, f"{where}, expiry list", table, table.ttl_index))
    return checks
