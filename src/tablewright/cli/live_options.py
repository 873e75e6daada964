"""Options of the commands that look at live tables beside a design: `--live`, and whose tables are meant.

Must hold: without --environment, tables have plain names, and an option for live tables without --live is refused.
Elsewhere: where the tables are (target.py).
"""

import argparse
from collections.abc import Sequence

from tablewright.cli.designs import NoSuchEnvironment
from tablewright.cli.output import UsageError, print_message
from tablewright.design import Design, Environment

_OPTIONS = ("environment", "endpoint", "data", "region", "profile")


def add_live_options(parser: argparse.ArgumentParser, about: str) -> argparse._ArgumentGroup:
    """`--live` and `--environment`, in a group to which a command adds its own."""
    group = parser.add_argument_group("live tables")
    group.add_argument("--live", action="store_true", help=about)
    group.add_argument(
        "--environment", metavar="NAME", help="the environment whose tables are meant (default: plain names)"
    )
    return group


def refuse_without_live(given: argparse.Namespace, *own: str) -> None:
    """UsageError for an option of live tables without --live; `own` are those of the command."""
    for name in (*_OPTIONS, *own):
        if not given.live and getattr(given, name):
            raise UsageError(f"--{name.replace('_', '-')} is for live tables; add --live")


def live_environment(given: argparse.Namespace, designs: Sequence[Design]) -> Environment | None:
    """The environment that --environment names; None if tables have plain names."""
    known = designs[0].environments
    if given.environment not in (None, *known):
        raise NoSuchEnvironment(given.system, given.environment, list(known))
    return known.get(given.environment)


def print_none_there(given: argparse.Namespace, what: str) -> None:
    """Say that the endpoint has nothing of the design, and what is probably wrong."""
    asked = (
        "is --environment missing?" if given.environment is None else "is it another endpoint or environment?"
    )
    print_message(f"tablewright: no table of the design {what}; {asked}")
