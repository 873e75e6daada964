"""The entries of an index, or of an expiry list, against the items of its table; each wrong one is a sentence.

While the items are read, the entry of each is looked up. If the index has more entries than were found that way, its
entries are read, and the item of each is looked up. Must hold: memory grows with the number of errors, not with the
table.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson

from tablewright.engine.storage.rows import RowReader
from tablewright.engine.verify import store
from tablewright.values import Item


@dataclass(slots=True)
class EntryCheck:
    """`entry_of` returns the entry key of an item from its row number, key and attributes; None if it has none."""

    rows: RowReader
    where: str
    table: int
    index: int
    entry_of: Callable[[int, bytes, Item], bytes | None]
    # The expected entries, and how many of them were found.
    items: int = 0
    size: int = 0
    found: int = 0
    wrong: set[bytes] = field(default_factory=set)
    damage: Exception | None = None

    def expect(self, key: bytes, number: int, size: int = 0) -> Iterator[str]:
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
        if found != number:
            self.wrong.add(key)
            yield f"{self.where}: the entry {key.hex()} points to the wrong item"

    def unexpected(self) -> Iterator[str]:
        """After all items: the entries that belong to no item."""
        if self.damage is not None:
            raise self.damage
        if store.entry_count(self.rows, self.table, self.index) == self.found:
            return
        for key, number in self.rows.all_entries(self.table, self.index):
            if key not in self.wrong and not self.is_expected(key, number):
                yield f"{self.where}: the entry {key.hex()} belongs to no item"

    def find(self, key: bytes) -> int | None:
        return store.find_entry(self.rows, self.table, self.index, key)

    def is_expected(self, key: bytes, number: int) -> bool:
        try:
            ((found, place, _, raw, _),) = self.rows.rows_with_checksums(self.table, number - 1, 1)
            return found == number and self.entry_of(number, place, orjson.loads(raw)) == key
        except Exception:  # no item, or one that cannot be read
            return False
