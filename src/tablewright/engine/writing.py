"""One open write transaction: the group of requests that share a commit.

Must hold: an item, its index entries, its expiry, its counters and its journal row change together. Requests run one
after another and each sees those before it; an item that a transaction of the group has touched is taken
until the commit, as it is on the service while that transaction is in flight.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, TypeAlias

import orjson

from tablewright.engine import journal
from tablewright.engine.catalog import Catalog, Index, Table, to_json
from tablewright.engine.errors import ServiceError, collection_too_large, transaction_conflict
from tablewright.engine.indexes import EntryChange, additions, changes
from tablewright.engine.keys import expiry_key, partition_of
from tablewright.engine.limits import COLLECTION_BYTES
from tablewright.engine.metric_names import CONSUMED_READ, TRANSACTION_CONFLICT, Mark
from tablewright.engine.replica_lease import Lease, doubt, needs_lease, refuse_lapsed
from tablewright.engine.replica_lines import Line
from tablewright.engine.storage_replicas import Stamp, mark, save_number, stamp_own
from tablewright.engine.storage_rows import Row, Rows, Writes, table_name
from tablewright.engine.throttle import Reason, Throttle, Throttled, marks_of
from tablewright.engine.transfers.buckets import Buckets
from tablewright.values import Item
from tablewright.world import World

# What becomes of one request: its answer, or a mistake.
Outcome: TypeAlias = bytes | ServiceError

# A key begins with the hash of its partition (keys.py).
HASH_BYTES = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where the engine says it is: what goes into ARNs and endpoints."""

    region: str
    account: str = "000000000000"
    address: str | None = None
    # Other regions that replicas may be in; each gives its catalog, or None if it is in another process.
    neighbours: Mapping[str, Callable[[], Catalog | None]] = field(default_factory=dict)
    # Where exports go and imports come from; an engine in memory may have none.
    buckets: Buckets | None = None
    # The lines on which replicas here read from other regions.
    lines: Sequence[Line] = ()
    # What a writer among them has to be promised, if it needs that (replica_lease.py).
    lease: Lease | None = None


