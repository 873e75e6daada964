"""What destroys or overwrites shows its plan first, and does it when told `--yes`."""

import argparse
import sys


def yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="do it; without this the plan is shown and nothing done"
    )


def agreed(given: argparse.Namespace, plan: str | None) -> bool:
    """Show the plan, if there is one to be shown; whether it is to be carried out."""
    if plan is not None:
        print(plan)
    if not given.yes:
        print("tablewright: nothing was done; --yes does it", file=sys.stderr)
    sys.stdout.flush()
    return bool(given.yes)
