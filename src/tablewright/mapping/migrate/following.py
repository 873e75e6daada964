"""Following: a consumer of the origin's stream settles the key of each change, whoever made it, time among them.

    while not stop.is_set(): advance(at, worker)

A round of work is: register the follower, copy some pages if the turn is not copied yet, follow what there is. Any
number of processes may make rounds, and any of them may die.
A page of changes is settled at once, each of its keys once (settling.py packs them into transactions); the checkpoint
comes behind it, so who dies in between has the next one settle them again, which writes nothing where it was done.
Must hold: the follower of a turn is registered before its copy begins; a turn whose changes were lost (nobody followed
for a day) is replaced by another, which is not up to date before it has looked at everything on both sides.
Elsewhere: where a turn begins (turns.py), changing sides (switching.py).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from typing import Any

from tablewright.client import CallRefused, Retries
from tablewright.mapping.consumer import Consumer
from tablewright.mapping.handling import Progress
from tablewright.mapping.leases import ChangesLost
from tablewright.mapping.migrate import copying
from tablewright.mapping.migrate.bench import NOT_THERE, Bench
from tablewright.mapping.migrate.errors import TurnOver
from tablewright.mapping.migrate.marks import unbar
from tablewright.mapping.migrate.migration import Way
from tablewright.mapping.migrate.settling import GateShut, Task, settle
from tablewright.mapping.migrate.state import State
from tablewright.mapping.migrate.turns import again
from tablewright.values import Item

PATIENCE = Retries(base=0.1, cap=2.0)
# Between rounds in which there was nothing to do; and where there is no migration under way at all.
WAIT, LONG_WAIT = 1.0, 5.0
# How long a worker that died keeps others from its shards.
LEASE = timedelta(seconds=10)
# Changes that are read, and settled, at once: no more than can be in much less than a lease over a slow line, since it
# is renewed between pages. Who needed longer would lose it before the checkpoint, page after page.
BATCH = 200


@dataclass(frozen=True, slots=True)
class Round:
    """What a round of work came to. `state` is where the migration stood when it began."""

    state: State | None
    copied: copying.Copied = field(default_factory=copying.Copied)
    followed: Progress = field(default_factory=Progress)

    @property
    def is_idle(self) -> bool:
        return not self.copied.items and not self.followed.read and not self.followed.replayed


def follower(bench: Bench, state: State, way: Way | None = None) -> Consumer:
    """A worker of the consumer of a turn; one for each process that helps."""
    way, turn = way or bench.way(state), state.turn

    def settled(records: Sequence[Mapping[str, Any]]) -> None:
        tasks = [task_of(way, record) for record in records]
        for task, record in zip(tasks, records, strict=True):
            if task is None:
                _take_away(bench, way, record)
        with suppress(TurnOver):
            # Nobody asks any more how far this turn came; what changes now is another's business.
            _settled(bench, way, turn, [task for task in tasks if task is not None])

    retries = Retries(base=PATIENCE.base, cap=PATIENCE.cap, sleep=bench.sleep)
    name = bench.consumer_name(turn)
    return Consumer(
        bench.db,
        None,
        way.origin.called,
        name,
        lambda record: settled([record]),
        retries=retries,
        lease=LEASE,
        batch=BATCH,
        handle_many=settled,
    )


def _settled(bench: Bench, way: Way, turn: int, tasks: Sequence[Task]) -> None:
    """Settle the keys of some changes, each once, however many of its changes there are: it is read as it is now."""
    try:
        settle(bench, way, turn, tasks)
    except GateShut:
        unbar(bench, bench.state())
        settle(bench, way, turn, tasks)


def is_up_to_date(bench: Bench, state: State, within: timedelta = timedelta()) -> bool:
    """Whether everything is copied and, after a round of work, every change older than `within` was followed.

    The round alone does not say so: a worker that died may have left its shards to nobody yet.
    """
    if not state.copied or state.course is None:
        return False
    consumer = follower(bench, state)
    return consumer.lag() <= within and not consumer.parked()


def task_of(way: Way, record: Mapping[str, Any]) -> Task | None:
    """What a change asks to be settled: its key, and what may have to go with what the item was. None: a mark."""
    told = record["dynamodb"]
    key = dict(told["Keys"])
    if way.origin.is_mark(key):
        return None
    return Task(key, _made_before(way, told.get("OldImage")))


def _made_before(way: Way, old: Item | None) -> tuple[Item, ...]:
    """What the goal may hold for an item as it was."""
    try:
        return tuple(way.made(old).values())
    except Exception:
        # Nothing could be made of it then either. If it is gone or right by now, its change need not wait for ever.
        return ()


def _take_away(bench: Bench, way: Way, record: Mapping[str, Any]) -> None:
    """A mark that was seen has done its work; who put it takes it away too, unless it died."""
    if record["eventName"] == "INSERT":
        key = dict(record["dynamodb"]["Keys"])
        bench.call("DeleteItem", {"TableName": bench.physical(way.origin), "Key": key})


def advance(bench: Bench, worker: str, *, pages: int = 10, page: int = copying.PAGE) -> Round:
    """A round of whatever is to be done now."""
    state = bench.look()
    if state is not None:
        state = bench.unstuck(state)
        unbar(bench, state)
    if state is None or state.course is None:
        return Round(state)
    try:
        consumer = follower(bench, state)
        consumer.register()
        done = copying.Copied()
        if not state.copied and state.is_open:
            done = copying.copy_some(bench, state, worker, pages=pages, page=page)
            if done.is_over:
                copying.close_copy(bench, state)
        followed = consumer.run_once()
        if consumer.parked():
            # Settling goes by what is there now, so the order in which changes are settled does not matter.
            followed += Progress(replayed=consumer.replay().handled)
        return Round(state, done, followed)
    except ChangesLost as lost:
        return Round(again(bench, state, lost.since))
    except TurnOver:
        return Round(state)
    except CallRefused as refusal:
        # A table may go in the middle of a round: the migration was given up, or finished.
        if refusal.name != NOT_THERE or bench.state().turn == state.turn:
            raise
        return Round(state)


def watch(bench: Bench, stop: Event) -> None:
    """Rounds, for as long as a process lives: copies and follows whatever there is, in whichever direction."""
    worker = bench.world.new_id()
    while not stop.is_set():
        done = advance(bench, worker)
        if done.is_idle:
            stop.wait(WAIT if done.state is not None and done.state.course is not None else LONG_WAIT)
