"""Counting what was blocked: batches that may be delivered any number of times, each event counted once (PC-D12).

A chunk's receipt, its counts and its events that are nobody's are one transaction: a receipt that is there means that
all of it is counted or kept. First and last times are moved in it too; where others move them in the same moment they
follow in writes of their own, as they do for a batch that is repeated, so a crash in between is mended by the next
delivery (PC-D13). Must hold: blockedCount is the sum of the hours, and of the counts of the events of that day on the
child's clock; an event is counted for who had the number or the address when it happened, or for nobody; nothing is
dropped (PC-D33).
Elsewhere: what an event says and how a batch is split (events.py), what parents see of it (figures.py).
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from pydantic import ValidationError

from tablewright.design import Write
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental import events as of
from tablewright.systems.parental import rules
from tablewright.systems.parental.cache import MemoryCache
from tablewright.systems.parental.errors import BadRequest, Conflict, NotThere
from tablewright.systems.parental.events import Batch, Chunk, Event, Sum
from tablewright.systems.parental.model import Child, Metric, Quarantined, Receipt, RuleMapping, Session
from tablewright.systems.parental.registry import Registry
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

# How long a child may be known from before. Far less than what an errand waits for us (errands.py).
KNOWN_FOR = timedelta(seconds=15)
AHEAD = timedelta(minutes=5)
QUARANTINE_KEPT = timedelta(days=30)

NOBODYS_NUMBER, NOBODYS_ADDRESS = "UNKNOWN_NUMBER", "UNKNOWN_ADDRESS"
ANOTHERS, UNKNOWN_APP, WRONG_TIME = "BEFORE_THIS_OWNER", "UNKNOWN_APP", "WRONG_TIME"


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of a batch, in blocked requests. `touched`: the days whose counts it is in, now or since before."""

    counted: int
    repeated: int
    quarantined: int
    touched: frozenset[tuple[str, date]] = frozenset()

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(
            self.counted + other.counted,
            self.repeated + other.repeated,
            self.quarantined + other.quarantined,
            self.touched | other.touched,
        )


@dataclass(frozen=True, slots=True)
class _Row:
    """What a chunk adds to one item."""

    child: Child
    date: date
    app_name: str
    sum: Sum


