"""Handling records of a shard: each handled, tried again, parked or passed over; several at once where that is quicker.

Who can handle several records at once is given a stretch of a page; if that fails, shorter ones, and in the end each
by itself, where it is tried again and parked as any.
Must hold: the lease stands behind a record only when it was handled, parked, or is nobody's; before a record is
tried, the lease has time left; records of a key that waits are parked behind it; no stretch goes over a mark, a key
that waits, or what a worker may have died of.
Elsewhere: where the records come from (reading.py), what parking does (parked.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Event
from typing import Any, TypeAlias

from tablewright.client import Call, Retries
from tablewright.mapping import shards
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.leases import Worker, renewed, save
from tablewright.mapping.parked import BEHIND, line_of, park
from tablewright.mapping.stream_design import MARK, Lease

# The tag of what a key belongs to, None if it is nobody's; and a record as it is handed over, None if it cannot be.
Whose: TypeAlias = Callable[[Mapping[str, Any]], str | None]
Understand: TypeAlias = Callable[[Mapping[str, Any]], Any]

DIED = "WorkerDied"
UNKNOWN = "EntityUnknown"


@dataclass(frozen=True, slots=True)
class Progress:
    """What came of a pass. `passed_over` are changes of items that are not this consumer's, such as guards.

    `replayed` are parked ones that were handled because somebody asked for it (`tablewright db parked replay`).
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
class Reader:
    """How a worker reads. `retries` are for handling; `skips` says to go on where changes are lost.

    `handle_many` takes several at once, where there is a quicker way than one after the other.
    """

    worker: Worker
    call: Call
    whose: Whose
    understand: Understand
    handle: Callable[[Any], None]
    retries: Retries
    batch: int
    skips: bool
    handle_many: Callable[[Sequence[Any]], None] | None = None


@dataclass(slots=True)
class Held:
    """A shard we have. `lease` is ahead of what is stored by what was handled since the last checkpoint.

    `lines` are the keys that wait. `wary` is how many records are marked before they are tried, because the worker
    before us died, perhaps of one of them. `is_closing`: the shard takes no more records, so it will end.
    """

    lease: Lease
    lines: set[str]
    wary: int = 0
    iterator: str | None = None
    from_horizon: bool = False
    empty: int = 0
    is_closing: bool = False
    is_caught_up: bool = False
    is_unsaved: bool = False
    is_over: bool = False


class Stopped(Exception):
    """We were told to stop; the record at hand is left for later."""


def handled(
    reader: Reader, held: Held, records: Sequence[Mapping[str, Any]], stop: Event
) -> Iterator[Progress]:
    """What came of the records of a page, stretch by stretch, until we are told to stop or the shard ends here."""
    at, length = 0, len(records)
    while at < len(records) and not stop.is_set():
        if _is_beyond_end(reader, held, records[at]):
            end(reader, held)
            yield Progress(shards_ended=1)
            return
        stretch = _stretch(reader, held, records[at : at + length])
        if len(stretch) < 2:
            yield _one(reader, held, records[at], stop)
            at, length = at + 1, length * 2
        elif came_of := _at_once(reader, held, stretch):
            yield came_of
            at, length = at + len(stretch), length * 2
        else:
            length = len(stretch) // 2


def _is_mark(record: Mapping[str, Any]) -> bool:
    return any(str(value.get("S", "")).startswith(MARK) for value in record["dynamodb"]["Keys"].values())


def _is_beyond_end(reader: Reader, held: Held, record: Mapping[str, Any]) -> bool:
    """Whether the shard ends here for this consumer. A mark says that this may just have been decided: look."""
    if _is_mark(record):
        keep(reader, held)
    end = held.lease.end
    return end is not None and int(record["dynamodb"]["SequenceNumber"]) >= int(end)


