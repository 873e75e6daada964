"""Doors at which long work gives way: where others write, it rests at each door for as long as it worked before.

Between two doors a labour computes, and in Python whoever computes keeps the others out: a put that comes meanwhile
waits for its turn once for each piece of work it does. Where half of the time is theirs, most puts meet nobody.
Must hold: where nobody writes it does not rest at all; no rest is longer than LONGEST_SECONDS.
Elsewhere: the doors (doors.py); the same courtesy of the keeper, whose steps are writes (pacing.py).
"""

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from tablewright.engine.doors import Doors
from tablewright.engine.pacing import LONGEST_SECONDS, MEMORY_SECONDS
from tablewright.engine.writing import Reading, Writing

T = TypeVar("T")


class Unhurried:
    """The doors of a labour, which rests at them. Its own writes are not journaled: what is there, others wrote."""

    def __init__(
        self, doors: Doors, clock: Callable[[], float] = monotonic, sleep: Callable[[float], None] = sleep
    ) -> None:
        self.doors, self.memory = doors, doors.memory
        self._clock, self._sleep = clock, sleep
        self._began = clock()
        self._seen: int | None = None
        self._met = self._began - MEMORY_SECONDS  # when others were last seen to write

    def read(self, look: Callable[[Reading], T]) -> T:
        self._rest()
        answer, seen = self.doors.read(lambda reading: (look(reading), reading.rows.last_sequence()[0]))
        self._notice(seen)
        return answer

    def write(self, deed: Callable[[Writing], T]) -> T:
        self._rest()
        answer, seen = self.doors.write(lambda writing: (deed(writing), writing.pen.seq))
        self._notice(seen)
        return answer

    def begin(self) -> None:
        """A step begins: what was before it was no work."""
        self._began = self._clock()

    def _notice(self, seen: int) -> None:
        if self._seen is not None and seen > self._seen:
            self._met = self._clock()
        self._seen = seen

    def _rest(self) -> None:
        now = self._clock()
        if now - self._met < MEMORY_SECONDS:
            self._sleep(min(now - self._began, LONGEST_SECONDS))
            self._began = self._clock()
