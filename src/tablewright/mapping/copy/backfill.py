"""The backfill: segments of a table are scanned and written, for a limited time, by threads of this process.

Must hold: reads are consistent, so that an item holds every change that is older than the follower's position; when it
returns, no write is under way; a position is saved only after its items were written.
Elsewhere: changes (follower.py), and how the two take turns (rounds.py).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from tablewright.mapping.copy.context import CopyContext, CopyLease, puts
from tablewright.mapping.copy.errors import CopyLost
from tablewright.mapping.copy.state import CopySegment, TableCopy, segments, segments_of
from tablewright.mapping.errors import Missing, Stale

PAGE = 500


def copy_pages(
    lease: CopyLease,
    *,
    parallel: int = 1,
    seconds: float = 600.0,
    page: int = PAGE,
    stop: Event | None = None,
    notify: Callable[[int], None] = lambda items: None,
) -> bool:
    """Copy pages of the segments that are not done, for so long; True when all are done. `notify` gets each count."""
    context, stop = lease.context, stop or Event()
    is_cut_off = Event()  # one of the threads failed, or Ctrl-C: the others end with their page
    ends = context.steady() + seconds
    left = [segment for segment in _segments(context, lease.copy) if not segment.done]

    def copy_segment(segment: CopySegment) -> bool:
        try:
            while not (segment.done or stop.is_set() or is_cut_off.is_set()) and context.steady() < ends:
                before = segment.items
                segment = _copy_page(lease, segment, page)
                notify(segment.items - before)
        except BaseException:
            is_cut_off.set()
            raise
        return segment.done

    if parallel == 1:
        return all([copy_segment(segment) for segment in left])
    with ThreadPoolExecutor(parallel) as pool:
        try:
            return all(list(pool.map(copy_segment, left)))
        finally:
            is_cut_off.set()


def copy_progress(context: CopyContext, copy: TableCopy) -> int:
    """How many items were copied by the scan."""
    return sum(segment.items for segment in context.db.all(segments_of(table=copy.table, epoch=copy.epoch)))


def _copy_page(lease: CopyLease, segment: CopySegment, page: int) -> CopySegment:
    context, copy = lease.context, lease.copy
    request: dict[str, Any] = {"TableName": copy.source, "ConsistentRead": True, "Limit": page}
    if copy.segments > 1:
        request |= {"Segment": segment.number, "TotalSegments": copy.segments}
    if segment.after is not None:
        request["ExclusiveStartKey"] = segment.after
    lease.hold()
    answer = context.source("Scan", request)
    lease.write(puts(answer["Items"]))
    after = answer.get("LastEvaluatedKey")
    items = segment.items + len(answer["Items"])
    moved = segment.model_copy(update={"after": after, "items": items, "done": not after})
    try:
        context.db.write(segments.change(segment, moved))
    except (Stale, Missing):
        raise CopyLost(copy.table) from None
    return moved.model_copy(update={"version": segment.version + 1})


def _segments(context: CopyContext, copy: TableCopy) -> list[CopySegment]:
    """The segments of this epoch; those that are missing are created."""
    stored = context.db.all(segments_of(table=copy.table, epoch=copy.epoch))
    found = {one.number: one for one in stored}
    for number in range(copy.segments):
        if number not in found:
            new = CopySegment(table=copy.table, epoch=copy.epoch, number=number)
            found[number] = context.db.get_or_create(segments.create(new))[0]
    return list(found.values())