@dataclass(slots=True)
class Writing:
    rows: Writes
    tables: Catalog
    world: World
    place: Place
    pen: journal.Pen
    # Whether it leaves work for the labourer (labours.py), who is told after the commit.
    is_owing: bool = False
    throttle: Throttle | None = None
    # For the figures (metrics.py): the marks of all requests, and each request's verb (the empty text if it was
    # refused) with the end of its marks.
    marks: list[Mark] = field(default_factory=list)
    done: list[tuple[str, int]] = field(default_factory=list)
    begun: float = field(default_factory=perf_counter)
    failed: tuple[str, object] | None = None  # the verb and the table of a request that broke
    # What became of the requests so far, and which of them were taken under a lease: by place, with the table.
    outcomes: list[Outcome] = field(default_factory=list)
    leased: list[tuple[int, Table]] = field(default_factory=list)
    _taken: set[tuple[int, bytes]] = field(default_factory=set)
    _counts: dict[str, list[int]] = field(default_factory=dict)
    # Numbers given to writes of replicated tables, by table and region: the last of each.
    _numbers: dict[tuple[int, str], int] = field(default_factory=dict)

    def now(self) -> float:
        """The time of this transaction as the service shows times: seconds, to the millisecond."""
        return self.pen.at // 1000 / 1000

    # --- the catalog ---

    def save_table(self, table: Table) -> None:
        self.rows.save_table(table.number, to_json(table))
        self.tables = {**self.tables, table.name: table}

    def add_table(self, table: Table) -> None:
        self.tables = {**self.tables, table.name: table}

    def forget_table(self, table: Table) -> None:
        self.rows.forget_table(table.number)
        self.tables = {name: other for name, other in self.tables.items() if name != table.name}

    # --- items ---

    def take(self, table: Table, key: bytes) -> None:
        """Keep the item from other requests until the commit."""
        self._taken.add((table.number, key))

    def is_taken(self, table: Table, key: bytes) -> bool:
        return bool(self._taken) and (table.number, key) in self._taken

    def refuse_taken(self, table: Table, key: bytes) -> None:
        if self.is_taken(table, key):
            self.mark_conflict(table)
            raise transaction_conflict()

    def mark_conflict(self, table: Table) -> None:
        self.marks.append(((TRANSACTION_CONFLICT, table.name, "", ""), 1.0))

    # --- leases ---

    def refuse_lapsed(self, table: Table) -> None:
        """Refuse a write of a writer that others may have given up; one that is taken is looked at again."""
        lease = self.place.lease
        if lease is not None and needs_lease(table):
            refuse_lapsed(lease, table)
            self.leased.append((len(self.outcomes), table))

    def disown_lapsed(self) -> set[str]:
        """After the commit: what was taken under a lease that has run out since is not acknowledged; whose it was.

        Between decision and commit any time may pass (a slow disk, a process that was stopped), in which another
        region may have been promoted.
        """
        lease = self.place.lease
        assert lease is not None, "who has no lease takes nothing under one"
        doubts = {table.name: doubt(lease, table) for _, table in self.leased}
        for place, table in self.leased:
            found = doubts[table.name]
            if found is not None and isinstance(self.outcomes[place], bytes):
                self.outcomes[place] = found
        return {name for name, found in doubts.items() if found is not None}

    # --- units ---

    def spend(self, table: Table, key: bytes, units: float, index: Index | None = None) -> None:
        """Count what a write has used of the table, or of a global index."""
        spent = table.spent if index is None else table.entry_plans[index.number].spent
        self.marks.append((spent, units))
        if self.throttle is not None:
            self.throttle.spend("Write", table, index, key[:HASH_BYTES], units)

    def refuse_fast(self, table: Table, keys: Sequence[tuple[bytes, Index | None]]) -> None:
        """Refuse a write that would draw on what is used up: the table at this key, or an index at that."""
        if self.throttle is not None:
            short: list[Reason] = []
            for key, index in keys:
                short += self.throttle.short("Write", table, index, key[:HASH_BYTES])
            if short:
                self.marks += marks_of(short)
                raise Throttled(short)

    def change(
        self,
        table: Table,
        key: bytes,
        row: Row | None,
        old: Item | None,
        new: Item | None,
        new_size: int,
        source: int = journal.CLIENT,
    ) -> list[EntryChange]:
        """Put `new` in the place of `old` (None: nothing there); what that did to the indexes."""
        if row is None:
            if new is None and table.replicas is not None:
                self._stamp(table, key, source, is_gone=True)
            entries = [] if new is None else self.insert(table, key, new, new_size, source)
            assert entries is not None, "an item came between decision and deed"
            return entries
        if old is None:
            old = orjson.loads(row.item)
        if new is None:
            return self._delete(table, key, row, old, source)
        return self._update(table, key, row, old, new, new_size, source)

    def insert(
        self, table: Table, key: bytes, new: Item, size: int, source: int = journal.CLIENT
    ) -> list[EntryChange] | None:
        """Put `new` where nothing is; None if something is, and then nothing has changed."""
        raw = orjson.dumps(new)
        number = self.rows.insert(table.number, key, size, raw)
        if number is None:
            return None
        entries = additions(table, key, number, new, size)
        for entry in entries:
            if entry.new_key is not None:
                self.rows.add_entry(table.number, entry.index.number, entry.new_key, number)
        if table.ttl_index is not None:
            self._move_expiry(table, table.ttl_index, key, number, None, new)
        self._count(table, new, 1, size, entries)
        self.pen.write(self.rows, table.number, key, None, raw, source)
        if table.replicas is not None:
            self._stamp(table, key, source)
        return entries

    def _delete(self, table: Table, key: bytes, row: Row, old: Item, source: int) -> list[EntryChange]:
        self.rows.delete(table.number, row.id)
        entries = self._move_entries(table, key, row.id, old, row.size, None, 0)
        if table.ttl_index is not None:
            self._move_expiry(table, table.ttl_index, key, row.id, old, None)
        self._count(table, old, -1, -row.size, entries)
        self.pen.write(self.rows, table.number, key, row.item, None, source)
        if table.replicas is not None:
            self._stamp(table, key, source, is_gone=True)
        return entries

    def _update(
        self, table: Table, key: bytes, row: Row, old: Item, new: Item, size: int, source: int
    ) -> list[EntryChange]:
        # Values are canonical, so equal dicts are equal items, in whatever order their attributes stand.
        if old == new:
            if table.replicas is not None:
                self._stamp(table, key, source)
            return []
        raw = orjson.dumps(new)
        self.rows.update(table.number, row.id, size, raw)
        entries = self._move_entries(table, key, row.id, old, row.size, new, size)
        if table.ttl_index is not None:
            self._move_expiry(table, table.ttl_index, key, row.id, old, new)
        self._count(table, new, 0, size - row.size, entries)
        self.pen.write(self.rows, table.number, key, row.item, raw, source)
        if table.replicas is not None:
            self._stamp(table, key, source)
        return entries

    def _move_entries(
        self,
        table: Table,
        key: bytes,
        row: int,
        old: Item | None,
        old_size: int,
        new: Item | None,
        new_size: int,
    ) -> list[EntryChange]:
        if not table.indexes:
            return []
        moved = changes(table, key, row, old, old_size, new, new_size)
        for entry in moved:
            if entry.old_key != entry.new_key:
                if entry.old_key is not None:
                    self.rows.drop_entry(table.number, entry.index.number, entry.old_key)
                if entry.new_key is not None:
                    self.rows.add_entry(table.number, entry.index.number, entry.new_key, row)
        return moved

    def _move_expiry(
        self, table: Table, index: int, key: bytes, row: int, old: Item | None, new: Item | None
    ) -> None:
        if table.awaits_expiry(row):
            return
        name = table.ttl_attribute or ""
        if old is not None and new is not None and old.get(name) == new.get(name):
            return  # the usual case
        before = None if old is None else expiry_key(table, old, key)
        after = None if new is None else expiry_key(table, new, key)
        if before == after:
            return
        if before is not None:
            self.rows.drop_entry(table.number, index, before)
        if after is not None:
            self.rows.add_entry(table.number, index, after, row)

    # --- stamps of tables with replicas ---

    def _stamp(self, table: Table, key: bytes, source: int, is_gone: bool = False) -> None:
        """Note when and where the key was last written, for the other replicas to read.

        Also of a write that changed nothing: it is newer than one that was made elsewhere before it. What time
        deletes is stamped just after what it deletes, so that a write elsewhere that keeps the item wins.
        """
        if source == journal.REPLICA or table.replicas is None:
            return  # whoever takes over a change from elsewhere takes over its stamp
        at = 1 if source == journal.TIME_TO_LIVE else self.pen.at
        region = table.replicas.region
        place = table.number, region
        last = self._numbers.get(place)
        number = self._numbers[place] = 1 + (mark(self.rows, *place).number if last is None else last)
        stamp_own(self.rows, table.ledger, key, Stamp(at, region, number, is_gone))

    def forget_numbers(self, table: Table) -> None:
        for place in [place for place in self._numbers if place[0] == table.number]:
            del self._numbers[place]

    # --- counters, written once for the whole group ---

    def _count(self, table: Table, item: Item, items: int, size: int, entries: list[EntryChange]) -> None:
        self.count(table_name(table.number), items, size)
        for entry in entries:
            came = (entry.new_key is not None) - (entry.old_key is not None)
            counted = table.entry_plans[entry.index.number].counted
            self.count(counted, came, entry.new_size - entry.old_size)
        if table.has_local_indexes:
            grown = size + sum(e.new_size - e.old_size for e in entries if e.index.local)
            self.rows.add_to_collection(table.number, partition_of(table, item), grown)

    def count(self, owner: str, items: int, size: int) -> None:
        counted = self._counts.get(owner)
        if counted is None:
            self._counts[owner] = [items, size]
        else:
            counted[0] += items
            counted[1] += size

    def forget_counts(self, owner: str) -> None:
        self._counts.pop(owner, None)

    def flush(self) -> None:
        for owner, (items, size) in self._counts.items():
            if items or size:
                self.rows.add_to_counts(owner, items, size)
        self._counts.clear()
        for (table, region), number in self._numbers.items():
            save_number(self.rows, table, region, number)
        self._numbers.clear()
        self.rows.settle()


