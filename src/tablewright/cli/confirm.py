"""Commands that delete or overwrite print their plan, and carry it out only with `--yes`."""

import argparse
import sys


def add_yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="apply the plan; without it the plan is only shown"
    )


def confirm_plan(given: argparse.Namespace, plan: str | None) -> bool:
    """Print the plan, if there is one; returns True if --yes was given."""
    if plan is not None:
        print(plan)
    if not given.yes:
        print("tablewright: dry run; add --yes to apply", file=sys.stderr)
    sys.stdout.flush()
    return bool(given.yes)
