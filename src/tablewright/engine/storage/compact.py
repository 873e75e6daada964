"""Compacting a store (VACUUM): the space that deleted rows left in the file is returned to the disk.

The whole store is copied into a file beside it, in order, which then replaces it by a rename.
Must hold: this process alone has the store open during the copy (the lock of sqlite.py); the log is empty before the
copy and stays empty, since it would be applied to the new file; killed anywhere, the file is the old or the new one,
complete.
Elsewhere: opening and locking (sqlite.py).
"""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tablewright.engine.storage.sqlite import FILE, NotAStore, Storage, exists
from tablewright.private_files import private_file, sync

COPY = f"{FILE}.compacting"
# SQLite's virtual machine steps between two progress reports.
_STEPS = 100_000

Progress = Callable[[int, int], None]


class DiskTooFull(Exception):
    """There is not enough disk space for the copy beside the store."""


@dataclass(frozen=True, slots=True)
class FileSpace:
    """The bytes of a store's file, and how many of them are free pages."""

    size: int
    free: int

    def __add__(self, other: "FileSpace") -> "FileSpace":
        return FileSpace(self.size + other.size, self.free + other.free)


def file_space(directory: str | Path) -> FileSpace:
    """How much of a store's file is used and free. Raises StoreInUse, NotAStore."""
    with closing(_opened(directory)) as storage:
        return _file_space(storage)


def compact(
    directory: str | Path, progress: Progress = lambda done, total: None
) -> tuple[FileSpace, FileSpace]:
    """Compact one store; its file space before and after. Raises StoreInUse, NotAStore, DiskTooFull."""
    with closing(_opened(directory)) as storage:
        before = _file_space(storage)
        _copy(storage, Path(directory), before.size - before.free, progress)
    return before, file_space(directory)


def _opened(directory: str | Path) -> Storage:
    if not exists(directory):
        raise NotAStore(f"there is no store in {directory}")
    return Storage(directory, "durable")


def _file_space(storage: Storage) -> FileSpace:
    connection = storage.writes.connection
    # Before the checkpoint the newest pages are in the log, and the page count of the file is not final.
    ((is_busy, *_),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert not is_busy, "the store is ours alone"
    ((pages,),) = connection.execute("PRAGMA page_count")
    ((empty,),) = connection.execute("PRAGMA freelist_count")
    ((page,),) = connection.execute("PRAGMA page_size")
    return FileSpace(pages * page, empty * page)


def _copy(storage: Storage, directory: Path, expected: int, progress: Progress) -> None:
    copy, connection = directory / COPY, storage.writes.connection
    copy.unlink(missing_ok=True)  # left by a process that was killed here
    available = shutil.disk_usage(directory).free
    if available < expected:
        raise DiskTooFull(
            f"compacting {directory} writes up to {expected} bytes beside the store, and {available} are free there"
        )

    def report() -> bool:
        if copy.exists():
            progress(min(copy.stat().st_size, expected), expected)
        return False  # continue

    os.close(private_file(copy))  # otherwise SQLite would create one that other users may read
    connection.set_progress_handler(report, _STEPS)
    try:
        connection.execute("VACUUM INTO ?", (str(copy),))
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    finally:
        connection.set_progress_handler(None)
    sync(copy)
    copy.rename(directory / FILE)
    sync(directory)
    progress(expected, expected)
