"""Changing sides: writes pause, everything that was answered arrives on the other side, and that side opens.

A pause is written down first; then nobody who looks may write. Who looked before may believe for `term` that they
may, and so we wait a little longer than that. An answer that comes later than a belief lasts is no acknowledgement
(sides.py). So what was acknowledged is in the stream when the marks are put, and the follower has settled it when it
has passed them.
Must hold: sides change in one conditional write, with the gates and the consumers' places; whatever fails before it,
the side that was open is opened again, by us, or by anybody once the pause has lasted too long.
Elsewhere: marks (marks.py), consumers (handing.py), who may write where (sides.py).
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from tablewright.client import CallRefused
from tablewright.mapping.errors import WriteRefused
from tablewright.mapping.leases import ChangesLost
from tablewright.mapping.migrate.bench import NOT_THERE, Bench
from tablewright.mapping.migrate.errors import (
    BeingDeleted,
    KeptTooLong,
    NotDrained,
    NotFollowed,
    PhaseMoved,
    WrongPhase,
)
from tablewright.mapping.migrate.following import follower, task_of
from tablewright.mapping.migrate.handing import followed, forget_turns, handed_over, refuse_behind
from tablewright.mapping.migrate.marks import Places, Tail, has_passed, marked, unbar
from tablewright.mapping.migrate.state import FORWARD, Phase, State
from tablewright.mapping.migrate.turns import again
from tablewright.mapping.migrate.verifying import Report, differing, verify

# For clocks that go at different paces.
MARGIN = 1.25
PAUSE = timedelta(seconds=60)
# What is done before the pause must leave little to do in it.
LAG = timedelta(seconds=10)
# How long who deletes a table has for it. Longer than any line keeps a call, with what it repeats.
DROP = timedelta(minutes=5)
# How often sides are tried to be changed while consumers begin in the same moment.
FLIPS = 5

BEFORE_VERIFIED = ("planned", "copying", "following")

Told = Callable[[str], None]


def _silent(words: str) -> None:
    """Tells nobody."""


def checked(bench: Bench, report: Report) -> State:
    """Keep a report; a migration whose copy is right is verified, one whose is not is following again.

    One of another turn than this says nothing of this one's copy.
    """
    state = bench.state()
    if state.phase not in ("following", "verified") or state.turn != report.turn:
        return state
    phase: Phase = "verified" if report.is_right else "following"
    return bench.moved(state, phase, verified=report.told() | {"at": bench.world.now().isoformat()})


def switch(bench: Bench, told: Told = _silent) -> State:
    """Open the target. Nothing that was acknowledged is lost; the source is kept current for as long as is kept."""
    state = bench.state()
    refuse_switch(state)
    return _changed(bench, state, "switched", told)


def rollback(bench: Bench, told: Told = _silent) -> State:
    """Open the source again, with everything that was written to the target, in the old form."""
    state = bench.state()
    refuse_rollback(state, bench.world.now())
    unbar(bench, state)
    state = _still(bench, state)
    if not state.copied:
        raise WrongPhase(
            bench.name,
            state.phase,
            "the old table is being brought up to date",
            f"`tablewright migrate run {bench.name}`",
        )
    told("comparing the old table with the new one")
    # Writes that nobody was told of may have come to the old table after it was left.
    verify(bench, state, repair=True)
    return _changed(bench, _still(bench, state), "rolled_back", told)


def finish(bench: Bench, *, early: bool = False) -> State:
    """The old table is no longer followed; one cannot go back. Its items are deleted with it."""
    state = bench.state()
    refuse_finish(state, bench.world.now(), early=early)
    if state.phase != "finished":
        unbar(bench, state)
        refuse_behind(bench)
        state = bench.moved(_still(bench, state), "finished", course="shut", dropping=True)
    return _dropped(bench, state)


def abandon(bench: Bench) -> State:
    """Give it up before the switch or after a rollback: the source stays what it is, the copy is deleted.

    Nobody keeps a copy current any more: who is erased from the source would stay in it.
    """
    state = bench.state()
    refuse_abandon(state)
    if state.phase != "abandoned":
        unbar(bench, state)
        refuse_behind(bench)
        state = bench.moved(_still(bench, state), "abandoned", course="shut", dropping=True)
    return _dropped(bench, state)


def _dropped(bench: Bench, state: State) -> State:
    """The table of the side that is no longer needed goes, once: its name may be that of another migration's later.

    DeleteTable takes no condition, and would take whatever has the name when it arrives. So who deletes says so first,
    and for `DROP` nobody else does, nor can the name be taken again; who comes to it later than that lets it be.
    """
    if not state.dropping:
        return state
    forget_turns(bench, state)
    began, now = bench.steady(), bench.world.now()
    if state.dropping_until is not None and now < state.dropping_until:
        raise BeingDeleted(bench.name, state.dropping_until)
    state = bench.moved(state, state.phase, dropping_until=now + DROP)
    form = bench.migration.source if state.phase == "finished" else bench.migration.target
    if bench.steady() - began > DROP.total_seconds() / MARGIN / 2:
        raise BeingDeleted(bench.name, now + DROP)
    try:
        bench.call("DeleteTable", {"TableName": bench.physical(form)})
    except CallRefused as refusal:
        if refusal.name != NOT_THERE:
            # It was answered, so nothing is on its way any more. Of a call without an answer nobody can say that.
            bench.moved(state, state.phase, dropping_until=None)
            raise
    try:
        return bench.moved(state, state.phase, dropping=False, dropping_until=None)
    except PhaseMoved:
        return bench.state()  # somebody else did it too


# --- what cannot be done where a migration stands ---


def refuse_switch(state: State) -> None:
    _refuse_in_pause(state)
    if state.phase != "verified":
        wanted = "it changes sides when it is verified"
        first = "run" if state.phase in ("planned", "copying") else "verify"
        next_step = f"`tablewright migrate {first} {state.name}`" if state.phase in BEFORE_VERIFIED else ""
        raise WrongPhase(state.name, state.phase, wanted, next_step)


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
        raise WrongPhase(
            state.name, state.phase, "it can be abandoned before the switch, or after a rollback"
        )


def _refuse_in_pause(state: State) -> None:
    if state.pause_ends is not None:
        wanted = (
            f"sides are being changed; if who does it is gone, that ends at {state.pause_ends:%H:%M:%S} UTC"
        )
        raise WrongPhase(state.name, state.phase, wanted)


# --- parts ---


def _still(bench: Bench, before: State) -> State:
    """The state as it is now. PhaseMoved if it is in another phase: what is to be done was decided for that one."""
    state = bench.state()
    if state.phase != before.phase:
        raise PhaseMoved(bench.name)
    return state


def _changed(bench: Bench, state: State, to: Phase, told: Told) -> State:
    """The other side is open, or the same as before and an error says why."""
    way, consumer = bench.way(state), follower(bench, state)
    refuse_behind(bench)
    try:
        consumer.run_once()
    except ChangesLost as lost:
        again(bench, state, lost.since)
        raise NotFollowed(bench.name, lost.since) from None
    if consumer.parked():
        consumer.replay()
    lag = consumer.lag()
    if lag > LAG:
        raise NotDrained(
            bench.name, f"changes arrive {lag.total_seconds():.0f} s late; wait until they are followed"
        )
    tail = Tail(bench, way.origin).open()
    ends = bench.world.now() + PAUSE
    state = bench.moved(state, "pausing", paused_from=state.phase, pause_ends=ends)
    told(f"writes to {bench.migration.called} are paused")
    give_up = bench.steady() + PAUSE.total_seconds() * 0.8
    try:
        bench.sleep(bench.migration.term.total_seconds() * MARGIN)
        left = marked(bench, tail)
        _drain(bench, state, left, give_up)
        tasks = [task for record in left.records if (task := task_of(way, record)) is not None]
        wrong = differing(bench, way, tasks)
        if wrong:
            raise NotDrained(bench.name, f"{wrong} items that were changed last differ")
        # Not before: what the follower settled last is no news to anybody who follows the table.
        opened = marked(bench, Tail(bench, way.goal).open())
        return _flip(bench, state, to, left, opened, told)
    except (Exception, KeyboardInterrupt):
        bench.reopened(bench.state())
        raise


def _drain(bench: Bench, state: State, left: Places, give_up: float) -> None:
    """Until the follower has settled everything before the marks, whichever processes it runs in."""
    table, name = bench.way(state).origin.called, bench.consumer_name(state.turn)
    consumer = follower(bench, state)
    while not has_passed(bench, table, name, left):
        if bench.steady() > give_up:
            raise NotDrained(bench.name, "what was written last has not arrived in time")
        if not consumer.run_once().read:
            bench.sleep(0.05)
        if consumer.parked():
            consumer.replay()


def _flip(bench: Bench, state: State, to: Phase, left: Places, opened: Places, told: Told) -> State:
    before = state
    for tried in range(1, FLIPS + 1):
        try:
            state = _opened(bench, before, to, left, opened)
            break
        except (PhaseMoved, WriteRefused):
            # A consumer began, or took up a shard, in the same moment: it is to go along.
            if tried == FLIPS or bench.state().epoch != before.epoch:
                raise
    told(f"reads and writes go to the table {state.target if to == 'switched' else state.source} now")
    with suppress(NotDrained):  # sides are changed all the same; whoever follows does this first
        unbar(bench, state)
    state = bench.state()
    forget_turns(bench, state)
    return state


def _opened(bench: Bench, state: State, to: Phase, left: Places, opened: Places) -> State:
    """The other side is open, in one transaction with everybody who goes along."""
    now, writes = bench.world.now(), handed_over(bench, left, opened)
    kept: dict[str, datetime] = {}
    if to == "switched":
        kept = {"switched_at": now, "kept_until": now + bench.migration.keep}
        writes.append(followed(bench, bench.migration.target.called, state.turn + 1, opened))
    return bench.moved(
        state,
        to,
        *writes,
        course="shut",
        barred=True,
        flips=state.flips + 1,
        copied=to == "switched",
        paused_from=None,
        pause_ends=None,
        **kept,
    )
