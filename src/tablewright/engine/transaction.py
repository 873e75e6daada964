"""One open write transaction, which the requests of a group share; and what a read may use.

Must hold: an item, its index entries, its expiry, its counters and its journal row change together. Requests run one
after another and each sees those before it; an item that a transaction of the group has changed is locked
until the commit, as it is on the service while that transaction is in flight.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, TypeAlias

import orjson

from tablewright.engine import journal
from tablewright.engine.catalog import Catalog, Index, Table, to_json
from tablewright.engine.errors import CONFLICT, ServiceError
from tablewright.engine.indexes import EntryChange, additions, changes
from tablewright.engine.keys import expiry_key, partition_of
from tablewright.engine.limits import COLLECTION_BYTES
from tablewright.engine.metrics.names import CONSUMED_READ, TRANSACTION_CONFLICT, Sample
from tablewright.engine.read_budget import ROW_COST, ReadBudget
from tablewright.engine.replication.store import Stamp, read_mark, save_number, stamp_own
from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import Row, RowReader, table_name
from tablewright.engine.throughput.token_buckets import Reason, Throttle, Throttled, throttle_samples
from tablewright.engine.transfer.buckets import Buckets
from tablewright.engine.vectors import entries as vector_entries
from tablewright.engine.vectors import store as vector_store
from tablewright.values import Item
from tablewright.world import World

# The outcome of one request: its response, or an error.
Outcome: TypeAlias = bytes | ServiceError

# A key begins with the hash of its partition (keys.py).
HASH_BYTES = 4


@dataclass(frozen=True, slots=True)
class EngineContext:
    """The engine's region and account, as ARNs and endpoints show them, and what surrounds it."""

    region: str
    account: str = "000000000000"
    address: str | None = None
    # The catalogs of the other regions of this process, in which tables may have replicas.
    regions: Mapping[str, Callable[[], Catalog]] = field(default_factory=dict)
    # Where exports go and imports come from; an engine in memory may have none.
    buckets: Buckets | None = None


@dataclass(slots=True)
class WriteTransaction:
    rows: RowWriter
    tables: Catalog
    world: World
    place: EngineContext
    position: journal.JournalPosition
    # True if it leaves work for the job thread (background/jobs.py), which is woken after the commit.
    has_background_work: bool = False
    throttle: Throttle | None = None
    # For the figures (metrics/collector.py): the samples of all requests, and each request's verb (empty if it was
    # refused) with the end of its samples.
    samples: list[Sample] = field(default_factory=list)
    done: list[tuple[str, int]] = field(default_factory=list)
    begun: float = field(default_factory=perf_counter)
    failed: tuple[str, object] | None = None  # the verb and the table of a request that failed
    _locked: set[tuple[int, bytes]] = field(default_factory=set)
    _counts: dict[str, list[int]] = field(default_factory=dict)
    # Numbers given to writes of replicated tables, by table and region: the last of each.
    _numbers: dict[tuple[int, str], int] = field(default_factory=dict)

    def now_seconds(self) -> float:
        """The time of this transaction as the service shows times: seconds, to the millisecond."""
        return self.position.at // 1000 / 1000

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

    def lock_item(self, table: Table, key: bytes) -> None:
        """Lock the item against other requests until the commit."""
        self._locked.add((table.number, key))

    def is_locked(self, table: Table, key: bytes) -> bool:
        return bool(self._locked) and (table.number, key) in self._locked

    def check_item_lock(self, table: Table, key: bytes) -> None:
        if self.is_locked(table, key):
            self.mark_conflict(table)
            raise ServiceError("TransactionConflictException", CONFLICT)

    def mark_conflict(self, table: Table) -> None:
        self.samples.append(((TRANSACTION_CONFLICT, table.name, "", ""), 1.0))

    # --- units ---

    def spend(self, table: Table, key: bytes, units: float, index: Index | None = None) -> None:
        """Count what a write has used of the table, or of a global index."""
        spent = table.spent if index is None else table.entry_plans[index.number].spent
        self.samples.append((spent, units))
        if self.throttle is not None:
            self.throttle.spend("Write", table, index, key[:HASH_BYTES], units)

    def check_throughput(self, table: Table, keys: Sequence[tuple[bytes, Index | None]]) -> None:
        """Refuse a write to a table or index whose units are used up at that key."""
        if self.throttle is not None:
            exhausted: list[Reason] = []
            for key, index in keys:
                exhausted += self.throttle.exhausted("Write", table, index, key[:HASH_BYTES])
            if exhausted:
                self.samples += throttle_samples(exhausted)
                raise Throttled(exhausted)

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
        """Replace `old` by `new` (None: no item); the changes of index entries."""
        if row is None:
            if new is None and table.replicas is not None:
                self._stamp(table, key, source, is_gone=True)
            entries = [] if new is None else self.insert(table, key, new, new_size, source)
            assert entries is not None, "an item was inserted since the write was evaluated"
            return entries
        if old is None:
            old = orjson.loads(row.item)
        if new is None:
            return self._delete(table, key, row, old, source)
        return self._update(table, key, row, old, new, new_size, source)

    def insert(
        self, table: Table, key: bytes, new: Item, size: int, source: int = journal.CLIENT
    ) -> list[EntryChange] | None:
        """Insert `new`; None, and no change, if an item with that key exists."""
        raw = orjson.dumps(new)
        number = self.rows.insert(table.number, key, size, raw)
        if number is None:
            return None
        entries = additions(table, key, number, new, size)
        for entry in entries:
            if entry.new_key is not None:
                self.rows.add_entry(table.number, entry.index.number, entry.new_key, number)
        if table.vectors:
            self._move_vectors(table, key, number, None, new)
        if table.ttl_index is not None:
            self._move_expiry(table, table.ttl_index, key, number, None, new)
        self._count(table, new, 1, size, entries)
        self.position.write(self.rows, table.number, key, None, raw, source)
        if table.replicas is not None:
            self._stamp(table, key, source)
        return entries

    def _delete(self, table: Table, key: bytes, row: Row, old: Item, source: int) -> list[EntryChange]:
        self.rows.delete(table.number, row.id)
        entries = self._move_entries(table, key, row.id, old, row.size, None, 0)
        if table.vectors:
            self._move_vectors(table, key, row.id, old, None)
        if table.ttl_index is not None:
            self._move_expiry(table, table.ttl_index, key, row.id, old, None)
        self._count(table, old, -1, -row.size, entries)
        self.position.write(self.rows, table.number, key, row.item, None, source)
        if table.replicas is not None:
            self._stamp(table, key, source, is_gone=True)
        return entries

    def _update(
        self, table: Table, key: bytes, row: Row, old: Item, new: Item, size: int, source: int
    ) -> list[EntryChange]:
        # Values are canonical, so equal dicts are equal items, whatever the order of their attributes.
        if old == new:
            if table.replicas is not None:
                self._stamp(table, key, source)
            return []
        raw = orjson.dumps(new)
        self.rows.update(table.number, row.id, size, raw)
        entries = self._move_entries(table, key, row.id, old, row.size, new, size)
        if table.vectors:
            self._move_vectors(table, key, row.id, old, new)
        if table.ttl_index is not None:
            self._move_expiry(table, table.ttl_index, key, row.id, old, new)
        self._count(table, new, 0, size - row.size, entries)
        self.position.write(self.rows, table.number, key, row.item, raw, source)
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

    def _move_vectors(self, table: Table, key: bytes, row: int, old: Item | None, new: Item | None) -> None:
        for index, before, after in vector_entries.moves(table, key, row, old, new):
            if before == after:
                continue
            if before is not None and (after is None or before.key != after.key):
                self.rows.drop_entry(table.number, index.number, before.key)
            if after is not None:
                vector_store.put(self.rows, table.number, index.number, row, after)
            came = (after is not None) - (before is not None)
            grown = (0 if after is None else after.size) - (0 if before is None else before.size)
            self.count(vector_entries.counted(table, index), came, grown)

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
        """Store when and where the key was last written, for the other replicas to read.

        Also for a write that changed nothing: it is newer than one made elsewhere before it. A delete by time to live
        is stamped just after the write it deletes, so that a write elsewhere that extends the item's life wins.
        """
        if source == journal.REPLICA or table.replicas is None:
            return  # a write of another region keeps its own stamp
        at = 1 if source == journal.TIME_TO_LIVE else self.position.at
        region = table.replicas.region
        place = table.number, region
        last = self._numbers.get(place)
        number = self._numbers[place] = 1 + (read_mark(self.rows, *place).number if last is None else last)
        stamp_own(self.rows, table.stamp_table, key, Stamp(at, region, number, is_gone))

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
        counts = [(owner, items, size) for owner, (items, size) in self._counts.items() if items or size]
        if counts:
            self.rows.add_to_counts(*counts)
        self._counts.clear()
        for (table, region), number in self._numbers.items():
            save_number(self.rows, table, region, number)
        self._numbers.clear()
        self.rows.flush_buffers()