def _stretch(reader: Reader, held: Held, records: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """As many of the next records as may be handled at once."""
    if reader.handle_many is None or held.wary:
        return ()
    end = held.lease.end
    for count, record in enumerate(records):
        told = record["dynamodb"]
        if (
            _is_mark(record)
            or (end is not None and int(told["SequenceNumber"]) >= int(end))
            or (held.lines and line_of(record) in held.lines)
        ):
            return records[:count]
    return records


def _at_once(reader: Reader, held: Held, records: Sequence[Mapping[str, Any]]) -> Progress | None:
    """Handle all of them together, those that are nobody's aside; None if that failed, and the lease stands as before.

    Whose fault it was shows when each is tried by itself.
    """
    assert reader.handle_many is not None
    renew(reader, held)
    ours = [record for record in records if reader.whose(record["dynamodb"]["Keys"]) is not None]
    try:
        changes = [reader.understand(record) for record in ours]
        if any(change is None for change in changes):
            return None
        reader.handle_many(changes)
    except Exception:
        return None
    _stand_behind(held, records[-1])
    return Progress(handled=len(ours), passed_over=len(records) - len(ours))


def _one(reader: Reader, held: Held, record: Mapping[str, Any], stop: Event) -> Progress:
    """Handle a record, park it, or pass it over; the lease then stands behind it."""
    renew(reader, held)
    tag = reader.whose(record["dynamodb"]["Keys"])
    if tag is None:
        _stand_behind(held, record)
        return Progress(passed_over=1)
    line = line_of(record)
    if line in held.lines:
        if _park(reader, held, record, tag, BEHIND, 0):
            return Progress(parked=1)
        held.lines.discard(line)  # replayed meanwhile
    if _is_deadly(reader, held, record):
        error, attempts = DIED, held.lease.tries
    else:
        failed = _tried(reader, held, record, stop)
        if failed is None:
            _stand_behind(held, record)
            return Progress(handled=1)
        error, attempts = failed
    _park(reader, held, record, tag, error, attempts)
    held.lines.add(line)
    return Progress(parked=1)


def _tried(reader: Reader, held: Held, record: Mapping[str, Any], stop: Event) -> tuple[str, int] | None:
    """Handle it, as often as allowed; how it failed the last time, and how often."""
    attempts = 0
    while True:
        error = attempt(reader, record)
        if error is None:
            return None
        attempts += 1
        # What does not fit its model today will not fit it in a second.
        if attempts >= reader.retries.attempts or error == ItemUnreadable.__name__:
            return error, attempts
        pause(reader, held, attempts)
        if stop.is_set():
            raise Stopped


def attempt(reader: Reader, record: Mapping[str, Any]) -> str | None:
    """Handle a record; the kind of error if that fails. What the error says may be what the item holds."""
    try:
        change = reader.understand(record)
        if change is None:
            return UNKNOWN
        reader.handle(change)
    except Exception as error:
        return type(error).__name__
    return None


def _is_deadly(reader: Reader, held: Held, record: Mapping[str, Any]) -> bool:
    """Mark a record before it is tried, where a worker died; whether too many have died over it."""
    if held.wary == 0:
        return False
    held.wary -= 1
    lease, sequence = held.lease, record["dynamodb"]["SequenceNumber"]
    tries = lease.tries if lease.suspect == sequence else 0
    if tries >= reader.retries.attempts:
        return True
    held.lease = lease.model_copy(update={"suspect": sequence, "tries": tries + 1})
    keep(reader, held)
    return False


def _stand_behind(held: Held, record: Mapping[str, Any]) -> None:
    held.lease = _beyond(held.lease, record)
    held.is_unsaved = True


def _park(
    reader: Reader, held: Held, record: Mapping[str, Any], entity: str, error: str, attempts: int
) -> bool:
    lease = renewed(reader.worker, _beyond(held.lease, record))
    if not park(reader.worker, lease, record, entity, error, attempts):
        return False
    held.lease, held.is_unsaved = lease, False
    return True


def _beyond(lease: Lease, record: Mapping[str, Any]) -> Lease:
    made = shards.made_at(record) or lease.changed
    return lease.model_copy(update={"checkpoint": record["dynamodb"]["SequenceNumber"], "changed": made})


# --- the lease ---


def renew(reader: Reader, held: Held) -> None:
    """Keep the lease while there is work, long before it is over. Raises LeaseLost."""
    if held.lease.until - reader.worker.now() < reader.worker.term * 2 / 3:
        keep(reader, held)


def keep(reader: Reader, held: Held) -> None:
    held.lease = save(reader.worker, renewed(reader.worker, held.lease))
    held.is_unsaved = False


def pause(reader: Reader, held: Held, tried: int) -> None:
    renew(reader, held)
    reader.retries.sleep(reader.retries.pause(tried, reader.worker.db.world.jitter()))
    renew(reader, held)


def end(reader: Reader, held: Held) -> None:
    ended = {"closed": True, "owner": None, "until": reader.worker.now()}
    held.lease = save(reader.worker, held.lease.model_copy(update=ended))
    held.is_over = True
