"""The store: one SQLite file with its lock, its connections, its transactions and its write-ahead log (WAL).

Must hold: there is one writer at a time, which holds `write_lock`; a reader sees committed state only; a store is open
in one process at most.
Elsewhere: the rows (rows.py, row_writer.py), the tables (schema.py).
"""

import fcntl
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TextIO

import apsw

from tablewright.engine.background import forks
from tablewright.engine.storage import schema
from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.storage.schema import FORMAT
from tablewright.private_files import private_directory, private_file, tighten

FILE = "store.sqlite"
LOCK = "lock"
# The folder of the stores of further regions, below the first region's store (replication/regions.py).
REGIONS = "regions"
DURABILITIES = ("durable", "relaxed")

# The log is checkpointed once it is this long (32 MB). Measured: with a shorter log the same hot pages are checkpointed
# again and again, a longer one slows every read that must search it.
CHECKPOINT_PAGES = 8192
CHECKPOINT_PASSES = 3
# A put changes one leaf in every index, and whole pages go into the log: with pages of 8 KB the log was nearly twice as
# long, and the writer waited longer for its checkpoints.
PAGE_BYTES = 4096
# Most pages are read from the memory map; the cache holds those that changed. SQLite scans all of it at every commit
# after a page was split: with 16 MB a put took 5 % more processor time.
CACHE_KB = 4096
# All of any file, as only addresses are taken. Reading an item from pages that are not mapped takes a fifth longer.
MAPPED_BYTES = 2**40
# In memory: how many rows change between two real commits (see Storage._begin_in_memory). Until then SQLite has a copy
# of every changed page: some 40 MB at most.
OUTER_CHANGES = 16384


class StoreInUse(Exception):
    """Another process has the store open."""

    def __init__(self, directory: Path, holder: str) -> None:
        self.directory, self.holder = directory, holder
        by = f" by process {holder}" if holder else ""
        super().__init__(
            f"the store in {directory} is open{by}; stop that process, or open another directory"
        )


class StoreOfParent(StoreInUse):
    """The store was open in the parent when this process was forked."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.holder = directory, ""
        Exception.__init__(
            self,
            f"the store in {directory} was open when this process was forked; open it in a process that was started "
            "with spawn instead of fork (multiprocessing: spawn)",
        )


class NotAStore(Exception):
    """The directory does not hold a store of this program, or holds one of a newer version."""


class MemoryRanOut(Exception):
    """SQLite ran out of memory and rolled back more than one write; the store's state is not reliable."""


# In a forked child: the files (device, inode) that were open in the parent.
_OF_PARENT: set[tuple[int, int]] = set()


