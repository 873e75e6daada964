"""`tablewright copy finish SOURCE TARGET`: the switch. The last changes are applied, both sides verified."""

import argparse
import time
from contextlib import ExitStack

from tablewright.cli.copy.places import Copying, add_place_arguments, add_speed_arguments, with_copy
from tablewright.cli.copy.verify import as_text, as_value
from tablewright.cli.output import print_message, print_result
from tablewright.mapping.copy import (
    ChangesPending,
    CopyLease,
    NotCopied,
    TableCopy,
    Verified,
    consumers_behind,
    drain,
    leased,
    release_target,
    verify_pair,
)

EXAMPLES = """Stop the programs that write to SOURCE first, and `copy run --stay`. The time this takes is the pause of
writes, and is printed. If a table differs, nothing is finished, and the exit code is 1. Then point the programs at
TARGET. SOURCE is left as it is.

tablewright copy finish http://127.0.0.1:8000 amazon:eu-central-1 --system travel --environment prod
tablewright copy finish ./data ./other --tables pets"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_place_arguments(parser)
    add_speed_arguments(parser)
    parser.add_argument(
        "--leave-unprocessed",
        action="store_true",
        help="finish although consumers of the source have not processed all of its changes",
    )


@with_copy
def run(given: argparse.Namespace, copying: Copying) -> int:
    context, began = copying.context, time.monotonic()
    with ExitStack() as stack:
        leases = [
            stack.enter_context(leased(context, copy, take_over=given.take_over)) for copy in _copies(copying)
        ]
        cutover = drain(leases)
        print_message(f"the last {cutover.changes} changes were applied in {cutover.seconds:.2f} s")
        copies = [lease.copy for lease in leases]
        behind = consumers_behind(context.source, copies, context.world, copying.source_environment)
        if behind and not given.leave_unprocessed:
            raise ChangesPending(behind)
        found = [_verify(given, copying, lease) for lease in leases]
        is_equal = all(one.is_equal for one in found)
        if is_equal:
            for lease in leases:
                release_target(lease)
    pause = time.monotonic() - began
    value = {
        "is_finished": is_equal,
        "changes": cutover.changes,
        "drain_seconds": round(cutover.seconds, 3),
        "pause_seconds": round(pause, 3),
        "tables": as_value(found),
    }
    outcome = "finished" if is_equal else "not finished, because tables differ: are the writers stopped?"
    print_result(given, value, f"{as_text(found)}\n{outcome}; writes were paused for {pause:.2f} s")
    return 0 if is_equal else 1


def _copies(copying: Copying) -> list[TableCopy]:
    found = []
    for pair in copying.pairs:
        copy = copying.context.find_copy(pair.target)
        if copy is None or copy.phase != "following":
            raise NotCopied(pair.target)
        found.append(copy)
    return found


def _verify(given: argparse.Namespace, copying: Copying, lease: CopyLease) -> Verified:
    lease.hold()
    return verify_pair(copying.context, lease.copy.pair, segments=given.parallel)
