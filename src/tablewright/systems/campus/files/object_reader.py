"""The bytes of an object as a file that can be read at any place, such as by zipfile.

Must hold: memory is that of one block, whatever the size of the object; what is not read is not fetched.
"""

import io
from collections.abc import Callable

from tablewright.kit.objects.store import ObjectStream

BLOCK = 1024 * 1024


class _Ranges(io.RawIOBase):
    def __init__(self, read: Callable[[int, int], ObjectStream], size: int) -> None:
        self._read, self._size, self._at = read, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError("before the beginning of the object")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # anything with a buffer
        end = min(self._size, self._at + len(view))
        if self._at >= end:
            return 0
        count = 0
        with self._read(self._at, end) as stream:
            for chunk in stream:
                view[count : count + len(chunk)] = chunk
                count += len(chunk)
        self._at += count
        return count


def object_reader(read: Callable[[int, int], ObjectStream], size: int) -> io.BufferedReader:
    """A reader over `read(start, end)` of an object of this size."""
    return io.BufferedReader(_Ranges(read, size), BLOCK)
