"""The copy: everything that is there, part by part, page by page, with a place to go on from after each page.

Where the goal may hold what the origin no longer does, its parts come behind: what nothing stands behind is settled.
Must hold: a place is kept only behind what was settled; the follower is registered before the first page is read, so
what changes meanwhile is its business. Two workers at one segment do no harm, only twice the work: a lease keeps them
apart.
Elsewhere: settling itself (settling.py), what changes meanwhile (following.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tablewright.mapping.errors import AlreadyExists, Missing, Stale
from tablewright.mapping.migrate.bench import Bench
from tablewright.mapping.migrate.errors import PhaseMoved
from tablewright.mapping.migrate.settling import Settled, Task, settle
from tablewright.mapping.migrate.state import Segment, State, segments, segments_of
from tablewright.mapping.migrate.strays import strays

PAGE = 100
LEASE = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Copied:
    """What came of some pages. `is_over`: every segment is done."""

    items: int = 0
    settled: Settled = field(default_factory=Settled)
    is_over: bool = False


def copy_some(bench: Bench, state: State, worker: str, *, pages: int = 10, page: int = PAGE) -> Copied:
    """Copy some pages of whichever segment is free; over when none is left. TurnOver if the turn is."""
    found = _segments(bench, state)
    if all(segment.done for segment in found):
        return Copied(is_over=True)
    now = bench.world.now()
    free = [one for one in found if not one.done and (one.owner in (None, worker) or _is_late(one, now))]
    taken = next((held for one in free if (held := _taken(bench, one, worker))), None)
    if taken is None:
        return Copied()
    return _copy(bench, state, taken, *_about_a_second(state.rate, pages, page))


def _about_a_second(rate: int | None, pages: int, page: int) -> tuple[int, int]:
    """How many pages of how many items: a slow copy keeps nobody from following, or from ending, for longer."""
    if rate is None:
        return pages, page
    page = min(page, rate)
    return min(pages, rate // page), page


def copied(bench: Bench, state: State) -> tuple[int, int | None]:
    """How many items were gone through, and how many there are about; None when it is more than that."""
    done = sum(segment.items for segment in bench.db.all(segments_of(name=bench.name, turn=state.turn)))
    way = bench.way(state)
    tables = [bench.physical(form) for form in (way.origin, way.goal)[: 2 if state.strays else 1]]
    about: int = sum(
        bench.call("DescribeTable", {"TableName": table})["Table"]["ItemCount"] for table in tables
    )
    return done, about if done < about else None


def close_copy(bench: Bench, state: State) -> State:
    """Everything is copied: from now on following is enough. Whoever is first says so."""
    try:
        phase = "following" if state.phase == "copying" else state.phase
        return bench.moved(state, phase, copied=True, strays=False, missed_since=None)
    except PhaseMoved:
        return bench.state()


def _copy(bench: Bench, state: State, segment: Segment, pages: int, page: int) -> Copied:
    way, done, settled = bench.way(state), 0, Settled()
    form = way.goal if segment.is_of_goal else way.origin
    for _ in range(pages):
        began = bench.steady()
        request: dict[str, Any] = {
            "TableName": bench.physical(form),
            "Segment": segment.number % segment.of,
            "TotalSegments": segment.of,
            "ConsistentRead": True,
            "Limit": page,
        }
        if segment.after is not None:
            request["ExclusiveStartKey"] = segment.after
        answer = bench.call("Scan", request)
        items = [item for item in answer["Items"] if not form.is_mark(item)]
        if segment.is_of_goal:
            tasks = strays(bench, way, items)
        else:
            tasks = [Task(form.key(item), (), item) for item in items]
        settled += settle(bench, way, state.turn, tasks)
        done += len(items)
        kept = _kept(bench, segment, answer.get("LastEvaluatedKey"), len(items))
        if kept is None or kept.done:
            break
        segment = kept
        _heed(bench, state.rate, len(items), began)
    return Copied(done, settled)


def _heed(bench: Bench, rate: int | None, items: int, began: float) -> None:
    """Not faster than was asked for."""
    if rate:
        left = items / rate - (bench.steady() - began)
        if left > 0:
            bench.sleep(left)


# --- segments ---


def _segments(bench: Bench, state: State) -> list[Segment]:
    """The segments of this turn; made by whichever worker comes first."""
    found = list(bench.db.all(segments_of(name=bench.name, turn=state.turn)))
    have = {segment.number for segment in found}
    for number in range(state.segments * (2 if state.strays else 1)):
        if number not in have:
            new = Segment(name=bench.name, turn=state.turn, number=number, of=state.segments)
            found.append(bench.db.get_or_create(segments.create(new))[0])
    return found


def _is_late(segment: Segment, now: datetime) -> bool:
    return segment.until is None or segment.until <= now


def _taken(bench: Bench, segment: Segment, worker: str) -> Segment | None:
    until = bench.world.now() + LEASE
    return _changed(bench, segment, segment.model_copy(update={"owner": worker, "until": until}))


def _kept(bench: Bench, segment: Segment, after: Mapping[str, Any] | None, items: int) -> Segment | None:
    """The place behind a page; None if another worker has the segment by now."""
    update = {
        "after": after,
        "items": segment.items + items,
        "done": after is None,
        "owner": None if after is None else segment.owner,
        "until": bench.world.now() + LEASE,
    }
    return _changed(bench, segment, segment.model_copy(update=update))


def _changed(bench: Bench, before: Segment, after: Segment) -> Segment | None:
    try:
        bench.db.write(segments.change(before, after))
    except (Stale, Missing, AlreadyExists):
        return None
    return bench.db.one(segments.get(before.name, before.turn, before.number), consistent=True)