class Storage:
    """An open store: its lock, its connections, its transactions."""

    def __init__(self, path: str | Path, durability: str, image: bytes | None = None) -> None:
        if durability not in DURABILITIES:
            raise ValueError(f"durability is {' or '.join(DURABILITIES)}, not {durability}")
        self.in_memory = str(path) == ":memory:"
        if image is not None and not self.in_memory:
            raise ValueError("only a store in memory begins as an image")
        self.commit_blocks = durability == "durable" and not self.in_memory
        self.write_lock = threading.Lock()
        self._synchronous = "FULL" if durability == "durable" else "NORMAL"
        self._lock_file: TextIO | None = None
        self._closed = False
        self._log_pages = 0
        self._outer_changes: int | None = None  # in memory: changes() at the last real commit
        self._has_savepoint = False  # in memory: a savepoint may be open
        self._idle: list[RowReader] = []
        self._in_use: set[RowReader] = set()
        self._is_forking = self._is_quiesced = False
        self.damaged: set[int] = set()  # tables in which a read met a damaged row
        if self.in_memory:
            self._file = ":memory:"
        else:
            directory = Path(path)
            private_directory(directory)
            self._file = str(directory / FILE)
            if _identity(self._file) in _OF_PARENT:
                raise StoreOfParent(directory)
            self._lock_file = _lock_directory(directory)
            _tighten(directory)
        try:
            with forks.connection_lock:
                self._writer = self._connect()
                if image is not None:
                    _load(self._writer, image)
                _prepare(self._writer, self._file)
        except apsw.NotADBError:
            self._release()
            raise NotAStore(f"{self._file} is not a store of this program") from None
        except BaseException:
            self._release()
            raise
        self._writer.set_wal_hook(self._note_log)
        self._control = self._writer.cursor().execute  # BEGIN, COMMIT and the like: always finished at once
        self.writes = RowWriter(self._writer, self.damaged)
        # Open until the end: closing any descriptor of the file would drop SQLite's locks on it.
        self._file_number = -1 if self.in_memory else os.open(self._file, os.O_RDWR)
        forks.register_quiescing(self)

    # --- the writer ---

    def begin(self) -> None:
        # A transaction that is still open was interrupted (Ctrl-C between two lines) before any answer was sent.
        self.rollback()
        if self.in_memory:
            self._begin_in_memory()
        else:
            self._control("BEGIN IMMEDIATE")

    def changes(self) -> int:
        """How many rows the writer has ever changed: a cheap way to see whether something was written."""
        return self._writer.total_changes()

    def commit(self) -> None:
        self.writes.flush_buffers()
        if self.in_memory:
            self._commit_in_memory()
        else:
            self._control("COMMIT")

    def rollback(self) -> None:
        if self._closed:
            return
        self.writes.discard_buffers()
        if self.in_memory:
            self._rollback_in_memory()
        elif self._writer.in_transaction:
            self._control("ROLLBACK")

    # In memory our transactions are savepoints inside an outer transaction of SQLite that lasts for many of them. A
    # commit scans every page of the store whenever leaves moved, which at 100 000 items was half of the time SQLite
    # spent on a put; releasing a savepoint scans none.

    def _begin_in_memory(self) -> None:
        if not self._writer.in_transaction:
            if self._outer_changes is not None:
                raise MemoryRanOut("the store in memory ran out of memory and lost writes; open a new one")
            self._control("BEGIN IMMEDIATE")
            self._outer_changes = self.changes()
        # Set before the statement: Ctrl-C between the two lines must not leave an open savepoint unnoticed.
        self._has_savepoint = True
        self._control("SAVEPOINT one")

    def _commit_in_memory(self) -> None:
        self._control("RELEASE one")
        self._has_savepoint = False
        if self._outer_changes is None or self.changes() - self._outer_changes > OUTER_CHANGES:
            self._outer_changes = None
            self._control("COMMIT")

    def _rollback_in_memory(self) -> None:
        if self._has_savepoint:
            # There is no savepoint if it was never created, or was released and only the flag not yet reset.
            with suppress(apsw.SQLError):
                self._control("ROLLBACK TO one")
                self._control("RELEASE one")
            self._has_savepoint = False

    def image(self) -> bytes:
        """All of a store in memory, which others can begin as."""
        if not self.in_memory:
            raise ValueError("only a store in memory has an image; the files of others can be copied")
        with self.write_lock:
            if self._writer.in_transaction:
                self._outer_changes = None
                self._control("COMMIT")
            return self._writer.serialize("main")

    # --- readers ---

    def acquire_reader(self) -> RowReader:
        """A reader of committed state, for one request; the caller must call `release_reader`."""
        try:
            rows = self._idle.pop()
        except IndexError:
            with forks.connection_lock:
                rows = RowReader(self._connect(), self.damaged)
        self._in_use.add(rows)
        # Checked after the add: `quiesce` sets the flag first and then waits for readers in use.
        if self._is_forking:
            self._wait_for_fork(rows)
        return rows

    def _wait_for_fork(self, rows: RowReader) -> None:
        self._in_use.discard(rows)
        while self._is_forking:
            sleep(0.0005)
        self._in_use.add(rows)

    def release_reader(self, rows: RowReader) -> None:
        self._in_use.discard(rows)
        self._idle.append(rows)

    # --- the log ---

    def _note_log(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    @property
    def log_is_long(self) -> bool:
        return self._log_pages > CHECKPOINT_PAGES

    def checkpoint(self) -> None:
        """Move the log into the file: most of it while the writer continues, the rest under the write lock.

        Without the last part a busy writer always stays ahead and the log grows without end. SQLite syncs the file in
        that part; syncing it before, after each pass, leaves little to do under the lock.
        """
        rows = self.acquire_reader()
        try:
            for _ in range(CHECKPOINT_PASSES):
                self._log_into_file(rows)
                os.fdatasync(self._file_number)
            with self.write_lock:
                if self._log_into_file(rows):
                    self._log_pages = 0
        finally:
            self.release_reader(rows)

    def _log_into_file(self, rows: RowReader) -> bool:
        try:
            rows.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.BusyError:
            return False  # the next checkpoint will do it
        return True

    # --- the end ---

    def close(self) -> None:
        """Wait for the writer and the readers, then close. May be called more than once."""
        with self.write_lock:
            if self._closed:
                return
            self._closed = True
            while self._in_use:
                sleep(0.001)
            with forks.connection_lock:
                for rows in self._idle:
                    rows.connection.close()
                self._writer.close()
            if not self.in_memory:
                os.close(self._file_number)
            self._release()

    def quiesce(self) -> None:
        """Before a fork (background/forks.py): wait for the writer and the readers, but with a limit.

        The forking thread may itself be one of them.
        """
        self._is_forking = True
        self._is_quiesced = self.write_lock.acquire(timeout=forks.QUIESCE_SECONDS)
        until = monotonic() + forks.QUIESCE_SECONDS
        while self._in_use and monotonic() < until:
            sleep(0.0005)

    def resume(self) -> None:
        if self._is_quiesced:
            self.write_lock.release()
        self._is_forking = self._is_quiesced = False

    def close_in_child(self) -> None:
        """In a forked child: the store is the parent's (background/forks.py). Only the lock file is closed."""
        # The former is held by the fork, also of a store that was closed before it.
        self.write_lock = threading.Lock()
        if self._closed:
            return
        self._closed = True
        forks.leak((self._writer, self._control, self.writes, *self._idle, *self._in_use))
        if not self.in_memory:
            found = os.fstat(self._file_number)
            _OF_PARENT.add((found.st_dev, found.st_ino))
        self._release()  # the parent still holds the lock: it ends when its last descriptor is closed

    def _release(self) -> None:
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None

    def _connect(self) -> apsw.Connection:
        # unix-excl: only this process uses the file (it holds the store's lock), so a read needs no file lock of the
        # operating system, and the index of the log is in the process's memory.
        vfs = None if self.in_memory else "unix-excl"
        connection = apsw.Connection(self._file, vfs=vfs, statementcachesize=400)
        connection.set_busy_timeout(10_000)
        # Each statement has one good plan. Without this SQLite prepares it again for new keys, looking for a better
        # plan: half the time of a query.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        for pragma in (
            f"page_size = {PAGE_BYTES}",
            "journal_mode = WAL",
            f"synchronous = {self._synchronous}",
            f"cache_size = -{CACHE_KB}",
            f"mmap_size = {MAPPED_BYTES}",
            "wal_autocheckpoint = 0",
            "temp_store = MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def _identity(file: str) -> tuple[int, int] | None:
    """What SQLite identifies a file by: device and inode; None if there is no file."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _tighten(directory: Path) -> None:
    """A store of an earlier version may be readable by other users; SQLite gives new logs the file's mode."""
    os.close(private_file(directory / FILE))
    for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", LOCK, "buckets", REGIONS):
        tighten(directory / name)


def _lock_directory(directory: Path) -> TextIO:
    held = open(private_file(directory / LOCK, os.O_RDWR | os.O_APPEND), "a+")  # noqa: SIM115 (held as long as the store)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.seek(0)
        holder = held.read().strip()
        held.close()
        raise StoreInUse(directory, holder) from None
    held.seek(0)
    held.truncate()
    held.write(str(os.getpid()))
    held.flush()
    return held


def _load(connection: apsw.Connection, image: bytes) -> None:
    source = apsw.Connection(":memory:")
    try:
        source.deserialize("main", image)
        with connection.backup("main", source, "main") as backup:
            backup.step()
    finally:
        source.close()


def _prepare(connection: apsw.Connection, file: str) -> None:
    ((version,),) = connection.execute("PRAGMA user_version")
    ((owner,),) = connection.execute("PRAGMA application_id")
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_master")
    if tables == 0:
        _in_one_transaction(connection, _create)
    elif owner != schema.APPLICATION:
        raise NotAStore(f"{file} is the database of another program; open another directory")
    elif version > FORMAT:
        raise NotAStore(
            f"{file} has format {version}; this program knows formats up to {FORMAT}: use a newer one"
        )
    elif version in _UPGRADES:
        _in_one_transaction(connection, _UPGRADES[version])
    elif version < FORMAT:
        raise NotAStore(f"{file} has format {version}, of a version that was never released")


def _in_one_transaction(connection: apsw.Connection, work: Callable[[apsw.Connection], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        work(connection)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")
        raise


def _create(connection: apsw.Connection) -> None:
    connection.execute(schema.THIRD + schema.FOURTH + schema.FIFTH)
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")


def _upgrade_from_3(connection: apsw.Connection) -> None:
    """Format 3 had no checksums; those of its rows are written by the first scrub."""
    connection.execute(schema.FOURTH)
    for (name,) in list(connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")):
        if re.fullmatch(r"t\d+", name):
            connection.execute(f"ALTER TABLE {name} ADD COLUMN sum INTEGER")
    _upgrade_from_4(connection)


def _upgrade_from_4(connection: apsw.Connection) -> None:
    """Format 4 had no bulk loads."""
    connection.execute(schema.FIFTH)


_UPGRADES = {3: _upgrade_from_3, 4: _upgrade_from_4}


def exists(path: str | Path) -> bool:
    """Whether the directory holds a store; an empty file is not a store."""
    file = Path(path) / FILE
    return file.is_file() and file.stat().st_size > 0


def stores_below(path: str | Path) -> list[Path]:
    """The stores of further regions below a store, ordered by region."""
    return sorted(one for one in (Path(path) / REGIONS).glob("*") if exists(one))
