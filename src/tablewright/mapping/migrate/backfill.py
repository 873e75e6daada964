"""The backfill: copies everything that exists, by segments and pages, and saves its position after each page.

Where the goal may hold orphans, its segments follow those of the origin.
Must hold: a position is saved only after its items were synchronised; the follower is registered before the first page
is read, so concurrent changes are followed. Two workers on one segment do no harm, they only do the work twice; a lease
keeps them apart.
Elsewhere: synchronising a key (sync_keys.py), concurrent changes (change_follower.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tablewright.mapping.errors import AlreadyExists, Missing, Stale
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.errors import PhaseMoved
from tablewright.mapping.migrate.orphans import find_orphans
from tablewright.mapping.migrate.state import Segment, State, segments, segments_of
from tablewright.mapping.migrate.sync_keys import SyncResult, Task, sync_keys

PAGE = 100
LEASE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class CopyResult:
    """The result of copying some pages. `is_over`: every segment is done."""

    items: int = 0
    synced: SyncResult = field(default_factory=SyncResult)
    is_over: bool = False


def copy_batch(
    context: MigrationContext, state: State, worker: str, *, pages: int = 10, page: int = PAGE
) -> CopyResult:
    """Copy some pages of a free segment; `is_over` when none is left. EpochEnded if the epoch has ended."""
    found = _segments(context, state)
    if all(segment.done for segment in found):
        return CopyResult(is_over=True)
    now = context.world.now()
    free = [one for one in found if not one.done and (one.owner in (None, worker) or _is_late(one, now))]
    taken = next((held for one in free if (held := _claim(context, one, worker))), None)
    if taken is None:
        return CopyResult()
    return _copy(context, state, taken, *_about_a_second(state.rate, pages, page))


def _about_a_second(rate: int | None, pages: int, page: int) -> tuple[int, int]:
    """How many pages of how many items: a second of work, so that a slow copy does not delay following."""
    if rate is None:
        return pages, page
    page = min(page, rate)
    return min(pages, rate // page), page


def copy_progress(context: MigrationContext, state: State) -> tuple[int, int | None]:
    """How many items were read, and the approximate total; None if more were read than that."""
    done = sum(segment.items for segment in context.db.all(segments_of(name=context.name, epoch=state.epoch)))
    direction = context.direction(state)
    tables = [
        context.physical(version)
        for version in (direction.origin, direction.goal)[: 2 if state.strays else 1]
    ]
    about: int = sum(
        context.call("DescribeTable", {"TableName": table})["Table"]["ItemCount"] for table in tables
    )
    return done, about if done < about else None


def mark_copied(context: MigrationContext, state: State) -> State:
    """Store that everything is copied, so that following is enough. The first worker to finish does so."""
    try:
        phase = "following" if state.phase == "copying" else state.phase
        return context.move(state, phase, copied=True, strays=False, missed_since=None)
    except PhaseMoved:
        return context.state()


def _copy(context: MigrationContext, state: State, segment: Segment, pages: int, page: int) -> CopyResult:
    direction, done, settled = context.direction(state), 0, SyncResult()
    version = direction.goal if segment.is_of_goal else direction.origin
    for _ in range(pages):
        began = context.steady()
        request: dict[str, Any] = {
            "TableName": context.physical(version),
            "Segment": segment.number % segment.of,
            "TotalSegments": segment.of,
            "ConsistentRead": True,
            "Limit": page,
        }
        if segment.after is not None:
            request["ExclusiveStartKey"] = segment.after
        answer = context.call("Scan", request)
        items = [item for item in answer["Items"] if not version.is_marker(item)]
        if segment.is_of_goal:
            tasks = find_orphans(context, direction, items)
        else:
            tasks = [Task(version.key(item), (), item) for item in items]
        settled += sync_keys(context, direction, state.epoch, tasks)
        done += len(items)
        kept = _save_position(context, segment, answer.get("LastEvaluatedKey"), len(items))
        if kept is None or kept.done:
            break
        segment = kept
        _throttle(context, state.rate, len(items), began)
    return CopyResult(done, settled)


def _throttle(context: MigrationContext, rate: int | None, items: int, began: float) -> None:
    """Keep to the rate that the plan asks for."""
    if rate:
        left = items / rate - (context.steady() - began)
        if left > 0:
            context.sleep(left)


# --- segments ---


def _segments(context: MigrationContext, state: State) -> list[Segment]:
    """The segments of this epoch; created by the first worker."""
    found = list(context.db.all(segments_of(name=context.name, epoch=state.epoch)))
    have = {segment.number for segment in found}
    for number in range(state.segments * (2 if state.strays else 1)):
        if number not in have:
            new = Segment(name=context.name, epoch=state.epoch, number=number, of=state.segments)
            found.append(context.db.get_or_create(segments.create(new))[0])
    return found


def _is_late(segment: Segment, now: datetime) -> bool:
    return segment.until is None or segment.until <= now


def _claim(context: MigrationContext, segment: Segment, worker: str) -> Segment | None:
    until = context.world.now() + LEASE
    return _change(context, segment, segment.model_copy(update={"owner": worker, "until": until}))


def _save_position(
    context: MigrationContext, segment: Segment, after: Mapping[str, Any] | None, items: int
) -> Segment | None:
    """Save the position after a page; None if another worker has the segment now."""
    update = {
        "after": after,
        "items": segment.items + items,
        "done": after is None,
        "owner": None if after is None else segment.owner,
        "until": context.world.now() + LEASE,
    }
    return _change(context, segment, segment.model_copy(update=update))


def _change(context: MigrationContext, before: Segment, after: Segment) -> Segment | None:
    try:
        context.db.write(segments.change(before, after))
    except (Stale, Missing, AlreadyExists):
        return None
    return context.db.one(segments.get(before.name, before.epoch, before.number), consistent=True)
