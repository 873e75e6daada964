"""`tablewright copy run SOURCE TARGET`: copy tables and apply their changes until the copy is up to date."""

import argparse
import time
from contextlib import ExitStack
from threading import Event, Lock

from tablewright.cli.copy.places import Copying, add_place_arguments, add_speed_arguments, with_copy
from tablewright.cli.format import as_table, count
from tablewright.cli.output import print_message, print_result
from tablewright.cli.progress import Terminal, progress_bar
from tablewright.mapping.copy import CopyLease, copy_progress, copy_tables, follow, leased, prepare

EXAMPLES = """Missing tables are created as the source describes them: keys, indexes, TTL, tags; the stream is switched
on by `copy finish`. After an interruption, run it again. A source's stream keeps changes for 24 hours: a copy that
was not run for longer begins again. With --once changes are not followed: stop the writers before.

tablewright copy run http://127.0.0.1:8000 amazon:eu-central-1 --system travel --environment prod --stay
tablewright copy run ./data ./other --tables pets,owners --once"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_place_arguments(parser)
    add_speed_arguments(parser)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--stay", action="store_true", help="keep applying changes until Ctrl-C")
    either.add_argument("--once", action="store_true", help="copy what there is; do not follow changes")
    parser.add_argument(
        "--into-existing",
        action="store_true",
        help="copy into tables that have items; those with the keys of the source are overwritten",
    )


@with_copy
def run(given: argparse.Namespace, copying: Copying) -> int:
    context = copying.context
    begun = prepare(
        context,
        copying.pairs,
        segments=given.parallel,
        follow=not given.once,
        into_existing=given.into_existing,
        notify=print_message,
    )
    began = time.monotonic()
    stop = Event()
    try:
        with ExitStack() as stack:
            leases = [stack.enter_context(leased(context, copy, take_over=given.take_over)) for copy in begun]
            with progress_bar() as terminal:
                progress = _Progress(copying, leases, terminal)
                copy_tables(leases, parallel=given.parallel, stop=stop, notify=progress.add)
            _print(given, copying, leases, time.monotonic() - began)
            if given.stay:
                print_message("applying changes; Ctrl-C stops it, then `tablewright copy finish`")
                follow(leases, stop)
    except KeyboardInterrupt:
        print_message("tablewright: the copy can be continued by the same command")
        raise
    return 0


class _Progress:
    """Counts of all threads, shown as they grow."""

    def __init__(self, copying: Copying, leases: list[CopyLease], terminal: Terminal) -> None:
        self._lock, self._terminal = Lock(), terminal
        self._done = {lease.copy.table: copy_progress(copying.context, lease.copy) for lease in leases}
        self._about = {
            lease.copy.table: copying.source.describe_table(lease.copy.source).get("ItemCount", 0)
            for lease in leases
        }

    def add(self, lease: CopyLease, items: int) -> None:
        with self._lock:
            table = lease.copy.table
            self._done[table] += items
            done, about = self._done[table], self._about[table]
            self._terminal(done, about if done <= about else None, f"copying {lease.copy.source}")


def _print(given: argparse.Namespace, copying: Copying, leases: list[CopyLease], seconds: float) -> None:
    found = [(lease.copy, copy_progress(copying.context, lease.copy)) for lease in leases]
    total = sum(items for _, items in found)
    value = {
        "tables": [
            {"source": copy.source, "target": copy.table, "items": items, "phase": copy.phase}
            for copy, items in found
        ],
        "seconds": round(seconds, 3),
    }
    rows = [[copy.source, copy.table, count(items), copy.phase] for copy, items in found]
    table = as_table(["source", "target", "items scanned", "phase"], rows)
    print_result(
        given, value, f"{table}\n{count(total)} items, {seconds:.1f} s; all changes so far are copied"
    )
