"""Long work beside the writer: snapshots, restores, exports, imports. One thread, the labourer, does it in steps.

A kind of labour is a function `(doors) -> bool`: it does one step of whatever the store owes of that kind and says
whether there was anything to do. What is quick goes through the doors (doors.py); what is slow (compressing, files, a
network) is done outside of them, so that nobody waits for it; and where others write, it rests at the doors
(unhurried.py).
Must hold: what a labour has done so far is in the store, each write leaves it whole, and a step may be taken twice;
so a store that is opened again goes on where the last one stopped. A labour that cannot go on writes FAILED and a
reason into its own record. One that throws all the same is logged and left alone for a while; the others go on.
Elsewhere: small steps inside the writer (chores.py); the thread (keeper.py).
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tablewright.engine import checkpoints, restoring
from tablewright.engine.doors import Doors
from tablewright.engine.errors import fault
from tablewright.engine.transfers import exports, imports
from tablewright.engine.unhurried import Unhurried

log = logging.getLogger("tablewright.engine")

Kind: TypeAlias = Callable[[Doors], bool]

# Every kind there is, in the order of their turns.
KINDS: Sequence[Kind] = (
    checkpoints.make_some,
    restoring.fill_some,
    exports.export_some,
    imports.import_some,
    exports.forget_some,
)


@dataclass(slots=True)
class Turns:
    """A step of one kind after another, so that a long labour does not keep the others waiting."""

    kinds: Sequence[Kind]
    _next: int = 0
    # Kinds that threw: passed over until they are forgiven.
    _resting: set[Kind] = field(default_factory=set)
    # Kept, since a labour goes on through the doors it began with.
    _doors: Unhurried | None = None

    def step(self, through: Doors) -> bool:
        """One step of the next kind that has something to do; False when none has."""
        if self._doors is None or self._doors.doors is not through:
            self._doors = Unhurried(through)
        doors = self._doors
        doors.begin()
        for _ in self.kinds:
            kind = self.kinds[self._next % len(self.kinds)]
            self._next += 1
            if kind not in self._resting and kind(doors):
                return True
        return False

    def blame(self, error: Exception) -> None:
        """The kind whose step threw is told to the log and passed over."""
        log.error("a labour failed", extra=fault(error))
        self._resting.add(self.kinds[(self._next - 1) % len(self.kinds)])

    def forgive(self) -> bool:
        """Let those that threw try again; whether there were any."""
        were_some = bool(self._resting)
        self._resting.clear()
        return were_some
