"""The store: ordered byte keys in one SQLite file. This file and the storage_*.py beside it are all that says SQL.

Here are the file, its lock, its connections and its transactions.
Must hold: one writer at a time, who holds `writing`; what a reader sees has been committed; a store is
open in one process at most.
Elsewhere: what is read and written in them (storage_rows.py), the tables SQLite has (schema.py).
"""

import fcntl
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TextIO

import apsw

from tablewright.engine import forks, schema
from tablewright.engine.schema import FORMAT
from tablewright.engine.storage_rows import Rows, Writes, table_name

FILE = "store.sqlite"
# Where the stores of further regions are, below the first one's (regions.py).
REGIONS = "regions"
DURABILITIES = ("durable", "relaxed")

# Checkpoints run beside the writer once the log is this long (32 MB); found by measuring: a shorter log
# checkpoints the same hot pages again and again, a longer one slows every read that must look it up.
CHECKPOINT_PAGES = 8192
CHECKPOINT_PASSES = 3
# A put changes a leaf here and there in every index, and whole pages go into the log: with pages of 8 KB the
# log was nearly twice as long, and the writer waited longer for its checkpoints.
PAGE_BYTES = 4096
# Most pages are read where the file is mapped; this holds those that changed. SQLite looks through all of it at every
# commit after a page was split: 64 MB cost a put 5 %.
CACHE_KB = 16384
# In memory, how many rows change between two real commits (see Storage._begin_in_memory). Until then SQLite
# keeps a copy of every page that was changed: some 40 MB at most.
ERA_CHANGES = 16384


class StoreInUse(Exception):
    """Another process has the store open."""

    def __init__(self, directory: Path, holder: str) -> None:
        self.directory, self.holder = directory, holder
        by = f" by process {holder}" if holder else ""
        super().__init__(
            f"the store in {directory} is open{by}; stop that process, or open another directory"
        )


