"""Where migrations stand, in words: which side is open, how far the copy is, what comes next."""

from dataclasses import dataclass
from datetime import datetime

from tablewright.app.backups import environment_of
from tablewright.app.house import House
from tablewright.mapping.migrate import Bench, State, bench, copied

# What a phase is called, its tone, and what whoever looks after it does next at a terminal.
_PHASES: dict[str, tuple[str, str, str]] = {
    "planned": ("planned", "", "migrate run"),
    "copying": ("being copied", "busy", "migrate run goes on with it, and so does this server"),
    "following": ("follows", "busy", "migrate verify"),
    "verified": ("verified", "good", "migrate switch"),
    "pausing": ("changes sides", "busy", "writes wait for some seconds"),
    "switched": ("switched", "good", "migrate rollback goes back, migrate finish ends it"),
    "finished": ("finished", "good", ""),
    "rolled_back": ("rolled back", "", "the copy is deleted within the hour"),
    "abandoned": ("abandoned", "", ""),
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


def standings(house: House) -> list[Standing]:
    """The migrations that were ever planned here."""
    found = []
    for each in house.lived:
        here = environment_of(each.system.designs)
        for migration in each.system.migrations:
            at = bench(house.call, migration, world=house.world, environment=here)
            state = at.look()
            if state is not None:
                found.append(_standing(at, state))
    return found


def _standing(at: Bench, state: State) -> Standing:
    word, tone, after = _PHASES[state.phase]
    if state.is_catching_up and state.missed_since is not None:
        since = f"{state.missed_since:%Y-%m-%d %H:%M} UTC"
        word = "being copied anew" if state.phase == "copying" else f"{word}, the old table is put right"
        tone = "busy"
        after = f"changes since {since} were missed, as nobody followed; this server goes through both tables again"
    if state.phase == "copying":
        done, total = copied(at, state)
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
    )
