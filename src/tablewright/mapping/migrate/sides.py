"""Sides: a Call that leads requests for a migrated table to whichever of its two tables is open.

    db = Db(sides(call, *MIGRATIONS), TRAVEL)

A process looks at where a migration stands every second or so, and believes it for `term`; who cannot look again writes
nothing. While writes are paused they wait, and are refused in the end (WritesPaused). An answer to a write that comes
when the belief has run out is looked at again: if the table changed sides meanwhile it is no acknowledgement
(SideChanged).
Must hold: a write that was answered as done was done on the side that was open, before it was left; a read that began
after a write was answered sees it, on whichever side. A request is never led to the other side because one failed.
Elsewhere: the pause itself (switching.py).
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tablewright.client import Call, CallFailed, HttpCall
from tablewright.design import Environment
from tablewright.mapping.migrate.bench import Bench, bench
from tablewright.mapping.migrate.errors import NotRouted, SideChanged, WritesPaused
from tablewright.mapping.migrate.migration import Migration
from tablewright.mapping.migrate.renaming import names_in, renamed, restored, table_of
from tablewright.mapping.migrate.state import State
from tablewright.world import World

WRITES = frozenset(("BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"))
PATIENCE = 15.0
RETRY_AFTER = 5


@dataclass(frozen=True, slots=True)
class Moment:
    """By both clocks: one may be set back, the other stands still while the machine sleeps."""

    told: float
    steady: float


@dataclass(frozen=True, slots=True)
class Belief:
    """Where a migration stood when we looked."""

    since: Moment
    state: State | None

    @property
    def is_open(self) -> bool:
        return self.state is None or self.state.is_open

    @property
    def stands(self) -> tuple[str, int]:
        """The side, and how often it was changed: it may have been changed, and changed back."""
        return ("source", 0) if self.state is None else (self.state.side, self.state.flips)


class Lookout:
    """What one process believes of one migration. Any number of threads may ask."""

    def __init__(self, at: Bench) -> None:
        self.at = at
        self.term = at.migration.term.total_seconds()
        self._lock = threading.Lock()
        self._believed: Belief | None = None

    def now(self) -> Moment:
        return Moment(self.at.world.now().timestamp(), self.at.steady())

    def age(self, belief: Belief) -> float:
        now = self.now()
        return max(now.told - belief.since.told, now.steady - belief.since.steady)

    def holds(self, belief: Belief) -> bool:
        return self.age(belief) < self.term

    def believed(self) -> Belief:
        """What may be believed now. During a pause everybody looks for themselves, each time."""
        known = self._believed
        if known is not None and known.is_open and self.holds(known):
            if self.age(known) < self.term / 2 or not self._lock.acquire(blocking=False):
                return known
            try:
                return self._looked()
            except CallFailed:
                return known  # it still holds; who comes later tries again
            finally:
                self._lock.release()
        with self._lock:
            known = self._believed
            if known is not None and known.is_open and self.age(known) < self.term / 2:
                return known
            return self._looked()

    def looked(self) -> Belief:
        """Look, whatever is believed."""
        with self._lock:
            return self._looked()

    def refuse_late(self, belief: Belief) -> None:
        """What was answered when the belief had run out counts only if nothing has changed, and nothing is about to."""
        if self.holds(belief):
            return
        try:
            now = self.looked()
        except CallFailed as failure:
            raise SideChanged(self.at.migration.called) from failure
        if now.stands != belief.stands or not now.is_open:
            raise SideChanged(self.at.migration.called)

    def _looked(self) -> Belief:
        since = self.now()  # before we look: what is said may be as old as the question
        state = self.at.look()
        self._believed = Belief(since, self.at.unstuck(state) if state is not None else None)
        return self._believed


class Sides:
    """A Call for who knows a table by one name, whichever of its tables is open."""

    def __init__(self, call: Call, lookouts: Mapping[str, Lookout], patience: float) -> None:
        self._call, self._lookouts, self._patience = call, lookouts, patience
        self.is_patient = isinstance(call, HttpCall)
        self._targets = {
            one.at.physical(one.at.migration.target) for one in lookouts.values()
        } - lookouts.keys()

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        names = names_in(request)
        # Beside others too: one action of a transaction by ARN would go to the side it names, whichever is open.
        self._refuse_arns(names)
        if not any(name in self._lookouts or name in self._targets for name in names):
            self._refuse_statements(request)
            return self._call(verb, request)
        for name in names & self._targets:
            raise NotRouted(name, "it is reached by the name of the table it was, and by no other here")
        if verb not in WRITES:
            leading, _ = self._led(names)
            return restored(self._call(verb, renamed(request, leading)), leading)
        leading, rests = self._open(names)
        answer = self._call(verb, renamed(request, leading))
        for lookout, belief in rests:
            lookout.refuse_late(belief)
        return restored(answer, leading)

    # --- parts ---

    def _led(self, names: frozenset[str]) -> tuple[dict[str, str], list[tuple[Lookout, Belief]]]:
        """Where each name leads, and on which beliefs that rests. A target may itself be the source of another."""
        leading: dict[str, str] = {}
        rests: list[tuple[Lookout, Belief]] = []
        for name in names:
            end = name
            while (lookout := self._lookouts.get(end)) is not None:
                belief = lookout.believed()
                rests.append((lookout, belief))
                if belief.state is None or belief.state.side == "source":
                    break
                end = lookout.at.physical(lookout.at.migration.target)
            leading[name] = end
        return leading, rests

    def _open(self, names: frozenset[str]) -> tuple[dict[str, str], list[tuple[Lookout, Belief]]]:
        """The same for a write: once all of it is open."""
        began: float | None = None
        while True:
            leading, rests = self._led(names)
            closed = [lookout for lookout, belief in rests if not belief.is_open]
            if not closed:
                return leading, rests
            at = closed[0].at
            began = at.steady() if began is None else began
            if at.steady() - began >= self._patience:
                raise WritesPaused(at.migration.called, RETRY_AFTER)
            at.sleep(0.05)

    def _refuse_arns(self, names: frozenset[str]) -> None:
        """A table can stand under its ARN wherever its name can; nobody here can lead that anywhere."""
        for name in names:
            table = table_of(name) if name.startswith("arn:") else None
            if table in self._lookouts or table in self._targets:
                raise NotRouted(str(table), "name it by its name, not by its ARN")

    def _refuse_statements(self, request: Mapping[str, Any]) -> None:
        """What is said in PartiQL names its tables in a text."""
        if "Statement" in request or "Statements" in request or "TransactStatements" in request:
            text = str(request)
            for table in (*self._lookouts, *self._targets):
                if table in text:
                    raise NotRouted(
                        table, "statements in PartiQL are not led to the open side; use the other verbs"
                    )


def sides(
    call: Call,
    *migrations: Migration,
    world: World | None = None,
    environment: Environment | None = None,
    patience: float = PATIENCE,
    steady: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Call:
    """The same Call, led to the open side of each migration; itself if there are none."""
    if not migrations:
        return call
    benches = [
        bench(call, one, world=world, environment=environment, steady=steady, sleep=sleep)
        for one in migrations
    ]
    lookouts = {at.physical(at.migration.source): Lookout(at) for at in benches}
    return Sides(call, lookouts, patience)
