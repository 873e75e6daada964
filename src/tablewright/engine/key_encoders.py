"""Functions from an item to the bytes of its key in a table or an index, made once for each.

The bytes are a hash of the partition, the partition's parts and the sort parts (keys.py says why).
Must hold: all encoders of the same parts return the same bytes; the one for two texts only takes less time.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias
from zlib import crc32

from tablewright.values import Item, key_part, size_of

# The key of an item; None if a key attribute is missing, of another type, empty or too long.
KeyEncoder: TypeAlias = Callable[[Item], bytes | None]


class KeyPart(NamedTuple):
    """A key attribute to be encoded: its name, its type, and how many bytes it may have."""

    name: str
    type: str
    most_bytes: int


def key_encoder(partition: Sequence[KeyPart], sort: Sequence[KeyPart]) -> KeyEncoder:
    def encode(item: Item) -> bytes | None:
        whole = _joined(b"", partition, item)
        if whole is None:
            return None
        hashed = (crc32(whole) >> 1).to_bytes(4)
        whole = _joined(whole, sort, item)
        return None if whole is None else hashed + whole

    if [part.type for part in (*partition, *sort)] == ["S", "S"] and len(partition) == 1:
        return _text_encoder(partition[0], sort[0], encode)
    return encode


def _text_encoder(partition: KeyPart, sort: KeyPart, encode: KeyEncoder) -> KeyEncoder:
    """The encoder of a partition key and a sort key that are texts, as most are; `encode` for unusual texts."""
    partition_name, sort_name = partition.name, sort.name
    # A character has 4 bytes at most.
    partition_length, sort_length = partition.most_bytes // 4, sort.most_bytes // 4

    def encode_texts(item: Item) -> bytes | None:
        first, second = item.get(partition_name), item.get(sort_name)
        if first is None or second is None:
            return None
        head, tail = first.get("S"), second.get("S")
        if not head or not tail:
            return None
        if len(head) > partition_length or len(tail) > sort_length or "\0" in head or "\0" in tail:
            return encode(item)
        whole: bytes = head.encode() + b"\0\0"
        hashed = (crc32(whole) >> 1).to_bytes(4)
        return b"%b%b%b\0\0" % (hashed, whole, tail.encode())

    return encode_texts


def _joined(whole: bytes, parts: Sequence[KeyPart], item: Item) -> bytes | None:
    """`whole` followed by the values of these parts; None if one is missing, of another type, empty or too long.

    An index leaves such items out: items older than the index may have values that a write would now be refused for.
    """
    for name, kind, most_bytes in parts:
        value = item.get(name)
        if value is None:
            return None
        content: str | None = value.get(kind)
        if not content or (len(content) * 4 > most_bytes and size_of(value) > most_bytes):
            return None
        whole += key_part(value)
    return whole
