"""What the first bytes of a picture say: its kind, its width and its height. Nothing is decoded. Pure.

Must hold: a file of 100 KB may claim 30 000 x 30 000 pixels, which every reader of the page would have to unpack, so
the size is known before the file is kept; a file whose header is broken has no size and is refused.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["png", "jpg", "webp"]
Size: TypeAlias = tuple[int, int]

_PNG, _JPEG, _RIFF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"RIFF"
# Start of frame, whatever the coding. C4, C8 and CC among them are tables and reserved.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Markers without a length: restarts, and TEM.
_BARE = frozenset((*range(0xD0, 0xD8), 0x01))
_MARKER = re.compile(rb"\xff+([^\xff])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Header:
    """A picture's kind, and its width and height in pixels."""

    kind: Kind
    width: int
    height: int


def read_header(content: bytes) -> Header | None:
    """The header of a PNG, a JPEG or a WebP; None if the file is none of them, or its header is broken."""
    kind = _kind(content)
    size = _SIZES[kind](content) if kind is not None else None
    return Header(kind, *size) if kind is not None and size is not None and min(size) > 0 else None


def _kind(content: bytes) -> Kind | None:
    if content.startswith(_PNG):
        return "png"
    if content.startswith(_JPEG):
        return "jpg"
    return "webp" if content.startswith(_RIFF) and content[8:12] == b"WEBP" else None


def _png(content: bytes) -> Size | None:
    """IHDR is the first chunk, and 13 bytes long."""
    if len(content) < 33 or content[8:16] != b"\0\0\0\rIHDR":
        return None
    return int.from_bytes(content[16:20]), int.from_bytes(content[20:24])


def _jpeg(content: bytes) -> Size | None:
    """Segments are passed over by their length, so that a preview inside one is not taken for the picture."""
    at = len(_JPEG)
    while found := _MARKER.match(content, at):
        marker, at = found[1][0], found.end()
        if marker in _BARE:
            continue
        length = int.from_bytes(content[at : at + 2])
        if marker in _FRAMES and len(content) >= at + 7:
            return int.from_bytes(content[at + 5 : at + 7]), int.from_bytes(content[at + 3 : at + 5])
        if length < 2 or marker in (0xD9, 0xDA):  # the end, or pixels before any frame
            return None
        at += length
    return None


def _webp(content: bytes) -> Size | None:
    """The first chunk is the picture, coded one of two ways, or VP8X with the size of the canvas."""
    chunk, data = content[12:16], content[20:30]
    if chunk == b"VP8X" and len(data) == 10:
        return 1 + int.from_bytes(data[4:7], "little"), 1 + int.from_bytes(data[7:10], "little")
    if chunk == b"VP8 " and data[3:6] == b"\x9d\x01\x2a" and len(data) == 10:
        width, height = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
        return width & 0x3FFF, height & 0x3FFF  # the two bits above say how to scale it
    if chunk == b"VP8L" and data[:1] == b"\x2f" and len(data) >= 5:
        bits = int.from_bytes(data[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return None


_SIZES: Mapping[Kind, Callable[[bytes], Size | None]] = {"png": _png, "jpg": _jpeg, "webp": _webp}
