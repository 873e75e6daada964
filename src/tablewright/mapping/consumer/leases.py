"""Leases: which worker of a consumer reads which shard, and from which position.

A shard is read when its parent is done, and a stream when the older ones of its table are. Must hold: one worker at a
time has a shard, unless a single record takes longer than the lease; a lease is changed only by its owner, or acquired
when it has expired; records that the stream no longer has are never skipped silently.
Workers compare `until` with their own clocks: these must agree to a fraction of the lease.
Elsewhere: reading (shard_reader.py), what is stored (design.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from tablewright.client import Call
from tablewright.design import Write
from tablewright.mapping.consumer.design import Lease, Roster, Start, leases, leases_of, rosters, starts
from tablewright.mapping.consumer.shards import RETENTION, Shard, label_of, shards_of
from tablewright.mapping.db import Db
from tablewright.mapping.errors import AlreadyExists, ConditionNotMet, MappingMistake, Missing, Stale

# What the owner of a lease changes. Other workers change `wanted`, and a migration `end`, at the same time.
_SAVED = ("owner", "until", "checkpoint", "changed", "caught_up", "closed", "suspect", "tries")


class ChangesLost(MappingMistake):
    """A consumer was away for longer than a stream keeps its changes. `since`: from when on some may be missing."""

    def __init__(self, table: str, consumer: str, since: datetime) -> None:
        self.table, self.consumer, self.since = table, consumer, since
        super().__init__(
            f"{consumer} has not read all changes of {table} since {since.isoformat(timespec='seconds')}, and the "
            "stream keeps them for 24 hours: some may be lost. Bring what it makes up to date from the table itself, "
            "then go on with skip_to_horizon=True"
        )


class LeaseLost(Exception):
    """The lease belongs to another worker now."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One of the workers of a consumer; `term` is how long a lease lasts unless it is renewed."""

    db: Db
    call: Call
    table: str
    consumer: str
    id: str
    term: timedelta

    @property
    def names(self) -> dict[str, Any]:
        """The parameters of every query of what this consumer stores."""
        return {"table": self.table, "consumer": self.consumer}

    def now(self) -> datetime:
        return self.db.world.now()


@dataclass(frozen=True, slots=True)
class Discovery:
    """The leases of a consumer as they stand, and which of the shards take no more records.

    `lost_since` is set if the consumer was told to go on where changes are lost.
    """

    leases: list[Lease]
    closing: frozenset[str]
    lost_since: datetime | None = None


# --- which shards there are ---


def discover(worker: Worker, *, skip_to_horizon: bool) -> Discovery:
    """Every lease, with those of new shards; raises ChangesLost."""
    db = worker.db
    # The leases before the shards: a shard that had a lease and is not listed afterwards is gone.
    start = db.one(starts.get(worker.table, worker.consumer), consistent=True)
    known = {lease.shard: lease for lease in db.all(leases_of(**worker.names))}
    roster = roster_of(db, worker.table) if start is None else None
    shards = shards_of(worker.call, db.physical(worker.table))
    if start is None:
        start = _register(worker, shards, roster)
    if start is None:
        return discover(worker, skip_to_horizon=skip_to_horizon)
    listed = {shard.id: shard for shard in shards}
    gone = [
        lease
        for lease in known.values()
        if lease.shard not in listed and not _continues_elsewhere(worker, lease)
    ]
    kept = [lease for lease in known.values() if lease not in gone]
    lost = [lease for lease in gone if not lease.closed and worker.now() - lease.since >= RETENTION]
    since = min((lease.since for lease in lost), default=None)
    new: dict[str, Lease] = {}
    for shard in shards:
        if shard.id not in known and not _add_lease(worker, shard, listed, known, start, new):
            missed = max((lease.since for lease in known.values()), default=start.at)
            since = missed if since is None else min(since, missed)
            new[shard.id] = new_lease(worker.names, shard, worker.now())
    if since is not None and not skip_to_horizon:
        raise ChangesLost(worker.table, worker.consumer, since)
    made = [db.get_or_create(leases.create(lease))[0] for lease in new.values()]
    for lease in gone:
        db.write(leases.discard(worker.table, worker.consumer, lease.stream, lease.shard))
    closing = frozenset(shard.id for shard in shards if shard.last is not None)
    return Discovery([*kept, *made], closing, since)


def _continues_elsewhere(worker: Worker, lease: Lease) -> bool:
    """Whether the shard is of the table that this one was before a migration, and not read to where that ended.

    For as long as the stream can hold what was written last. Whether it lacks something older shows when it is read.
    """
    known = max(lease.since, lease.ended or lease.since)
    return lease.end is not None and not lease.closed and worker.now() - known < RETENTION


def _register(worker: Worker, shards: Sequence[Shard], roster: Roster | None) -> Start | None:
    """The beginning of a consumer, made by whichever of its workers comes first.

    None if the roster has changed since before the shards were listed: they may be those of a side that was left.
    """
    start = Start(**worker.names, at=worker.now(), shards=[shard.id for shard in shards])
    try:
        worker.db.write(starts.create(start), roster_change(worker.table, roster))
    except (AlreadyExists, Stale):
        return worker.db.one(starts.get(worker.table, worker.consumer), consistent=True)
    return start


def roster_of(db: Db, table: str) -> Roster | None:
    return db.one(rosters.get(table), consistent=True)


