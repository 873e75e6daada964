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

from tablewright.client import Call, Retries
from tablewright.mapping.consumer import shards
from tablewright.mapping.consumer.dead_letters import BEHIND, key_digest, park
from tablewright.mapping.consumer.design import MARKER, Lease
from tablewright.mapping.consumer.leases import Worker, renewed, save
from tablewright.mapping.errors import ItemUnreadable

# The tag of the entity of a key, None if it has none; a record as the handler takes it, None if it cannot be decoded.
EntityTagOf: TypeAlias = Callable[[Mapping[str, Any]], str | None]
Decode: TypeAlias = Callable[[Mapping[str, Any]], Any]

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
    """How a worker reads. `retries` are for handling; `skips` says to go on where changes are lost.

    `handle_many` takes several at once, where there is a quicker way than one after the other.
    """

    worker: Worker
    call: Call
    entity_tag: EntityTagOf
    decode: Decode
    handle: Callable[[Any], None]
    retries: Retries
    batch: int
    skips_lost: bool
    handle_many: Callable[[Sequence[Any]], None] | None = None


@dataclass(slots=True)
class LeasedShard:
    """A shard we have. `lease` is ahead of what is stored by what was handled since the last checkpoint.

    `lines` are the keys that wait. `wary` is how many records are marked before they are tried, because the worker
    before us died, perhaps of one of them. `is_closing`: the shard takes no more records, so it will end.
    """

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


class StopRequested(Exception):
    """The consumer was stopped; the current record is left for later."""


def process_records(
    settings: ReaderSettings, leased: LeasedShard, records: Sequence[Mapping[str, Any]], stop: Event
) -> Iterator[Progress]:
    """Process the records of a page, in batches, until `stop` is set or the shard ends for this consumer."""
    at, length = 0, len(records)
    while at < len(records) and not stop.is_set():
        if _is_beyond_end(settings, leased, records[at]):
            end_shard(settings, leased)
            yield Progress(shards_ended=1)
            return
        stretch = _batch(settings, leased, records[at : at + length])
        if len(stretch) < 2:
            yield _handle_one(settings, leased, records[at], stop)
            at, length = at + 1, length * 2
        elif came_of := _handle_batch(settings, leased, stretch):
            yield came_of
            at, length = at + len(stretch), length * 2
        else:
            length = len(stretch) // 2


def _is_marker(record: Mapping[str, Any]) -> bool:
    return any(str(value.get("S", "")).startswith(MARKER) for value in record["dynamodb"]["Keys"].values())


def _is_beyond_end(settings: ReaderSettings, leased: LeasedShard, record: Mapping[str, Any]) -> bool:
    """Whether the shard ends here for this consumer. At a marker the lease is read again, since this may be new."""
    if _is_marker(record):
        save_lease(settings, leased)
    end = leased.lease.end
    return end is not None and int(record["dynamodb"]["SequenceNumber"]) >= int(end)