class StoreOfParent(StoreInUse):
    """The store was open in this process's parent when it was forked."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.holder = directory, ""
        Exception.__init__(
            self,
            f"the store in {directory} was open when this process was forked; open it in a process that was started "
            "anew (multiprocessing: spawn)",
        )


class NotAStore(Exception):
    """The directory holds something that is not a store of ours, or one of a newer version."""


class MemoryRanOut(Exception):
    """SQLite found no memory and undid more than the write that asked for it; the store may not be believed."""


# In a forked child: the files that were open before.
_OF_PARENT: set[tuple[int, int]] = set()


class Storage:
    """The open store: its lock, its connections, its transactions."""

    def __init__(self, path: str | Path, durability: str) -> None:
        if durability not in DURABILITIES:
            raise ValueError(f"durability is {' or '.join(DURABILITIES)}, not {durability}")
        self.in_memory = str(path) == ":memory:"
        self.commit_blocks = durability == "durable" and not self.in_memory
        self.writing = threading.Lock()
        self._synchronous = "FULL" if durability == "durable" else "NORMAL"
        self._held: TextIO | None = None
        self._closed = False
        self._log_pages = 0
        self._era: int | None = None  # in memory: the writer's changes at the last real commit
        self._is_open = False  # in memory: a savepoint may be open
        self._idle: list[Rows] = []
        self._lent: set[Rows] = set()
        self._is_forking = self._is_still = False
        if self.in_memory:
            self._file = ":memory:"
        else:
            directory = Path(path)
            directory.mkdir(parents=True, exist_ok=True)
            self._file = str(directory / FILE)
            if _identity(self._file) in _OF_PARENT:
                raise StoreOfParent(directory)
            self._held = _hold(directory)
        try:
            with forks.opening:
                self._writer = self._connect()
                _prepare(self._writer, self._file)
        except apsw.NotADBError:
            self._release()
            raise NotAStore(f"{self._file} is not a store of this program") from None
        except BaseException:
            self._release()
            raise
        self._writer.set_wal_hook(self._note_log)
        self.writes = Writes(self._writer)
        # Kept open to the end: closing any descriptor of the file would drop SQLite's locks on it.
        self._file_number = -1 if self.in_memory else os.open(self._file, os.O_RDWR)
        forks.watch_busy(self)

    # --- the writer ---

    def begin(self) -> None:
        # A transaction that is still open was broken off (Ctrl-C between two lines) and answered nobody.
        self.rollback()
        if self.in_memory:
            self._begin_in_memory()
        else:
            self._writer.execute("BEGIN IMMEDIATE")

    def changes(self) -> int:
        """How many rows the writer has ever changed: a cheap witness of whether something was written."""
        return self._writer.total_changes()

    def commit(self) -> None:
        self.writes.settle()
        if self.in_memory:
            self._commit_in_memory()
        else:
            self._writer.execute("COMMIT")

    def rollback(self) -> None:
        if self._closed:
            return
        self.writes.forget()
        if self.in_memory:
            self._rollback_in_memory()
        elif self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    # In memory our transactions are savepoints inside one of SQLite's that lasts for many of them, an era.
    # Its commit looks at every page of the store whenever leaves changed places, which at 100 000 items was
    # half the time SQLite spent on a put; releasing a savepoint looks at none.

    def _begin_in_memory(self) -> None:
        if not self._writer.in_transaction:
            if self._era is not None:
                raise MemoryRanOut("the store in memory ran out of memory and lost writes; open a new one")
            self._writer.execute("BEGIN IMMEDIATE")
            self._era = self.changes()
        # Said before it is so: Ctrl-C between the two lines must not leave a savepoint nobody knows of.
        self._is_open = True
        self._writer.execute("SAVEPOINT one")

    def _commit_in_memory(self) -> None:
        self._writer.execute("RELEASE one")
        self._is_open = False
        if self._era is None or self.changes() - self._era > ERA_CHANGES:
            self._era = None
            self._writer.execute("COMMIT")

    def _rollback_in_memory(self) -> None:
        if self._is_open:
            # There is none if it was never made, or was released already and only this flag not yet.
            with suppress(apsw.SQLError):
                self._writer.execute("ROLLBACK TO one")
                self._writer.execute("RELEASE one")
            self._is_open = False

    # --- readers ---

    def lend(self) -> Rows:
        """A connection that sees what has been committed, for one read; to be given back."""
        try:
            rows = self._idle.pop()
        except IndexError:
            with forks.opening:
                rows = Rows(self._connect())
        self._lent.add(rows)
        # Only now: who forks says so first and looks at those that are lent then.
        if self._is_forking:
            self._step_aside(rows)
        return rows

    def _step_aside(self, rows: Rows) -> None:
        self._lent.discard(rows)
        while self._is_forking:
            sleep(0.0005)
        self._lent.add(rows)

    def give_back(self, rows: Rows) -> None:
        self._lent.discard(rows)
        self._idle.append(rows)

    # --- the log ---

    def _note_log(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    @property
    def log_is_long(self) -> bool:
        return self._log_pages > CHECKPOINT_PAGES

    def checkpoint(self) -> None:
        """Move the log into the file: most of it beside the writer, the rest while the writer waits.

        Without the last part a busy writer always stays ahead and the log grows without end. SQLite reaches for
        the disk in that part, so we do it before, as often as it takes to leave it little to do.
        """
        rows = self.lend()
        try:
            for _ in range(CHECKPOINT_PASSES):
                self._log_into_file(rows)
                os.fdatasync(self._file_number)
            with self.writing:
                if self._log_into_file(rows):
                    self._log_pages = 0
        finally:
            self.give_back(rows)

    def _log_into_file(self, rows: Rows) -> bool:
        try:
            rows.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.BusyError:
            return False  # the next round will do it
        return True

    # --- the end ---

    def close(self) -> None:
        """Wait for the writer and the readers, then close. Closing twice is closing once."""
        with self.writing:
            if self._closed:
                return
            self._closed = True
            while self._lent:
                sleep(0.001)
            with forks.opening:
                for rows in self._idle:
                    rows.connection.close()
                self._writer.close()
            if not self.in_memory:
                os.close(self._file_number)
            self._release()

    def hold_still(self) -> None:
        """Before a fork (forks.py): wait for the writer and the readers, but not for ever; one may be who forks."""
        self._is_forking = True
        self._is_still = self.writing.acquire(timeout=forks.STILL_SECONDS)
        until = monotonic() + forks.STILL_SECONDS
        while self._lent and monotonic() < until:
            sleep(0.0005)

    def go_on(self) -> None:
        if self._is_still:
            self.writing.release()
        self._is_forking = self._is_still = False

    def disinherit(self) -> None:
        """In a forked child: the store is the parent's (forks.py). Only our hold on its lock is let go."""
        if self._closed:
            return
        self._closed = True
        self.writing = threading.Lock()
        forks.keep_for_ever((self._writer, self.writes, *self._idle, *self._lent))
        if not self.in_memory:
            found = os.fstat(self._file_number)
            _OF_PARENT.add((found.st_dev, found.st_ino))
        self._release()  # the parent holds it still: it goes with the last who closes it

    def _release(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None

    def _connect(self) -> apsw.Connection:
        # unix-excl: the file is this process's alone (we hold its lock anyway), so no read has to ask the
        # system for a lock, and the log's index lives in our memory.
        vfs = None if self.in_memory else "unix-excl"
        connection = apsw.Connection(self._file, vfs=vfs, statementcachesize=400)
        connection.set_busy_timeout(10_000)
        # Our statements have one good plan each. Without this SQLite prepares them anew for new keys, in the
        # hope of a better one: half the time of a query.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        for pragma in (
            f"page_size = {PAGE_BYTES}",
            "journal_mode = WAL",
            f"synchronous = {self._synchronous}",
            f"cache_size = -{CACHE_KB}",
            "mmap_size = 8589934592",
            "wal_autocheckpoint = 0",
            "temp_store = MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def _identity(file: str) -> tuple[int, int] | None:
    """By what SQLite tells a file from others; None if there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _hold(directory: Path) -> TextIO:
    held = open(directory / "lock", "a+")  # noqa: SIM115 (held open for as long as the store is)
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


def _prepare(connection: apsw.Connection, file: str) -> None:
    ((version,),) = connection.execute("PRAGMA user_version")
    ((owner,),) = connection.execute("PRAGMA application_id")
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_master")
    if tables == 0:
        _in_one_transaction(connection, _create)
    elif owner != schema.APPLICATION:
        raise NotAStore(f"{file} is somebody else's database; open another directory")
    elif version > FORMAT:
        raise NotAStore(
            f"{file} has format {version}; this program knows formats up to {FORMAT}: use a newer one"
        )
    elif version < FORMAT:
        _in_one_transaction(connection, _upgrade_from_1 if version == 1 else _upgrade_from_2)


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
    connection.execute(schema.FIRST + schema.STREAMS + schema.THIRD)
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")


def _upgrade_from_1(connection: apsw.Connection) -> None:
    """Format 1 knew no streams, and of TTL only the setting: what expires is still to be listed."""
    connection.execute(schema.STREAMS)
    expiring = list(
        connection.execute(
            "SELECT id, CAST(body AS TEXT) ->> '$.next_index' FROM tables "
            "WHERE CAST(body AS TEXT) ->> '$.ttl_attribute' IS NOT NULL"
        )
    )
    for table, index in expiring:
        Writes(connection).create_index(table, index)
        ((last,),) = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table_name(table)}")
        connection.execute(
            "UPDATE tables SET body = CAST(json_set(CAST(body AS TEXT), '$.next_index', ?, '$.ttl_index', ?, "
            "'$.ttl_backfill', json_array(0, ?)) AS BLOB) WHERE id = ?",
            (index + 1, index, last, table),
        )
    _upgrade_from_2(connection)


def _upgrade_from_2(connection: apsw.Connection) -> None:
    """Format 2 knew no past beyond the journal, no replicas and no figures."""
    if schema.THIRD.strip():
        connection.execute(schema.THIRD)


def exists(path: str | Path) -> bool:
    """Whether a store is in the directory; a file without a byte in it is none."""
    file = Path(path) / FILE
    return file.is_file() and file.stat().st_size > 0


def stores_below(path: str | Path) -> list[Path]:
    """The stores of further regions below one, by the names of their regions."""
    return sorted(one for one in (Path(path) / REGIONS).glob("*") if exists(one))
