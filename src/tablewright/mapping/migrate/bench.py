"""What everybody who works at a migration has at hand: the tables, the time, and where it stands.

    at = bench(call, migration); state = at.plan()

Must hold: `call` is the plain one, not led to the open side; every change of phase goes through `moved`.
Elsewhere: what the phases are (state.py).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tablewright.client import Call, CallRefused, Retries
from tablewright.design import Environment, Write
from tablewright.mapping.db import Db
from tablewright.mapping.errors import AlreadyExists, Stale
from tablewright.mapping.migrate.errors import NotPlanned, PhaseMoved, TurnOver, WrongPhase
from tablewright.mapping.migrate.migration import Course, Form, Migration, Way
from tablewright.mapping.migrate.state import GATES, MOVER, Gate, Phase, State, gates, migrations, states
from tablewright.mapping.shards import switch_on
from tablewright.mapping.stream_design import stream_consumers
from tablewright.mapping.tables import create_table, make_tables
from tablewright.world import World, real_world

NOT_THERE = "ResourceNotFoundException"
CONSUMERS = "migration."


@dataclass(frozen=True, slots=True)
class Bench:
    """A migration in an environment. `steady` measures, `sleep` waits: both are handed in, so that a test waits for
    nothing."""

    migration: Migration
    call: Call
    db: Db
    steady: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @property
    def name(self) -> str:
        return self.migration.name

    @property
    def world(self) -> World:
        return self.db.world

    def physical(self, form: Form) -> str:
        return self.db.physical(form.called)

    # --- where it stands ---

    def look(self) -> State | None:
        """Where it stands; None if it was never planned here."""
        try:
            return self.db.one(states.get(self.name), consistent=True)
        except CallRefused as refusal:
            if refusal.name != NOT_THERE:
                raise
            return None

    def state(self) -> State:
        found = self.look()
        if found is None:
            raise NotPlanned(self.name)
        return found

    def way(self, state: State) -> Way:
        """Which way changes are followed now; TurnOver if there is none."""
        if state.course is None:
            raise TurnOver(self.name, state.turn)
        return self.migration.way(state.course)

    def consumer_name(self, turn: int) -> str:
        """Each turn has a consumer of its own: it begins where the turn does."""
        return f"{CONSUMERS}{self.name}.{turn}"

    # --- beginning ---

    def plan(self, *, rate: int | None = None, segments: int = 4) -> State:
        """Write down that it is going to be, in tables made for that. Again as long as it has not begun, and after it
        was abandoned or rolled back: the last plan counts."""
        for design in self.db.designs:
            # Without recovery: what a consumer parked, and was told to forget, is not to be had back.
            tables = [
                (create_table(design, table, self.db.environment), table.ttl)
                for table in design.tables.values()
            ]
            make_tables(self.call, tables, retries=Retries(sleep=self.sleep))
        now = self.world.now()
        fresh = State(
            name=self.name,
            source=self.physical(self.migration.source),
            target=self.physical(self.migration.target),
            rate=rate,
            segments=segments,
            planned_at=now,
            since=now,
        )
        try:
            self.db.write(states.create(fresh))
            return self.state()
        except AlreadyExists:
            before = self.state()
        if before.phase not in ("planned", "rolled_back", "abandoned"):
            raise WrongPhase(self.name, before.phase, "it was planned before")
        if before.dropping:
            wanted = "its copy is still to be deleted"
            raise WrongPhase(self.name, before.phase, wanted, f"`tablewright migrate abandon {self.name}`")
        return self.moved(
            before, "planned", rate=rate, segments=segments, planned_at=now, verified=None, switched_at=None,
            kept_until=None, copied=False, missed_since=None,
        )  # fmt: skip

    def make_target(self, told: Callable[[str], None] = lambda name: None) -> None:
        """The target's table as its design has it, with stream, expiry and recovery; and the source's stream."""
        form, here = self.migration.target, self.db.environment
        request = {**create_table(form.design, form.table, here), "TableName": self.physical(form)}
        days = here.pitr_days if here else 0
        make_tables(self.call, [(request, form.table.ttl)], told=told, recovery_days=days)
        for side in (self.migration.source, self.migration.target):
            assert side.table.stream is not None
            switch_on(self.call, self.physical(side), side.table.stream, Retries(sleep=self.sleep))

    # --- moving on ---

    def moved(
        self,
        before: State,
        phase: Phase,
        *writes: Write[Any],
        course: Course | None = None,
        **changes: Any,
    ) -> State:
        """The next phase, if nobody was faster. With a `course` a new turn begins, and all older ones are over."""
        turn = before.turn + 1 if course is not None else before.turn
        update = {"phase": phase, "since": self.world.now(), "turn": turn, **changes}
        after = before.model_copy(update=update)
        step = (
            states.move(before, after, by=MOVER[0]) if phase != before.phase else states.change(before, after)
        )
        shut = self.gates(turn, course) if course is not None else []
        try:
            self.db.write(step, *shut, *writes)
        except Stale:
            raise PhaseMoved(self.name) from None
        return self.state()

    def reopened(self, state: State) -> State:
        """End a pause without a change of sides: whoever made it failed, or is gone."""
        if state.phase != "pausing" or state.paused_from is None:
            return state
        try:
            return self.moved(state, state.paused_from, paused_from=None, pause_ends=None)
        except PhaseMoved:
            return self.state()

    def unstuck(self, state: State) -> State:
        """The state, with a pause ended that has lasted longer than any should."""
        is_stuck = state.pause_ends is not None and self.world.now() >= state.pause_ends
        return self.reopened(state) if is_stuck else state

    def gates(self, turn: int, course: Course) -> list[Write[Any]]:
        return [
            gates.put(Gate(name=self.name, number=number, turn=turn, course=course))
            for number in range(GATES)
        ]


def bench(
    call: Call,
    migration: Migration,
    *,
    world: World | None = None,
    environment: Environment | None = None,
    steady: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Bench:
    """A migration, to be worked at over a Call."""
    db = Db(call, migrations, stream_consumers, world=world or real_world(), environment=environment)
    return Bench(migration, db._call, db, steady, sleep)
