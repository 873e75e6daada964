"""An engine without background threads: maintenance and jobs run when the test takes a step, so runs are repeatable.

The threads would backfill indexes and drop tables at any time, and take part in the groups of other writes; here the
test takes those steps, a few rows at a time, with writes in between.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from tablewright import Engine
from tablewright.engine.background import maintenance
from tablewright.engine.background.threads import BackgroundThreads
from tablewright.world import World


class NoThreads(BackgroundThreads):
    def start(self) -> None:
        """No maintenance, no WAL checkpoints, no jobs."""


class SteppedEngine(Engine):
    BACKGROUND = NoThreads

    @classmethod
    def stepped(
        cls, path: str | Path = ":memory:", world: World | None = None, buckets: str | Path | None = None
    ) -> "SteppedEngine":
        engine = cls.open(path, durability="relaxed", world=world, buckets=buckets)
        assert isinstance(engine, cls)
        return engine

    def __enter__(self) -> "SteppedEngine":
        return self

    def job_step(self) -> bool:
        """One step of a job; False when there is none."""
        return self.background.run_job_step()

    def step(self) -> bool:
        """One step of pending maintenance; False when there is none."""
        return self.background.run_maintenance_step()


@contextmanager
def small_steps(rows: int = 2) -> Iterator[None]:
    """Maintenance takes so few rows at a time that a few items are many steps."""
    with patch.object(maintenance, "BACKFILL_ROWS", rows), patch.object(maintenance, "DROPPED_ROWS", rows):
        yield
