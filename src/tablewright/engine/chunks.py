"""Chunks: runs of items in the order of their keys, packed, named after what is in them.

A run ends after a key whose hash says so, about every 256 items, or when it has grown too large. So a change to one
item changes one chunk, or two, and the others keep their names: snapshots share them.
Must hold: the same items make the same chunks with the same names, wherever the cutting began.
"""

import struct
import zlib
from collections.abc import Sequence
from hashlib import blake2b

from tablewright.engine.storage_history import Kept, Ref

# One key in 256 ends its chunk; items of 400 KB must not make one of 100 MB.
CUT_MASK = 0xFF
MOST_ITEMS = 1024
MOST_BYTES = 512 * 1024
# The quickest: items are JSON, which shrinks well at any level, and a backup should not take the whole machine.
LEVEL = 1
NAME_BYTES = 16

_HEAD = struct.Struct(">III")


def is_last(key: bytes) -> bool:
    """Whether the chunk ends with this key."""
    return blake2b(key, digest_size=1).digest()[0] & CUT_MASK == 0


def cut(items: Sequence[Kept], at_end: bool) -> tuple[list[list[Kept]], list[Kept]]:
    """The items in runs, and the beginning of a run that is not whole yet; `at_end` there is none."""
    runs: list[list[Kept]] = []
    run: list[Kept] = []
    size = 0
    for kept in items:
        run.append(kept)
        size += len(kept.item)
        if is_last(kept.key) or len(run) >= MOST_ITEMS or size >= MOST_BYTES:
            runs.append(run)
            run, size = [], 0
    if at_end and run:
        runs.append(run)
        run = []
    return runs, run


def pack(run: Sequence[Kept]) -> tuple[Ref, bytes]:
    """A run as a chunk: what a snapshot says about it, and its body."""
    parts: list[bytes] = []
    for key, size, item in run:
        parts += (_HEAD.pack(len(key), size, len(item)), key, item)
    plain = b"".join(parts)
    total = sum(kept.size for kept in run)
    return Ref(run[0].key, name_of(plain), len(run), total), zlib.compress(plain, LEVEL)


def name_of(plain: bytes) -> bytes:
    return blake2b(plain, digest_size=NAME_BYTES).digest()


def unpack(body: bytes) -> list[Kept]:
    return items_of(zlib.decompress(body))


def items_of(plain: bytes) -> list[Kept]:
    items: list[Kept] = []
    at = 0
    while at < len(plain):
        key_length, size, item_length = _HEAD.unpack_from(plain, at)
        at += _HEAD.size
        middle, end = at + key_length, at + key_length + item_length
        items.append(Kept(plain[at:middle], size, plain[middle:end]))
        at = end
    return items
