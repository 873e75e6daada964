"""What a chunk of a batch adds to the items of metrics, written once (PC-D12).

A chunk's receipt, its counts and its events without a child are one transaction: a receipt that is there means that all
of it is counted or kept. Each item is read or remembered, and put back whole with its counts if no other writer has
touched it since. Where others count for it in this very moment, the chunk is counted by adding, which goes on with
everybody; first and last times then follow in writes of their own, as they do for a chunk that is repeated, so a crash
in between is mended by the next delivery (PC-D13). Must hold: blockedCount is the sum of the hours, and of the counts
of the events of that day on the child's clock; times never move the wrong way. This is the busiest path of the system,
so it deals in items as they are stored: models of them would cost as much as the writing. Elsewhere: whose events they
are (ingest.py).
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from threading import Lock
from typing import Any, TypeAlias

import orjson

from tablewright.design import Write
from tablewright.design.key_codecs import milliseconds
from tablewright.mapping import ActionsRefused, AlreadyExists, Db, Missing
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.events import Sum
from tablewright.systems.parental.model import Child, Metric, Quarantined, Receipt

log = logging.getLogger("tablewright.parental")

# Every write to an item of metrics changes one of these. None of the names is a reserved word.
_UNTOUCHED = "blockedCount = :c AND timestampFirst = :f AND timestampLast = :l AND parentEmail = :p"
# Rows of which the last state is remembered: 10 MB at the most.
_REMEMBERED = 20_000
_Place: TypeAlias = tuple[str, date, str]
# As the wire has them.
Value: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, Value]
_NOTHING: Value = {"N": "0"}


@dataclass(frozen=True, slots=True)
class Row:
    """What a chunk adds to one item."""

    child: Child
    date: date
    app_name: str
    sum: Sum


class _Touched(Exception):
    """Others count for one of these items in this moment, or something else than we has written one."""


class Counting:
    """Writes counts. Any number of threads and processes may."""

    def __init__(self, db: Db) -> None:
        self._db, self._table = db, db.physical(d.metrics.shape.table.name)
        self._memory = _Memory()

    def count(self, receipt: Receipt, rows: Sequence[Row], aside: Sequence[Write[Quarantined]]) -> str | None:
        """Count a chunk; if its receipt is there it was counted before, and the digest of that is returned."""
        # The receipt first: of several reasons to refuse, the first is told.
        first = d.receipts.create(receipt)
        for look in (self._known, self._found):
            try:
                return self._count_on(first, rows, look(rows), aside)
            except _Touched:
                self._memory.forget(rows)
        return self._add(first, rows, aside)

    def follow_times(self, rows: Sequence[Row]) -> None:
        """First and last never move the wrong way, whatever order events arrive in (PC-D13)."""
        for row, found in zip(rows, self._found(rows), strict=True):
            if found is None:
                continue  # a repeated batch whose events were kept aside, or a child that was erased
            write = d.metrics.update(row.child.child, row.date, row.app_name)
            steps = write
            if "timestampFirst" not in found or milliseconds(row.sum.first) < found["timestampFirst"]["S"]:
                steps = steps.at(lambda metric: metric.timestamp_first).lowest(row.sum.first)
            if "timestampLast" not in found or milliseconds(row.sum.last) > found["timestampLast"]["S"]:
                steps = steps.at(lambda metric: metric.timestamp_last).highest(row.sum.last)
            if steps is write:
                continue
            try:
                self._db.write(steps)
            except Missing:
                log.debug("metric is gone")  # erased in this moment: its times are of no use

    def _found(self, rows: Sequence[Row]) -> list[Item | None]:
        gets = [d.metrics.get(row.child.child, row.date, row.app_name) for row in rows]
        return self._db.items(gets, consistent=True)

    def _known(self, rows: Sequence[Row]) -> list[Item | None]:
        """What is remembered of items, and what is found of the others."""
        known = self._memory.recall(rows)
        found = iter(self._found([row for row, item in zip(rows, known, strict=True) if item is None]))
        return [next(found) if item is None else item for item in known]

    def _count_on(
        self,
        first: Write[Receipt],
        rows: Sequence[Row],
        found: Sequence[Item | None],
        aside: Sequence[Write[Quarantined]],
    ) -> str | None:
        """Put each item back with its counts, if all are what was found."""
        puts = [self._put(row, item) for row, item in zip(rows, found, strict=True)]
        actions = [*self._db.wire(first), *({"Put": put} for put in puts), *self._db.wire(*aside)]
        try:
            self._db.transact("metric.count", actions)
        except ActionsRefused as refused:
            if 0 in refused.failed:
                return _digest_of(refused.failed[0])
            raise _Touched from None
        self._memory.keep(rows, [put["Item"] for put in puts])
        return None

    def _put(self, row: Row, found: Item | None) -> dict[str, Any]:
        if found is None:
            begun = d.metrics.create(_begun(row, row.sum.count, row.sum.hourly))
            put: dict[str, Any] = self._db.wire(begun)[0]["Put"]
            return put
        try:
            return {
                "TableName": self._table,
                "Item": _grown(found, row.sum),
                "ConditionExpression": _UNTOUCHED,
                "ExpressionAttributeValues": {
                    ":c": found["blockedCount"],
                    ":f": found["timestampFirst"],
                    ":l": found["timestampLast"],
                    ":p": found["parentEmail"],
                },
            }
        except (KeyError, ValueError):
            raise _Touched from None

    def _add(
        self, first: Write[Receipt], rows: Sequence[Row], aside: Sequence[Write[Quarantined]]
    ) -> str | None:
        """Count a chunk by adding to whatever is there."""
        try:
            self._db.write(first, *(_added(row) for row in rows), *aside)
        except AlreadyExists as refused:
            return refused.current.digest if isinstance(refused.current, Receipt) else ""
        self.follow_times(rows)
        return None


class _Memory:
    """Items as we wrote them last, so that they need not be read again: of a child whose app is blocked there is more.

    They may be out of date, so who uses them makes sure they are not. Any thread may.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        # As text, which is a tenth of the size.
        self._items: dict[_Place, bytes] = {}

    def recall(self, rows: Sequence[Row]) -> list[Item | None]:
        found = [self._items.get(_place(row)) for row in rows]
        return [None if text is None else orjson.loads(text) for text in found]

    def keep(self, rows: Sequence[Row], items: Sequence[Item]) -> None:
        texts = [orjson.dumps(item) for item in items]
        with self._lock:
            for row, text in zip(rows, texts, strict=True):
                place = _place(row)
                self._items.pop(place, None)  # so that it is the newest
                self._items[place] = text
            for place in list(islice(self._items, max(len(self._items) - _REMEMBERED, 0))):
                del self._items[place]

    def forget(self, rows: Sequence[Row]) -> None:
        with self._lock:
            for row in rows:
                self._items.pop(_place(row), None)


