"""An engine whose chores wait to be told: the same run does the same thing each time.

The keeper's thread would fill indexes and remove tables whenever it likes, and take part in other writes' groups;
here the test takes those steps, a few rows at a time, with writes in between.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from tablewright import Engine
from tablewright.engine import chores
from tablewright.engine.keeper import Keeper
from tablewright.world import World


class Unkept(Keeper):
    def start(self) -> None:
        """No chores, no checkpoints, no long work."""


class UnkeptEngine(Engine):
    KEEPER = Unkept

    @classmethod
    def unkept(
        cls, path: str | Path = ":memory:", world: World | None = None, buckets: str | Path | None = None
    ) -> "UnkeptEngine":
        engine = cls.open(path, durability="relaxed", world=world, buckets=buckets)
        assert isinstance(engine, cls)
        return engine

    def __enter__(self) -> "UnkeptEngine":
        return self

    def labour(self) -> bool:
        """One step of long work; False when there is none."""
        return self.keeper.do_labour()

    def step(self) -> bool:
        """One step of what the store owes; False when nothing is owed."""
        return self.keeper.do_chore()


@contextmanager
def small_steps(rows: int = 2) -> Iterator[None]:
    """Chores take so few rows at a time that a few items are many steps."""
    with patch.object(chores, "BACKFILL_ROWS", rows), patch.object(chores, "REMOVED_ROWS", rows):
        yield
