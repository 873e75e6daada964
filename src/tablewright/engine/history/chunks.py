"""Chunks of a snapshot: runs of items in key order, compressed, named by the hash of their content.

A run ends after a key whose hash has its lowest bits zero, about every 256 items, or when it has grown too large. So a
change to one item changes one chunk, or two, and the others keep their names: snapshots share them.
Must hold: the same items give the same chunks with the same names, wherever the cutting began.
"""

import struct
import zlib
from collections.abc import Sequence
from hashlib import blake2b

from tablewright.engine.history.store import ChunkRef, StoredItem

# One key in 256 ends its chunk; items of 400 KB must not make a chunk of 100 MB.
CUT_MASK = 0xFF
MOST_ITEMS = 1024
MOST_BYTES = 512 * 1024
# The fastest: items are JSON, which compresses well at any level, and a backup should not use up the processor.
LEVEL = 1
NAME_BYTES = 16

_HEAD = struct.Struct(">III")


def cut(items: Sequence[StoredItem], at_end: bool) -> tuple[list[list[StoredItem]], list[StoredItem]]:
    """The items in complete runs, and the items of an incomplete last run; `at_end` the last run is complete."""
    runs: list[list[StoredItem]] = []
    run: list[StoredItem] = []
    size = 0
    for stored in items:
        run.append(stored)
        size += len(stored.item)
        is_last = blake2b(stored.key, digest_size=1).digest()[0] & CUT_MASK == 0
        if is_last or len(run) >= MOST_ITEMS or size >= MOST_BYTES:
            runs.append(run)
            run, size = [], 0
    if at_end and run:
        runs.append(run)
        run = []
    return runs, run


def pack(run: Sequence[StoredItem]) -> tuple[ChunkRef, bytes]:
    """A run as a chunk: the snapshot's reference to it, and its compressed body."""
    parts: list[bytes] = []
    for key, size, item in run:
        parts += (_HEAD.pack(len(key), size, len(item)), key, item)
    plain = b"".join(parts)
    total = sum(stored.size for stored in run)
    return ChunkRef(run[0].key, name_of(plain), len(run), total), zlib.compress(plain, LEVEL)


def name_of(plain: bytes) -> bytes:
    return blake2b(plain, digest_size=NAME_BYTES).digest()


def is_whole(name: bytes, body: bytes) -> bool:
    """Whether a chunk has the content of its name."""
    try:
        return name_of(zlib.decompress(body)) == name
    except zlib.error:
        return False


def unpack(body: bytes) -> list[StoredItem]:
    plain = zlib.decompress(body)
    items: list[StoredItem] = []
    at = 0
    while at < len(plain):
        key_length, size, item_length = _HEAD.unpack_from(plain, at)
        at += _HEAD.size
        middle, end = at + key_length, at + key_length + item_length
        items.append(StoredItem(plain[at:middle], size, plain[middle:end]))
        at = end
    return items
