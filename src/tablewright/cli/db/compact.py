"""`tablewright db compact`: rewrite a store's file without the space of deleted items."""

import argparse
import sys
from functools import partial
from pathlib import Path

from tablewright.app.progress import Terminal
from tablewright.cli.confirm import add_yes_option, confirm_plan
from tablewright.cli.files import error_text
from tablewright.cli.format import as_json, size
from tablewright.cli.output import INTERRUPTED, report_error
from tablewright.cli.target import DATA
from tablewright.engine import NotAStore, StoreInUse
from tablewright.engine.storage.compact import DiskTooFull, FileSpace, compact, file_space, stores_in

EXAMPLES = """The store must not be open in another process, and the disk needs space for a second copy. If the
command is killed, the store is either the old or the new one. Stores of further regions below it are compacted too.
New items reuse free space, so compacting pays only after large deletions.

examples:
  tablewright db compact --data ./data
  tablewright db compact --data ./data --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(DATA), help="the store (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the sizes before and after as JSON")
    add_yes_option(parser)


def run(given: argparse.Namespace) -> int:
    """0 if it was compacted, 1 if only the plan was shown, 2 if it cannot be compacted."""

    try:
        return _compact(given)
    except (StoreInUse, NotAStore, DiskTooFull, OSError) as error:
        return report_error(error_text(error))
    except KeyboardInterrupt:
        return INTERRUPTED


def _compact(given: argparse.Namespace) -> int:

    stores = stores_in(given.data)
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
    terminal = Terminal(sys.stderr, has_bar=True)
    try:
        for store in stores:
            label = f"compacting {store.name}" if len(stores) > 1 else "compacting"
            old, new = compact(store, partial(terminal, what=label))
            before, after = before + old, after + new
    finally:
        terminal.end()
    if given.json:
        print(as_json({"bytes_before": before.size, "free_before": before.free, "bytes": after.size}))
    else:
        print(f"{size(before.size)} before, {size(after.size)} now")
    return 0
