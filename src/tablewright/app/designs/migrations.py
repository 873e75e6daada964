"""Where migrations stand, in words: which side is open, how far the copy is, what comes next."""

import shlex
from dataclasses import dataclass
from datetime import datetime

from tablewright.app.backups import environment_of
from tablewright.app.runtime import Runtime
from tablewright.mapping.migrate import MigrationContext, State, copy_progress, migration_context

# What a phase is called, its tone, the commands that come next, and what else is to be said.
_PHASES: dict[str, tuple[str, str, tuple[str, ...], str]] = {
    "planned": ("planned", "", ("run",), ""),
    "copying": ("being copied", "busy", (), "this server copies; nothing to do"),
    "following": ("follows", "busy", ("verify",), ""),
    "verified": ("verified", "good", ("switch",), ""),
    "pausing": ("changes sides", "busy", (), "writes wait for some seconds"),
    "switched": ("switched", "good", ("rollback", "finish"), "to go back, or to end it"),
    "finished": ("finished", "good", (), ""),
    "rolled_back": ("rolled back", "", (), "the copy is deleted within the hour"),
    "abandoned": ("abandoned", "", (), ""),
}


@dataclass(frozen=True, slots=True)
class Standing:
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


def standings(runtime: Runtime) -> list[Standing]:
    """The migrations that were ever planned here."""
    found = []
    for each in runtime.running:
        here = environment_of(each.system.designs)
        for migration in each.system.migrations:
            at = migration_context(runtime.call, migration, world=runtime.world, environment=here)
            state = at.find_state()
            if state is not None:
                found.append(_standing(at, state, _target(runtime)))
    return found


def _target(runtime: Runtime) -> list[str]:
    """The options by which a command at a terminal reaches the tables of this server."""
    if runtime.dynamodb_url:
        return ["--endpoint", runtime.dynamodb_url]
    return ["--data", str(runtime.data)] if runtime.data else []


def _standing(at: MigrationContext, state: State, target: list[str]) -> Standing:
    word, tone, verbs, after = _PHASES[state.phase]
    if state.is_catching_up and state.missed_since is not None:
        since = f"{state.missed_since:%Y-%m-%d %H:%M} UTC"
        word = "being copied anew" if state.phase == "copying" else f"{word}, the old table is put right"
        tone, verbs = "busy", ()
        after = f"changes since {since} were missed, as no server followed; this server compares both tables again"
    if state.phase == "copying":
        done, total = copy_progress(at, state)
        if total is not None:
            word = f"{word}, {100 * done // max(total, 1)} %"
    is_kept = state.phase == "switched"
    return Standing(
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
