"""Migrations in this process: their followers, and the end of tables that are not needed any more.

When the days in which one can go back are over, somebody is told to finish; what was rolled back is deleted by itself,
because nobody keeps it current: who is erased would stay in it. So is what was left undeleted.
Where nothing was planned, a follower reads one item every few seconds, from a table that is made at the start.
Elsewhere: planning, verifying and changing sides is asked for from a terminal (cli/migrate_*.py); how tables are led to
the open side (runtime.py).
"""

import logging
import threading
from datetime import timedelta
from functools import partial

from tablewright.app.backups import environment_of
from tablewright.client import Call, CallRefused
from tablewright.kit.jobs import Follower, Job
from tablewright.kit.system import System
from tablewright.mapping.migrate import (
    BeingDeleted,
    MigrationContext,
    NotDrained,
    PhaseMoved,
    abandon,
    finish,
    migration_context,
    watch,
)
from tablewright.world import World

log = logging.getLogger("tablewright.app")


def migration_work(system: System, call: Call, world: World) -> list[Job[object] | Follower[object]]:
    """What runs by itself for the migrations of a system; nothing for one that has none."""
    here = environment_of(system.designs)
    benches = [migration_context(call, one, world=world, environment=here) for one in system.migrations]
    work: list[Job[object] | Follower[object]] = [
        Follower(f"migration {at.name}", partial(_watch, at), at.migration.about) for at in benches
    ]
    if benches:
        about = "Says when an old table was kept for long enough; deletes the copy that was rolled back."
        work.append(Job("migrations", timedelta(hours=1), lambda _: tend(benches), about))
    return work


def _watch(at: MigrationContext, _: object, stop: threading.Event) -> None:
    watch(at, stop)


def make_tables(system: System, call: Call, world: World) -> None:
    """The tables in which the state of a system's migrations is read, before anything reads it."""
    here = environment_of(system.designs)
    for one in system.migrations[:1]:  # all migrations share them
        migration_context(call, one, world=world, environment=here).make_tables()


def tables_of(system: System) -> list[str]:
    """Both sides of each migration of a system, by the names they have in this process."""
    here = environment_of(system.designs)
    return [here.physical(form.called) for one in system.migrations for form in (one.source, one.target)]


def names_of(system: System, table: str) -> list[str]:
    """The names that a table of a system has in this process: its own, then those of the tables it migrates to."""
    here = environment_of(system.designs)
    targets = {
        here.physical(one.source.called): here.physical(one.target.called) for one in system.migrations
    }
    names = [here.physical(table)]
    while names[-1] in targets:
        names.append(targets[names[-1]])
    return names


def tend(benches: list[MigrationContext]) -> int:
    """What is to be said of migrations, and what is to go; how many of them."""
    return tell_due(benches) + drop_unneeded(benches)


def drop_unneeded(benches: list[MigrationContext]) -> int:
    """Delete the copies of migrations that were rolled back, once everybody has read what was written to them.

    And whatever was to be deleted already, and was not: who was at it died, or the table was protected.
    """
    dropped = 0
    for at in benches:
        state = at.find_state()
        if state is None or not (state.dropping or state.phase == "rolled_back"):
            continue
        try:
            (finish if state.phase == "finished" else abandon)(at)
        except (BeingDeleted, NotDrained, PhaseMoved):
            continue  # the next time
        except CallRefused as refusal:
            facts = {"migration": at.name, "mistake": refusal.name}
            log.warning("a table that a migration left is not deleted", extra=facts)
            continue
        log.info("a table that a migration left is deleted", extra={"migration": at.name})
        dropped += 1
    return dropped


def tell_due(benches: list[MigrationContext]) -> int:
    """Say which migrations are to be finished: an old copy is not kept without an end."""
    due = [at for at in benches if is_due(at)]
    for at in due:
        log.warning("a migration is to be finished", extra={"migration": at.name})
    return len(due)


def is_due(at: MigrationContext) -> bool:
    state = at.find_state()
    if state is None or state.phase != "switched" or state.kept_until is None:
        return False
    return at.world.now() >= state.kept_until
