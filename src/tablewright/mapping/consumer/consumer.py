"""A consumer of a table's changes: typed, in order for each key, each at least once.

    mailer = Consumer(db, portal, "tenants", "mailer", handle)
    mailer.create_tables()        # its own table, and the stream if the design asks for one
    mailer.run(stop)              # or run_once() from a job; in any number of processes

Each worker leases shards, reads them page by page and keeps a checkpoint behind each page. A change that cannot be
handled is tried again with pauses, then parked, and what follows of its key behind it, until it is replayed: by
`replay()`, or in the next round after `tablewright db parked replay`. Must hold: a checkpoint is
never beyond a change that was neither handled nor parked; a worker that lost its lease stops.
A change may be handled twice (a crash before the checkpoint): `db.write(..., once=f"mailer/{change.event_id}")`
makes its effect happen once. A handler that needs longer than the lease may find another worker at the same change.
Elsewhere: reading a shard (shard_reader.py) and handling its records (processor.py), who reads what (leases.py), the
verbs (shards.py), parking (dead_letters.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from threading import Event
from typing import Any

from tablewright.client import CallFailed, CallRefused, Retries
from tablewright.design import Design, Entity
from tablewright.design.entity_spec import EntitySpec
from tablewright.mapping.consumer import dead_letters, shards
from tablewright.mapping.consumer import leases as leasing
from tablewright.mapping.consumer.dead_letters import Replayed
from tablewright.mapping.consumer.design import Lease, Parked, leases_of, stream_consumers
from tablewright.mapping.consumer.leases import Worker
from tablewright.mapping.consumer.processor import LeasedShard, Progress, ReaderSettings
from tablewright.mapping.consumer.records import change_of
from tablewright.mapping.consumer.shard_reader import EMPTY_PAGES, read_pages
from tablewright.mapping.db import Db
from tablewright.mapping.errors import MappingMistake
from tablewright.mapping.items import shape_of
from tablewright.mapping.tables import make_tables, table_requests

BACK_OFF = Retries(base=0.5, cap=20.0)
ANY_ITEM = "item"


class ConsumerUnusable(MappingMistake):
    """A consumer was made with arguments it cannot work with."""


class Consumer:
    """One worker of a named consumer, for one thread. It has leases while it runs and gives them back in the end."""

    def __init__(
        self,
        db: Db,
        of: Design | Sequence[Entity[Any, Any]] | None,
        table: str,
        name: str,
        handle: Callable[[Any], None],
        *,
        attempts: int = 5,
        lease: timedelta = timedelta(seconds=30),
        batch: int = 100,
        retries: Retries = BACK_OFF,
        poll: float = 1.0,
        skip_to_horizon: bool = False,
        handle_many: Callable[[Sequence[Any]], None] | None = None,
    ) -> None:
        """`of` are the entities whose changes are handled; those of other items in the table are passed over.

        Of None, every record is handed over as the stream tells it, whosever it is.
        `attempts` replaces that of `retries`, whose pauses are cut so that the lease can be renewed in between.
        `skip_to_horizon` goes on with the oldest change there is where ChangesLost would be raised.
        `handle_many` is given up to a `batch` of changes of any keys at once, in order, where that is quicker. If it
        raises, whatever it has done, fewer come again, and in the end each comes to `handle`.
        """
        shapes = _shapes(of, table) if of is not None else ()
        if not name or attempts < 1 or not 1 <= batch <= 1000 or lease < timedelta(seconds=1):
            raise ConsumerUnusable(
                f"a consumer of {table} needs a name, at least 1 attempt, a batch of 1 to 1000 and a lease of at "
                f"least a second; it was given {name!r}, {attempts}, {batch} and {lease}"
            )
        # A Db's own requests are metered as items are; what is asked of streams is not.
        self._worker = Worker(db, db._call, table, name, db.world.new_id(), lease)
        patience = replace(retries, attempts=attempts, cap=min(retries.cap, lease.total_seconds() / 4))

        def entity_tag(keys: Mapping[str, Any]) -> str | None:
            shape = shape_of(shapes, keys)
            return shape.tag if shape is not None else ANY_ITEM if of is None else None

        def decode(record: Mapping[str, Any]) -> Any:
            return record if of is None else change_of(shapes, record)

        self._settings = ReaderSettings(
            self._worker, entity_tag, decode, handle, patience, batch, skip_to_horizon, handle_many
        )
        self._stream = shapes[0].table.stream if shapes else None
        self._poll = poll
        self._leased: dict[str, LeasedShard] = {}
        # Where reading a shard ended, by its checkpoint: behind pages that were empty, which no checkpoint can say.
        self._places: dict[str, tuple[str | None, str | None]] = {}
        self._next_plan: datetime | None = None

    def create_tables(self) -> None:
        """Make the table that consumers share, and switch the stream on where the design asks for one.

        The stream begins then: changes made before are not in it.
        """
        call, db, patience = self._worker.call, self._worker.db, self._settings.retries
        make_tables(call, table_requests(stream_consumers, db.environment), retries=patience)
        if self._stream is not None:
            shards.enable_stream(call, db.physical(self._worker.table), self._stream, patience)

    @property
    def table(self) -> str:
        return self._worker.table

    # --- reading ---

    def register(self) -> None:
        """Begin: whatever changes from now on is this consumer's, whenever it comes to read it. Raises ChangesLost."""
        leasing.discover(self._worker, skip_to_horizon=self._settings.skips_lost)

    def run_once(self) -> Progress:
        """Handle what there is: every shard this worker can have, to its end or to a change made after the beginning.

        Writers that never pause would leave no end to reach.
        """
        done, never, caught_up = Progress(), Event(), set[str]()
        began = self._worker.now()
        try:
            while True:
                done += self._plan_when_due()
                waiting = [leased for shard, leased in self._leased.items() if shard not in caught_up]
                if not waiting and self._next_plan is not None:
                    return done
                for leased in waiting:
                    done += self._turn(leased, never)
                    changed = leased.lease.changed
                    if leased.is_caught_up or (changed is not None and changed > began):
                        caught_up.add(leased.lease.shard)
        finally:
            self._give_back_all()

    def run(self, stop: Event) -> None:
        """Handle changes as they come, until told to stop. Errors of the line end it too; nothing is lost by that."""
        try:
            while not stop.is_set():
                done = self._plan_when_due()
                for leased in tuple(self._leased.values()):
                    if not stop.is_set():
                        done += self._turn(leased, stop)
                if not done.read and not done.shards_ended and not done.replayed:
                    stop.wait(self._pause())
        finally:
            self._give_back_all()

    def lag(self) -> timedelta:
        """The age of the oldest change that was not handled yet; parked ones do not count."""
        now = self._worker.now()
        made = [at for record in self._waiting() if (at := shards.created_at(record)) is not None]
        return max((now - at for at in made), default=timedelta())

    def is_behind(self) -> bool:
        """Whether a change was not handled yet; parked ones do not count."""
        return next(self._waiting(), None) is not None

    def _waiting(self) -> Iterator[dict[str, Any]]:
        """The first change of each shard that was not handled yet."""
        worker = self._worker
        found = shards.shards_of(worker.call, worker.db.physical(worker.table))
        known = {lease.shard: lease for lease in worker.db.all(leases_of(**worker.names))}
        for shard in found:
            lease = known.get(shard.id)
            if lease is not None and lease.closed:
                continue
            record = self._oldest(shard, lease.checkpoint if lease is not None else None)
            if record is not None:
                yield record

    def _oldest(self, shard: shards.Shard, checkpoint: str | None) -> dict[str, Any] | None:
        """The first change behind the checkpoint."""
        call = self._worker.call
        try:
            place: str | None = shards.shard_iterator(call, shard.stream, shard.id, after=checkpoint)
        except CallRefused as refusal:
            if refusal.name != shards.TRIMMED:
                raise
            place = shards.shard_iterator(call, shard.stream, shard.id)
        empty = 0
        while place is not None and (shard.last is not None or empty < EMPTY_PAGES):
            page = shards.read_page(call, place, 1)
            if page.records:
                return page.records[0]
            place, empty = page.next, empty + 1
        return None

    # --- what was parked ---

    def parked(self) -> list[Parked]:
        """What could not be handled, and what waits behind it; oldest first, without what the items hold."""
        return dead_letters.list_parked(self._worker)

    def replay(self, *sequences: str) -> Replayed:
        """Handle parked records again, all or those named; each key's in order, up to the first that fails.

        To keep the order, naming one means all of its key. Changes of the key that come later are handled as usual.
        """

        lines = dead_letters.keys_of(self._worker, sequences)
        handled = sum(
            dead_letters.replay_key(self._worker, line, self._settings.try_handle) for line in lines
        )
        return Replayed(handled, len(self.parked()))

    def discard(self, sequence: str) -> None:
        """Give up one parked record for good; what waits behind it can then be replayed."""
        dead_letters.discard(self._worker, sequence)

    def _replay_asked(self) -> int:
        """What was asked to be replayed, for no longer than the leases we have can wait; the rest comes next."""
        until = self._worker.now() + self._worker.term / 3
        handled = dead_letters.replay_requested(self._worker, self._settings.try_handle, until)
        if handled and self._worker.now() >= until:
            self._next_plan = None
        return handled

    # --- parts: leases ---

    def _plan_when_due(self) -> Progress:
        """See which shards there are and who has them: every third of a lease, and when any of them is over."""
        now = self._worker.now()
        if self._next_plan is not None and now < self._next_plan:
            return Progress()
        found = leasing.discover(self._worker, skip_to_horizon=self._settings.skips_lost)
        # What a dead worker had is taken up as soon as its lease is over, not up to a third of one later.
        expiry = leasing.next_expiry(found.leases, self._worker)
        self._next_plan = min(expiry, now + self._worker.term / 3) if expiry else now + self._worker.term / 3
        self._share(leasing.readable(found.leases), len(leasing.live_workers(found.leases, self._worker)))
        for shard, leased in self._leased.items():
            leased.is_closing = shard in found.closing
        return Progress(lost_since=found.lost_since, replayed=self._replay_asked())

    def _pause(self) -> float:
        """How long to wait where nothing came: until the next poll or the next plan."""
        if self._next_plan is None:
            return 0.0
        return min(self._poll, max((self._next_plan - self._worker.now()).total_seconds(), 0.0))

    def _share(self, ready: Sequence[Lease], workers: int) -> None:
        """Take what is free, up to a fair share; ask for one if others have more than theirs."""
        at_most = ceil(len(ready) / workers)
        for lease in ready:
            if lease.shard not in self._leased and len(self._leased) < at_most:
                self._take(lease)
        if len(self._leased) < len(ready) // workers:
            leasing.request_lease(self._worker, ready, at_most)

    def _take(self, lease: Lease) -> None:
        taken = leasing.acquire(self._worker, lease) if leasing.is_free(lease, self._worker) else None
        if taken is None:
            return
        # The held keys are read after the lease: from now on no other worker can park records of this shard.
        leased = LeasedShard(self._settings, taken, dead_letters.held_keys(self._worker))
        checkpoint, iterator = self._places.pop(lease.shard, (None, None))
        leased.iterator = iterator if checkpoint == taken.checkpoint else None
        # A worker that did not release it may have died of a record of the page after the checkpoint.
        leased.watched = self._settings.batch if lease.owner is not None else 0
        self._leased[lease.shard] = leased

    def _turn(self, leased: LeasedShard, stop: Event) -> Progress:
        done = read_pages(leased, stop)
        if leased.is_over:
            del self._leased[leased.lease.shard]
            self._next_plan = None
            if leased.lease.owner is not None:
                leasing.release(self._worker, leased.lease)
        return done

    def _give_back_all(self) -> None:
        """The leases, with what was handled since the last checkpoint. Those that cannot be given back run out."""
        self._next_plan = None
        places = {shard: (leased.lease.checkpoint, leased.iterator) for shard, leased in self._leased.items()}
        self._places.update(places)
        with suppress(CallFailed):
            while self._leased:
                leasing.release(self._worker, self._leased.popitem()[1].lease)
        self._leased.clear()


def _shapes(of: Design | Sequence[Entity[Any, Any]], table: str) -> tuple[EntitySpec, ...]:
    """The entities of a consumer; refused if they are not of its table."""
    if isinstance(of, Design):
        found = [shape for shape in of.shapes if shape.table.name == table]
    else:
        found = [entity.shape for entity in of]
    strays = [shape.tag for shape in found if shape.table.name != table]
    if strays or not found:
        why = f"not in this table: {', '.join(strays)}" if strays else "the design has no entities in it"
        raise ConsumerUnusable(f"a consumer of the table {table} cannot be made like this: {why}")
    return tuple(found)
