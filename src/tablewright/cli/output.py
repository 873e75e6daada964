"""What a command tells its user: the result, the plan of what it would delete or overwrite, an error."""

import argparse
import sys

from tablewright.cli.format import as_json


class UsageError(Exception):
    """The command cannot do what was asked; its text is printed to stderr and the exit code is 2."""


def print_result(given: argparse.Namespace, value: object, text: str) -> None:
    """Print the value with --json, otherwise the text."""
    print(as_json(value) if given.json else text, flush=True)


def print_message(text: str) -> None:
    """Print to stderr: stdout is for the result."""
    print(text, file=sys.stderr, flush=True)


def add_yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="apply the plan; without it the plan is only shown"
    )


def confirm_plan(given: argparse.Namespace, plan: str | None) -> bool:
    """Print the plan, if there is one; returns True if --yes was given."""
    if plan is not None:
        print(plan)
    if not given.yes:
        print_message("tablewright: dry run; add --yes to apply")
    sys.stdout.flush()
    return bool(given.yes)
