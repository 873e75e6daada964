"""The entry of an item in a vector index, what a write must not put there, and what a write to it costs.

An item has an entry if it has the vector and, in a partitioned index, the partition's attribute; an inline filter may
be missing. A write of a vector that does not fit is refused; items from before the index that do not fit are left out.
The size of an entry is four bytes for each dimension, the attribute's name, and what else the index projects.
"""

from collections.abc import Iterable, Iterator

from tablewright.engine.catalog import Table
from tablewright.engine.errors import ItemMistake
from tablewright.engine.keys import partition_bytes
from tablewright.engine.limits import HASH_KEY_BYTES, VECTOR_REQUEST_BYTES
from tablewright.engine.storage.checksum import crc32
from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import index_name
from tablewright.engine.vectors import store
from tablewright.engine.vectors.definition import VectorIndex
from tablewright.engine.vectors.scores import NotAVector, pack, squared
from tablewright.engine.vectors.store import VectorEntry
from tablewright.values import Item, Value, item_size, key_part, size_of

# Numbers that one transaction packs, half a microsecond each: a write waits ten milliseconds at most.
PACKED_NUMBERS = 20_000
_INVALID = "One or more parameter values were invalid. "


# --- what a write is refused for ---


def refuse_bad_vectors(table: Table, old: Item | None, new: Item) -> None:
    """Refuse vectors that do not fit their indexes. For an update, only those it changes are checked."""
    for index in table.vectors:
        value = new.get(index.attribute)
        if value is not None and (old is None or old.get(index.attribute) != value):
            _refuse_misfit(index, value)


def _refuse_misfit(index: VectorIndex, value: Value) -> None:
    name = index.attribute
    elements = value.get("L")
    if elements is None:
        expected = "32-bit floating point number list"
        raise ItemMistake(
            f"{_INVALID}Invalid type for parameter {name}, Expected: {expected} IndexName: {index.name}"
        )
    if len(elements) != index.dimensions:
        raise ItemMistake(
            f"{_INVALID}Invalid size for parameter {name}, Expected: {index.dimensions}, "
            f"Actual: {len(elements)} IndexName: {index.name}"
        )
    try:
        pack(elements)
    except NotAVector as bad:
        kind = next(iter(elements[bad.place or 0]))
        raise ItemMistake(
            f"{_INVALID}Invalid type for parameter {name}[{bad.place}], Expected: 32-bit floating point number, "
            f"Actual: {kind}. IndexName: {index.name}"
        ) from None


# --- entries ---


def projected(table: Table, index: VectorIndex, item: Item) -> Item:
    """What the index has of an item, without the vector."""
    if index.projection == "ALL":
        return {name: value for name, value in item.items() if name != index.attribute}
    names = dict.fromkeys(table.schema.names + index.schema_names + index.included)
    return {name: item[name] for name in names if name in item and name != index.attribute}


def entry_size(table: Table, index: VectorIndex, item: Item) -> int:
    return 4 * index.dimensions + len(index.attribute.encode()) + item_size(projected(table, index, item))


def place_of(table: Table, index: VectorIndex, item: Item, key: bytes) -> bytes | None:
    """The key of an item's entry; None if it is not in the index. That its numbers fit is not checked."""
    if index.attribute not in item:
        return None  # most items of a table of several entities
    elements = item[index.attribute].get("L")
    if elements is None or len(elements) != index.dimensions:
        return None
    if index.hash is None:
        return key
    value = item.get(index.hash, {})
    content = value.get(table.types[index.hash])
    if not content or size_of(value) > HASH_KEY_BYTES:
        return None
    return partition_bytes([value]) + key


def entry_of(table: Table, index: VectorIndex, item: Item, key: bytes) -> VectorEntry | None:
    place = place_of(table, index, item, key)
    if place is None:
        return None
    try:
        vector = pack(item[index.attribute]["L"])
    except NotAVector:
        return None
    filters = tuple([_filter_bytes(item.get(name), table.types[name]) for name in index.filters])
    return VectorEntry(place, entry_size(table, index, item), filters, squared(vector), crc32(vector), vector)


def _filter_bytes(value: Value | None, kind: str) -> bytes | None:
    return None if value is None or kind not in value else key_part(value)


def moves(
    table: Table, key: bytes, row: int, old: Item | None, new: Item | None
) -> Iterator[tuple[VectorIndex, VectorEntry | None, VectorEntry | None]]:
    """For each index that has an entry before or after a write: the two."""
    for index in table.vectors:
        if _has_none(index, old, new) or index.awaits(row):
            continue
        before = None if old is None else entry_of(table, index, old, key)
        after = None if new is None else entry_of(table, index, new, key)
        if before is not None or after is not None:
            yield index, before, after


def _has_none(index: VectorIndex, old: Item | None, new: Item | None) -> bool:
    """Whether neither item has a vector: most writes of a table of several entities."""
    name = index.attribute
    return (old is None or name not in old) and (new is None or name not in new)


def create(rows: RowWriter, table: Table, index: VectorIndex) -> None:
    store.create(rows, table.number, index.number, len(index.filters))


def rows_at_once(most: int, indexes: Iterable[VectorIndex]) -> int:
    """How many items one transaction should add to these indexes: `most`, or fewer if their vectors are long."""
    dimensions = sum(index.dimensions for index in indexes)
    return max(1, min(most, PACKED_NUMBERS // dimensions)) if dimensions else most


def counted(table: Table, index: VectorIndex) -> str:
    """The name of its counter."""
    return index_name(table.number, index.number)


# --- what a write costs ---


def written_bytes(table: Table, old: Item | None, new: Item | None) -> dict[str, float]:
    """VectorWriteRequestBytes of a write, by index; indexes in which nothing changes are not in it."""
    used = {}
    for index in table.vectors:
        if _has_none(index, old, new):
            continue
        amount = _written(table, index, old, new)
        if amount:
            used[index.name] = amount
    return used


def put_bytes(table: Table, old: Item | None, new: Item) -> dict[str, int]:
    """The sizes of the new entries of a write, by index; indexes in which nothing changes are not in it."""
    changed = written_bytes(table, old, new)
    return {
        index.name: entry_size(table, index, new)
        for index in table.vectors
        if index.name in changed and place_of(table, index, new, b"") is not None
    }


def _written(table: Table, index: VectorIndex, old: Item | None, new: Item | None) -> float:
    if old is not None and place_of(table, index, old, b"") is None:
        old = None
    if new is not None and place_of(table, index, new, b"") is None:
        new = None
    if old is None or new is None:
        there = old or new
        return 0.0 if there is None else _charged(entry_size(table, index, there))
    sizes = entry_size(table, index, old), entry_size(table, index, new)
    if place_of(table, index, old, b"") != place_of(table, index, new, b""):
        return _charged(sizes[0]) + _charged(sizes[1])
    is_same = old[index.attribute] == new[index.attribute]
    if is_same and projected(table, index, old) == projected(table, index, new):
        return 0.0
    return _charged(max(sizes))


def _charged(size: int) -> float:
    return float(max(size, VECTOR_REQUEST_BYTES))
