"""Open stores in a forked child process: there they are closed, and stay closed.

SQLite's connections do not survive a fork: parent and child would each write with an index of the log that the other
does not see. Closing them in the child would be as bad, since that moves the log into the file and deletes it under the
parent. So the child never frees them, not even when its interpreter ends.
SQLite's own locks do not survive a fork either: one held by another thread at the fork stays held in the child for
ever, and the next store opened there waits for it. So before a fork, threads inside SQLite are waited for.
Must hold: in the child every call to an inherited object fails at once, whichever locks were held at the fork; and the
child never opens the same file, since SQLite would take it for one that it has open.
Costs nothing in processes that do not fork. Processes that are spawned (exec) inherit nothing.
"""

import os
import threading
from collections.abc import Iterable
from typing import Protocol
from weakref import WeakSet

FORKED = (
    "this engine was opened before the process was forked, and belongs to the parent; open a store in the child, or "
    "start the child with spawn instead of fork (multiprocessing: spawn)"
)


class Inherited(Protocol):
    """An object that a forked child inherits: an engine or its storage."""

    def close_in_child(self) -> None:
        """Called in the child: be closed from now on, and touch nothing."""


class Quiescing(Inherited, Protocol):
    """An inherited object whose threads use SQLite."""

    def quiesce(self) -> None:
        """Called before a fork: wait until no thread is inside SQLite, but not for long."""

    def resume(self) -> None:
        """Called in the parent, after the fork."""


# A write or a read that takes longer than this is not waited for.
QUIESCE_SECONDS = 1.0
# How long a fork waits for a fork of another thread.
FORK_SECONDS = 10.0
# Held while a connection is opened or closed, since SQLite then holds a lock of all files.
connection_lock = threading.Lock()
# One thread forks at a time: `quiesce` and `resume` are called once each.
_fork_lock = threading.Lock()
_fork = threading.local()

_inherited: WeakSet[Inherited] = WeakSet()
_quiescing: WeakSet[Quiescing] = WeakSet()


def register(one: Inherited) -> None:
    _inherited.add(one)


def register_quiescing(one: Quiescing) -> None:
    register(one)
    _quiescing.add(one)


def leak(things: Iterable[object]) -> None:
    """Never free these objects, not even when the interpreter ends."""
    import ctypes  # loaded before the fork: in a child an import may wait for a lock that no thread holds any more

    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _before_fork() -> None:
    if _inherited:
        import ctypes  # noqa: F401 (for leak)
    _fork.is_mine = _fork_lock.acquire(timeout=FORK_SECONDS)
    if _fork.is_mine:
        _fork.quiesced = list(_quiescing)
        for one in _fork.quiesced:
            one.quiesce()
        _fork.has_connection_lock = connection_lock.acquire(timeout=QUIESCE_SECONDS)


def _after_in_parent() -> None:
    if not _fork.is_mine:
        return
    if _fork.has_connection_lock:
        connection_lock.release()
    for one in _fork.quiesced:
        one.resume()
    _fork.quiesced = []
    _fork_lock.release()


def _after_in_child() -> None:
    _fork.quiesced = []
    for lock in (connection_lock, _fork_lock):
        if lock.locked():  # by this thread, or by one that does not exist in the child
            lock.release()
    for one in list(_inherited):
        one.close_in_child()
    # All of them are closed: a child that forks has none to wait for.
    _inherited.clear()
    _quiescing.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
