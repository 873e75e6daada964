"""What becomes of an open store in a child that was forked from its process: there it is closed, and stays so.

SQLite's connections do not survive a fork: parent and child would each write by a memory of the log that the other does
not see. Closing them in the child would be as bad, since that moves the log into the file and removes it under the
parent. So they are left alone, to the end of the child and beyond: nobody's last reference to them goes.
Must hold: a child says no to whatever is asked of what it inherited, at once, whoever held which lock at the fork; and
never opens the same file itself, since SQLite would take it for one that it has open.
Costs nothing where nobody forks. Processes that are spawned (exec) inherit nothing.
"""

import os
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


_open: WeakSet[Inherited] = WeakSet()


def watch(one: Inherited) -> None:
    _open.add(one)


def keep_for_ever(things: Iterable[object]) -> None:
    """Let nothing of these ever be freed, when the interpreter ends neither."""
    import ctypes  # loaded before the fork: in a child an import may wait for a lock that nobody holds any more

    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _prepare() -> None:
    if _open:
        import ctypes  # noqa: F401 (for keep_for_ever)


def _disinherit() -> None:
    for one in list(_open):
        one.disinherit()


os.register_at_fork(before=_prepare, after_in_child=_disinherit)
