"""Token buckets: how fast a table and its indexes may be used, and the service's errors for requests beyond that.

Off by default. A request is admitted while every bucket it draws from has tokens, and then pays what it cost, if
necessary into debt: the cost of a read is known only afterwards. So over any time no more is consumed than the saved
tokens, the incoming tokens, and one request.
  - provisioned: the units per second, and what was not used in the last 300 seconds;
  - on demand: MaxRead/WriteRequestUnits if set; at most twice the highest traffic of more than half an hour ago
    (from 12 000 reads and 4 000 writes, or the warm throughput if that is more), at most a table's quota;
  - one partition: 3 000 reads and 1 000 writes a second. Adaptive capacity gives each hash key a partition of its own
    at once, so this is the limit of one hash key; a Scan, which reads many partitions, is not limited by it.
A write also draws from each global index it changes: an exhausted index throttles the writes of its table.
Must hold: levels are whole numbers (millionths of a unit), time is World's; the same requests at the same times are
refused in the same way. Levels are not stored: after a restart a table has saved tokens since it was created.
Elsewhere: what a request costs (consumed_capacity.py), the callers (transaction.py: `check_throughput`, `spend`).
"""

import threading
from collections import defaultdict
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
from tablewright.engine.metrics.names import Sample, throttle_events

UnitKind: TypeAlias = Literal["Read", "Write"]
Cause: TypeAlias = Literal[
    "ProvisionedThroughput", "KeyRangeThroughput", "MaxOnDemandThroughput", "AccountLimit"
]
# table, index (0: the table itself), kind
BucketKey: TypeAlias = tuple[int, int, UnitKind]

