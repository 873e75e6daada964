"""States in the past: what a table held after any change that is still in the journal.

A state is read from the nearest one that is known, a snapshot or the table itself, and the journal's changes between
the two: new images forward, old images backward. That is done in the order of keys, a page at a time, while the table
goes on changing: each page of the table is read at one moment, together with what has changed up to that moment.
Must hold: a state is exact, whatever happens meanwhile. Whoever reads one holds on to it (`hold`): the journal's rows,
the snapshot and the rows of the table that it needs stay until it is released, over restarts and DeleteTable too.
Memory holds the keys of some changes and one page of items, never a table.
Elsewhere: snapshots being made (checkpoints.py), how far back one may look (recovery.py, retention.py).
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import orjson

from tablewright.engine import storage_history as past
from tablewright.engine.chunks import unpack
from tablewright.engine.doors import Doors
from tablewright.engine.journal import first_since
from tablewright.engine.storage_history import Hold, Kept, Ref, Snapshot
from tablewright.engine.storage_rows import Rows, table_name
from tablewright.engine.writing import Reading, Writing
from tablewright.values import item_size

# A page of items, and the rows of the journal one look at it reads: a few milliseconds.
PAGE_ITEMS = 512
PAGE_BYTES = 1024 * 1024
JOURNAL_ROWS = 5000
# Keys of changes in memory, some 20 MB. With more of them the journal is read again for the next part of the keys.
MOST_CHANGES = 100_000
# So many keys are put into their places one by one; more are sorted.
FEW = 20


class PastIsGone(LookupError):
    """A state was asked for that neither the journal nor a snapshot reaches any more."""

    def __init__(self, table: int, seq: int) -> None:
        super().__init__(f"the state of table {table} after change {seq} cannot be reached any more")


# --- holding on ---


def hold(writing: Writing, name: str, table: int, seq: int, anew: bool = False) -> None:
    """From now on the state of the table after change `seq` can be read under that name.

    `anew`: a snapshot is to be made of it, for which chunks that did not change are worth more than the table.
    """
    past.add_hold(writing.rows, _nearest(writing, name, table, seq, anew))


def hold_snapshot(writing: Writing, name: str, snapshot: Snapshot) -> None:
    """The same for a state of which there is a snapshot."""
    made = Hold(name, snapshot.owner, snapshot.seq, snapshot.number, snapshot.seq)
    past.add_hold(writing.rows, made)


def release(writing: Writing, name: str) -> None:
    past.drop_hold(writing.rows, name)


def _nearest(writing: Writing, name: str, table: int, seq: int, anew: bool) -> Hold:
    rows = writing.rows
    intact = _intact_from(writing, table)
    # What each way costs, in rows looked at.
    items = rows.counts(table_name(table))[0] if anew else 0
    ways: list[tuple[int, Hold]] = []
    if past.is_stored(rows, table):
        ways.append((writing.pen.seq - seq + items, Hold(name, table, seq, None, None)))
    for snapshot in past.snapshots(rows, table):
        if snapshot.status == "AVAILABLE":
            found = Hold(name, table, seq, snapshot.number, snapshot.seq)
            ways.append((abs(snapshot.seq - seq), found))
    usable = [way for way in ways if way[1].floor >= intact]
    if not usable:
        raise PastIsGone(table, seq)
    return min(usable, key=lambda way: way[0])[1]


def _intact_from(writing: Writing, table: int) -> int:
    """The number from which on the journal has all changes of the table, with their images."""
    rows = writing.rows
    first, blanked = rows.first_sequence(), rows.counts(past.ROWS_BLANKED)[0]
    if blanked < first:
        return first
    since = next((t.recovery_since for t in writing.tables.values() if t.number == table), None)
    # While recovery is enabled nobody takes images from the changes it may need.
    return blanked + 1 if since is None else min(blanked + 1, max(first, first_since(rows, since)))


def held_tables(rows: Rows) -> set[str]:
    """Tables whose rows somebody reads, dropped as they may be."""
    return {table_name(one.owner) for one in past.holds(rows) if one.base is None}


# --- reading on ---


@dataclass(slots=True)
class Changes:
    """Where a state differs from its base: for each key the journal's row that tells what was there.

    Going back from the base that is the first change after the state, and its old image; going forward the last
    change up to the state, and its new image. Complete for keys in [low, bound), and for rows up to `upto`.
    """

    hold: Hold
    low: bytes
    bound: bytes | None = None
    upto: int = 0
    rows: dict[bytes, int] = field(default_factory=dict)
    keys: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.upto = self.hold.floor - 1

    @property
    def is_backward(self) -> bool:
        return self.hold.origin is None or self.hold.origin > self.hold.seq

    def note(self, found: Sequence[tuple[int, bytes]]) -> None:
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

    def pass_by(self, low: bytes) -> None:
        """Forget what is below; it has been read."""
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
class Page:
    """A part of a state, the keys in [low, high): what the base holds there, and what was different.

    The base is a list of items, or a chunk; one that did not change at all is not even read (`body` is None).
    """

    low: bytes
    high: bytes | None
    items: Sequence[Kept] = ()
    ref: Ref | None = None
    body: bytes | None = None
    images: tuple[tuple[bytes, bytes | None], ...] = ()

    @property
    def is_shared(self) -> bool:
        """Whether it is a whole chunk as it stands."""
        return self.ref is not None and self.body is None


def pages_at(doors: Doors, name: str, low: bytes = b"") -> Iterator[Page]:
    """The state that is held under that name, from the key `low` on."""
    held = doors.read(lambda reading: past.hold(reading.rows, name))
    if held is None:
        raise LookupError(f"nobody holds on to a state under the name {name}")
    changes = Changes(held, low)
    position: bytes | None = low
    while position is not None:
        page = _next_page(doors, changes, position)
        yield page
        position = page.high
        if position is not None and position == changes.bound:
            changes = Changes(held, position)
        elif position is not None:
            changes.pass_by(position)


def items_at(doors: Doors, name: str, after: bytes = b"") -> Iterator[list[Kept]]:
    """The items of the state that is held under that name, in the order of their keys, those after a key."""
    for page in pages_at(doors, name, after + b"\x00" if after else b""):
        if page.is_shared:
            page = with_body(doors, page)
        found = items_of(page)
        if found:
            yield found


def items_of(page: Page) -> list[Kept]:
    """The items of a page. Slow for a chunk, so not for inside of a door."""
    items = page.items if page.body is None else unpack(page.body)
    if page.body is not None:
        items = [
            kept for kept in items if kept.key >= page.low and (page.high is None or kept.key < page.high)
        ]
    if not page.images:
        return list(items)
    merged = {kept.key: kept for kept in items}
    for key, image in page.images:
        if image is None:
            merged.pop(key, None)
        elif key not in merged or merged[key].item != image:
            merged[key] = Kept(key, item_size(orjson.loads(image)), image)
    return sorted(merged.values())


def with_body(doors: Doors, page: Page) -> Page:
    ref = page.ref
    assert ref is not None
    body = doors.read(lambda reading: past.chunk(reading.rows, ref.hash))
    return Page(page.low, page.high, ref=ref, body=body)


def _next_page(doors: Doors, changes: Changes, low: bytes) -> Page:
    while True:
        page = doors.read(lambda reading: _page(reading, changes, low))
        if page is not None:
            return page


def _page(reading: Reading, changes: Changes, low: bytes) -> Page | None:
    """The page that begins at `low`; None if more of the journal is to be read first."""
    rows, held = reading.rows, changes.hold
    if held.origin is None:
        last = rows.last_sequence()[0]
    else:
        last = max(held.seq, held.origin)
    if changes.upto < last:
        upto = min(last, changes.upto + JOURNAL_ROWS)
        changes.note(past.journal_part(rows, held.owner, changes.upto + 1, upto))
        changes.upto = upto
        if upto < last:
            return None
    if held.base is None:
        return _table_page(rows, changes, low)
    return _chunk_page(rows, changes, held.base, low)


def _table_page(rows: Rows, changes: Changes, low: bytes) -> Page:
    items: list[Kept] = []
    size = 0
    high = changes.bound
    with closing(past.stored(rows, changes.hold.owner, low, PAGE_ITEMS + 1)) as stored:
        for kept in stored:
            if high is not None and kept.key >= high:
                break
            if len(items) == PAGE_ITEMS or size > PAGE_BYTES:
                high = kept.key
                break
            items.append(kept)
            size += len(kept.item)
    images, end = _images(rows, changes, low, high)
    if end != high:
        items = [kept for kept in items if end is None or kept.key < end]
    return Page(low, end, items, images=images)


def _chunk_page(rows: Rows, changes: Changes, base: int, low: bytes) -> Page:
    ref = past.ref_at(rows, base, low)
    following = past.refs_from(rows, base, low + b"\x00", 1)
    if ref is None and following and not changes.between(low, following[0].low, 1):
        # Nothing is known of what comes before the first chunk, and nothing is there: begin with it.
        ref = following[0]
        following = past.refs_from(rows, base, ref.low + b"\x00", 1)
    high = following[0].low if following else None
    if changes.bound is not None and (high is None or changes.bound < high):
        high = changes.bound
    if ref is None:
        images, high = _images(rows, changes, low, high)
        return Page(low, high, images=images)
    is_whole = low <= ref.low and high == (following[0].low if following else None)
    if is_whole and not changes.between(low, high, 1):
        return Page(low, high, ref=ref)
    images, high = _images(rows, changes, low, high)
    return Page(low, high, ref=ref, body=past.chunk(rows, ref.hash), images=images)


def _images(
    rows: Rows, changes: Changes, low: bytes, high: bytes | None
) -> tuple[tuple[tuple[bytes, bytes | None], ...], bytes | None]:
    """What the journal says about keys in [low, high), and where that ends if it is too much for a page."""
    found: list[tuple[bytes, bytes | None]] = []
    size = 0
    for key in changes.between(low, high, PAGE_ITEMS + 1):
        if len(found) == PAGE_ITEMS or size > PAGE_BYTES:
            return tuple(found), key
        image = past.image(rows, changes.rows[key], changes.is_backward)
        found.append((key, image))
        size += len(image or b"")
    return tuple(found), high
