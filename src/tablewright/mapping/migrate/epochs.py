"""Epochs: how one begins, and how another begins when changes were missed.

An epoch copies everything that exists, and follows what is written after its beginning: after markers that were put in
every shard of the origin's stream. Older records of the stream do not concern it.
Must hold: an epoch, its gates and the positions its follower reads from are written in one transaction, so that a late
worker cannot move them; a copy whose goal may hold orphans (`strays`) scans the goal too.
Elsewhere: the copy (backfill.py), following (change_follower.py), the epochs that a cut-over begins (cutover.py).
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from tablewright.mapping.migrate.consumer_handover import follower_registration
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.errors import PhaseMoved
from tablewright.mapping.migrate.state import Phase, State
from tablewright.mapping.migrate.stream_markers import StreamTail, notify_consumers, place_markers


def begin(context: MigrationContext, notify: Callable[[str], None] = lambda name: None) -> State:
    """From planned to copying: create the target and begin the first epoch. In a later phase nothing is done."""
    state = context.state()
    if state.phase != "planned":
        return state
    context.make_target(notify)
    # After a rollback that died half-way, consumers would otherwise get the writes of the copy into their old side.
    notify_consumers(context, state)
    state = context.state()
    if state.phase != "planned":
        return state
    # It stays empty until the epoch has begun: no worker passes the gates before.
    target = context.physical(context.migration.target)
    asked = {"TableName": target, "Limit": 1, "ConsistentRead": True, "Select": "COUNT"}
    strays = context.call("Scan", asked)["Count"] > 0
    return _begin_epoch(context, state, "copying", "forward", strays=strays)


def hold(context: MigrationContext, held: bool) -> State:
    """Stop copying and following, or resume it. After a day on hold everything is copied again."""
    state = context.state()
    return state if state.held == held else context.move(state, state.phase, held=held)


def restart(context: MigrationContext, state: State, missed_since: datetime) -> State:
    """Begin another epoch, which reads both sides, because changes were lost: there was no follower for a day."""
    if not state.is_open or state.barred or state.course is None:
        return state
    phase: Phase = "copying" if state.course == "forward" else "switched"
    # The earliest of several losses counts: what is missing may be that old.
    since = min(missed_since, state.missed_since or missed_since)
    return _begin_epoch(context, state, phase, state.course, strays=True, missed_since=since)


def _begin_epoch(
    context: MigrationContext, before: State, phase: Phase, course: Literal["forward", "back"], **changes: Any
) -> State:
    """Begin an epoch: workers of earlier epochs no longer pass the gates."""
    origin = context.migration.direction(course).origin
    places = place_markers(context, StreamTail(context, origin).open())
    follower = follower_registration(context, origin.called, before.epoch + 1, places)
    kept = {} if course == "back" else {"verified": None}
    try:
        return context.move(before, phase, follower, course=course, copied=False, **kept, **changes)
    except PhaseMoved:
        return context.state()
