"""Processing the records of a shard: each is handled, tried again, parked or skipped; several at once where possible.

A consumer with `handle_many` gets a batch of records; if that fails, smaller batches, and in the end single records,
which are tried again and parked like any other.
Must hold: the lease's checkpoint passes a record only when it was handled, parked, or belongs to no entity of the
consumer; before a record is tried, the lease has time left; records of a key with parked records are parked too; no
batch contains a marker, a record of such a key, or a record that may have killed a worker.
Elsewhere: where the records come from (shard_reader.py), parking (dead_letters.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Event
from typing import Any, TypeAlias

from tablewright.client import Retries
from tablewright.mapping.consumer import shards
from tablewright.mapping.consumer.dead_letters import BEHIND, key_digest, park
from tablewright.mapping.consumer.design import MARKER, Lease
from tablewright.mapping.consumer.leases import Worker, renewed, save
from tablewright.mapping.errors import ItemUnreadable

Record: TypeAlias = Mapping[str, Any]

DIED = "WorkerDied"
UNKNOWN = "EntityUnknown"


@dataclass(frozen=True, slots=True)
class Progress:
    """The result of a pass. `passed_over` are changes of items that are not this consumer's, such as guards.

    `replayed` are parked records that were handled on request (`tablewright db parked replay`).
    `lost_since` is set where changes were lost and `skip_to_horizon` says to go on.
    """

    handled: int = 0
    parked: int = 0
    passed_over: int = 0
    shards_ended: int = 0
    leases_lost: int = 0
    lost_since: datetime | None = None
    replayed: int = 0

    @property
    def read(self) -> int:
        return self.handled + self.parked + self.passed_over

    def __add__(self, other: "Progress") -> "Progress":
        since = [moment for moment in (self.lost_since, other.lost_since) if moment is not None]
        return Progress(
            self.handled + other.handled,
            self.parked + other.parked,
            self.passed_over + other.passed_over,
            self.shards_ended + other.shards_ended,
            self.leases_lost + other.leases_lost,
            min(since, default=None),
            self.replayed + other.replayed,
        )


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How a worker reads. `retries` are for handling; `skips_lost` says to go on where changes are lost.

    `entity_tag` gives the tag of a key's entity, None if that is not this consumer's; `decode` gives what the handlers
    take, None if a record cannot be decoded.
    """

    worker: Worker
    entity_tag: Callable[[Mapping[str, Any]], str | None]
    decode: Callable[[Record], Any]
    handle: Callable[[Any], None]
    retries: Retries
    batch: int
    skips_lost: bool
    handle_many: Callable[[Sequence[Any]], None] | None = None

    def try_handle(self, record: Record) -> str | None:
        """Handle a record once; the class of the error if that fails. Its message may contain data of the item."""
        try:
            change = self.decode(record)
            if change is None:
                return UNKNOWN
            self.handle(change)
        except Exception as error:
            return type(error).__name__
        return None


class StopRequested(Exception):
    """The consumer was stopped; the current record is left for later."""


