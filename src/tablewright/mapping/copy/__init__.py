"""Copies of tables, from one Call to another, kept in step from the streams until the writers are switched.

    context = copy_context(source, target)
    with ExitStack() as stack:
        leases = [stack.enter_context(leased(context, copy)) for copy in prepare(context, [TablePair("pets", "pets")])]
        copy_tables(leases)           # scan, then changes
        drain(leases)                 # the writers are stopped
        verify_pair(context, ...)

Why it converges: the follower is registered before the first page is read, and reads are consistent. So what a scan
copies contains every change that the follower will not see, and each later change comes as a record. A scan is never
written at the same time as records: they take turns, and a lease keeps other processes out. A record that is older than
what the scan copied puts an older item in its place for a moment, but then the later records of that key follow it, in
order, up to the last, which is what the source holds. The same is true of deletions, by a program or because a time to
live has passed, and of records that are applied twice after a crash.
Elsewhere: moving a table to another design in the same place (mapping/migrate).
"""

from tablewright.mapping.copy.backfill import copy_pages, copy_progress
from tablewright.mapping.copy.context import CopyContext, CopyLease, copy_context, leased
from tablewright.mapping.copy.cutover import Cutover, consumers_behind, drain, release_target
from tablewright.mapping.copy.errors import (
    ChangesMissed,
    ChangesPending,
    CopyInUse,
    CopyLost,
    CopyMistake,
    NoSuchTable,
    NotCopied,
    NotDrained,
    OtherSource,
    TargetBusy,
    TargetHasItems,
)
from tablewright.mapping.copy.follower import catch_up, is_up_to_date, register
from tablewright.mapping.copy.rounds import copy_tables, follow
from tablewright.mapping.copy.state import TableCopy, TablePair, all_copies, table_copies
from tablewright.mapping.copy.tables import prepare
from tablewright.mapping.copy.verification import Verified, verify_pair

__all__ = [
    "ChangesMissed", "ChangesPending", "CopyContext", "CopyInUse", "CopyLease", "CopyLost", "CopyMistake", "Cutover",
    "NoSuchTable", "NotCopied", "NotDrained", "OtherSource", "TableCopy", "TablePair", "TargetBusy", "TargetHasItems",
    "Verified", "all_copies", "catch_up", "consumers_behind", "copy_context", "copy_pages", "copy_progress",
    "copy_tables", "drain", "follow", "is_up_to_date", "leased", "prepare", "register", "release_target",
    "table_copies", "verify_pair",
]  # fmt: skip
