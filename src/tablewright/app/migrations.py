"""Migrations in this process: their followers, and the deletion of tables that are no longer needed.

When the days in which a rollback is possible are over, the log asks to finish the migration. The new table of a
migration that was rolled back is deleted automatically: it is not kept current, so erased people would stay in it. The
same applies to tables whose deletion was interrupted.
If no migration is planned, a follower reads one item every few seconds, from a table that is created at the start.
Elsewhere: planning, verifying and switching are commands (cli/migrate/); how requests reach the table in use
(runtime.py).
"""

import logging
import threading
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from tablewright.client import Call, CallRefused
from tablewright.design import Environment
from tablewright.kit.jobs import Follower, Job
from tablewright.kit.system import System
from tablewright.mapping.migrate import (
    BeingDeleted,
    Migration,
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


def migrations_of(system: System, service: Any) -> list[Migration]:
    """Every migration of a system that runs here."""
    return [*system.migrations, *system.service_migrations(service)]


def migration_work(
    system: System, service: Any, call: Call, world: World, here: Environment
) -> list[Job[object] | Follower[object]]:
    """The background work for the migrations of a system; empty if it has none."""
    contexts = [
        migration_context(call, one, world=world, environment=here) for one in migrations_of(system, service)
    ]
    work: list[Job[object] | Follower[object]] = [
        Follower(f"migration {at.name}", partial(_watch, at), at.migration.about) for at in contexts
    ]
    if contexts:
        about = "Reports old tables that are due to be deleted; deletes the tables of migrations that were rolled back."
        work.append(Job("migrations", timedelta(hours=1), lambda _: tend(contexts), about))
    return work


def _watch(at: MigrationContext, _: object, stop: threading.Event) -> None:
    watch(at, stop)


def make_tables(migrations: Sequence[Migration], call: Call, world: World, here: Environment) -> None:
    """The tables in which the state of a system's migrations is read, before anything reads it."""
    for one in migrations[:1]:  # all migrations share them
        migration_context(call, one, world=world, environment=here).make_tables()


def tables_of(system: System, here: Environment) -> list[str]:
    """Both sides of each migration of a system, by the names they have in this process."""
    return [here.physical(form.called) for one in system.migrations for form in (one.source, one.target)]


def names_of(system: System, table: str, here: Environment) -> list[str]:
    """The names that a table of a system has in this process: its own, then those of the tables it migrates to."""
    targets = {
        here.physical(one.source.called): here.physical(one.target.called) for one in system.migrations
    }
    names = [here.physical(table)]
    while names[-1] in targets:
        names.append(targets[names[-1]])
    return names


def tend(contexts: list[MigrationContext]) -> int:
    """Log migrations that are due and delete unneeded tables; returns how many."""
    return tell_due(contexts) + drop_unneeded(contexts)


def drop_unneeded(contexts: list[MigrationContext]) -> int:
    """Delete the new tables of migrations that were rolled back, once all consumers have read their changes.

    Also tables whose deletion failed before: the process ended, or the table was protected.
    """
    dropped = 0
    for at in contexts:
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


def tell_due(contexts: list[MigrationContext]) -> int:
    """Log migrations that should be finished: an old table is not kept for ever."""
    due = [at for at in contexts if is_due(at)]
    for at in due:
        log.warning("a migration is to be finished", extra={"migration": at.name})
    return len(due)


def is_due(at: MigrationContext) -> bool:
    state = at.find_state()
    if state is None or state.phase != "switched" or state.kept_until is None:
        return False
    return at.world.now() >= state.kept_until