SECOND = 1_000_000
# With this many partition buckets, the full ones are dropped.
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
    """A token bucket: `rate` units come in per second; at most as many as come in `seconds` are saved."""

    rate: int
    seconds: int
    at: int  # microseconds; tokens that came in until then are in the level
    level: int  # millionths of a unit; below zero is debt

    @classmethod
    def saved_since(cls, rate: int, seconds: int, now: int, since: int) -> "Bucket":
        """A bucket that was created at `since` with tokens for one second, and was not used since."""
        held = min(seconds, 1 + max(now - since, 0) // SECOND)
        return cls(rate, seconds, now, rate * held * SECOND)

    def has_units(self, now: int) -> bool:
        self._refill(now)
        return self.level > 0

    def spend(self, units: float, now: int) -> None:
        self._refill(now)
        self.level -= round(units * SECOND)

    def set_rate(self, rate: int, since: int) -> None:
        """Change the rate at that moment. Saved tokens stay, up to the new capacity."""
        self._refill(since)
        self.rate = rate
        self.level = min(self.level, rate * self.seconds * SECOND)

    def is_full(self, now: int) -> bool:
        self._refill(now)
        return self.level == self.rate * self.seconds * SECOND

    def _refill(self, now: int) -> None:
        # A clock that was set back adds nothing and removes nothing.
        if now > self.at:
            self.level = min(self.level + (now - self.at) * self.rate, self.rate * self.seconds * SECOND)
            self.at = now


@dataclass(slots=True)
class Peak:
    """The highest traffic in one second that is more than half an hour old."""

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
    """Which limit of which table or index was reached."""

    table: Table
    index: Index | None
    kind: UnitKind
    cause: Cause

    def as_member(self) -> dict[str, str]:
        what = "Table" if self.index is None else "Index"
        resource = self.table.arn if self.index is None else f"{self.table.arn}/index/{self.index.name}"
        return {"reason": f"{what}{self.kind}{self.cause}Exceeded", "resource": resource}


class Throttled(ServiceError):
    """A request was throttled. `code` is its cancellation reason in a transaction."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        self.reasons = tuple(reasons)
        self.tables = tuple(dict.fromkeys(reason.table.name for reason in reasons))
        first = reasons[0]
        # The service spells the member of this one exception in lower case.
        name, member, self.code = "ThrottlingException", "throttlingReasons", "ThrottlingError"
        words = _TABLE_SCALING if first.index is None else _INDEX_SCALING
        if first.cause == "AccountLimit":
            name, member, words = "RequestLimitExceeded", "ThrottlingReasons", _ACCOUNT
        elif first.table.billing == "PROVISIONED":
            name, member = "ProvisionedThroughputExceededException", "ThrottlingReasons"
            self.code = "ProvisionedThroughputExceeded"
            words = _TABLE_EXCEEDED if first.index is None else _INDEX_EXCEEDED
        elif first.cause == "MaxOnDemandThroughput":
            words = _CEILING
        super().__init__(name, words, fields={member: [reason.as_member() for reason in reasons]})


@dataclass(slots=True)
class Throttle:
    """The buckets of an engine. Thread-safe."""

    now: Callable[[], int]  # microseconds
    _buckets: dict[tuple[BucketKey, Cause], Bucket] = field(default_factory=dict)
    _partitions: dict[tuple[BucketKey, bytes], Bucket] = field(default_factory=dict)
    _peaks: defaultdict[BucketKey, Peak] = field(default_factory=lambda: defaultdict(Peak))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def exhausted(self, kind: UnitKind, table: Table, index: Index | None, partition: bytes) -> list[Reason]:
        """Every limit that is reached; an empty list admits the request. `partition` is empty for a Scan."""
        now = self.now()
        with self._lock:
            drawn = list(self._drawn(kind, table, index, partition, now))
            causes = dict.fromkeys(cause for cause, bucket in drawn if not bucket.has_units(now))
        return [Reason(table, index, kind, cause) for cause in causes]

    def spend(
        self, kind: UnitKind, table: Table, index: Index | None, partition: bytes, units: float
    ) -> None:
        """Take the units of a finished request out of its buckets."""
        now = self.now()
        with self._lock:
            for _, bucket in self._drawn(kind, table, index, partition, now):
                bucket.spend(units, now)
            if table.billing != "PROVISIONED":
                self._peaks[_bucket_key(kind, table, index)].spend(units, now)

    def _drawn(
        self, kind: UnitKind, table: Table, index: Index | None, partition: bytes, now: int
    ) -> Iterator[tuple[Cause, Bucket]]:
        place = _bucket_key(kind, table, index)
        owner = table if index is None else index
        since = int(table.created * SECOND)
        for cause, rate, seconds in self._limits(kind, table, owner, place, now):
            bucket = self._buckets.get((place, cause))
            if bucket is None:
                bucket = self._buckets[place, cause] = Bucket.saved_since(rate, seconds, now, since)
            elif bucket.rate != rate:
                bucket.set_rate(rate, min(_changed(owner), now))
            yield cause, bucket
        if partition:
            yield "KeyRangeThroughput", self._partition(place, partition, now)

    def _limits(
        self, kind: UnitKind, table: Table, owner: Table | Index, place: BucketKey, now: int
    ) -> Iterator[tuple[Cause, int, int]]:
        """Cause, rate, and for how many seconds tokens are saved."""
        if table.billing == "PROVISIONED":
            units = owner.throughput.read if kind == "Read" else owner.throughput.write
            yield "ProvisionedThroughput", units, BURST_SECONDS
            return
        ceiling = (owner.on_demand or {}).get(f"Max{kind}RequestUnits", -1)
        if ceiling > 0:
            yield "MaxOnDemandThroughput", ceiling, 1
        start = WARM_READ_UNITS if kind == "Read" else WARM_WRITE_UNITS
        warm = warm_units(table, owner)[f"{kind}UnitsPerSecond"]
        ready = max(start, warm, 2 * self._peaks[place].known(now))
        if ready < TABLE_CAPACITY:
            yield "KeyRangeThroughput", ready, 1
        else:
            yield "AccountLimit", max(TABLE_CAPACITY, warm), 1

    def _partition(self, place: BucketKey, partition: bytes, now: int) -> Bucket:
        bucket = self._partitions.get((place, partition))
        if bucket is None:
            if len(self._partitions) >= PARTITIONS:
                self._partitions = {key: b for key, b in self._partitions.items() if not b.is_full(now)}
            rate = PARTITION_READ_UNITS if place[2] == "Read" else PARTITION_WRITE_UNITS
            bucket = self._partitions[place, partition] = Bucket.saved_since(rate, 1, now, now)
        return bucket


def _changed(owner: Table | Index) -> int:
    """When the provisioned units were last changed. On demand nothing is saved, so the time does not matter."""
    last = max(owner.throughput.increased or 0.0, owner.throughput.decreased or 0.0)
    return int(last * SECOND)


def throttle_samples(reasons: Sequence[Reason]) -> Iterator[Sample]:
    """The samples of a single read or write that was throttled."""
    places: dict[tuple[str, str], UnitKind] = {}
    for reason in reasons:
        place = reason.table.name, "" if reason.index is None else reason.index.name
        places[place] = reason.kind
        yield (throttle_events(reason.kind, reason.cause), *place, ""), 1.0
    for place, kind in places.items():
        yield (throttle_events(kind), *place, ""), 1.0


def _bucket_key(kind: UnitKind, table: Table, index: Index | None) -> BucketKey:
    return table.number, 0 if index is None else index.number, kind
