"""What every step of a copy needs: the two Calls, the state, the clock; and the lease of a table's copy.

Must hold: before each write of items the lease is renewed if a third of it has passed, by a conditional write; so a
process that was stopped for longer than the lease lasts, and whose copy another one continues, writes nothing.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from typing import Any

from tablewright.client import Call, CallFailed, HttpCall, batch_write, retrying
from tablewright.client.call import STREAM_VERBS
from tablewright.client.rate_limit import WriteBudget, limited
from tablewright.mapping.consumer.design import stream_consumers
from tablewright.mapping.copy.errors import CopyInUse, CopyLost, TargetBusy
from tablewright.mapping.copy.state import TableCopy, copies, table_copies
from tablewright.mapping.db import Db
from tablewright.mapping.errors import Missing, Stale
from tablewright.values import Item
from tablewright.world import World, real_world

# Longer than a request may take with its retries: what a process sent before it lost the lease has arrived by then.
TERM = timedelta(seconds=90)
Write = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SourceStreams:
    """A Call for consumers: the streams are the source's, and what the consumers store is in the target."""

    source: Call
    target: Call
    is_patient: bool = True

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return (self.source if verb in STREAM_VERBS else self.target)(verb, request)


@dataclass(frozen=True, slots=True)
class CopyContext:
    """`send` is the target for items, with its limit; `db` the state, in the target."""

    source: Call
    target: Call
    send: Call
    db: Db
    steady: Callable[[], float]
    sleep: Callable[[float], None]

    @property
    def world(self) -> World:
        return self.db.world

    def find_copy(self, table: str) -> TableCopy | None:
        return self.db.one(copies.get(table), consistent=True)


def copy_context(
    source: Call,
    target: Call,
    *,
    write_units: float | None = None,
    world: World | None = None,
    steady: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> CopyContext:
    """A context for copies between two Calls; `write_units` is the limit per second."""
    world = world or real_world()
    source, target = (
        call if isinstance(call, HttpCall) else retrying(call, world=world) for call in (source, target)
    )
    budget = WriteBudget(write_units, steady, sleep) if write_units is not None else None
    send = limited(target, budget) if budget is not None else target
    db = Db(SourceStreams(source, target), table_copies, stream_consumers, world=world)
    return CopyContext(source, target, send, db, steady, sleep)


@dataclass(slots=True)
class CopyLease:
    """The lease of the copy of one table; threads may share it. `copy` is the state as this process knows it."""

    context: CopyContext
    copy: TableCopy
    _lock: Lock = field(default_factory=Lock)

    def hold(self) -> None:
        """Renew the lease if a third of it has passed; CopyLost if another process has taken it."""
        with self._lock:
            if self.copy.until - self.context.world.now() < TERM * 2 / 3:
                self._change(until=self.context.world.now() + TERM)

    def change(self, **changes: Any) -> TableCopy:
        with self._lock:
            return self._change(**changes)

    def _change(self, **changes: Any) -> TableCopy:
        after = self.copy.model_copy(update=changes)
        try:
            self.context.db.write(copies.change(self.copy, after))
        except (Stale, Missing):
            raise CopyLost(self.copy.table) from None
        self.copy = after.model_copy(update={"version": self.copy.version + 1})
        return self.copy

    def write(self, writes: Sequence[Write]) -> None:
        """Carry out puts and deletes in the target's table, in their order where they name one item."""

        def held(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            self.hold()
            return self.context.send(verb, request)

        left = batch_write(held, {self.copy.table: writes}, world=self.context.world)
        if left:
            raise TargetBusy(self.copy.table, sum(map(len, left.values())))


@contextmanager
def leased(context: CopyContext, copy: TableCopy, *, take_over: bool = False) -> Iterator[CopyLease]:
    """The lease of a copy, given back in the end; CopyInUse if another process has it."""
    now = context.world.now()
    if copy.owner is not None and copy.until > now and not take_over:
        raise CopyInUse(copy.table, copy.until)
    lease = CopyLease(context, copy)
    try:
        lease.change(owner=context.world.new_id(), until=now + TERM)
    except CopyLost:
        raise CopyInUse(copy.table, now + TERM) from None
    try:
        yield lease
    finally:
        with suppress(CopyLost, CallFailed):  # it runs out
            lease.change(owner=None, until=context.world.now())


def puts(items: Sequence[Item]) -> list[Write]:
    return [{"PutRequest": {"Item": item}} for item in items]
