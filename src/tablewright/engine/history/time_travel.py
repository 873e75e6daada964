"""Time travel: the items of a table as of any change that is still in the journal.

A state is computed from a base, the nearest snapshot or the table itself, and the journal rows between the two: new
images going forward, old images going backward. It is read in key order, a page at a time, while the table keeps
changing: each page of the table is read in one snapshot, together with the changes up to it.
Must hold: a state is exact, whatever is written while it is read. A state is pinned before it is read (`pin`): the
journal rows, the snapshot and the table rows that it needs stay until it is released, also over restarts and
DeleteTable. Memory holds the keys of some changes and one page of items, never a table.
Elsewhere: making snapshots (snapshots.py), which states can be read (pitr_window.py, retention.py).
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

import orjson

from tablewright.engine.background.session import EngineClosed, Session
from tablewright.engine.errors import ServiceError
from tablewright.engine.history import store
from tablewright.engine.history.chunks import unpack
from tablewright.engine.history.store import ChunkRef, Pin, Snapshot, StoredItem
from tablewright.engine.journal import first_since
from tablewright.engine.storage.rows import RowReader, table_name
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.values import item_size

Page = TypeVar("Page")
# A page of items, and the journal rows that one transaction reads: a few milliseconds.
PAGE_ITEMS = 512
PAGE_BYTES = 1024 * 1024
JOURNAL_ROWS = 5000
# Changed keys in memory, some 20 MB. With more of them the journal is read again for the next range of keys.
MOST_CHANGES = 100_000
# Up to this many new keys are inserted one by one; more are sorted.
FEW = 20


class HistoryGone(LookupError):
    """The journal and the snapshots do not reach back to the state any more."""

    def __init__(self, table: int, seq: int) -> None:
        super().__init__(f"the state of table {table} after change {seq} cannot be reached any more")


# --- pinning ---


def pin(txn: WriteTransaction, name: str, table: int, seq: int, for_snapshot: bool = False) -> None:
    """From now on the state of the table after change `seq` can be read under that name, until `release`.

    `for_snapshot`: prefer a snapshot as base, whose unchanged chunks the new snapshot shares.
    """
    store.add_pin(txn.rows, _nearest(txn, name, table, seq, for_snapshot))


def pin_snapshot(txn: WriteTransaction, name: str, snapshot: Snapshot) -> None:
    """Pin the state of a snapshot."""
    made = Pin(name, snapshot.owner, snapshot.seq, snapshot.number, snapshot.seq)
    store.add_pin(txn.rows, made)


def release(txn: WriteTransaction, name: str) -> None:
    store.drop_pin(txn.rows, name)


def _nearest(txn: WriteTransaction, name: str, table: int, seq: int, for_snapshot: bool) -> Pin:
    rows = txn.rows
    intact = _intact_from(txn, table)
    # The cost of each base, in rows to read.
    items = rows.counts(table_name(table))[0] if for_snapshot else 0
    ways: list[tuple[int, Pin]] = []
    if table_name(table) in rows.sql_tables():  # those of a dropped table may still exist
        ways.append((txn.position.seq - seq + items, Pin(name, table, seq, None, None)))
    for snapshot in store.snapshots(rows, table):
        if snapshot.status == "AVAILABLE":
            found = Pin(name, table, seq, snapshot.number, snapshot.seq)
            ways.append((abs(snapshot.seq - seq), found))
    usable = [way for way in ways if way[1].floor >= intact]
    if not usable:
        raise HistoryGone(table, seq)
    return min(usable, key=lambda way: way[0])[1]


def _intact_from(txn: WriteTransaction, table: int) -> int:
    """The number from which on the journal has all changes of the table with their images."""
    rows = txn.rows
    first, blanked = rows.first_sequence(), rows.counts(store.ROWS_STRIPPED)[0]
    if blanked < first:
        return first
    since = next((t.recovery_since for t in txn.tables.values() if t.number == table), None)
    # While recovery is enabled, the changes it may need are not stripped.
    return blanked + 1 if since is None else min(blanked + 1, max(first, first_since(rows, since)))


def pinned_tables(rows: RowReader) -> set[str]:
    """SQL tables that are the base of a pin; they may belong to a dropped table."""
    return {table_name(one.owner) for one in store.pins(rows) if one.base is None}


# --- reading ---


@dataclass(slots=True)
class ChangedKeys:
    """Where a state differs from its base: for each key the journal row with the key's item in that state.

    Going backward from the base that is the first change after the state, with its old image; going forward the last
    change up to the state, with its new image. Complete for keys in [low, bound), and for rows up to `upto`.
    """

    pin: Pin
    low: bytes
    bound: bytes | None = None
    upto: int = 0
    rows: dict[bytes, int] = field(default_factory=dict)
    keys: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.upto = self.pin.floor - 1

    @property
    def is_backward(self) -> bool:
        return self.pin.origin is None or self.pin.origin > self.pin.seq

    def add(self, found: Sequence[tuple[int, bytes]]) -> None:
        fresh: list[bytes] = []
        for seq, key in found:
            if key < self.low or (self.bound is not None and key >= self.bound):
                continue
            if key not in self.rows:
                self.rows[key] = seq
                fresh.append(key)
            elif not self.is_backward:
                self.rows[key] = seq
        if len(fresh) < FEW:
            for key in fresh:
                insort(self.keys, key)
        else:
            self.keys = sorted(self.keys + fresh)
        if len(self.keys) > 2 * MOST_CHANGES:
            self.bound = self.keys[MOST_CHANGES]
            for key in self.keys[MOST_CHANGES:]:
                del self.rows[key]
            del self.keys[MOST_CHANGES:]

    def drop_below(self, low: bytes) -> None:
        """Forget the keys below `low`; they have been read."""
        self.low = low
        cut = bisect_left(self.keys, low)
        for key in self.keys[:cut]:
            del self.rows[key]
        del self.keys[:cut]

    def between(self, low: bytes, high: bytes | None, limit: int) -> list[bytes]:
        first = bisect_left(self.keys, low)
        last = len(self.keys) if high is None else bisect_left(self.keys, high)
        return self.keys[first : min(last, first + limit)]


@dataclass(frozen=True, slots=True)
class StatePage:
    """A range of a state, the keys in [low, high): the items of the base, and the images that differ from it.

    The base is a list of items, or a chunk; the body of an unchanged chunk is not read (`body` is None).
    """

    low: bytes
    high: bytes | None
    items: Sequence[StoredItem] = ()
    ref: ChunkRef | None = None
    body: bytes | None = None
    images: tuple[tuple[bytes, bytes | None], ...] = ()

    @property
    def is_shared(self) -> bool:
        """Whether it is one complete, unchanged chunk."""
        return self.ref is not None and self.body is None


def pages_as_of(session: Session, name: str, low: bytes = b"") -> Iterator[StatePage]:
    """The state that is pinned under that name, from the key `low` on."""
    held = session.read(lambda txn: store.find_pin(txn.rows, name))
    if held is None:
        raise LookupError(f"no state is pinned under the name {name}")
    changes = ChangedKeys(held, low)
    position: bytes | None = low
    while position is not None:
        page = None
        while page is None:
            page = session.read(partial(_page, changes=changes, low=position))
        yield page
        position = page.high
        if position is not None and position == changes.bound:
            changes = ChangedKeys(held, position)
        elif position is not None:
            changes.drop_below(position)


def items_as_of(session: Session, name: str, after: bytes = b"") -> Iterator[list[StoredItem]]:
    """The items of the state that is pinned under that name, in key order, after the key `after`."""
    for page in pages_as_of(session, name, after + b"\x00" if after else b""):
        if found := items_of(session, page):
            yield found


@dataclass(slots=True)
class StateReader(Generic[Page]):
    """A state that a job reads, by its number; items that are read and not yet written are in `rest`."""

    number: int
    pages: Iterator[Page]
    rest: list[StoredItem] = field(default_factory=list)


def read_step(
    session: Session,
    kind: str,
    number: int,
    begin: Callable[[], Iterator[Page]],
    step: Callable[[Session, StateReader[Page]], bool],
    fail: Callable[[WriteTransaction, int], bool],
) -> None:
    """One step of a job that reads a state, from where the last step ended; `begin` reads from the stored progress.

    `step` returns whether it was the last. If the state cannot be read a retry would not help: `fail` ends the job,
    and returns False if it had ended before, so that this is not an error.
    """
    # Taken out, so that after a failed step the next one begins from the progress in the store.
    held = session.memory.pop(kind, None)
    reader = held if held is not None and held.number == number else StateReader(number, begin())
    try:
        is_done = step(session, reader)
    except (ServiceError, EngineClosed):
        raise
    except Exception:
        if session.write(lambda txn: fail(txn, number)):
            raise
        return
    if not is_done:
        session.memory[kind] = reader


def items_of(session: Session, page: StatePage) -> list[StoredItem]:
    """The items of a page. Slow for a chunk: not to be called inside a transaction."""
    items, body, ref = page.items, page.body, page.ref
    if ref is not None and body is None:
        body = session.read(lambda txn: store.chunk(txn.rows, ref.hash))
    if body is not None:
        items = [
            stored
            for stored in unpack(body)
            if stored.key >= page.low and (page.high is None or stored.key < page.high)
        ]
    if not page.images:
        return list(items)
    merged = {stored.key: stored for stored in items}
    for key, image in page.images:
        if image is None:
            merged.pop(key, None)
        elif key not in merged or merged[key].item != image:
            merged[key] = StoredItem(key, item_size(orjson.loads(image)), image)
    return sorted(merged.values())


def _page(txn: ReadTransaction, changes: ChangedKeys, low: bytes) -> StatePage | None:
    """The page that begins at `low`; None if more of the journal has to be read first."""
    rows, held = txn.rows, changes.pin
    last = rows.last_sequence()[0] if held.origin is None else max(held.seq, held.origin)
    if changes.upto < last:
        upto = min(last, changes.upto + JOURNAL_ROWS)
        changes.add(store.changed_keys(rows, held.owner, changes.upto + 1, upto))
        changes.upto = upto
        if upto < last:
            return None
    if held.base is None:
        return _table_page(rows, changes, low)
    return _chunk_page(rows, changes, held.base, low)


def _table_page(rows: RowReader, changes: ChangedKeys, low: bytes) -> StatePage:
    items: list[StoredItem] = []
    size = 0
    high = changes.bound
    with closing(store.items_from(rows, changes.pin.owner, low, PAGE_ITEMS + 1)) as found:
        for stored in found:
            if high is not None and stored.key >= high:
                break
            if len(items) == PAGE_ITEMS or size > PAGE_BYTES:
                high = stored.key
                break
            items.append(stored)
            size += len(stored.item)
    images, end = _images(rows, changes, low, high)
    if end != high:
        items = [stored for stored in items if end is None or stored.key < end]
    return StatePage(low, end, items, images=images)


def _chunk_page(rows: RowReader, changes: ChangedKeys, base: int, low: bytes) -> StatePage:
    ref = store.ref_at(rows, base, low)
    following = store.refs_from(rows, base, low + b"\x00", 1)
    if ref is None and following and not changes.between(low, following[0].low, 1):
        # There is neither a change nor a chunk before the first chunk: begin with it.
        ref = following[0]
        following = store.refs_from(rows, base, ref.low + b"\x00", 1)
    high = following[0].low if following else None
    if changes.bound is not None and (high is None or changes.bound < high):
        high = changes.bound
    if ref is None:
        images, high = _images(rows, changes, low, high)
        return StatePage(low, high, images=images)
    is_whole = low <= ref.low and high == (following[0].low if following else None)
    if is_whole and not changes.between(low, high, 1):
        return StatePage(low, high, ref=ref)
    images, high = _images(rows, changes, low, high)
    return StatePage(low, high, ref=ref, body=store.chunk(rows, ref.hash), images=images)


def _images(
    rows: RowReader, changes: ChangedKeys, low: bytes, high: bytes | None
) -> tuple[tuple[tuple[bytes, bytes | None], ...], bytes | None]:
    """The images of changed keys in [low, high), and where they end if they are too many for a page."""
    found: list[tuple[bytes, bytes | None]] = []
    size = 0
    for key in changes.between(low, high, PAGE_ITEMS + 1):
        if len(found) == PAGE_ITEMS or size > PAGE_BYTES:
            return tuple(found), key
        image = store.image(rows, changes.rows[key], changes.is_backward)
        found.append((key, image))
        size += len(image or b"")
    return tuple(found), high
