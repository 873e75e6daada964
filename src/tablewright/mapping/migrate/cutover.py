"""Changing sides: writes pause, everything that was acknowledged arrives on the other side, and that side opens.

The pause is stored first; a process that reads the state then writes nothing. A process that read it before may write
until its cached state expires (`term`), so we wait a little longer than that. An answer that arrives after that does
not count as an acknowledgement (router.py). So everything acknowledged is in the stream when the markers are written,
and the follower has synchronised it once it has passed them.
Must hold: the sides change in one conditional write, with the gates and the consumers' positions; if anything fails
before it, the side that was open is opened again: by this process, or by any other once the pause has lasted too long.
Elsewhere: markers (stream_markers.py), consumers (consumer_handover.py), routing (router.py).
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from tablewright.client import CallRefused, pages
from tablewright.mapping.consumer.leases import ChangesLost
from tablewright.mapping.errors import WriteRefused
from tablewright.mapping.migrate.change_follower import follower, task_of
from tablewright.mapping.migrate.consumer_handover import (
    follower_registration,
    forget_epochs,
    handover_writes,
    refuse_behind,
)
from tablewright.mapping.migrate.context import NOT_THERE, MigrationContext
from tablewright.mapping.migrate.epochs import restart
from tablewright.mapping.migrate.errors import (
    BeingDeleted,
    KeptTooLong,
    NotDrained,
    NotFollowed,
    PhaseMoved,
    WrongPhase,
)
from tablewright.mapping.migrate.migration import TableVersion
from tablewright.mapping.migrate.state import FORWARD, Phase, State
from tablewright.mapping.migrate.stream_markers import (
    MarkerPositions,
    StreamTail,
    has_passed,
    notify_consumers,
    place_markers,
)
from tablewright.mapping.migrate.sync_keys import read_parts
from tablewright.mapping.migrate.verifier import VerifyReport, count_differences, verify

# For clocks that run at different rates.
MARGIN = 1.25
PAUSE = timedelta(seconds=60)
# The lag allowed when the pause begins: the rest has to be followed during it.
LAG = timedelta(seconds=10)
# How long a process may take to delete a table: longer than any call lives, with its retries.
DROP = timedelta(minutes=5)
# Attempts to change sides while consumers begin at the same moment.
FLIPS = 5

Notify = Callable[[str], None]


def record_report(context: MigrationContext, report: VerifyReport) -> State:
    """Store a report: the phase becomes `verified` if the copy is right, else `following`.

    A report of another epoch is ignored: it says nothing about this copy.
    """
    state = context.state()
    if state.phase not in ("following", "verified") or state.epoch != report.epoch:
        return state
    phase: Phase = "verified" if report.is_right else "following"
    return context.move(state, phase, verified=report.as_json() | {"at": context.world.now().isoformat()})


def switch(context: MigrationContext, notify: Notify = lambda words: None) -> State:
    """Open the target. Nothing that was acknowledged is lost; the source is kept current for `keep`."""
    state = context.state()
    refuse_switch(state)
    return _change_sides(context, state, "switched", notify)


def rollback(
    context: MigrationContext,
    notify: Notify = lambda words: None,
    quiesce: Callable[[], None] = lambda: None,
) -> State:
    """Open the source again, with everything that was written to the target, in the old version.

    `quiesce` is called in the pause: programs that write to the target without a router are stopped by it.
    """
    state = context.state()
    refuse_rollback(state, context.world.now())
    notify_consumers(context, state)
    state = _refuse_moved(context, state)
    if not state.copied:
        wanted = "the old table is being brought up to date"
        raise WrongPhase(context.name, state.phase, wanted, f"`tablewright migrate run {context.name}`")
    notify("comparing the old table with the new one")
    # Writes that were never acknowledged may have reached the old table after it was left.
    verify(context, state, repair=True)
    return _change_sides(context, _refuse_moved(context, state), "rolled_back", notify, quiesce)


def finish(context: MigrationContext, *, early: bool = False) -> State:
    """The old table is no longer followed; one cannot go back. Its items are deleted with it."""
    state = context.state()
    refuse_finish(state, context.world.now(), early=early)
    return _end(context, state, "finished")


def abandon(context: MigrationContext) -> State:
    """Give it up before the switch or after a rollback: the source stays what it is, the copy is deleted.

    The copy is deleted because it is no longer kept current: a person erased from the source would stay in it. Of a
    shared table only the copied items are deleted.
    """
    state = context.state()
    refuse_abandon(state)
    return _end(context, state, "abandoned")


def _end(context: MigrationContext, state: State, phase: Phase) -> State:
    if state.phase != phase:
        notify_consumers(context, state)
        refuse_behind(context)
        state = context.move(_refuse_moved(context, state), phase, course="shut", dropping=True)
    return _drop_table(context, state) if state.dropping else state


def _drop_table(context: MigrationContext, state: State) -> State:
    """Delete the table of the side that is no longer needed, once: another migration may use its name later.

    DeleteTable takes no condition, and deletes whatever table has the name when it arrives. So a process stores first
    that it deletes, and for `DROP` no other process does, nor can the name be used again; a process that comes later
    than that does not send the call.
    """
    forget_epochs(context, state)
    began, now = context.steady(), context.world.now()
    if state.dropping_until is not None and now < state.dropping_until:
        raise BeingDeleted(context.name, state.dropping_until)
    state = context.move(state, state.phase, dropping_until=now + DROP)
    version = context.migration.source if state.phase == "finished" else context.migration.target
    if version.shared:
        clear_shared(context, version)
        return context.move(state, state.phase, dropping=False, dropping_until=None)
    if context.steady() - began > DROP.total_seconds() / MARGIN / 2:
        raise BeingDeleted(context.name, now + DROP)
    try:
        context.call("DeleteTable", {"TableName": context.physical(version)})
    except CallRefused as refusal:
        if refusal.name != NOT_THERE:
            # It was answered, so no call is in flight. Without an answer that would not be certain.
            context.move(state, state.phase, dropping_until=None)
            raise
    try:
        return context.move(state, state.phase, dropping=False, dropping_until=None)
    except PhaseMoved:
        return context.state()  # another process did it too


def clear_shared(context: MigrationContext, version: TableVersion) -> None:
    """Delete the migration's items from a table that holds others too: each group, and its anchor last.

    The anchor says whose the others are: if this process dies, the next one finds what is left.
    """
    group = context.migration.group
    assert group is not None
    for answer in pages(context.call, "Scan", context.scan_request(version, 0, 1, 100)):
        for item in answer["Items"]:
            is_anchor = not version.is_marker(item) and group.anchor(item) == version.key(item)
            if not is_anchor or group.home(item) is None:
                continue
            for one in (*read_parts(context, version, group, item), item):
                context.call("DeleteItem", {"TableName": context.physical(version), "Key": version.key(one)})


# --- checks of the phase ---


def refuse_switch(state: State) -> None:
    _refuse_in_pause(state)
    if state.held:
        raise WrongPhase(state.name, state.phase, "copying and following are on hold; resume them first")
    if state.phase != "verified":
        first = {"planned": "run", "copying": "run", "following": "verify"}.get(state.phase)
        next_step = f"`tablewright migrate {first} {state.name}`" if first else ""
        raise WrongPhase(state.name, state.phase, "it changes sides when it is verified", next_step)


def refuse_rollback(state: State, now: datetime) -> None:
    _refuse_in_pause(state)
    if state.phase != "switched":
        raise WrongPhase(state.name, state.phase, "there is nothing to roll back")
    if state.kept_until is not None and now >= state.kept_until:
        raise KeptTooLong(state.name, state.kept_until)


def refuse_finish(state: State, now: datetime, *, early: bool = False) -> None:
    _refuse_in_pause(state)
    if state.phase not in ("switched", "finished"):
        raise WrongPhase(state.name, state.phase, "it can be finished once it is switched")
    if state.phase == "switched" and not early and state.kept_until is not None and now < state.kept_until:
        until = f"the old table is kept until {state.kept_until:%Y-%m-%d}, unless it is to go early (--early)"
        raise WrongPhase(state.name, state.phase, until)


def refuse_abandon(state: State) -> None:
    _refuse_in_pause(state)
    if state.phase not in ("planned", *FORWARD, "rolled_back", "abandoned"):
        wanted = "it can be abandoned before the switch, or after a rollback"
        raise WrongPhase(state.name, state.phase, wanted)


def _refuse_in_pause(state: State) -> None:
    if state.pause_ends is not None:
        until = f"{state.pause_ends:%H:%M:%S} UTC"
        wanted = f"the sides are being changed; if that process has died, the pause ends at {until}"
        raise WrongPhase(state.name, state.phase, wanted)


# --- parts ---


def _refuse_moved(context: MigrationContext, before: State) -> State:
    """The current state; PhaseMoved if its phase is no longer the one for which the step was chosen."""
    state = context.state()
    if state.phase != before.phase:
        raise PhaseMoved(context.name)
    return state


def _change_sides(
    context: MigrationContext,
    state: State,
    to: Phase,
    notify: Notify,
    quiesce: Callable[[], None] = lambda: None,
) -> State:
    """Open the other side; if that fails, the side that was open is open again and the error says why."""
    direction, consumer = context.direction(state), follower(context, state)
    refuse_behind(context)
    try:
        consumer.run_once()
    except ChangesLost as lost:
        restart(context, state, lost.since)
        raise NotFollowed(context.name, lost.since) from None
    if consumer.parked():
        consumer.replay()
    lag = consumer.lag()
    if lag > LAG:
        late = f"changes arrive {lag.total_seconds():.0f} s late; wait until they are followed"
        raise NotDrained(context.name, late)
    tail = StreamTail(context, direction.origin).open()
    ends = context.world.now() + PAUSE
    state = context.move(state, "pausing", paused_from=state.phase, pause_ends=ends)
    notify(f"writes to {context.migration.called} are paused")
    give_up = context.steady() + PAUSE.total_seconds() * 0.8
    try:
        context.sleep(context.migration.term.total_seconds() * MARGIN)
        quiesce()
        left = place_markers(context, tail)
        _drain(context, state, left, give_up)
        tasks = [task for record in left.records if (task := task_of(direction, record)) is not None]
        wrong = count_differences(context, direction, tasks)
        if wrong:
            raise NotDrained(context.name, f"{wrong} items that were changed last differ")
        # Not before: consumers of the table must not get what the follower wrote last.
        opened = place_markers(context, StreamTail(context, direction.goal).open())
        return _flip(context, state, to, left, opened, notify)
    except (Exception, KeyboardInterrupt):
        context.end_pause(context.state())
        raise


def _drain(context: MigrationContext, state: State, left: MarkerPositions, give_up: float) -> None:
    """Wait until the follower, in whichever process it runs, has synchronised everything before the markers."""
    table, name = context.direction(state).origin.called, context.consumer_name(state.epoch)
    consumer = follower(context, state)
    while not has_passed(context, table, name, left):
        if context.steady() > give_up:
            raise NotDrained(context.name, "what was written last has not arrived in time")
        if not consumer.run_once().read:
            context.sleep(0.05)
        if consumer.parked():
            consumer.replay()


def _flip(
    context: MigrationContext,
    state: State,
    to: Phase,
    left: MarkerPositions,
    opened: MarkerPositions,
    notify: Notify,
) -> State:
    before = state
    for tried in range(1, FLIPS + 1):
        try:
            state = _open_other_side(context, before, to, left, opened)
            break
        except (PhaseMoved, WriteRefused):
            # A consumer began, or acquired a shard, at the same moment: it has to be moved too.
            if tried == FLIPS or context.state().revision != before.revision:
                raise
    notify(f"reads and writes go to the table {state.target if to == 'switched' else state.source} now")
    with suppress(NotDrained):  # the sides are changed; the next round of following does this first
        notify_consumers(context, state)
    state = context.state()
    forget_epochs(context, state)
    return state


def _open_other_side(
    context: MigrationContext, state: State, to: Phase, left: MarkerPositions, opened: MarkerPositions
) -> State:
    """Open the other side, in one transaction with the consumers that are moved."""
    now, writes = context.world.now(), handover_writes(context, left, opened)
    kept: dict[str, datetime] = {}
    if to == "switched":
        kept = {"switched_at": now, "kept_until": now + context.migration.keep}
        target = context.migration.target.called
        writes.append(follower_registration(context, target, state.epoch + 1, opened))
    return context.move(
        state, to, *writes, course="shut", barred=True, flips=state.flips + 1, copied=to == "switched",
        paused_from=None, pause_ends=None, **kept,
    )  # fmt: skip