@dataclass(slots=True)
class LeasedShard:
    """A shard we have. `lease` is ahead of what is stored by what was handled since the last checkpoint.

    `watched` is how many records are marked before they are tried, because the worker before us died, perhaps of one
    of them. `is_closing`: the shard takes no more records, so it will end.
    """

    settings: ReaderSettings
    lease: Lease
    held_keys: set[str]
    watched: int = 0
    iterator: str | None = None
    from_horizon: bool = False
    empty: int = 0
    is_closing: bool = False
    is_caught_up: bool = False
    is_unsaved: bool = False
    is_over: bool = False

    def process(self, records: Sequence[Record], stop: Event) -> Iterator[Progress]:
        """Process the records of a page, in batches, until `stop` is set or the shard ends for this consumer."""
        at, length = 0, len(records)
        while at < len(records) and not stop.is_set():
            if _is_marker(records[at]):
                self.save()  # and read the lease: that the shard ends here may be new
            if self._is_beyond_end(records[at]):
                self.end()
                yield Progress(shards_ended=1)
                return
            batch = self._batch(records[at : at + length])
            if len(batch) < 2:
                yield self._handle_one(records[at], stop)
                at, length = at + 1, length * 2
            elif came_of := self._handle_batch(batch):
                yield came_of
                at, length = at + len(batch), length * 2
            else:
                length = len(batch) // 2

    def _is_beyond_end(self, record: Record) -> bool:
        end = self.lease.end
        return end is not None and int(record["dynamodb"]["SequenceNumber"]) >= int(end)

    def _batch(self, records: Sequence[Record]) -> Sequence[Record]:
        """The longest run of the next records that may be handled at once."""
        if self.settings.handle_many is None or self.watched:
            return ()
        for count, record in enumerate(records):
            is_held = bool(self.held_keys) and key_digest(record) in self.held_keys
            if is_held or _is_marker(record) or self._is_beyond_end(record):
                return records[:count]
        return records

    def _handle_batch(self, records: Sequence[Record]) -> Progress | None:
        """Handle all records together, except those of no entity; None if that failed, with the lease unchanged.

        Which record failed shows when each is tried alone.
        """
        settings = self.settings
        assert settings.handle_many is not None
        self.renew()
        ours = [record for record in records if settings.entity_tag(record["dynamodb"]["Keys"]) is not None]
        try:
            changes = [settings.decode(record) for record in ours]
            if any(change is None for change in changes):
                return None
            settings.handle_many(changes)
        except Exception:
            return None
        self._advance(records[-1])
        return Progress(handled=len(ours), passed_over=len(records) - len(ours))

    def _handle_one(self, record: Record, stop: Event) -> Progress:
        """Handle, park or skip a record; the checkpoint then passes it."""
        self.renew()
        tag = self.settings.entity_tag(record["dynamodb"]["Keys"])
        if tag is None:
            self._advance(record)
            return Progress(passed_over=1)
        line = key_digest(record)
        if line in self.held_keys:
            if self._park(record, tag, BEHIND, 0):
                return Progress(parked=1)
            self.held_keys.discard(line)  # it was replayed since
        if self._has_killed_workers(record):
            error, attempts = DIED, self.lease.tries
        else:
            failed = self._handle_with_retries(record, stop)
            if failed is None:
                self._advance(record)
                return Progress(handled=1)
            error, attempts = failed
        self._park(record, tag, error, attempts)
        self.held_keys.add(line)
        return Progress(parked=1)

    def _handle_with_retries(self, record: Record, stop: Event) -> tuple[str, int] | None:
        """None if it worked, else the last error and the number of attempts."""
        attempts = 0
        while (error := self.settings.try_handle(record)) is not None:
            attempts += 1
            # A retry cannot help an item that does not fit its model.
            if attempts >= self.settings.retries.attempts or error == ItemUnreadable.__name__:
                return error, attempts
            self.pause(attempts)
            if stop.is_set():
                raise StopRequested
        return None

    def _has_killed_workers(self, record: Record) -> bool:
        """Store which record is tried next, after a worker died; True if too many workers died at this record."""
        if self.watched == 0:
            return False
        self.watched -= 1
        sequence = record["dynamodb"]["SequenceNumber"]
        tries = self.lease.tries if self.lease.suspect == sequence else 0
        if tries >= self.settings.retries.attempts:
            return True
        self.lease = self.lease.model_copy(update={"suspect": sequence, "tries": tries + 1})
        self.save()
        return False

    def _park(self, record: Record, entity: str, error: str, attempts: int) -> bool:
        worker = self.settings.worker
        lease = renewed(worker, _advanced(self.lease, record))
        if not park(worker, lease, record, entity, error, attempts):
            return False
        self.lease, self.is_unsaved = lease, False
        return True

    # --- the lease ---

    def _advance(self, record: Record) -> None:
        self.lease, self.is_unsaved = _advanced(self.lease, record), True

    def renew(self) -> None:
        """Renew the lease when a third of it has passed. Raises LeaseLost."""
        worker = self.settings.worker
        if self.lease.until - worker.now() < worker.term * 2 / 3:
            self.save()

    def save(self) -> None:
        worker = self.settings.worker
        self.lease, self.is_unsaved = save(worker, renewed(worker, self.lease)), False

    def pause(self, tried: int) -> None:
        retries = self.settings.retries
        self.renew()
        retries.sleep(retries.pause(tried, self.settings.worker.db.world.jitter()))
        self.renew()

    def end(self) -> None:
        worker = self.settings.worker
        ended = {"closed": True, "owner": None, "until": worker.now()}
        self.lease = save(worker, self.lease.model_copy(update=ended))
        self.is_over = True


def _is_marker(record: Record) -> bool:
    return any(str(value.get("S", "")).startswith(MARKER) for value in record["dynamodb"]["Keys"].values())


def _advanced(lease: Lease, record: Record) -> Lease:
    made = shards.created_at(record) or lease.changed
    return lease.model_copy(update={"checkpoint": record["dynamodb"]["SequenceNumber"], "changed": made})
