"""The CRC-32 of rows, which every read compares. zlib-ng has the same sums as zlib; those of 1 KB take it a fifth of
the time."""

from collections.abc import Callable

try:
    from zlib_ng.zlib_ng import crc32 as found
except ModuleNotFoundError:  # it is optional: tablewright[fast]
    from zlib import crc32 as found

crc32: Callable[..., int] = found
