"""Following: a consumer of the origin's stream synchronises the key of each change, also of items that expired.

    while not stop.is_set(): advance(at, worker)

A round of work is: register the follower, copy some pages if the epoch is not copied yet, follow the stream. Any number
of processes may make rounds, and any of them may die.
A page of changes is synchronised at once, each of its keys once (sync_keys.py packs them into transactions), and then
the checkpoint is saved. If a worker dies in between, the next one repeats the page, and writes nothing for keys that
are done.
Must hold: the follower of an epoch is registered before its copy begins; an epoch whose changes were lost (there was no
follower for a day) is replaced by another, which is not up to date before both tables were read completely.
Elsewhere: where an epoch begins (epochs.py), changing sides (cutover.py).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Event
from typing import Any

from tablewright.client import CallRefused, Retries
from tablewright.mapping.consumer.consumer import Consumer
from tablewright.mapping.consumer.leases import ChangesLost
from tablewright.mapping.consumer.processor import Progress
from tablewright.mapping.migrate import backfill
from tablewright.mapping.migrate.back_pressure import store_lag
from tablewright.mapping.migrate.context import NOT_THERE, MigrationContext
from tablewright.mapping.migrate.epochs import restart
from tablewright.mapping.migrate.errors import EpochEnded
from tablewright.mapping.migrate.migration import Direction
from tablewright.mapping.migrate.state import State
from tablewright.mapping.migrate.stream_markers import notify_consumers
from tablewright.mapping.migrate.sync_keys import GateClosed, Task, sync_keys

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
    copied: backfill.CopyResult = field(default_factory=backfill.CopyResult)
    followed: Progress = field(default_factory=Progress)

    @property
    def is_idle(self) -> bool:
        return not self.copied.items and not self.followed.read and not self.followed.replayed


def follower(context: MigrationContext, state: State) -> Consumer:
    """A worker of the consumer of an epoch; one for each process."""
    direction, epoch = context.direction(state), state.epoch

    def sync(records: Sequence[Mapping[str, Any]]) -> None:
        tasks = [task_of(direction, record) for record in records]
        for record in records:
            _remove_marker(context, direction, record)
        with suppress(EpochEnded):
            # The progress of an ended epoch does not matter; the next epoch follows these changes.
            store_lag(context, records)
            _sync_changes(context, direction, epoch, [task for task in tasks if task is not None])

    return Consumer(
        context.db, None, direction.origin.called, context.consumer_name(epoch), lambda record: sync([record]),
        retries=replace(PATIENCE, sleep=context.sleep), lease=LEASE, batch=BATCH, handle_many=sync,
    )  # fmt: skip


def _sync_changes(context: MigrationContext, direction: Direction, epoch: int, tasks: Sequence[Task]) -> None:
    """Synchronise the keys of some changes, each once, however many changes it has: the current item is read."""
    try:
        sync_keys(context, direction, epoch, tasks, leave_changed=True)
    except GateClosed:
        notify_consumers(context, context.state())
        sync_keys(context, direction, epoch, tasks, leave_changed=True)


def is_up_to_date(context: MigrationContext, state: State, within: timedelta = timedelta()) -> bool:
    """Whether everything is copied and, after a round of work, every change older than `within` was followed.

    The round alone does not say so: the shards of a worker that died may not have been acquired by another yet.
    """
    if not state.copied or state.course is None:
        return False
    consumer = follower(context, state)
    return consumer.lag() <= within and not consumer.parked()


def task_of(direction: Direction, record: Mapping[str, Any]) -> Task | None:
    """The task of a change: its key, and the goal's items that may have to be deleted.

    None for a marker, and for an item that belongs to nothing that is migrated.
    """
    told = record["dynamodb"]
    key = dict(told["Keys"])
    if direction.origin.is_marker(key):
        return None
    if direction.gathers:
        return _task_of_group(direction, told)
    try:
        return Task(key, tuple(direction.made_keys(told.get("OldImage"))))
    except Exception:
        # Nothing could be made of it then either. If it is gone or right by now, its change need not wait for ever.
        return Task(key)


def _task_of_group(direction: Direction, told: Mapping[str, Any]) -> Task | None:
    """The task of a change to an item of a group: its anchor's key, and the place of what it became."""
    old = told.get("OldImage")
    unit = direction.unit(told["NewImage"] if old is None else old)
    if unit is None or direction.group is None:
        return None
    home = direction.group.home(old) if old is not None and direction.is_unit(old) else None
    return Task(unit, (home,) if home is not None else ())


def _remove_marker(context: MigrationContext, direction: Direction, record: Mapping[str, Any]) -> None:
    """Delete a marker that was read; the process that put it does so too, unless it died."""
    key = dict(record["dynamodb"]["Keys"])
    if record["eventName"] == "INSERT" and direction.origin.is_marker(key):
        context.call("DeleteItem", {"TableName": context.physical(direction.origin), "Key": key})


def advance(context: MigrationContext, worker: str, *, pages: int = 10, page: int = backfill.PAGE) -> Round:
    """One round of the work that is due now."""
    state = context.find_state()
    if state is not None:
        state = context.end_stuck_pause(state)
        notify_consumers(context, state)
    if state is None or state.course is None or state.held:
        return Round(state)
    try:
        consumer = follower(context, state)
        consumer.register()
        done = backfill.CopyResult()
        if not state.copied and state.is_open:
            done = backfill.copy_batch(context, state, worker, pages=pages, page=page)
            if done.is_over:
                backfill.mark_copied(context, state)
        followed = consumer.run_once()
        if consumer.parked():
            # Synchronising reads the current item, so the order of the changes does not matter.
            followed += Progress(replayed=consumer.replay().handled)
        return Round(state, done, followed)
    except ChangesLost as lost:
        return Round(restart(context, state, lost.since))
    except EpochEnded:
        return Round(state)
    except CallRefused as refusal:
        # A table may go in the middle of a round: the migration was given up, or finished.
        if refusal.name != NOT_THERE or context.state().epoch == state.epoch:
            raise
        return Round(state)


def watch(context: MigrationContext, stop: Event) -> None:
    """Make rounds until `stop` is set: copy and follow, in whichever direction is due."""
    worker = context.world.new_id()
    while not stop.is_set():
        done = advance(context, worker)
        if done.is_idle:
            stop.wait(WAIT if done.state is not None and done.state.course is not None else LONG_WAIT)
