"""`tablewright db verify DIR`: whether a store keeps its promises, invariant by invariant."""

import argparse
import json
import sys
from pathlib import Path

SUMMARY = "Check every invariant of a store; print OK, or each one that is broken."
EXAMPLES = """examples:
  tablewright db verify ./data
  tablewright db verify ./data --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", metavar="DIR", type=Path, help="the store: the directory given to --data")
    parser.add_argument("--json", action="store_true", help="print a JSON list of the broken invariants")


def run(given: argparse.Namespace) -> int:
    """0 when all hold, 1 when one is broken, 2 when the store cannot be looked at."""
    from tablewright.engine import NotAStore, StoreInUse, verify

    if not given.store.is_dir():
        print(f"tablewright: {given.store} is not a directory, so no store is in it", file=sys.stderr)
        return 2
    try:
        broken = verify(given.store)
    except (StoreInUse, NotAStore, OSError) as mistake:
        print(f"tablewright: {mistake}", file=sys.stderr)
        return 2
    print(json.dumps(broken) if given.json else "\n".join(broken) or "OK")
    return 1 if broken else 0
