"""What becomes of an open store in a child that was forked from its process: there it is closed, and stays so.

SQLite's connections do not survive a fork: parent and child would each write by a memory of the log that the other does
not see. Closing them in the child would be as bad, since that moves the log into the file and removes it under the
parent. So they are left alone, to the end of the child and beyond: nobody's last reference to them goes.
SQLite's own locks do not survive it either: held by another thread at the fork, in the child they stay held for ever,
and the next store it opens waits for them. So before a fork whoever is at work in SQLite is waited for.
Must hold: a child says no to whatever is asked of what it inherited, at once, whoever held which lock at the fork; and
never opens the same file itself, since SQLite would take it for one that it has open.
Costs nothing where nobody forks. Processes that are spawned (exec) inherit nothing.
"""

import os
import threading
from collections.abc import Iterable
from typing import Protocol
from weakref import WeakSet

FORKED = (
    "this engine was opened before the process was forked, and belongs to the parent; open a store in the child, or "
    "start the child anew (multiprocessing: spawn)"
)


class Inherited(Protocol):
    def disinherit(self) -> None:
        """Called in the child: be closed from now on, and touch nothing."""


class Busy(Inherited, Protocol):
    def hold_still(self) -> None:
        """Called before a fork: let nobody be at work in SQLite, if that can be had soon."""

    def go_on(self) -> None:
        """Called in the parent, after it."""


# A write, or a read, that takes longer than this is not waited for.
STILL_SECONDS = 1.0
# Nor is another thread that forks, if it takes so long.
TURN_SECONDS = 10.0
# Held by whoever opens or closes a connection, since SQLite then holds a lock of all files.
opening = threading.Lock()
# One thread forks at a time: who holds still is told once, and goes on once.
_forking = threading.Lock()
_turn = threading.local()

_open: WeakSet[Inherited] = WeakSet()
_busy: WeakSet[Busy] = WeakSet()


def watch(one: Inherited) -> None:
    _open.add(one)


def watch_busy(one: Busy) -> None:
    watch(one)
    _busy.add(one)


def keep_for_ever(things: Iterable[object]) -> None:
    """Let nothing of these ever be freed, when the interpreter ends neither."""
    import ctypes  # loaded before the fork: in a child an import may wait for a lock that nobody holds any more

    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _prepare() -> None:
    if _open:
        import ctypes  # noqa: F401 (for keep_for_ever)
    _turn.is_mine = _forking.acquire(timeout=TURN_SECONDS)
    if _turn.is_mine:
        _turn.held = list(_busy)
        for one in _turn.held:
            one.hold_still()
        _turn.has_opening = opening.acquire(timeout=STILL_SECONDS)


def _go_on() -> None:
    if not _turn.is_mine:
        return
    if _turn.has_opening:
        opening.release()
    for one in _turn.held:
        one.go_on()
    _turn.held = []
    _forking.release()


def _disinherit() -> None:
    _turn.held = []
    for lock in (opening, _forking):
        if lock.locked():  # by us, or by a thread that is not here
            lock.release()
    for one in list(_open):
        one.disinherit()


os.register_at_fork(before=_prepare, after_in_parent=_go_on, after_in_child=_disinherit)
