"""`tablewright db compact`: give the room that deleted items left in a store's file back to the disk."""

import argparse
import sys
from functools import partial
from pathlib import Path

from tablewright.cli.plans import agreed, yes
from tablewright.cli.where import DATA, INTERRUPTED, misused
from tablewright.cli.words import as_json, size

SUMMARY = "Write a store anew without its gaps, so that its file is as small as what it holds."
EXAMPLES = """The store must not be open elsewhere, and the disk needs room for a copy of what it holds. Killed
anywhere, the store is the old one or the new one. The stores of further regions below it are done as well. New items
fill the gaps by themselves, so this is for after great deletions.

examples:
  tablewright db compact --data ./data
  tablewright db compact --data ./data --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(DATA), help="the store (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the sizes before and after as JSON")
    yes(parser)


def run(given: argparse.Namespace) -> int:
    """0 when it was done or there is nothing to gain; 1 when only the plan was shown; 2 when it cannot be done."""
    from tablewright.engine import NotAStore, StoreInUse
    from tablewright.engine.storage_compact import DiskTooFull

    try:
        return _compact(given)
    except (StoreInUse, NotAStore, DiskTooFull, OSError) as mistake:
        return misused(str(mistake))
    except KeyboardInterrupt:
        return INTERRUPTED


def _compact(given: argparse.Namespace) -> int:
    from tablewright.app.progress import Terminal
    from tablewright.engine.storage_compact import Room, compact, room_in, stores_in

    stores = stores_in(given.data)
    # Of all of them, before the first is touched: one may be open elsewhere.
    room = sum(map(room_in, stores), Room(0, 0))
    if not given.json:
        also = "".join(f" and {store.name}" for store in stores[1:])
        found = f"{size(room.size)}, of which {size(room.free)} hold nothing"
        plan = f"{given.data}{also} is {found}; it would be written anew"
        if not agreed(given, plan):
            return 1
    elif not given.yes:
        print(as_json({"bytes": room.size, "free_bytes": room.free}))
        return 1
    before = after = Room(0, 0)
    told = Terminal(sys.stderr, has_bar=True)
    try:
        for store in stores:
            words = f"compacting {store.name}" if len(stores) > 1 else "compacting"
            old, new = compact(store, partial(told, what=words))
            before, after = before + old, after + new
    finally:
        told.end()
    if given.json:
        print(as_json({"bytes_before": before.size, "free_before": before.free, "bytes": after.size}))
    else:
        print(f"{size(before.size)} before, {size(after.size)} now")
    return 0
