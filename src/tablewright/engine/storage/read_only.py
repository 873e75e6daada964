"""Reading a store that this process may not write: on a read-only mount, or in a directory of another user.

Must hold: nothing is written there. A store whose log is empty is read in place; one whose log holds changes, or that
has an older format, is copied into a temporary directory first, since opening it would have to write.
Elsewhere: writable stores (sqlite.py).
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from urllib.parse import quote

import apsw

from tablewright.engine.storage import schema
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.storage.sqlite import FILE, LOCK, NotAStore, Storage, StoreInUse

_LOG = f"{FILE}-wal"


def is_writable(directory: Path) -> bool:
    """Whether this process may write the store's file and create files beside it."""
    return all(os.access(path, os.W_OK, effective_ids=True) for path in (directory, directory / FILE))


@contextmanager
def open_read_only(path: str | Path) -> Iterator[RowReader]:
    """The rows of a store that is not open in another process. Raises NotAStore, StoreInUse, OSError."""
    directory = Path(path)
    if not os.access(directory / FILE, os.R_OK, effective_ids=True):
        raise PermissionError(f"the store in {directory} may not be read; run this as its owner")
    if is_writable(directory):
        with closing(Storage(path, "relaxed")) as storage:
            yield storage.writes
        return
    with _not_in_use(directory):
        if _is_readable_in_place(directory):
            with closing(_connect(directory / FILE)) as connection:
                yield RowReader(connection)
        else:
            with _copied(directory) as copy, open_read_only(copy) as rows:
                yield rows


@contextmanager
def _not_in_use(directory: Path) -> Iterator[None]:
    """Hold the store's lock, shared: the mount may be read-only here and writable for another process."""
    try:
        held = open(directory / LOCK)  # noqa: SIM115 (closed below)
    except FileNotFoundError:
        yield
        return
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as taken:
            if taken.errno != errno.EWOULDBLOCK:
                raise
            raise StoreInUse(directory, held.read().strip()) from None
        yield


def _is_readable_in_place(directory: Path) -> bool:
    log = directory / _LOG
    if log.exists() and log.stat().st_size > 0:
        return False
    with closing(_connect(directory / FILE)) as connection:
        try:
            ((version,),) = connection.execute("PRAGMA user_version")
            ((owner,),) = connection.execute("PRAGMA application_id")
        except apsw.NotADBError:
            raise NotAStore(f"{directory / FILE} is not a store of this program") from None
    if owner != schema.APPLICATION or version > schema.FORMAT:
        raise NotAStore(f"{directory / FILE} is not a store of this program, or one of a newer version")
    return bool(version == schema.FORMAT)


def _connect(file: Path) -> apsw.Connection:
    # immutable: SQLite creates no log and takes no lock; without it a store in WAL mode cannot be opened here.
    return apsw.Connection(
        f"file:{quote(str(file.absolute()))}?immutable=1",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )


@contextmanager
def _copied(directory: Path) -> Iterator[Path]:
    parts = [part for part in (directory / FILE, directory / _LOG) if part.exists()]
    needed, free = sum(part.stat().st_size for part in parts), shutil.disk_usage(gettempdir()).free
    if free < needed:
        raise OSError(
            f"the store in {directory} cannot be written, and its log must be applied before it can be read. "
            f"A copy needs {needed} bytes in {gettempdir()}, where {free} are free: set TMPDIR to a larger directory",
        )
    with TemporaryDirectory(prefix="tablewright-") as copy:
        for part in parts:
            shutil.copyfile(part, Path(copy) / part.name)
        yield Path(copy)
