"""How fast a table and its indexes may be used, and the words with which the service refuses more.

Off unless asked for. A request is admitted while there is something in every bucket it draws from, and then pays what
it cost, into debt if need be: nobody knows what a read costs before it is done. So over any time no more is used than
what was saved, what came in, and one request.
  - provisioned: the units per second, and what was not used in the last 300 seconds;
  - on demand: MaxRead/WriteRequestUnits if set; at most twice the highest traffic of more than half an hour ago
    (from 12 000 reads and 4 000 writes, or the warm throughput if that is more), never more than a table's quota;
  - one partition: 3 000 reads and 1 000 writes a second. Adaptive capacity gives each hash key a partition of its own
    at once, so this is the limit of one hash key; a Scan, which walks many, is not held to it.
A write also draws from each global index it changes: an index that is short holds back its table's writes.
Must hold: levels are whole numbers (millionths of a unit), time is World's; the same requests at the same times are
refused alike. What was saved is not stored: a table that is opened again has saved since it was created.
Elsewhere: what a request costs (capacity.py), who asks (item_writes.py, item_reads.py, paging.py).
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tablewright.engine.catalog import Index, Table, warm_units
from tablewright.engine.errors import ServiceError
from tablewright.engine.limits import (
    BURST_SECONDS,
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
    PEAK_SECONDS,
    TABLE_CAPACITY,
    WARM_READ_UNITS,
    WARM_WRITE_UNITS,
)
from tablewright.engine.metric_names import Mark, throttle_events

Kind: TypeAlias = Literal["Read", "Write"]
Cause: TypeAlias = Literal[
    "ProvisionedThroughput", "KeyRangeThroughput", "MaxOnDemandThroughput", "AccountLimit"
]
# table, index (0: the table itself), kind
Place: TypeAlias = tuple[int, int, Kind]

SECOND = 1_000_000
# Partitions that are remembered before those that have rested are forgotten.
PARTITIONS = 10_000

_TABLE_EXCEEDED = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
_INDEX_EXCEEDED = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes "
    "with the UpdateTable API"
)
_TABLE_SCALING = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or "
    "index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html."
)
_INDEX_SCALING = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. "
    "DynamoDB is automatically scaling your index so please try again shortly."
)
_CEILING = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
_ACCOUNT = (
    "Throughput exceeds the current throughput limit for your account. "
    "Please contact AWS Support at https://aws.amazon.com/support to request a limit increase"
)


@dataclass(slots=True)
class Bucket:
    """What may be used: `rate` units come in a second, as many as come in `seconds` are saved."""

    rate: int
    seconds: int
    at: int  # microseconds; what came in until then is in the level
    level: int  # millionths of a unit; below nought is debt

    @classmethod
    def born(cls, rate: int, seconds: int, now: int, since: int) -> "Bucket":
        """A bucket that has been there since `since`, unused, and held a second's worth at first."""
        held = min(seconds, 1 + max(now - since, 0) // SECOND)
        return cls(rate, seconds, now, rate * held * SECOND)

    def has_some(self, now: int) -> bool:
        self._refill(now)
        return self.level > 0

    def spend(self, units: float, now: int) -> None:
        self._refill(now)
        self.level -= round(units * SECOND)

    def set_rate(self, rate: int, since: int) -> None:
        """Another rate from that moment on. What was saved stays, as far as the new rate lets it."""
        self._refill(since)
        self.rate = rate
        self.level = min(self.level, rate * self.seconds * SECOND)

    def is_full(self, now: int) -> bool:
        self._refill(now)
        return self.level == self.rate * self.seconds * SECOND

    def _refill(self, now: int) -> None:
        # A clock that was set back brings nothing and takes nothing.
        if now > self.at:
            self.level = min(self.level + (now - self.at) * self.rate, self.rate * self.seconds * SECOND)
            self.at = now


@dataclass(slots=True)
class Peak:
    """The highest traffic of a second: the one that counts is more than half an hour old."""

    settled: int = 0
    second: int = 0
    used: float = 0.0
    recent: dict[int, float] = field(default_factory=dict)  # by minute

    def spend(self, units: float, now: int) -> None:
        second = now // SECOND
        if second != self.second:
            self.second, self.used = second, 0.0
        self.used += units
        minute = second // 60
        self.recent[minute] = max(self.recent.get(minute, 0.0), self.used)

    def known(self, now: int) -> int:
        old = [minute for minute in self.recent if minute * 60 + PEAK_SECONDS <= now // SECOND]
        for minute in old:
            self.settled = max(self.settled, int(self.recent.pop(minute)))
        return self.settled


@dataclass(frozen=True, slots=True)
class Reason:
    """Which limit of what was reached."""

    table: Table
    index: Index | None
    kind: Kind
    cause: Cause

    def shown(self) -> dict[str, str]:
        what = "Table" if self.index is None else "Index"
        resource = self.table.arn if self.index is None else f"{self.table.arn}/index/{self.index.name}"
        return {"reason": f"{what}{self.kind}{self.cause}Exceeded", "resource": resource}


class Throttled(ServiceError):
    """A request came too fast. `code` is what a transaction calls it."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        self.reasons = tuple(reasons)
        self.tables = tuple(dict.fromkeys(reason.table.name for reason in reasons))
        first = reasons[0]
        shown = [reason.shown() for reason in reasons]
        self.code = "ThrottlingError"
        if first.cause == "AccountLimit":
            super().__init__("RequestLimitExceeded", _ACCOUNT, fields={"ThrottlingReasons": shown})
        elif first.table.billing == "PROVISIONED":
            self.code = "ProvisionedThroughputExceeded"
            words = _TABLE_EXCEEDED if first.index is None else _INDEX_EXCEEDED
            super().__init__(
                "ProvisionedThroughputExceededException", words, fields={"ThrottlingReasons": shown}
            )
        else:
            words = _TABLE_SCALING if first.index is None else _INDEX_SCALING
            if first.cause == "MaxOnDemandThroughput":
                words = _CEILING
            # The service spells the member of this one exception in lower case.
            super().__init__("ThrottlingException", words, fields={"throttlingReasons": shown})


@dataclass(slots=True)
class Throttle:
    """The buckets of an engine. Any number of threads may ask."""

    now: Callable[[], int]  # microseconds
    _buckets: dict[tuple[Place, Cause], Bucket] = field(default_factory=dict)
    _partitions: dict[tuple[Place, bytes], Bucket] = field(default_factory=dict)
    _peaks: dict[Place, Peak] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def short(self, kind: Kind, table: Table, index: Index | None, partition: bytes) -> list[Reason]:
        """Every limit a request has reached already; none, and it may go on. No partition is many of them."""
        now = self.now()
        with self._lock:
            drawn = list(self._drawn(kind, table, index, partition, now))
            causes = dict.fromkeys(cause for cause, bucket in drawn if not bucket.has_some(now))
        return [Reason(table, index, kind, cause) for cause in causes]

    def spend(self, kind: Kind, table: Table, index: Index | None, partition: bytes, units: float) -> None:
        """Pay for what was done."""
        now = self.now()
        with self._lock:
            for _, bucket in self._drawn(kind, table, index, partition, now):
                bucket.spend(units, now)
            if table.billing != "PROVISIONED":
                self._peak(_place(kind, table, index)).spend(units, now)

    def _drawn(
        self, kind: Kind, table: Table, index: Index | None, partition: bytes, now: int
    ) -> Iterator[tuple[Cause, Bucket]]:
        place = _place(kind, table, index)
        owner = table if index is None else index
        since = int(table.created * SECOND)
        for cause, rate, seconds in self._limits(kind, table, owner, place, now):
            bucket = self._buckets.get((place, cause))
            if bucket is None:
                bucket = self._buckets[place, cause] = Bucket.born(rate, seconds, now, since)
            elif bucket.rate != rate:
                bucket.set_rate(rate, min(_changed(owner), now))
            yield cause, bucket
        if partition:
            yield "KeyRangeThroughput", self._partition(place, partition, now)

    def _limits(
        self, kind: Kind, table: Table, owner: Table | Index, place: Place, now: int
    ) -> Iterator[tuple[Cause, int, int]]:
        """Cause, rate and how many seconds of it are saved."""
        if table.billing == "PROVISIONED":
            units = owner.throughput.read if kind == "Read" else owner.throughput.write
            yield "ProvisionedThroughput", units, BURST_SECONDS
            return
        ceiling = (owner.on_demand or {}).get(f"Max{kind}RequestUnits", -1)
        if ceiling > 0:
            yield "MaxOnDemandThroughput", ceiling, 1
        start = WARM_READ_UNITS if kind == "Read" else WARM_WRITE_UNITS
        warm = warm_units(table, owner)[f"{kind}UnitsPerSecond"]
        ready = max(start, warm, 2 * self._peak(place).known(now))
        if ready < TABLE_CAPACITY:
            yield "KeyRangeThroughput", ready, 1
        else:
            yield "AccountLimit", max(TABLE_CAPACITY, warm), 1

    def _peak(self, place: Place) -> Peak:
        peak = self._peaks.get(place)
        if peak is None:
            peak = self._peaks[place] = Peak()
        return peak

    def _partition(self, place: Place, partition: bytes, now: int) -> Bucket:
        bucket = self._partitions.get((place, partition))
        if bucket is None:
            if len(self._partitions) >= PARTITIONS:
                self._forget_rested(now)
            rate = PARTITION_READ_UNITS if place[2] == "Read" else PARTITION_WRITE_UNITS
            bucket = self._partitions[place, partition] = Bucket.born(rate, 1, now, now)
        return bucket

    def _forget_rested(self, now: int) -> None:
        self._partitions = {key: b for key, b in self._partitions.items() if not b.is_full(now)}


def _changed(owner: Table | Index) -> int:
    """When the provisioned units were last changed. On demand nothing is saved, and nobody asks."""
    last = max(owner.throughput.increased or 0.0, owner.throughput.decreased or 0.0)
    return int(last * SECOND)


def marks_of(reasons: Sequence[Reason]) -> Iterator[Mark]:
    """What the figures say of a single read or write that was refused."""
    for reason in reasons:
        index = "" if reason.index is None else reason.index.name
        yield (throttle_events(reason.kind, reason.cause), reason.table.name, index, ""), 1.0
    for (table, index), kind in {
        (each.table.name, "" if each.index is None else each.index.name): each.kind for each in reasons
    }.items():
        yield (throttle_events(kind), table, index, ""), 1.0


def _place(kind: Kind, table: Table, index: Index | None) -> Place:
    return table.number, 0 if index is None else index.number, kind