class Ingest:
    """Takes batches of blocked requests, from any number of threads and processes."""

    def __init__(self, repository: Repository, registry: Registry | None = None) -> None:
        self._repository, self._registry = repository, registry
        self._children = MemoryCache[Child](repository.world)

    def take(self, batch: Batch) -> Counted:
        """Count a batch; BATCH_REUSED if another one of that id was counted already."""
        return self._take(of.checked(batch), self._repository.now() + QUARANTINE_KEPT)

    # --- events that are nobody's ---

    def waiting(
        self, size: int | None = None, after: str | None = None, reader: str = ""
    ) -> Page[Quarantined]:
        """What nobody knew whose it is, newest first."""
        return self._repository.page(d.quarantined(), size, after, reader)

    def again(self, quarantine_id: str) -> Counted:
        """Try to count what waits there; what is still nobody's stays, for as long as it would have."""
        kept = self._repository.db.one(d.quarantine.get(quarantine_id), consistent=True)
        if kept is None:
            raise NotThere("QUARANTINE")
        events = [_read(one) for one in kept.events]
        finder = _Finder(self._repository, self._children, self._registry)
        if all(isinstance(finder.find(event), str) for event in events):
            return Counted(0, 0, sum(event.count for event in events))
        # A crash behind this line: the next try finds the receipt, and only removes what was counted.
        counted = self._take(Batch(f"again/{quarantine_id}", events), kept.expires_at)
        self._repository.db.write(d.quarantine.discard(quarantine_id))
        return counted

    # --- parts ---

    def _take(self, batch: Batch, kept_until: datetime) -> Counted:
        finder = _Finder(self._repository, self._children, self._registry)
        done = Counted(0, 0, 0)
        for chunk in of.chunks(batch):
            done += self._chunk(chunk, finder, kept_until)
        return done

    def _chunk(self, chunk: Chunk, finder: "_Finder", kept_until: datetime) -> Counted:
        rows, unknown = finder.sorted(chunk.events)
        touched = frozenset((row.child.child, row.date) for row in rows)
        now = self._repository.now()
        receipt = Receipt(
            batch_id=chunk.receipt, digest=chunk.digest, received_at=now, expires_at=now + d.RECEIPTS_KEPT
        )
        aside = [d.quarantine.put(one) for one in self._quarantined(chunk, unknown, kept_until)]
        try:
            self._write(receipt, rows, aside)
        except AlreadyExists as refused:
            if isinstance(refused.current, Receipt) and refused.current.digest != chunk.digest:
                words = "Another batch of this id was counted already. Give each batch an id of its own."
                raise Conflict("BATCH_REUSED", words, "batchId") from None
            self._follow_times(rows)
            return Counted(0, sum(event.count for event in chunk.events), 0, touched)
        counted, kept = sum(row.sum.count for row in rows), sum(event.count for event, _ in unknown)
        return Counted(counted, 0, kept, touched)

    def _write(self, receipt: Receipt, rows: Sequence[_Row], aside: Sequence[Write[Quarantined]]) -> None:
        """Count a chunk; AlreadyExists if it was counted before."""
        db = self._repository.db
        # The receipt first: of several reasons to refuse, the first is told.
        first = d.receipts.create(receipt)
        with_times = [_count_on(row, found) for row, found in zip(rows, self._found(rows), strict=True)]
        try:
            db.write(first, *with_times, *aside)
        except (ConditionNotMet, Missing):
            # Others count for the same child in this moment: only adding goes on with everybody.
            db.write(first, *(_count(row) for row in rows), *aside)
            self._follow_times(rows)

    def _found(self, rows: Sequence[_Row]) -> list[Metric | None]:
        gets = [d.metrics.get(row.child.child, row.date, row.app_name) for row in rows]
        return self._repository.db.many(gets, consistent=True)

    def _follow_times(self, rows: Sequence[_Row]) -> None:
        """First and last never move the wrong way, whatever order events arrive in (PC-D13)."""
        db = self._repository.db
        for row, found in zip(rows, self._found(rows), strict=True):
            if found is None:
                continue  # a repeated batch whose events were kept aside, or a child that was erased
            write = d.metrics.update(row.child.child, row.date, row.app_name)
            steps = write
            if found.timestamp_first is None or row.sum.first < found.timestamp_first:
                steps = steps.at(lambda metric: metric.timestamp_first).lowest(row.sum.first)
            if found.timestamp_last is None or row.sum.last > found.timestamp_last:
                steps = steps.at(lambda metric: metric.timestamp_last).highest(row.sum.last)
            if steps is write:
                continue
            try:
                db.write(steps)
            except Missing:
                log.debug("metric is gone")  # erased in this moment: its times are of no use

    def _quarantined(
        self, chunk: Chunk, unknown: Sequence[tuple[Event, str]], kept_until: datetime
    ) -> list[Quarantined]:
        """Events that are nobody's, each with the reason, in items that are not too large."""
        found = []
        for first in range(0, len(unknown), of.EVENTS_PER_QUARANTINE):
            part = unknown[first : first + of.EVENTS_PER_QUARANTINE]
            found.append(
                Quarantined(
                    quarantine_id=rules.digest(chunk.receipt, str(first)),
                    day=self._repository.now().date().isoformat(),
                    reason=", ".join(sorted({why for _, why in part})),
                    events=[{**event.texts(), "reason": why} for event, why in part],
                    expires_at=kept_until,
                )
            )
        return found


