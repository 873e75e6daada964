"""What destroys or overwrites shows its plan first, and does it when told `--yes`."""

import argparse
import sys


def yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="do it; without this the plan is shown and nothing done"
    )


def agreed(given: argparse.Namespace, plan: str) -> bool:
    """Show the plan; whether it is to be carried out."""
    print(plan)
    if not given.yes:
        print("tablewright: nothing was done; --yes does it", file=sys.stderr)
    sys.stdout.flush()
    return bool(given.yes)
