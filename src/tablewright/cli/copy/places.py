"""SOURCE, TARGET and the tables of the `copy` commands.

A place is a data directory, the URL of an endpoint, or `amazon:REGION`, with `@PROFILE` if its credentials are not the
default ones. Which tables: those named, those of a system, or all but what Tablewright stores about its own work.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tablewright.cli.argument_types import whole_number
from tablewright.cli.designs import NoSuchEnvironment, load_designs
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.target import NO_TTL_SWEEP, REGION, Target, open_target, run_with
from tablewright.client import pages
from tablewright.design import Environment
from tablewright.engine import Engine
from tablewright.engine.storage.sqlite import exists
from tablewright.mapping import MappingMistake
from tablewright.mapping.copy import CopyContext, TablePair, copy_context
from tablewright.mapping.receipts import TABLE as RECEIPTS

AMAZON = "amazon:"
# Positions in the streams of one place mean nothing in another, and a migration belongs to its place.
_OWN = ("migrations", "stream_consumers", "table_copies")
PLACES = "a data directory, a URL, or amazon:REGION[@PROFILE]"


@dataclass(frozen=True, slots=True)
class Copying:
    """An opened copy: both sides, and its tables."""

    context: CopyContext
    source: Target
    target: Target
    pairs: list[TablePair]
    source_environment: Environment | None = None


def add_place_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=f"where the tables are: {PLACES}")
    parser.add_argument("target", metavar="TARGET", help=f"where they are copied to: {PLACES}")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--tables", metavar="NAME[,...]", help="these tables (default: all of the source)")
    either.add_argument(
        "--system", metavar="SYSTEM", help="the tables of a shipped system, or of your own design"
    )
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="with --system: the target's tables are named as in this environment",
    )
    parser.add_argument(
        "--source-environment",
        metavar="NAME",
        help="with --system: the source's tables are named as in this environment (default: plain names)",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def add_speed_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--parallel",
        type=whole_number("a number from 1 to 64", 1, 64),
        default=4,
        metavar="N",
        help="read so many segments of a table at once (default: %(default)s)",
    )
    parser.add_argument(
        "--write-units",
        type=whole_number("a positive number of write units per second", 1),
        metavar="N",
        help="write at most so many units per second to the target (default: no limit)",
    )
    parser.add_argument(
        "--take-over", action="store_true", help="continue at once after a process that you know is dead"
    )


def place_options(text: str) -> argparse.Namespace:
    """A place as the options that open_target takes."""
    found = argparse.Namespace(data=None, endpoint=None, region=None, profile=None)
    if text.startswith(AMAZON):
        region, _, profile = text.removeprefix(AMAZON).partition("@")
        if not region:
            raise UsageError(f"{text} names no region; write amazon:eu-central-1")
        found.region, found.profile = region, profile or None
    elif text.startswith(("http://", "https://")):
        found.endpoint = text
    else:
        found.data = Path(text)
    return found


@contextmanager
def open_place(text: str, *, is_made: bool = False) -> Iterator[Target]:
    """A place; a data directory that does not exist is created if `is_made`."""
    options = place_options(text)
    if options.data is not None and not exists(options.data):
        if not is_made:
            raise UsageError(f"no store found in {text}; a place is {PLACES}")
        print_message(f"creating a new store in {text}")
        with Engine.open(options.data, region=REGION, ttl_seconds=NO_TTL_SWEEP):
            pass
    with open_target(options, instead="name its URL") as target:
        yield target


@contextmanager
def open_copy(given: argparse.Namespace) -> Iterator[Copying]:
    """Both places and the tables; a new directory is made for `copy run` only."""
    if given.source.rstrip("/") == given.target.rstrip("/") and not given.environment:
        raise UsageError("SOURCE and TARGET are the same place; name another target")
    if (given.environment or given.source_environment) and not given.system:
        raise UsageError("--environment and --source-environment need --system, whose design has the names")
    is_made = hasattr(given, "into_existing")
    with open_place(given.source) as source, open_place(given.target, is_made=is_made) as target:
        context = copy_context(source.call, target.call, write_units=getattr(given, "write_units", None))
        try:
            yield Copying(
                context, source, target, _pairs(given, source), _environment(given, given.source_environment)
            )
        except MappingMistake as error:
            raise UsageError(str(error)) from None


with_copy = run_with(open_copy)


def _pairs(given: argparse.Namespace, source: Target) -> list[TablePair]:
    if given.system is not None:
        return _pairs_of_system(given, source)
    found = [name for page in pages(source.call, "ListTables", {}) for name in page["TableNames"]]
    names = given.tables.split(",") if given.tables else [name for name in found if name not in _OWN]
    if not names:
        raise UsageError(f"{source.name} has no tables to copy")
    return [TablePair(name, name) for name in names]


def _pairs_of_system(given: argparse.Namespace, source: Target) -> list[TablePair]:
    """The tables of a system's designs; and the receipts of its writes, where there are any."""
    here, there = (_environment(given, name) for name in (given.source_environment, given.environment))
    designed = dict.fromkeys(table for design in load_designs(given.system) for table in design.tables)
    *pairs, receipts = [
        TablePair(*(side.physical(table) if side is not None else table for side in (here, there)))
        for table in [*designed, RECEIPTS.name]
    ]
    return [*pairs, receipts] if source.find_table(receipts.source) else pairs


def _environment(given: argparse.Namespace, name: str | None) -> Environment | None:
    """An environment of the system's design."""
    if name is None:
        return None
    known = load_designs(given.system)[0].environments
    if name not in known:
        raise NoSuchEnvironment(given.system, name, list(known))
    return known[name]
