"""Rounds of a copy: the scan and the follower take turns until both are done.

Must hold: the follower of every table is registered before its scan begins; no write of a scan is under way while
records are applied (why: __init__.py).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Event

from tablewright.mapping.copy import backfill, follower
from tablewright.mapping.copy.context import CopyLease

# Then changes are applied for a while: a scan may last for longer than a stream keeps its records.
SECONDS = 600.0
# With constant writes a copy is never exactly up to date; this lag counts as up to date.
ACCEPTED_LAG = timedelta(seconds=2)
_PAUSE = 0.5
POLL = 1.0


def copy_tables(
    leases: Sequence[CopyLease],
    *,
    parallel: int = 1,
    seconds: float = SECONDS,
    page: int = backfill.PAGE,
    stop: Event | None = None,
    notify: Callable[[CopyLease, int], None] = lambda lease, items: None,
) -> None:
    """Copy all tables, then apply changes until none is older than the accepted lag, or `stop` is set."""
    stop = stop or Event()
    for lease in leases:
        follower.register(lease)

    def count(lease: CopyLease, items: int) -> None:
        for each in leases:
            each.hold()  # also of the tables whose turn comes later
        notify(lease, items)

    for lease in leases:
        while lease.copy.phase == "copying" and not stop.is_set():
            is_over = backfill.copy_pages(
                lease,
                parallel=parallel,
                seconds=seconds,
                page=page,
                stop=stop,
                notify=partial(count, lease),
            )
            if is_over:
                lease.change(phase="following")
            for each in leases:
                follower.catch_up(each)
    while not stop.is_set():
        read = sum(follower.catch_up(lease).read for lease in leases)
        if all(follower.is_up_to_date(lease, ACCEPTED_LAG) for lease in leases):
            return
        if not read:
            leases[0].context.sleep(_PAUSE)


def follow(leases: Sequence[CopyLease], stop: Event, *, poll: float = POLL) -> None:
    """Apply changes as they come, a thread for each table, until `stop` is set; raises what a thread raised.

    A change that cannot be applied is kept, and tried again by the next `copy_tables` or `drain`.
    """
    is_over = Event()
    with ThreadPoolExecutor(len(leases)) as pool:
        threads = [pool.submit(follower.stay, lease, is_over, poll) for lease in leases if lease.copy.follows]
        try:
            while not stop.wait(poll) and not any(thread.done() for thread in threads):
                for lease in leases:
                    lease.hold()
        finally:
            is_over.set()
    for thread in threads:
        thread.result()