class _Finder:
    """Whose events are, and of which app; asks for each number, address and name once in its life: one batch."""

    def __init__(
        self, repository: Repository, children: MemoryCache[Child], registry: Registry | None
    ) -> None:
        self._repository, self._children, self._registry = repository, children, registry
        self._now = repository.now()
        self._holders: dict[str, Child | None] = {}
        self._addresses: dict[str, tuple[list[RuleMapping], list[Session]]] = {}
        self._by_key: dict[str, Child | None] = {}
        self._names: dict[str, str | None] = {}

    def sorted(self, found: Sequence[Event]) -> tuple[list[_Row], list[tuple[Event, str]]]:
        """What is to be counted, an item a row, and what is nobody's, with the reason."""
        known: dict[tuple[str, str], list[Event]] = {}
        children: dict[str, Child] = {}
        unknown: list[tuple[Event, str]] = []
        for event in found:
            whose = self.find(event)
            if isinstance(whose, str):
                unknown.append((event, whose))
                continue
            child, app_name = whose
            children[child.child] = child
            known.setdefault((child.child, app_name), []).append(event)
        rows = [
            _Row(children[key], day, app_name, summed)
            for (key, app_name), events in sorted(known.items())
            for day, summed in sorted(of.summed(events, children[key].timezone).items())
        ]
        return rows, unknown

    def find(self, event: Event) -> tuple[Child, str] | str:
        """The child and the app, or why nobody can say."""
        if not self._now - d.METRICS_KEPT < event.at <= self._now + AHEAD:
            return WRONG_TIME
        rule = self._rule(event)
        app_name = rule.app_name if rule is not None else self._app_name(event)
        if app_name is None:
            return UNKNOWN_APP
        whose = self._child(event, rule)
        if isinstance(whose, str):
            return whose
        # A number or an address that was somebody else's then says nothing of who has it now (PC-S15).
        return ANOTHERS if event.at < whose.created_at else (whose, app_name)

    def _child(self, event: Event, rule: RuleMapping | None) -> Child | str:
        if event.phone_number is not None:
            child = self._holder(event.phone_number)
            return child if child is not None else NOBODYS_NUMBER
        key = rule.child if rule is not None else self._had_address(event)
        if key is None:
            return NOBODYS_ADDRESS
        if key not in self._by_key:
            self._by_key[key] = self._repository.db.one(d.child_by_key(child=key))
        child = self._by_key[key]
        return child if child is not None and child.released_at is None else NOBODYS_ADDRESS

    def _had_address(self, event: Event) -> str | None:
        _, sessions = self._at(event.private_ip or "")
        had = [session for session in sessions if session.started_at <= event.at]
        return max(had, key=lambda session: session.started_at).child if had else None

    def _rule(self, event: Event) -> RuleMapping | None:
        if event.rule_name is None or event.private_ip is None:
            return None
        rules_there, _ = self._at(event.private_ip)
        return next((rule for rule in rules_there if rule.rule_name == event.rule_name), None)

    def _app_name(self, event: Event) -> str | None:
        if event.app_name is None:
            return None
        if event.app_name not in self._names:
            self._names[event.app_name] = self._registered(event.app_name)
        return self._names[event.app_name]

    # --- reads, each once ---

    def _registered(self, given: str) -> str | None:
        """A name as the registry has it, or as it is; None if it can be no name."""
        try:
            name = rules.app_name(given, "appName")
        except BadRequest:
            return None
        app = self._registry.app(name) if self._registry is not None else None
        return app.app_name if app is not None else name

    def _holder(self, phone: str) -> Child | None:
        if phone not in self._holders:
            self._holders[phone] = self._looked_up(phone)
        return self._holders[phone]

    def _looked_up(self, phone: str) -> Child | None:
        mark = self._children.mark(phone)
        child = self._children.get(phone, mark)
        if child is None:
            child = self._repository.child_of_phone(phone)
            if child is not None:
                self._children.set(phone, mark, child, KNOWN_FOR)
        return child

    def _at(self, address: str) -> tuple[list[RuleMapping], list[Session]]:
        if address not in self._addresses:
            db = self._repository.db
            self._addresses[address] = (
                list(db.all(d.rules_of_address(private_ip=address))),
                list(db.all(d.sessions_of_address(private_ip=address))),
            )
        return self._addresses[address]


def kept_until(day: date) -> datetime:
    """Until when a day's counts are kept (PC-X12)."""
    return datetime.combine(day, time(), UTC) + d.METRICS_KEPT + timedelta(days=1)


def _count(row: _Row) -> Write[Metric]:
    """Add to an item, or begin it whole: with its day, its app, its parent and its times (PC-D2, PC-D11)."""
    start = Metric(
        child=row.child.child,
        date=row.date,
        app_name=row.app_name,
        parent_email=row.child.parent_email,
        timestamp_first=row.sum.first,
        timestamp_last=row.sum.last,
        tz=row.child.timezone,
        kept_until=kept_until(row.date),
    )
    return _added(d.metrics.upsert(start), row.sum)


def _count_on(row: _Row, found: Metric | None) -> Write[Metric]:
    """Add to what was found, and move its times, if nobody else moves them meanwhile."""
    if found is None or found.timestamp_first is None or found.timestamp_last is None:
        return _count(row)
    write = _added(d.metrics.update(row.child.child, row.date, row.app_name), row.sum)
    first, last = row.sum.first, row.sum.last
    if first < found.timestamp_first:
        write = write.at(lambda metric: metric.timestamp_first).set(first)
        write = write.when(lambda metric: first < _known(metric.timestamp_first))
    if last > found.timestamp_last:
        write = write.at(lambda metric: metric.timestamp_last).set(last)
        write = write.when(lambda metric: last > _known(metric.timestamp_last))
    return write


def _known(moment: datetime | None) -> datetime:
    return moment  # type: ignore[return-value]  # the caller has looked; and what comes here is a path, not a time


def _added(write: Write[Metric], more: Sum) -> Write[Metric]:
    write = write.at(lambda metric: metric.blocked_count).add(more.count)
    for hour in more.hourly:
        write = _add_hour(write, hour, more.hourly[hour])
    return write


def _add_hour(write: Write[Metric], hour: str, count: int) -> Write[Metric]:
    return write.at(lambda metric: metric.hourly[hour]).add(count)


def _read(kept: Mapping[str, str]) -> Event:
    """An event as it was before it was kept aside."""
    try:
        return Event.model_validate({name: text for name, text in kept.items() if name != "reason"})
    except ValidationError:
        raise Conflict("QUARANTINE_UNREADABLE", "What is kept there is no event any more.") from None