def _batch(
    settings: ReaderSettings, leased: LeasedShard, records: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """The longest run of the next records that may be handled at once."""
    if settings.handle_many is None or leased.watched:
        return ()
    end = leased.lease.end
    for count, record in enumerate(records):
        told = record["dynamodb"]
        if (
            _is_marker(record)
            or (end is not None and int(told["SequenceNumber"]) >= int(end))
            or (leased.held_keys and key_digest(record) in leased.held_keys)
        ):
            return records[:count]
    return records


def _handle_batch(
    settings: ReaderSettings, leased: LeasedShard, records: Sequence[Mapping[str, Any]]
) -> Progress | None:
    """Handle all records together, except those of no entity; None if that failed, with the lease unchanged.

    Which record failed shows when each is tried alone.
    """
    assert settings.handle_many is not None
    renew(settings, leased)
    ours = [record for record in records if settings.entity_tag(record["dynamodb"]["Keys"]) is not None]
    try:
        changes = [settings.decode(record) for record in ours]
        if any(change is None for change in changes):
            return None
        settings.handle_many(changes)
    except Exception:
        return None
    _advance(leased, records[-1])
    return Progress(handled=len(ours), passed_over=len(records) - len(ours))


def _handle_one(
    settings: ReaderSettings, leased: LeasedShard, record: Mapping[str, Any], stop: Event
) -> Progress:
    """Handle, park or skip a record; the checkpoint then passes it."""
    renew(settings, leased)
    tag = settings.entity_tag(record["dynamodb"]["Keys"])
    if tag is None:
        _advance(leased, record)
        return Progress(passed_over=1)
    line = key_digest(record)
    if line in leased.held_keys:
        if _park(settings, leased, record, tag, BEHIND, 0):
            return Progress(parked=1)
        leased.held_keys.discard(line)  # it was replayed since
    if _has_killed_workers(settings, leased, record):
        error, attempts = DIED, leased.lease.tries
    else:
        failed = _handle_with_retries(settings, leased, record, stop)
        if failed is None:
            _advance(leased, record)
            return Progress(handled=1)
        error, attempts = failed
    _park(settings, leased, record, tag, error, attempts)
    leased.held_keys.add(line)
    return Progress(parked=1)


def _handle_with_retries(
    settings: ReaderSettings, leased: LeasedShard, record: Mapping[str, Any], stop: Event
) -> tuple[str, int] | None:
    """Handle a record, with retries; None if it worked, else the last error and the number of attempts."""
    attempts = 0
    while True:
        error = try_handle(settings, record)
        if error is None:
            return None
        attempts += 1
        # A retry cannot help an item that does not fit its model.
        if attempts >= settings.retries.attempts or error == ItemUnreadable.__name__:
            return error, attempts
        pause(settings, leased, attempts)
        if stop.is_set():
            raise StopRequested


def try_handle(settings: ReaderSettings, record: Mapping[str, Any]) -> str | None:
    """Handle a record once; the class of the error if that fails. Its message may contain data of the item."""
    try:
        change = settings.decode(record)
        if change is None:
            return UNKNOWN
        settings.handle(change)
    except Exception as error:
        return type(error).__name__
    return None


def _has_killed_workers(settings: ReaderSettings, leased: LeasedShard, record: Mapping[str, Any]) -> bool:
    """Store which record is tried next, after a worker died; True if too many workers died at this record."""
    if leased.watched == 0:
        return False
    leased.watched -= 1
    lease, sequence = leased.lease, record["dynamodb"]["SequenceNumber"]
    tries = lease.tries if lease.suspect == sequence else 0
    if tries >= settings.retries.attempts:
        return True
    leased.lease = lease.model_copy(update={"suspect": sequence, "tries": tries + 1})
    save_lease(settings, leased)
    return False


def _advance(leased: LeasedShard, record: Mapping[str, Any]) -> None:
    leased.lease = _advanced(leased.lease, record)
    leased.is_unsaved = True


def _park(
    settings: ReaderSettings,
    leased: LeasedShard,
    record: Mapping[str, Any],
    entity: str,
    error: str,
    attempts: int,
) -> bool:
    lease = renewed(settings.worker, _advanced(leased.lease, record))
    if not park(settings.worker, lease, record, entity, error, attempts):
        return False
    leased.lease, leased.is_unsaved = lease, False
    return True


def _advanced(lease: Lease, record: Mapping[str, Any]) -> Lease:
    made = shards.created_at(record) or lease.changed
    return lease.model_copy(update={"checkpoint": record["dynamodb"]["SequenceNumber"], "changed": made})


# --- the lease ---


def renew(settings: ReaderSettings, leased: LeasedShard) -> None:
    """Renew the lease when a third of it has passed. Raises LeaseLost."""
    if leased.lease.until - settings.worker.now() < settings.worker.term * 2 / 3:
        save_lease(settings, leased)


def save_lease(settings: ReaderSettings, leased: LeasedShard) -> None:
    leased.lease = save(settings.worker, renewed(settings.worker, leased.lease))
    leased.is_unsaved = False


def pause(settings: ReaderSettings, leased: LeasedShard, tried: int) -> None:
    renew(settings, leased)
    settings.retries.sleep(settings.retries.pause(tried, settings.worker.db.world.jitter()))
    renew(settings, leased)


def end_shard(settings: ReaderSettings, leased: LeasedShard) -> None:
    ended = {"closed": True, "owner": None, "until": settings.worker.now()}
    leased.lease = save(settings.worker, leased.lease.model_copy(update=ended))
    leased.is_over = True