def roster_change(table: str, roster: Roster | None) -> Write[Roster]:
    """The write that changes a table's roster from what was read; refused if it was changed since."""
    return rosters.create(Roster(table=table)) if roster is None else rosters.change(roster, roster)


def _add_lease(
    worker: Worker,
    shard: Shard,
    listed: Mapping[str, Shard],
    known: Mapping[str, Lease],
    start: Start,
    new: dict[str, Lease],
) -> bool:
    """Whether the shard continues what is known, so that nothing is missing before it; its lease is then in `new`."""
    if shard.id in known or shard.id in new:
        return True
    before = known.get(shard.parent or "")
    if before is None and (parent := listed.get(shard.parent or "")) is not None:
        before = new[parent.id] if _add_lease(worker, parent, listed, known, start, new) else None
    if shard.id in start.shards:
        new[shard.id] = new_lease(worker.names, shard, start.at)
        if start.places is not None:
            place = start.places.get(shard.id)
            new[shard.id] = new[shard.id].model_copy(update={"checkpoint": place, "closed": place is None})
    elif before is not None:
        # Not when the parent was read to its end: that may be long after the child took over.
        new[shard.id] = new_lease(worker.names, shard, before.changed or before.began, first=shard.first)
    elif worker.now() - shard.created < RETENTION:
        new[shard.id] = new_lease(worker.names, shard, shard.created, first=shard.first)
    else:
        return False
    return True


def new_lease(names: Mapping[str, Any], shard: Shard, began: datetime, **fields: Any) -> Lease:
    """The lease of a shard that no worker has yet; `names` are the table and the consumer."""
    return Lease(**names, stream=shard.stream, shard=shard.id, parent=shard.parent, began=began, **fields)


# --- assigning them to workers ---


def readable(found: Sequence[Lease]) -> list[Lease]:
    """The shards that may be read now: not done, with nothing before them that is not done.

    What goes on elsewhere comes first, whichever of the two streams is the older.
    """
    left = [lease for lease in found if not lease.closed]
    left = [lease for lease in left if lease.end is not None] or left
    undone = {lease.shard for lease in left}
    oldest = min((label_of(lease.stream) for lease in left), default="")
    return [lease for lease in left if lease.parent not in undone and label_of(lease.stream) == oldest]


def is_free(lease: Lease, worker: Worker) -> bool:
    """Whether the worker may take it: its time is over, or it was given back (and not for another)."""
    return lease.until <= worker.now() or (lease.owner is None and lease.wanted in (None, worker.id))


def live_workers(found: Sequence[Lease], worker: Worker) -> set[str]:
    """The workers that have, or have requested, a lease of this consumer."""
    live = [lease for lease in found if lease.until > worker.now()]
    return {worker.id, *(w for lease in live for w in (lease.owner, lease.wanted) if w is not None)}


def next_expiry(found: Sequence[Lease], worker: Worker) -> datetime | None:
    """When the next lease of another worker ends, unless that worker renews it."""
    now = worker.now()
    others = [lease.until for lease in found if lease.owner not in (None, worker.id) and not lease.closed]
    return min((until for until in others if until > now), default=None)


def acquire(worker: Worker, lease: Lease) -> Lease | None:
    """Acquire the lease; None if another worker was first."""
    mine = {"owner": worker.id, "until": worker.now() + worker.term, "wanted": None}
    return _change(worker, lease, lease.model_copy(update=mine))


def request_lease(worker: Worker, found: Sequence[Lease], most: int) -> None:
    """Request a shard of a worker that has more than `most`: it releases it between two pages."""
    live = [lease for lease in found if lease.owner is not None and lease.until > worker.now()]
    owned = {one.owner: [lease for lease in live if lease.owner == one.owner] for one in live}
    if any(lease.wanted == worker.id for lease in live):
        return
    richest = max(owned.values(), key=len, default=[])
    unasked = [lease for lease in richest if lease.wanted is None]
    if len(richest) > most and unasked:
        _change(worker, unasked[0], unasked[0].model_copy(update={"wanted": worker.id}))


def _change(worker: Worker, before: Lease, after: Lease) -> Lease | None:
    try:
        worker.db.write(leases.change(before, after))
    except (Stale, Missing):
        return None
    return after


# --- while it is read ---


def save_write(worker: Worker, lease: Lease) -> Write[Lease]:
    """The write that keeps a lease as it is now, refused unless it is the worker's."""
    me, write = worker.id, leases.update(lease.table, lease.consumer, lease.stream, lease.shard)
    for name in _SAVED:
        write = write.at(attrgetter(name)).set(getattr(lease, name))
    return write.when(lambda v: v.owner == me)


def save(worker: Worker, lease: Lease) -> Lease:
    """Keep it; the lease as it is then, which says whether another worker asks for it. Raises LeaseLost."""
    try:
        return worker.db.apply(save_write(worker, lease))
    except (ConditionNotMet, Missing):
        raise LeaseLost from None


def renewed(worker: Worker, lease: Lease) -> Lease:
    return lease.model_copy(update={"until": worker.now() + worker.term})


def release(worker: Worker, lease: Lease) -> None:
    """Release the shard; a worker that requested it has one term to acquire it."""
    until = worker.now() + worker.term if lease.wanted is not None else worker.now()
    try:
        save(worker, lease.model_copy(update={"owner": None, "until": until}))
    except LeaseLost:
        return