class Reading(NamedTuple):
    """What a read may look at: committed rows and the catalog that goes with them."""

    rows: Rows
    tables: Catalog
    place: Place
    world: World
    throttle: Throttle | None = None
    marks: list[Mark] | None = None

    def now(self) -> int:
        """Microseconds since 1970."""
        return journal.microseconds(self.world.now())

    def spend(self, table: Table, index: Index | None, units: float, key: bytes = b"") -> None:
        """Count what a read has used; `key` is where, if that was in one partition."""
        if index is None and self.throttle is None and self.marks is not None:  # most reads, in one step
            self.marks.append(((CONSUMED_READ, table.name, "", ""), units))
            return
        if index is not None and index.local:
            index = None  # a local index draws on its table
        if self.marks is not None:
            self.marks.append(((CONSUMED_READ, table.name, "" if index is None else index.name, ""), units))
        if self.throttle is not None:
            self.throttle.spend("Read", table, index, key[:HASH_BYTES], units)

    def refuse_fast(self, table: Table, index: Index | None, key: bytes = b"") -> None:
        """Refuse a read of what is used up."""
        if self.throttle is None:
            return
        own = None if index is None or index.local else index
        short = self.throttle.short("Read", table, own, key[:HASH_BYTES])
        if short:
            if self.marks is not None:
                self.marks.extend(marks_of(short))
            raise Throttled(short)


def refuse_full_collection(writing: Writing, table: Table, item: Item, grown: int) -> None:
    """A partition of a table with local indexes holds 10 GB at most."""
    if table.has_local_indexes and grown > 0:
        held = writing.rows.collection(table.number, partition_of(table, item))
        if held + grown > COLLECTION_BYTES:
            raise collection_too_large()
