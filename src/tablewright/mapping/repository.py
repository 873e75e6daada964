"""The base of every system's repository: times as they are stored, ids, and writes with retries.

A system's own Repository is a subclass with its reads added. It translates the errors of the mapping, and names the one
that means a concurrent change. Must hold: a write is tried again only if it was refused as a whole; a caller that
insists on the version it has read gets the error of a concurrent change instead of a retry.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import sleep
from typing import Any, TypeVar

from pydantic import BaseModel

from tablewright.design import Query, Write
from tablewright.mapping.db import Db, Page
from tablewright.mapping.errors import AlreadyExists, ConditionNotMet, Missing, Stale
from tablewright.world import World

E = TypeVar("E", bound=BaseModel)
T = TypeVar("T")
ATTEMPTS = 20
_PAUSE, _LONGEST_PAUSE = 0.002, 0.2
TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class RefusalTranslation:
    """How a system translates the errors of the mapping.

    `of` translates the refusals within a block about a noun; `race` is what it makes of a version that is out of date;
    `gives_up` makes what is raised when others were faster every time.
    """

    of: Callable[[str], AbstractContextManager[None]]
    race: type[Exception]
    gives_up: Callable[[], Exception]


class Tables:
    """A system's tables, with the system's own errors."""

    def __init__(self, db: Db, world: World, words: RefusalTranslation) -> None:
        self.db, self.world, self._words = db, world, words

    # --- moments and ids ---

    def now(self) -> datetime:
        """This moment, as fine as it is stored."""
        now = self.world.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def later_than(self, before: datetime) -> datetime:
        """This moment, or just after the change before if clocks disagree."""
        return max(self.now(), before + TICK)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{self.world.new_id()}"

    def new_timed_id(self, at: datetime) -> str:
        """An id that begins with the time, so that what happened in one moment has an order too."""
        return f"{int(at.timestamp() * 1000):012x}-{self.world.new_id()}"

    # --- reads and writes ---

    def page(
        self, query: Query[E], size: int | None, after: str | None, reader: str, *, deleted: bool = True
    ) -> Page[E]:
        """A page of a pattern. What is deleted softly is in it: who may see that is the pattern's to say."""
        with self._words.of("page"):
            return self.db.page(query, size=size, after=after, reader=reader, deleted=deleted)

    def write(self, noun: str, *writes: Write[Any], once: str | None = None, result: Any = None) -> Any:
        """All of it or nothing; the result kept by the first time if this is a repetition, else None."""
        with self._words.of(noun):
            done = self.db.write(*writes, once=once, result=result)
        return done.result if done.repeated else None

    def try_write(self, *writes: Write[Any]) -> bool:
        """Write all of it unless something was changed since; whether it was written."""
        try:
            self.db.write(*writes)
            return True
        except (AlreadyExists, Stale, Missing, ConditionNotMet):
            return False

    def retried(self, expected: int | None, attempt: Callable[[], T]) -> T:
        """Do it on the newest version: again after a race, unless the caller insists on the version it has seen."""
        for tried in range(ATTEMPTS):
            try:
                return attempt()
            except self._words.race:
                if expected is not None:
                    raise
            self.pause(tried)
        raise self._words.gives_up()

    def pause(self, tried: int) -> None:
        """Wait before another attempt, with jitter: else the same few callers would win every time."""
        sleep(min(_PAUSE * 2 ** min(tried, 10), _LONGEST_PAUSE) * self.world.jitter())
