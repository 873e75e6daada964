"""The backfill: copies everything that exists, by segments and pages, and saves its position after each page.

Where the goal may hold orphans, its segments follow those of the origin.
Must hold: a position is saved only after its items were synchronised; the follower is registered before the first page
is read, so concurrent changes are followed. Two workers on one segment do no harm, they only do the work twice; a lease
keeps them apart.
Elsewhere: synchronising a key (sync_keys.py), concurrent changes (change_follower.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tablewright.mapping.errors import AlreadyExists, Missing, Stale
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.errors import PhaseMoved
from tablewright.mapping.migrate.state import Segment, State, segments, segments_of
from tablewright.mapping.migrate.sync_keys import find_orphans, origin_tasks, sync_keys

PAGE = 100
LEASE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class CopyResult:
    """The result of copying some pages. `is_over`: every segment is done."""

    items: int = 0
    is_over: bool = False


def copy_batch(
    context: MigrationContext, state: State, worker: str, *, pages: int = 10, page: int = PAGE
) -> CopyResult:
    """Copy some pages of a free segment; `is_over` when none is left. EpochEnded if the epoch has ended."""
    found = _segments(context, state)
    if all(segment.done for segment in found):
        return CopyResult(is_over=True)
    if state.rate is not None:
        # About a second of work, so that a slow copy does not delay following.
        page = min(page, state.rate)
        pages = min(pages, state.rate // page)
    now = context.world.now()
    for one in found:
        is_late = one.until is None or one.until <= now
        if not one.done and (one.owner in (None, worker) or is_late):
            taken = _change(context, one, {"owner": worker, "until": context.world.now() + LEASE})
            if taken is not None:
                return _copy(context, state, taken, pages, page)
    return CopyResult()


def copy_progress(
    context: MigrationContext, state: State, *, origin_only: bool = False
) -> tuple[int, int | None]:
    """How many items were read, and the approximate total; None if more were read than that.

    With `origin_only`, of the version that is copied; items of the other one, which are read for strays, do not count.
    """
    segments = context.db.all(segments_of(name=context.name, epoch=state.epoch))
    done = sum(one.items for one in segments if not (origin_only and one.is_of_goal))
    direction = context.direction(state)
    with_goal = state.strays and not origin_only
    versions = (direction.origin, direction.goal) if with_goal else (direction.origin,)
    about = sum(context.item_count(version) for version in versions)
    return done, about if done < about else None


def mark_copied(context: MigrationContext, state: State) -> State:
    """Store that everything is copied, so that following is enough. The first worker to finish does so."""
    try:
        phase = "following" if state.phase == "copying" else state.phase
        return context.move(state, phase, copied=True, strays=False, missed_since=None)
    except PhaseMoved:
        return context.state()


def _copy(context: MigrationContext, state: State, segment: Segment, pages: int, page: int) -> CopyResult:
    direction, done = context.direction(state), 0
    version = direction.goal if segment.is_of_goal else direction.origin
    for _ in range(pages):
        began = context.steady()
        request = context.scan_request(version, segment.number % segment.of, segment.of, page)
        if segment.after is not None:
            request["ExclusiveStartKey"] = segment.after
        answer = context.call("Scan", request)
        items = [item for item in answer["Items"] if not version.is_marker(item)]
        if segment.is_of_goal:
            tasks = find_orphans(context, direction, items)
        else:
            tasks = origin_tasks(direction, items)
        sync_keys(context, direction, state.epoch, tasks, leave_changed=True)
        done += len(items)
        after = answer.get("LastEvaluatedKey")
        kept = _change(context, segment, {
            "after": after, "items": segment.items + len(items), "done": after is None,
            "owner": None if after is None else segment.owner, "until": context.world.now() + LEASE,
        })  # fmt: skip
        if kept is None or kept.done:  # None: another worker has the segment now
            break
        segment = kept
        left = len(items) / state.rate - (context.steady() - began) if state.rate else 0
        if left > 0:
            context.sleep(left)
    return CopyResult(done)


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


def _change(context: MigrationContext, before: Segment, changes: Mapping[str, Any]) -> Segment | None:
    """Change a segment; None if another worker has changed it."""
    try:
        context.db.write(segments.change(before, before.model_copy(update=changes)))
    except (Stale, Missing, AlreadyExists):
        return None
    return context.db.one(segments.get(before.name, before.epoch, before.number), consistent=True)
