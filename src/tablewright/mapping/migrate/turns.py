"""Turns: where one begins, and that another begins when changes were missed.

A turn copies everything that is there, and follows what is written from its beginning on: behind marks that were put in
every shard of the origin's stream. What the stream holds of the time before is nothing to it.
Must hold: a turn, its gates and the places its follower reads from are one transaction, so that nobody who comes late
moves them; a copy whose goal may hold what the origin no longer does (`strays`) walks the goal too.
Elsewhere: the copy (copying.py), following (following.py), the turns that a change of sides begins (switching.py).
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from tablewright.mapping.migrate.bench import Bench
from tablewright.mapping.migrate.errors import PhaseMoved
from tablewright.mapping.migrate.handing import followed
from tablewright.mapping.migrate.marks import Tail, marked, unbar
from tablewright.mapping.migrate.migration import Form
from tablewright.mapping.migrate.state import Phase, State


def begin(bench: Bench, told: Callable[[str], None] = lambda name: None) -> State:
    """From planned to copying: the target is made, and the first turn begins. Where it has begun, nothing is done."""
    state = bench.state()
    if state.phase != "planned":
        return state
    bench.make_target(told)
    # After a rollback whose maker died: who follows the table would hear of what is copied into the side it was on.
    unbar(bench, state)
    state = bench.state()
    if state.phase != "planned":
        return state
    # It stays empty until the turn has begun: nobody passes the gates before.
    return _began(bench, state, "copying", "forward", strays=not _is_empty(bench, bench.migration.target))


def again(bench: Bench, state: State, missed_since: datetime) -> State:
    """Nobody followed for a day, and the stream has forgotten: another turn, which goes through both sides."""
    if not state.is_open or state.barred or state.course is None:
        return state
    phase: Phase = "copying" if state.course == "forward" else "switched"
    # Of several days in a row the first counts: what is missing may be that old.
    since = min(missed_since, state.missed_since or missed_since)
    return _began(bench, state, phase, state.course, strays=True, missed_since=since)


def _began(
    bench: Bench, before: State, phase: Phase, course: Literal["forward", "back"], **changes: Any
) -> State:
    """A copy from the beginning; who followed or copied before is shut out."""
    origin = bench.migration.way(course).origin
    places = marked(bench, Tail(bench, origin).open())
    follower = followed(bench, origin.called, before.turn + 1, places)
    kept = {} if course == "back" else {"verified": None}
    try:
        return bench.moved(before, phase, follower, course=course, copied=False, **kept, **changes)
    except PhaseMoved:
        return bench.state()


def _is_empty(bench: Bench, form: Form) -> bool:
    asked = {"TableName": bench.physical(form), "Limit": 1, "ConsistentRead": True, "Select": "COUNT"}
    return not bench.call("Scan", asked)["Count"]
