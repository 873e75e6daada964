"""The known migrations, and running a command on one of them; shared by the `migrate` commands.

A migration is one of a shipped system, or the user's own: `migration.py:JOBS`.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tablewright.app.copies.backups import environment_of
from tablewright.app.systems import SYSTEMS
from tablewright.cli.designs import FORMS, load_value
from tablewright.cli.output import UsageError
from tablewright.cli.target import Target, add_target_options, open_target, run_with
from tablewright.design import Design, DesignMistake
from tablewright.kit.system import System
from tablewright.mapping import MappingMistake
from tablewright.mapping.migrate import Migration, MigrationContext, State, migration_context


def add_migration_arguments(parser: argparse.ArgumentParser, *, one: bool = True) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs=None if one else "?",
        help=f"the name of a migration, which `migrate status` lists; or your own as {FORMS}",
    )
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="the environment of the design, which determines table names (default: names without a prefix)",
    )
    add_target_options(parser)


def all_migrations() -> dict[str, tuple[System, Migration]]:
    """Every migration of every system, by name."""
    return {one.name: (system, one) for system in SYSTEMS for one in system.migrations}


def _find(named: str) -> tuple[Sequence[Design], Migration]:
    """A migration, and the designs whose tables it is about."""
    if ":" in named or named.endswith(".py"):
        try:
            migration = load_value("NAME", named)
        except DesignMistake as error:
            raise UsageError(str(error)) from None
        if not isinstance(migration, Migration):
            raise UsageError(
                f"{named} is not a Migration; `tablewright design diff --skeleton` prints the beginning of one"
            )
        return (migration.source.design,), migration
    found = all_migrations()
    if named not in found:
        raise UsageError(
            f"no migration named {named}; the migrations are {', '.join(sorted(found)) or 'none'}; "
            f"name your own as {FORMS}"
        )
    system, migration = found[named]
    return system.designs, migration


def context_of(given: argparse.Namespace, target: Target, name: str | None = None) -> MigrationContext:
    designs, migration = _find(name or given.name)
    here = environment_of(designs)
    if given.environment is not None:
        known = migration.source.design.environments
        if given.environment not in known:
            names = ", ".join(sorted(known)) or "none"
            raise UsageError(f"the design has no environment {given.environment}; it has {names}")
        here = known[given.environment]
    return migration_context(target.call, migration, environment=here)


@contextmanager
def _open_migration(given: argparse.Namespace) -> Iterator[MigrationContext]:
    with open_target(given) as target:
        context = context_of(given, target)
        try:
            yield context
        except MappingMistake as error:
            raise UsageError(_with_own_name(str(error), context.name, given.name)) from None
        except NotImplementedError as error:
            raise UsageError(f"{given.name} is not finished: {error}") from None


with_migration = run_with(_open_migration)


def _with_own_name(text: str, name: str, given: str) -> str:
    """A suggested command must name the migration as the present one does."""
    pattern = rf"(`tablewright migrate \w+ ){re.escape(name)}`"
    return re.sub(pattern, lambda found: f"{found[1]}{given}`", text)


def active_table(state: State) -> str:
    return state.target if state.side == "target" else state.source


def print_phase(context: MigrationContext, state: State) -> None:
    print(f"{context.name} is {state.word}; writes go to {active_table(state)}")


def status_json(state: State) -> dict[str, Any]:
    """The state of a migration as JSON data, under the names it is stored with."""
    return state.model_dump(mode="json", by_alias=True) | {
        "side": state.side,
        "writes": "open" if state.is_open else "paused",
        "catching_up": state.is_catching_up,
    }
