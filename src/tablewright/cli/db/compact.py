"""`tablewright db compact`: rewrite a store's file without the space of deleted items."""

import argparse
from functools import partial
from pathlib import Path

from tablewright.cli.format import as_json, size
from tablewright.cli.output import add_yes_option, confirm_plan, print_result
from tablewright.cli.progress import progress_bar
from tablewright.cli.target import DATA
from tablewright.engine import NotAStore, StoreInUse
from tablewright.engine.storage.compact import DiskTooFull, FileSpace, compact, file_space
from tablewright.engine.storage.sqlite import stores_below

EXAMPLES = """The store must not be open in another process, and the disk needs space for a second copy. If the
command is killed, the store is either the old or the new one. Stores of further regions below it are compacted too.
New items reuse free space, so compacting pays only after large deletions.

tablewright db compact --data ./data
tablewright db compact --data ./data --yes"""
ERRORS = (StoreInUse, NotAStore, DiskTooFull)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(DATA), help="the store (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the sizes before and after as JSON")
    add_yes_option(parser)


def run(given: argparse.Namespace) -> int:
    """0 if it was compacted, 1 if only the plan was shown, 2 if it cannot be compacted."""
    stores = [given.data, *stores_below(given.data)]
    # Check all stores before the first is changed: one may be open in another process.
    room = sum(map(file_space, stores), FileSpace(0, 0))
    if not given.json:
        also = "".join(f" and {store.name}" for store in stores[1:])
        found = f"{size(room.size)}, of which {size(room.free)} is free"
        plan = f"{given.data}{also} is {found}; it will be rewritten"
        if not confirm_plan(given, plan):
            return 1
    elif not given.yes:
        print(as_json({"bytes": room.size, "free_bytes": room.free}))
        return 1
    before = after = FileSpace(0, 0)
    with progress_bar() as terminal:
        for store in stores:
            label = f"compacting {store.name}" if len(stores) > 1 else "compacting"
            old, new = compact(store, partial(terminal, what=label))
            before, after = before + old, after + new
    sizes = {"bytes_before": before.size, "free_before": before.free, "bytes": after.size}
    print_result(given, sizes, f"{size(before.size)} before, {size(after.size)} now")
    return 0
