"""What the commands about migrations share: which there are, and one of them at work wherever its tables are."""

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tablewright.cli import where

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.system import System
    from tablewright.mapping.migrate import Bench, Migration, State


class NoSuchMigration(where.Misused):
    """A name that no migration of any system has."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"no system has a migration {name}; there are {', '.join(known) or 'none'}")


class NoSuchEnvironment(where.Misused):
    """A name that no environment of the design has."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"the design has no environment {name}; it has {', '.join(known) or 'none'}")


def which(parser: argparse.ArgumentParser, *, one: bool = True) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs=None if one else "?", help="the migration; `migrate status` lists them"
    )
    place(parser)


def place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="the design's environment, by which its tables have their names (default: plain names)",
    )
    where.arguments(parser)


def known() -> "dict[str, tuple[System, Migration]]":
    """Every migration of every system, by name."""
    from tablewright.app.systems import SYSTEMS

    return {one.name: (system, one) for system in SYSTEMS for one in system.migrations}


def bench_of(given: argparse.Namespace, place: where.Place, name: str | None = None) -> "Bench":
    from tablewright.app.backups import environment_of
    from tablewright.mapping.migrate import bench

    found, wanted = known(), name or given.name
    if wanted not in found:
        raise NoSuchMigration(wanted, sorted(found))
    system, migration = found[wanted]
    here = environment_of(system.designs)
    if given.environment is not None:
        environments = migration.source.design.environments
        if given.environment not in environments:
            raise NoSuchEnvironment(given.environment, sorted(environments))
        here = environments[given.environment]
    return bench(place.call, migration, environment=here)


def at(given: argparse.Namespace, work: "Callable[[Bench], int]") -> int:
    """Do something with the migration that was named; the exit code."""
    return where.at(given, lambda place: work(bench_of(given, place)))


def say(words: str) -> None:
    """Talk goes to stderr."""
    print(words, file=sys.stderr, flush=True)


def told_of(state: "State") -> dict[str, Any]:
    """Where a migration stands, for programs."""
    return state.model_dump(mode="json") | {
        "side": state.side,
        "writes": "open" if state.is_open else "paused",
        "catching_up": state.is_catching_up,
    }
