"""A list of entries against the items it should be of: an index, or what expires. Each that is wrong is a sentence.

While the items are walked each is asked for its entry, which is looked up. If the list holds more than was found so,
its entries are walked and each is asked for its item. Must hold: memory grows with what is wrong, not with the table.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson

from tablewright.engine.storage_rows import Rows, index_name
from tablewright.values import Item


@dataclass(slots=True)
class Entries:
    """`entry_of` says where the entry of an item is: from its number, its key and itself; None if it has none."""

    rows: Rows
    where: str
    table: int
    index: int
    entry_of: Callable[[int, bytes, Item], bytes | None]
    # What there should be, and how much of it was found.
    items: int = 0
    size: int = 0
    there: int = 0
    misled: set[bytes] = field(default_factory=set)
    damage: Exception | None = None

    def expect(self, key: bytes, number: int, size: int = 0) -> Iterator[str]:
        """An item asks for its entry."""
        self.items += 1
        self.size += size
        if self.damage is not None:
            return
        try:
            found = self._find(key)
        except Exception as damage:  # told once, in the end
            self.damage = damage
            return
        if found is None:
            yield f"{self.where}: the entry {key.hex()} is missing"
            return
        self.there += 1
        if found != number:
            self.misled.add(key)
            yield f"{self.where}: the entry {key.hex()} points to the wrong item"

    def rest(self) -> Iterator[str]:
        """After all items: the entries that no item asked for."""
        if self.damage is not None:
            raise self.damage
        sql = f"SELECT count(*) FROM {index_name(self.table, self.index)}"
        ((held,),) = self.rows.connection.execute(sql)
        if held == self.there:
            return
        for key, number in self.rows.all_entries(self.table, self.index):
            if key not in self.misled and not self._is_asked_for(key, number):
                yield f"{self.where}: the entry {key.hex()} belongs to no item"

    def _find(self, key: bytes) -> int | None:
        sql = f"SELECT id FROM {index_name(self.table, self.index)} WHERE k = ?"
        for (number,) in list(self.rows.connection.execute(sql, (key,))):
            return int(number)
        return None

    def _is_asked_for(self, key: bytes, number: int) -> bool:
        try:
            ((found, place, _, raw),) = self.rows.all_rows(self.table, number - 1, 1)
            return found == number and self.entry_of(number, place, orjson.loads(raw)) == key
        except Exception:  # no item, or none that can be read
            return False
