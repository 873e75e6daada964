"""The status of backfills in words: how far the last run of each is."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tablewright.app.runtime import Runtime
from tablewright.client import CallRefused
from tablewright.mapping import Db
from tablewright.mapping.backfill import BackfillRun, Progress, backfills, progress_of
from tablewright.mapping.backfill.state import all_runs


@dataclass(frozen=True, slots=True)
class BackfillStatus:
    """The last run of a backfill as the page shows it."""

    name: str
    table: str
    word: str
    tone: str
    items: int
    filled: int
    unreadable: int
    since: datetime


def backfill_statuses(runtime: Runtime) -> list[BackfillStatus]:
    """The backfills that were ever begun here."""
    # Systems without an environment of their own share the table.
    dbs = {
        db.physical("backfills"): db
        for each in runtime.running
        for db in [Db(runtime.call, backfills, world=runtime.world, environment=each.here)]
    }
    return [_status(run, progress_of(db, run)) for db in dbs.values() for run in _runs(db)]


def _runs(db: Db) -> Iterator[BackfillRun]:
    try:
        yield from db.all(all_runs())
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":  # no backfill was begun
            raise


def _status(run: BackfillRun, progress: Progress) -> BackfillStatus:
    word, tone = ("ended", "good") if progress.is_over else ("not finished", "busy")
    if progress.is_over and progress.unreadable:
        word, tone = "ended, with unreadable items", "bad"
    return BackfillStatus(
        run.name, run.table, word, tone, progress.items, progress.filled, progress.unreadable, run.since
    )
