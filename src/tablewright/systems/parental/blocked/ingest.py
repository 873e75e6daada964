"""Taking what was blocked: batches that may be delivered any number of times, each event counted once (PC-D12).

Must hold: an event is counted for the child that had the number or address when it happened, or for none; nothing is
dropped (PC-D33), and if two children could have had the address it is counted for neither. A device tells of what it
stopped a moment later, or much later: a rule is known by its name for a day after it has gone, though neither it nor
its session is there any more, and who had an address for a week (enforcement/address_stays.py). Elsewhere: what an
event says and how a batch is split (events.py), what is written of it (counters.py), what parents see of it
(dashboard.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from pydantic import ValidationError

from tablewright.design import Query
from tablewright.edge.errors import BadRequest, Conflict, NotFound
from tablewright.kit.cache import MemoryCache
from tablewright.kit.tables import digest
from tablewright.mapping import Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.blocked import events as of
from tablewright.systems.parental.blocked.counters import Counting, Row
from tablewright.systems.parental.blocked.events import Batch, Chunk, Event
from tablewright.systems.parental.enforcement import address_stays
from tablewright.systems.parental.model import (
    AddressStay,
    Child,
    FormerRule,
    Quarantined,
    Receipt,
    RuleMapping,
)
from tablewright.systems.parental.policy.registry import Registry
from tablewright.systems.parental.repository import Repository

# How long a child may be cached. Far less than a background task waits for us (family/tasks.py).
KNOWN_FOR = timedelta(seconds=15)
AHEAD = timedelta(minutes=5)
QUARANTINE_KEPT = timedelta(days=30)

NOBODYS_NUMBER, NOBODYS_ADDRESS = "UNKNOWN_NUMBER", "UNKNOWN_ADDRESS"
SEVERAL_HAD_ADDRESS = "AMBIGUOUS_ADDRESS"
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


class Ingest:
    """Takes batches of blocked requests, from any number of threads and processes."""

    def __init__(self, repository: Repository, registry: Registry | None = None) -> None:
        self._repository, self._registry = repository, registry
        self._children = MemoryCache[Child](repository.world)
        self._counting = Counting(repository.db)

    def take(self, batch: Batch) -> Counted:
        """Count a batch; BATCH_REUSED if another one of that id was counted already."""
        return self._take(of.checked(batch), self._repository.now() + QUARANTINE_KEPT)

    # --- quarantine ---

    def waiting(
        self, size: int | None = None, after: str | None = None, reader: str = ""
    ) -> Page[Quarantined]:
        """Events that match no child, newest first."""
        return self._repository.page(self.listed(), size, after, reader)

    def listed(self) -> Query[Quarantined]:
        """The query of these events, for a page that lists them."""
        return d.quarantined()

    def again(self, quarantine_id: str) -> Counted:
        """Try to count quarantined events again; those that still match no child stay until they expire."""
        kept = self._repository.db.one(d.quarantine.get(quarantine_id), consistent=True)
        if kept is None:
            raise NotFound("QUARANTINE")
        events = [_read(one) for one in kept.events]
        finder = _Finder(events, self._repository, self._children, self._registry)
        if all(isinstance(finder.find(event), str) for event in events):
            return Counted(0, 0, sum(event.count for event in events))
        # A crash behind this line: the next try finds the receipt, and only removes what was counted.
        counted = self._take(Batch(f"again/{quarantine_id}", events), kept.expires_at)
        self._repository.db.write(d.quarantine.discard(quarantine_id))
        return counted

    # --- parts ---

    def _take(self, batch: Batch, kept_until: datetime) -> Counted:
        finder = _Finder(batch.events, self._repository, self._children, self._registry)
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
        known = self._counting.count(receipt, rows, aside)
        if known is None:
            counted, kept = sum(row.sum.count for row in rows), sum(event.count for event, _ in unknown)
            return Counted(counted, 0, kept, touched)
        if known != chunk.digest:
            words = "A different batch with this ID was already counted. Give each batch its own ID."
            raise Conflict("BATCH_REUSED", words, "batchId")
        self._counting.follow_times(rows)
        return Counted(0, sum(event.count for event in chunk.events), 0, touched)

    def _quarantined(
        self, chunk: Chunk, unknown: Sequence[tuple[Event, str]], kept_until: datetime
    ) -> list[Quarantined]:
        """Events that match no child, each with the reason, in items that are not too large."""
        found = []
        for first in range(0, len(unknown), of.EVENTS_PER_QUARANTINE):
            part = unknown[first : first + of.EVENTS_PER_QUARANTINE]
            found.append(
                Quarantined(
                    quarantine_id=digest(chunk.receipt, str(first)),
                    day=self._repository.now().date().isoformat(),
                    reason=", ".join(sorted({why for _, why in part})),
                    events=[{**event.texts(), "reason": why} for event, why in part],
                    expires_at=kept_until,
                )
            )
        return found


class _Finder:
    """Whose the events of a batch are, and of which app; asks for each number, address and name once."""

    def __init__(
        self,
        events: Iterable[Event],
        repository: Repository,
        children: MemoryCache[Child],
        registry: Registry | None,
    ) -> None:
        self._repository, self._children, self._registry = repository, children, registry
        self._now = repository.now()
        self._addresses: dict[str, tuple[list[RuleMapping], list[AddressStay]]] = {}
        self._by_key: dict[str, Child | None] = {}
        self._names: dict[str, str | None] = {}
        self._former: dict[str, FormerRule | None] = {}
        # No child has the number or address "", and it cannot be a key.
        self._addresses[""] = [], []
        self._holders = self._look_up({event.phone_number for event in events if event.phone_number})

    def sorted(self, found: Sequence[Event]) -> tuple[list[Row], list[tuple[Event, str]]]:
        """What is to be counted, an item a row, and what matches no child, with the reason."""
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
            Row(children[key], day, app_name, summed)
            for (key, app_name), events in sorted(known.items())
            for day, summed in sorted(of.summed(events, children[key].timezone).items())
        ]
        return rows, unknown

    def find(self, event: Event) -> tuple[Child, str] | str:
        """The child and the app, or why they are not known."""
        if not self._now - d.METRICS_KEPT < event.at <= self._now + AHEAD:
            return WRONG_TIME
        rule = self._rule(event)
        app_name = rule.app_name if rule is not None else self._app_name(event)
        if app_name is None:
            return UNKNOWN_APP
        whose = self._child(event, rule)
        if isinstance(whose, str):
            return whose
        # A number or address that another child had then says nothing about the child that has it now (PC-S15).
        return ANOTHERS if event.at < whose.created_at else (whose, app_name)

    def _child(self, event: Event, rule: RuleMapping | FormerRule | None) -> Child | str:
        if event.phone_number is not None:
            child = self._holders.get(event.phone_number)
            return child if child is not None else NOBODYS_NUMBER
        keys = {rule.child} if rule is not None else self._had_address(event)
        if len(keys) != 1:
            return SEVERAL_HAD_ADDRESS if keys else NOBODYS_ADDRESS
        (key,) = keys
        if key not in self._by_key:
            self._by_key[key] = self._repository.db.one(d.child_by_key(child=key))
        child = self._by_key[key]
        return child if child is not None and child.released_at is None else NOBODYS_ADDRESS

    def _had_address(self, event: Event) -> set[str]:
        """Who had the address at that moment. Behind two firewalls that may be two, and only a firewall can tell."""
        _, stays = self._at(event.private_ip or "")
        there: dict[str, AddressStay] = {}
        for one in stays:
            is_here = event.device_id in (None, one.device_id)
            if is_here and one.since <= event.at <= one.until:
                # In the moment of a change the address is the new holder's.
                last = there.get(one.device_id)
                there[one.device_id] = one if last is None or one.since >= last.since else last
        return {one.child for one in there.values()}

    def _rule(self, event: Event) -> RuleMapping | FormerRule | None:
        if not event.rule_name or event.private_ip is None:
            return None
        rules_there, _ = self._at(event.private_ip)
        there = next(
            (
                rule
                for rule in rules_there
                if rule.rule_name == event.rule_name and event.device_id in (None, rule.ftd_device_id)
            ),
            None,
        )
        if there is not None:
            return there
        # A name is one of a child, an app and an address: the next holder of the address has rules of other names.
        if event.rule_name not in self._former:
            self._former[event.rule_name] = self._repository.db.one(
                d.former_rules.get(event.rule_name), consistent=True
            )
        former = self._former[event.rule_name]
        return former if former is not None and former.private_ip == event.private_ip else None

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
            name = field_rules.app_name(given, "appName")
        except BadRequest:
            return None
        app = self._registry.app(name) if self._registry is not None else None
        return app.app_name if app is not None else name

    def _look_up(self, phones: Iterable[str]) -> dict[str, Child | None]:
        """Who has these numbers, asked for together."""
        marks = {phone: self._children.mark(phone) for phone in phones}
        holders = {phone: self._children.get(phone, mark) for phone, mark in marks.items()}
        asked = [phone for phone, child in holders.items() if child is None]
        found = self._repository.db.holders(d.children, "number", [{"held_phone": phone} for phone in asked])
        for phone, child in zip(asked, found, strict=True):
            holders[phone] = child
            if child is not None:
                self._children.set(phone, marks[phone], child, KNOWN_FOR)
        return holders

    def _at(self, address: str) -> tuple[list[RuleMapping], list[AddressStay]]:
        """The rules for an address, and who has it or had it."""
        if address not in self._addresses:
            db = self._repository.db
            # Current holders first: one that leaves in between is found among the former holders.
            now = [
                address_stays.stay(one, address_stays.here_since(one), one.expires_at)
                for one in db.all(d.sessions_of_address(private_ip=address))
            ]
            had = list(db.all(d.stays_at_address(private_ip=address)))
            self._addresses[address] = list(db.all(d.rules_of_address(private_ip=address))), now + had
        return self._addresses[address]


def _read(kept: Mapping[str, str]) -> Event:
    """An event as it was before it was kept aside."""
    try:
        return Event.model_validate({name: text for name, text in kept.items() if name != "reason"})
    except ValidationError:
        raise Conflict("QUARANTINE_UNREADABLE", "This event is no longer in quarantine.") from None