class ReadTransaction(NamedTuple):
    """What a read uses: committed rows and the catalog that belongs to them."""

    rows: RowReader
    tables: Catalog
    place: EngineContext
    world: World
    throttle: Throttle | None = None
    samples: list[Sample] | None = None
    effort: ReadBudget | None = None
    # Called when the read needs no more rows: in memory they are locked until then.
    release: Callable[[], None] | None = None

    def now_us(self) -> int:
        """Microseconds since 1970."""
        return journal.microseconds(self.world.now())

    def work(self, size: int) -> None:
        """A row of this size was looked at; raises ExceedsBudget if that is too much for where it is read."""
        if self.effort is not None:
            self.effort.spend(size + ROW_COST)

    def spend(self, table: Table, index: Index | None, units: float, key: bytes = b"") -> None:
        """Count what a read has used; `key` is where, if that was in one partition."""
        if index is None and self.throttle is None and self.samples is not None:  # most reads, in one step
            self.samples.append((table.read_spent, units))
            return
        if index is not None and index.local:
            index = None  # a local index draws on its table
        if self.samples is not None:
            self.samples.append(((CONSUMED_READ, table.name, "" if index is None else index.name, ""), units))
        if self.throttle is not None:
            self.throttle.spend("Read", table, index, key[:HASH_BYTES], units)

    def check_throughput(self, table: Table, index: Index | None, key: bytes = b"") -> None:
        """Refuse a read whose units are used up."""
        if self.throttle is None:
            return
        own = None if index is None or index.local else index
        exhausted = self.throttle.exhausted("Read", table, own, key[:HASH_BYTES])
        if exhausted:
            if self.samples is not None:
                self.samples.extend(throttle_samples(exhausted))
            raise Throttled(exhausted)


def refuse_full_collection(writing: WriteTransaction, table: Table, item: Item, grown: int) -> None:
    """A partition of a table with local indexes holds 10 GB at most."""
    if table.has_local_indexes and grown > 0:
        held = writing.rows.collection(table.number, partition_of(table, item))
        if held + grown > COLLECTION_BYTES:
            raise ServiceError(
                "ItemCollectionSizeLimitExceededException",
                "Collection size exceeded: at most 10 GB for one partition key",
            )
