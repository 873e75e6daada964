"""Key attributes as bytes: the position of an item in its table and in its indexes.

A key is a hash of the partition (31 bits, so that every key sorts below 80 00 00 00), the partition's parts, and the
sort parts. A scan in byte order therefore reads partitions in hash order, and a segment of a parallel scan is a range.
An index key is followed by the key of the item, which makes it unique and orders equal index keys.
Must hold: no part is a prefix of another (values/ordering.py), so a partition is exactly one byte range.
Elsewhere: the encoder of each table and index (key_encoders.py).
"""

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

from tablewright.engine.catalog import Index, KeySchema, Table
from tablewright.expressions import KeyPlan
from tablewright.values import Item, Value, key_part, key_prefix

HASH_SPACE = 1 << 31
_BYTES = [bytes([number]) for number in range(256)]


def partition_bytes(values: Sequence[Value]) -> bytes:
    parts = key_part(values[0]) if len(values) == 1 else b"".join([key_part(value) for value in values])
    return (crc32(parts) >> 1).to_bytes(4) + parts


def item_key(table: Table, item: Item) -> bytes:
    """The key of an item; its key attributes must be present and of the right type."""
    schema = table.schema
    parts = key_part(item[schema.hash[0]])
    prefix = (crc32(parts) >> 1).to_bytes(4)
    if schema.range:
        return prefix + parts + key_part(item[schema.range[0]])
    return prefix + parts


def partition_of(table: Table, item: Item) -> bytes:
    return partition_bytes([item[table.schema.hash[0]]])


def entry_key(table: Table, index: Index, item: Item, key: bytes) -> bytes | None:
    """The entry key of an item in an index; None if a key attribute is missing or does not fit the index."""
    place = table.entry_plans[index.number].encode(item)
    return None if place is None else place + key


def expiry_key(table: Table, item: Item, key: bytes) -> bytes | None:
    """The entry key of an item in the expiry list: by time, then by key. None if it never expires."""
    value = item.get(table.ttl_attribute or "")
    return None if value is None or "N" not in value else key_part(value) + key


def after(prefix: bytes) -> bytes:
    """The smallest bytes above everything that begins with `prefix`."""
    last = prefix[-1]
    if last < 255:
        return prefix[:-1] + _BYTES[last + 1]
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1])


def plan_range(plan: KeyPlan) -> tuple[bytes, bytes]:
    """The byte range [low, high) of a key condition."""
    base = partition_bytes(plan.partition)
    if plan.sort_equal:
        base += b"".join([key_part(value) for value in plan.sort_equal])
    test = plan.last
    if test is None:
        return base, after(base)
    if test.op == "begins_with":
        prefix = base + key_prefix(test.values[0])
        return prefix, after(prefix)
    first = base + key_part(test.values[0])
    match test.op:
        case "=":
            return first, after(first)
        case "<":
            return base, first
        case "<=":
            return base, after(first)
        case ">":
            return after(first), after(base)
        case ">=":
            return first, after(base)
        case _:  # BETWEEN
            return first, after(base + key_part(test.values[1]))


def segment_range(segment: int, total: int) -> tuple[bytes, bytes]:
    """The range of the hash space of a segment of a parallel scan."""
    low = -(-segment * HASH_SPACE // total)
    high = -(-(segment + 1) * HASH_SPACE // total)
    return low.to_bytes(4), high.to_bytes(4)


def key_names(table: Table, index: Index | None) -> tuple[str, ...]:
    """The attributes of a LastEvaluatedKey: the index's key, if there is one, and the table's."""
    return table.schema.names if index is None else _distinct(index.schema.names, table.schema.names)


def position(table: Table, index: Index | None, key: Item) -> bytes:
    """The key bytes of a LastEvaluatedKey."""
    base = item_key(table, key)
    if index is None:
        return base
    schema: KeySchema = index.schema
    sort = b"".join([key_part(key[name]) for name in schema.range])
    return partition_bytes([key[name] for name in schema.hash]) + sort + base


@lru_cache(maxsize=256)
def _distinct(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names + others))
