"""`tablewright db verify DIR`: check the invariants of a store."""

import argparse
import json
from pathlib import Path

from tablewright.cli.output import UsageError
from tablewright.engine import NotAStore, StoreInUse, verify_store

EXAMPLES = """tablewright db verify ./data
tablewright db verify ./data --json"""
ERRORS = (StoreInUse, NotAStore)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "store", metavar="DIR", type=Path, help="the directory of the store, as given to --data"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list of the violations")


def run(given: argparse.Namespace) -> int:
    """0 if all invariants hold, 1 if one is violated, 2 if the store cannot be read."""
    if not given.store.is_dir():
        raise UsageError(f"{given.store} is not a directory with a store")
    broken = verify_store(given.store)
    print(json.dumps(broken) if given.json else "\n".join(broken) or "OK")
    return 1 if broken else 0
