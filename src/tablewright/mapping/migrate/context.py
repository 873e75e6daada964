"""What every step of a migration works with: the tables, the clock, and the stored state.

    at = migration_context(call, migration); state = at.plan()

Must hold: `call` is not routed to the open side; every change of phase goes through `move`.
Elsewhere: the phases (state.py).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tablewright.client import Call, CallRefused, Retries
from tablewright.design import Environment, Write
from tablewright.mapping.consumer.design import stream_consumers
from tablewright.mapping.consumer.shards import enable_stream
from tablewright.mapping.db import Db
from tablewright.mapping.errors import AlreadyExists, Stale
from tablewright.mapping.migrate.errors import EpochEnded, NotPlanned, PhaseMoved, WrongPhase
from tablewright.mapping.migrate.migration import Course, Direction, Migration, TableVersion
from tablewright.mapping.migrate.state import GATES, MOVER, Gate, Phase, State, gates, migrations, states
from tablewright.mapping.tables import create_table, make_tables, table_requests
from tablewright.world import World, real_world

NOT_THERE = "ResourceNotFoundException"
CONSUMERS = "migration."
# Twelve seconds, with 0.2 s in between.
_KNOWN_TRIES = 60


@dataclass(frozen=True, slots=True)
class MigrationContext:
    """A migration in an environment. `steady` and `sleep` are injected, so that tests do not wait."""

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

    def physical(self, version: TableVersion) -> str:
        return self.db.physical(version.called)

    def scan_request(self, version: TableVersion, segment: int, of: int, limit: int) -> dict[str, Any]:
        segments = {"Segment": segment, "TotalSegments": of}
        return {"TableName": self.physical(version), **segments, "ConsistentRead": True, "Limit": limit}

    def item_count(self, version: TableVersion) -> int:
        """About how many items a table has."""
        described = self.call("DescribeTable", {"TableName": self.physical(version)})["Table"]
        return described["ItemCount"]  # type: ignore[no-any-return]  # the wire is not typed

    # --- where it stands ---

    def find_state(self) -> State | None:
        """The stored state; None if the migration was never planned here."""
        try:
            return self.db.one(states.get(self.name), consistent=True)
        except CallRefused as refusal:
            if refusal.name != NOT_THERE:
                raise
            return None

    def state(self) -> State:
        found = self.find_state()
        if found is None:
            raise NotPlanned(self.name)
        return found

    def direction(self, state: State) -> Direction:
        """The direction in which changes are followed now; EpochEnded if there is none."""
        if state.course is None:
            raise EpochEnded(self.name, state.epoch)
        return self.migration.direction(state.course)

    def consumer_name(self, epoch: int) -> str:
        """Each epoch has a consumer of its own, which begins where the epoch does."""
        return f"{CONSUMERS}{self.name}.{epoch}"

    # --- beginning ---

    def make_tables(self) -> None:
        """The tables that say where migrations are and how far their consumers are, where they are missing.

        A process that serves a migrated table calls this first: it reads the state every second or so, planned or not.
        """
        for design in self.db.designs:
            # Without recovery: what a consumer parked, and was told to forget, is not to be had back.
            tables = table_requests(design, self.db.environment)
            make_tables(self.call, tables, retries=Retries(sleep=self.sleep))

    def plan(self, *, rate: int | None = None, segments: int = 4) -> State:
        """Write down that it is going to be, in tables made for that. Again as long as it has not begun, and after it
        was abandoned or rolled back: the last plan counts."""
        self.make_tables()
        self._await_known()
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
        return self.move(
            before, "planned", rate=rate, segments=segments, planned_at=now, verified=None, switched_at=None,
            kept_until=None, copied=False, missed_since=None,
        )  # fmt: skip

    def _await_known(self) -> None:
        """Wait until the state can be read: ExtendDB goes on for four seconds to say that a new table is not there, if
        it was asked for the table before."""
        for _ in range(_KNOWN_TRIES):
            try:
                self.db.one(states.get(self.name), consistent=True)
                return
            except CallRefused as refusal:
                if refusal.name != NOT_THERE:
                    raise
            self.sleep(0.2)

    def make_target(self, notify: Callable[[str], None] = lambda name: None) -> None:
        """The target's table as its design has it, with stream, expiry and recovery; and the source's stream."""
        version, here = self.migration.target, self.db.environment
        request = {**create_table(version.design, version.table, here), "TableName": self.physical(version)}
        days = here.pitr_days if here else 0
        make_tables(self.call, [(request, version.table.ttl)], notify=notify, recovery_days=days)
        for side in (self.migration.source, self.migration.target):
            assert side.table.stream is not None
            enable_stream(self.call, self.physical(side), side.table.stream, Retries(sleep=self.sleep))

    # --- moving on ---

    def move(
        self,
        before: State,
        phase: Phase,
        *writes: Write[Any],
        course: Course | None = None,
        **changes: Any,
    ) -> State:
        """Change the phase; PhaseMoved if another process did. With a `course` a new epoch begins."""
        epoch = before.epoch + 1 if course is not None else before.epoch
        update = {"phase": phase, "since": self.world.now(), "epoch": epoch, **changes}
        after = before.model_copy(update=update)
        step = (
            states.move(before, after, by=MOVER[0]) if phase != before.phase else states.change(before, after)
        )
        shut = self.gates(epoch, course) if course is not None else []
        try:
            self.db.write(step, *shut, *writes)
        except Stale:
            raise PhaseMoved(self.name) from None
        return self.state()

    def end_pause(self, state: State) -> State:
        """End a pause without changing sides, because the process that began it failed or died."""
        if state.phase != "pausing" or state.paused_from is None:
            return state
        try:
            return self.move(state, state.paused_from, paused_from=None, pause_ends=None)
        except PhaseMoved:
            return self.state()

    def end_stuck_pause(self, state: State) -> State:
        """The state, after ending a pause that has lasted too long."""
        is_stuck = state.pause_ends is not None and self.world.now() >= state.pause_ends
        return self.end_pause(state) if is_stuck else state

    def gates(self, epoch: int, course: Course) -> list[Write[Any]]:
        return [
            gates.put(Gate(name=self.name, number=number, epoch=epoch, course=course))
            for number in range(GATES)
        ]


def migration_context(
    call: Call,
    migration: Migration,
    *,
    world: World | None = None,
    environment: Environment | None = None,
    steady: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> MigrationContext:
    """A context for the steps of a migration over a Call."""
    db = Db(call, migrations, stream_consumers, world=world or real_world(), environment=environment)
    return MigrationContext(migration, db._call, db, steady, sleep)
