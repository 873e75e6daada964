"""The known migrations, and running a command on one of them; shared by the `migrate` commands."""

import argparse
import sys
from collections.abc import Callable
from typing import Any

from tablewright.app.backups import environment_of
from tablewright.app.systems import SYSTEMS
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.cli.usage_error import UsageError
from tablewright.kit.system import System
from tablewright.mapping import MappingMistake
from tablewright.mapping.migrate import Migration, MigrationContext, State, migration_context


class NoSuchMigration(UsageError):
    """No system has a migration of this name."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"no migration named {name}; the migrations are {', '.join(known) or 'none'}")


class NoSuchEnvironment(UsageError):
    """The design has no environment of this name."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"the design has no environment {name}; it has {', '.join(known) or 'none'}")


def add_migration_arguments(parser: argparse.ArgumentParser, *, one: bool = True) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs=None if one else "?",
        help="the name of the migration; `migrate status` lists them",
    )
    add_environment_options(parser)


def add_environment_options(parser: argparse.ArgumentParser) -> None:
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
        raise NoSuchMigration(wanted, sorted(found))
    system, migration = found[wanted]
    here = environment_of(system.designs)
    if given.environment is not None:
        environments = migration.source.design.environments
        if given.environment not in environments:
            raise NoSuchEnvironment(given.environment, sorted(environments))
        here = environments[given.environment]
    return migration_context(target.call, migration, environment=here)


def with_migration(given: argparse.Namespace, work: Callable[[MigrationContext], int]) -> int:
    """Run `work` on the migration named on the command line; returns the exit code."""
    return with_target(
        given,
        lambda target: work(context_of(given, target)),
        errors=(MappingMistake,),
    )


def print_message(message: str) -> None:
    """Print to stderr: stdout is for the result."""
    print(message, file=sys.stderr, flush=True)


def status_json(state: State) -> dict[str, Any]:
    """The state of a migration as JSON data, under the names it is stored with."""
    return state.model_dump(mode="json", by_alias=True) | {
        "side": state.side,
        "writes": "open" if state.is_open else "paused",
        "catching_up": state.is_catching_up,
    }
