"""The known migrations, and running a command on one of them; shared by the `migrate` commands."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tablewright.app.copies.backups import environment_of
from tablewright.app.systems import SYSTEMS
from tablewright.cli.output import UsageError
from tablewright.cli.target import Target, add_target_options, open_target, run_with
from tablewright.kit.system import System
from tablewright.mapping import MappingMistake
from tablewright.mapping.migrate import Migration, MigrationContext, State, migration_context


def add_migration_arguments(parser: argparse.ArgumentParser, *, one: bool = True) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs=None if one else "?",
        help="the name of the migration; `migrate status` lists them",
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


def context_of(given: argparse.Namespace, target: Target, name: str | None = None) -> MigrationContext:
    found, wanted = all_migrations(), name or given.name
    if wanted not in found:
        raise UsageError(
            f"no migration named {wanted}; the migrations are {', '.join(sorted(found)) or 'none'}"
        )
    system, migration = found[wanted]
    here = environment_of(system.designs)
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
        try:
            yield context_of(given, target)
        except MappingMistake as error:
            raise UsageError(str(error)) from None


with_migration = run_with(_open_migration)


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