def _place(row: Row) -> _Place:
    return row.child.child, row.date, row.app_name


def kept_until(day: date) -> datetime:
    """Until when a day's counts are kept (PC-X12)."""
    return datetime.combine(day, time(), UTC) + d.METRICS_KEPT + timedelta(days=1)


def _begun(row: Row, count: int, hourly: Mapping[str, int]) -> Metric:
    """A new item, whole: with its day, its app, its parent and its times (PC-D2, PC-D11)."""
    return Metric(
        child=row.child.child,
        date=row.date,
        app_name=row.app_name,
        parent_email=row.child.parent_email,
        blocked_count=count,
        hourly=dict(hourly),
        timestamp_first=row.sum.first,
        timestamp_last=row.sum.last,
        tz=row.child.timezone,
        kept_until=kept_until(row.date),
    )


def _grown(found: Item, more: Sum) -> Item:
    """An item as it is stored, with more counted."""
    hourly = dict(found["hourly"]["M"])
    for hour, count in more.hourly.items():
        hourly[hour] = _sum(hourly.get(hour, _NOTHING), count)
    first = milliseconds(more.first)
    last = first if more.last is more.first else milliseconds(more.last)
    return {
        **found,
        "blockedCount": _sum(found["blockedCount"], more.count),
        "hourly": {"M": hourly},
        # Times are stored as text of one length and one zone, which sorts as they do.
        "timestampFirst": {"S": min(first, found["timestampFirst"]["S"])},
        "timestampLast": {"S": max(last, found["timestampLast"]["S"])},
    }


def _sum(there: Value, count: int) -> Value:
    return {"N": str(int(there["N"]) + count)}


def _added(row: Row) -> Write[Metric]:
    """Add to whatever is there, or begin it."""
    write = d.metrics.upsert(_begun(row, 0, {})).at(lambda metric: metric.blocked_count).add(row.sum.count)
    for hour, count in row.sum.hourly.items():
        write = _add_hour(write, hour, count)
    return write


def _add_hour(write: Write[Metric], hour: str, count: int) -> Write[Metric]:
    return write.at(lambda metric: metric.hourly[hour]).add(count)


def _digest_of(receipt: Mapping[str, Any] | None) -> str:
    """What was in the chunk of a receipt that is there already."""
    digest: str = ((receipt or {}).get("digest") or {}).get("S", "")
    return digest
