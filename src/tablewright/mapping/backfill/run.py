"""Carrying out a backfill: a page of a segment at a time, resumable, at a limited rate, by any number of workers.

Must hold: a position is saved after its items are filled; two workers on one segment do no harm, since every write is
conditional, and a lease keeps them apart; an item that has changed since it was read is read again; a worker of another
version of the design does nothing.
Elsewhere: what is written to an item (items.py), the stored state (state.py).
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tablewright.client import Call, CallRefused, Retries, pages
from tablewright.design import DesignMistake, Environment
from tablewright.mapping.backfill.items import Backfill, change_of
from tablewright.mapping.backfill.state import (
    BackfillRun,
    BackfillSegment,
    backfills,
    runs,
    segments,
    segments_of,
)
from tablewright.mapping.db import Db
from tablewright.mapping.errors import AlreadyExists, ItemUnreadable, MappingMistake, Missing, Stale
from tablewright.mapping.items import key_in
from tablewright.mapping.tables import make_tables, table_requests
from tablewright.values import Item
from tablewright.world import World, real_world

PAGE = 100
# A page takes less; a lease that ends too early only means that a page is read twice.
LEASE = timedelta(seconds=10)
_TRIES = 100
_CHANGED, _NOT_THERE = "ConditionalCheckFailedException", "ResourceNotFoundException"


class Contended(MappingMistake):
    """An item changed each time it was read."""


class Superseded(MappingMistake):
    """Another version of the design, or another selection of entities, has begun a run."""


@dataclass(frozen=True, slots=True)
class BackfillContext:
    """A backfill over a Call. `db` knows the design `backfills`; `steady` and `sleep` are injected for tests."""

    backfill: Backfill
    call: Call
    db: Db
    steady: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @property
    def table(self) -> str:
        return self.db.physical(self.backfill.table.name)

    @property
    def item_count(self) -> int:
        """About how many items the table has."""
        described = self.call("DescribeTable", {"TableName": self.table})["Table"]
        return described["ItemCount"]  # type: ignore[no-any-return]  # the wire is not typed

    def begin(self, *, rate: int | None = None, segments: int = 4, again: bool = False) -> BackfillRun:
        """The run to go on with, which may have ended; a new one with `again`, or if another design made the last.

        A `rate` that is given is from now on that of all workers."""
        make_tables(
            self.call, table_requests(backfills, self.db.environment), retries=Retries(sleep=self.sleep)
        )
        fresh = BackfillRun(
            name=self.backfill.name, table=self.table, digest=self.backfill.digest, segments=segments, rate=rate,
            since=self.db.world.now(),
        )  # fmt: skip
        found, is_new = self.db.get_or_create(runs.create(fresh))
        changes: dict[str, Any] = {} if rate is None else {"rate": rate}
        if again or found.digest != fresh.digest:
            changes = fresh.model_dump(exclude={"name", "version"}) | {"number": found.number + 1}
        if is_new or not changes:
            return found
        with suppress(Stale):  # another worker has begun it
            self.db.write(runs.change(found, found.model_copy(update=changes)))
        return self.run()

    def find_run(self) -> BackfillRun | None:
        """The last run; None if there was none."""
        try:
            return self.db.one(runs.get(self.backfill.name), consistent=True)
        except CallRefused as refusal:
            if refusal.name != _NOT_THERE:
                raise
            return None

    def run(self) -> BackfillRun:
        """The last run; Superseded if it is not of this backfill."""
        found = self.find_run()
        if found is None or found.digest != self.backfill.digest:
            raise Superseded(
                f"{self.backfill.name}: a backfill of another version of the design was begun; run this one again if "
                "it is the newer"
            )
        return found


def backfill_context(
    call: Call,
    backfill: Backfill,
    *,
    world: World | None = None,
    environment: Environment | None = None,
    steady: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> BackfillContext:
    db = Db(call, backfills, world=world or real_world(), environment=environment)
    return BackfillContext(backfill, db._call, db, steady, sleep)


@dataclass(frozen=True, slots=True)
class Progress:
    """Of a run: items read, items changed, items that do not fit their entity. `worked`: this call did something."""

    items: int
    filled: int
    unreadable: int
    is_over: bool
    worked: bool = False


def advance(context: BackfillContext, worker: str) -> Progress:
    """Fill a page of a free segment; Superseded if another version of the design has begun a run."""
    run = context.run()
    now, worked = context.db.world.now(), False
    for one in _segments(context, run):
        is_free = one.owner in (None, worker) or one.until is None or one.until <= now
        if not one.done and is_free:
            taken = _save(context, one, {"owner": worker, "until": now + LEASE})
            if taken is not None:
                _page(context, run, taken)
                worked = True
                break
    progress = progress_of(context.db, run, worked=worked)
    if progress.is_over and run.ended is None:
        _end(context, run)
    return progress


def progress_of(db: Db, run: BackfillRun, *, worked: bool = False) -> Progress:
    found = list(db.all(segments_of(name=run.name, run=run.number)))
    return Progress(
        sum(each.items for each in found),
        sum(each.filled for each in found),
        sum(each.unreadable for each in found),
        len(found) == run.segments and all(each.done for each in found),
        worked,
    )


def count_lacking(
    context: BackfillContext, notify: Callable[[int, int | None], None] = lambda done, total: None
) -> Progress:
    """How many items would be changed now; nothing is written."""
    items = lacking = unreadable = 0
    total = context.item_count
    request = {"TableName": context.table, "ConsistentRead": True}
    for answer in pages(context.call, "Scan", request):
        for item in answer["Items"]:
            items += 1
            shape = context.backfill.shape_of(item)
            try:
                lacking += shape is not None and change_of(context.backfill, shape, item) is not None
            except (ItemUnreadable, DesignMistake):
                unreadable += 1
        notify(items, total if items < total else None)
    return Progress(items, lacking, unreadable, lacking == 0)


# --- a page ---


def _page(context: BackfillContext, run: BackfillRun, segment: BackfillSegment) -> None:
    began = context.steady()
    start = {"ExclusiveStartKey": segment.after} if segment.after is not None else {}
    answer = context.call("Scan", {
        "TableName": context.table, "Segment": segment.number, "TotalSegments": segment.of, "ConsistentRead": True,
        "Limit": min(PAGE, run.rate or PAGE), **start,
    })  # fmt: skip
    filled = unreadable = 0
    for item in answer["Items"]:
        try:
            filled += _fill(context, item)
        except (ItemUnreadable, DesignMistake):  # the latter: a value that cannot be part of a key
            unreadable += 1
    after = answer.get("LastEvaluatedKey")
    _save(context, segment, {
        "after": after, "done": after is None, "owner": None if after is None else segment.owner,
        "items": segment.items + len(answer["Items"]), "filled": segment.filled + filled,
        "unreadable": segment.unreadable + unreadable, "until": context.db.world.now() + LEASE,
    })  # fmt: skip
    left = len(answer["Items"]) / run.rate - (context.steady() - began) if run.rate else 0
    if left > 0:
        context.sleep(left)


def _fill(context: BackfillContext, item: Item | None) -> bool:
    """Fill one item, reading it again as often as it changes; returns whether it was written."""
    tag = ""
    for _ in range(_TRIES):
        shape = context.backfill.shape_of(item) if item is not None else None
        change = change_of(context.backfill, shape, item) if item is not None and shape is not None else None
        if item is None or shape is None or change is None:
            return False
        try:
            context.call(change.verb, {"TableName": context.table, **change.request})
            return True
        except CallRefused as refusal:
            if refusal.name != _CHANGED:
                raise
        tag, key = shape.tag, key_in(shape, item)
        answer = context.call("GetItem", {"TableName": context.table, "Key": key, "ConsistentRead": True})
        item = answer.get("Item")
    raise Contended(
        f"{tag}: an item changed {_TRIES} times while it was filled; run the backfill at another time"
    )


# --- segments ---


def _segments(context: BackfillContext, run: BackfillRun) -> list[BackfillSegment]:
    """Those of the run; created by the first worker."""
    found = list(context.db.all(segments_of(name=run.name, run=run.number)))
    have = {segment.number for segment in found}
    for number in range(run.segments):
        if number not in have:
            new = BackfillSegment(name=run.name, run=run.number, number=number, of=run.segments)
            found.append(context.db.get_or_create(segments.create(new))[0])
    return found


def _save(
    context: BackfillContext, before: BackfillSegment, changes: Mapping[str, Any]
) -> BackfillSegment | None:
    """Change a segment; None if another worker has changed it."""
    try:
        context.db.write(segments.change(before, before.model_copy(update=changes)))
    except (Stale, Missing, AlreadyExists):
        return None
    return context.db.one(segments.get(before.name, before.run, before.number), consistent=True)


def _end(context: BackfillContext, run: BackfillRun) -> None:
    with suppress(Stale):  # another worker has stored it
        context.db.write(runs.change(run, run.model_copy(update={"ended": context.db.world.now()})))
