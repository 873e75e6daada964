"""A store written anew without its gaps: the room that deleted rows left in the file is given back to the disk.

The whole store is copied into a file beside it, in order, which then takes its place by a rename. Must hold: the
store is ours alone meanwhile (the lock of storage.py), the log is empty before the copy and stays so, since it would be
read into the new file; killed anywhere, the file is the old one or the new one, whole.
Elsewhere: opening and locking (storage.py).
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tablewright.engine.storage import FILE, NotAStore, Storage, exists, stores_below

COPY = f"{FILE}.compacting"
# How many of SQLite's own steps lie between two looks at the copy's size.
_STEPS = 100_000

Told = Callable[[int, int], None]


class DiskTooFull(Exception):
    """There is no room for the copy beside the store."""


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes of a store's file, and those of them that hold nothing."""

    size: int
    free: int

    def __add__(self, other: "Room") -> "Room":
        return Room(self.size + other.size, self.free + other.free)


def stores_in(directory: str | Path) -> list[Path]:
    """The store and those of further regions below it."""
    return [Path(directory), *stores_below(directory)]


def room_in(directory: str | Path) -> Room:
    """How much of one store could be given back; raises StoreInUse, NotAStore."""
    storage = _opened(directory)
    try:
        return _room(storage)
    finally:
        storage.close()


def compact(directory: str | Path, told: Told = lambda done, total: None) -> tuple[Room, Room]:
    """Write one store anew; its room before and after. Raises StoreInUse, NotAStore, DiskTooFull."""
    storage = _opened(directory)
    try:
        before = _room(storage)
        _copy(storage, Path(directory), before.size - before.free, told)
    finally:
        storage.close()
    return before, room_in(directory)


def _opened(directory: str | Path) -> Storage:
    if not exists(directory):
        raise NotAStore(f"there is no store in {directory}")
    return Storage(directory, "durable")


def _room(storage: Storage) -> Room:
    connection = storage.writes.connection
    # Before this the newest pages are in the log, and the file does not know how large it will be.
    ((is_busy, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert not is_busy, "the store is ours alone"
    ((pages,),) = connection.execute("PRAGMA page_count")
    ((empty,),) = connection.execute("PRAGMA freelist_count")
    ((page,),) = connection.execute("PRAGMA page_size")
    return Room(pages * page, empty * page)


def _copy(storage: Storage, directory: Path, expected: int, told: Told) -> None:
    copy, connection = directory / COPY, storage.writes.connection
    copy.unlink(missing_ok=True)  # somebody was killed here before us
    available = shutil.disk_usage(directory).free
    if available < expected:
        raise DiskTooFull(
            f"compacting {directory} writes up to {expected} bytes beside the store, and {available} are free there"
        )

    def look() -> bool:
        if copy.exists():
            told(min(copy.stat().st_size, expected), expected)
        return False  # go on

    connection.set_progress_handler(look, _STEPS)
    try:
        connection.execute("VACUUM INTO ?", (str(copy),))
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    finally:
        connection.set_progress_handler(None)
    _flush(copy)
    copy.rename(directory / FILE)
    _flush(directory)
    told(expected, expected)


def _flush(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
