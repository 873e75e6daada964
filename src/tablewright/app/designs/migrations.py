"""The status of migrations in words: which table is in use, the progress of the copy, the next step."""

import shlex
from dataclasses import dataclass, replace
from datetime import datetime

from tablewright.app.migrations import migrations_of
from tablewright.app.runtime import Runtime
from tablewright.kit.system import System
from tablewright.mapping.migrate import Migration, MigrationContext, State, copy_progress, migration_context

# What a phase is called, its tone, the commands that come next, and what else is to be said.
_PHASES: dict[str, tuple[str, str, tuple[str, ...], str]] = {
    "planned": ("planned", "", ("run",), ""),
    "copying": ("being copied", "busy", (), "this server is copying; nothing to do"),
    "following": ("following changes", "busy", ("verify",), ""),
    "verified": ("verified", "good", ("switch",), ""),
    "pausing": ("switching", "busy", (), "writes pause for a few seconds"),
    "switched": ("switched", "good", ("rollback", "finish"), "go back, or finish"),
    "finished": ("finished", "good", (), ""),
    "rolled_back": ("rolled back", "", (), "the new table is deleted within an hour"),
    "abandoned": ("abandoned", "", (), ""),
}


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """A migration as the page shows it."""

    name: str
    about: str
    word: str
    tone: str
    open: str
    since: datetime
    kept_until: datetime | None
    next: str
    commands: tuple[str, ...]


def migration_statuses(runtime: Runtime) -> list[MigrationStatus]:
    """The migrations that were ever planned here."""
    found = []
    for each in runtime.running:
        for migration in migrations_of(each.system, each.service):
            at = migration_context(runtime.call, migration, world=runtime.world, environment=each.here)
            state = at.find_state()
            if state is not None:
                found.append(_operated(each.system, _status(at, state, _target(runtime)), migration))
    return found


def _operated(system: System, status: MigrationStatus, migration: Migration) -> MigrationStatus:
    """A migration that needs its system's keys has no commands: it is operated in the system itself."""
    if migration in system.migrations:
        return status
    where = f"operate it in {system.title}"
    return replace(status, commands=(), next=f"{status.next}; {where}" if status.next else where)


def _target(runtime: Runtime) -> list[str]:
    """The options by which a command at a terminal reaches the tables of this server."""
    if runtime.dynamodb_url:
        return ["--endpoint", runtime.dynamodb_url]
    if runtime.place.shared is not None:
        return list(runtime.place.shared.options)
    return ["--data", str(runtime.data)] if runtime.data else []


def _status(at: MigrationContext, state: State, target: list[str]) -> MigrationStatus:
    word, tone, verbs, after = _PHASES[state.phase]
    if state.is_catching_up and state.missed_since is not None:
        since = f"{state.missed_since:%Y-%m-%d %H:%M} UTC"
        word = (
            "being copied again" if state.phase == "copying" else f"{word}, the old table is being repaired"
        )
        tone, verbs = "busy", ()
        after = (
            f"changes since {since} were missed because no server was running; "
            "this server is comparing both tables again"
        )
    if state.phase == "copying":
        done, total = copy_progress(at, state)
        if total is not None:
            word = f"{word}, {100 * done // max(total, 1)} %"
    is_kept = state.phase == "switched"
    return MigrationStatus(
        at.name,
        at.migration.about,
        word,
        tone,
        state.target if state.side == "target" else state.source,
        state.since,
        state.kept_until if is_kept else None,
        after,
        tuple(shlex.join(["tablewright", "migrate", verb, at.name, *target]) for verb in verbs),
    )
