"""The store's invariants, checked from the outside: each broken one is a sentence.

A library function, a command (`tablewright db verify DIR`) and what the test fixture runs after every test.
Must hold: damage is named, never thrown: whatever is in the file, the answer is a list. Memory holds a digest for each
item in the journal and a number for each item collection, not the keys of tables and indexes.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import orjson

from tablewright.engine import schema
from tablewright.engine.catalog import Index, Table, from_json, load
from tablewright.engine.indexes import entry_size
from tablewright.engine.keys import HASH_SPACE, entry_key, expiry_key, item_key, partition_of
from tablewright.engine.storage import NotAStore, Storage, StoreInUse, exists, stores_below
from tablewright.engine.storage_history import ROWS_BLANKED
from tablewright.engine.storage_rows import (
    ROWS_PRUNED,
    TABLES_EVER,
    Rows,
    Shard,
    Stream,
    index_name,
    table_name,
)
from tablewright.engine.streams import shard_name
from tablewright.engine.verify_entries import Entries
from tablewright.engine.verify_history import wrong_past
from tablewright.engine.verify_metrics import wrong_figures
from tablewright.engine.verify_regions import wrong_regions
from tablewright.engine.verify_replicas import ReadMark, read_marks, read_too_far, wrong_replicas
from tablewright.engine.verify_transfers import wrong_transfers
from tablewright.values import Item, admit_item

STEP = 1000
# What the journal says each item (table's number, key) is now, as a digest; None where it was deleted.
Images: TypeAlias = dict[tuple[int, bytes], bytes | None]
OWN_TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", schema.FIRST + schema.STREAMS + schema.THIRD))
OWN_COUNTS = frozenset((TABLES_EVER, ROWS_PRUNED, ROWS_BLANKED))
# In their place: a change whose images were taken away, because nobody may ask for them any more.
BLANK = b""


def verify(path: str | Path) -> list[str]:
    """Every broken invariant of the store in the directory, and of the regions below it; none may be open anywhere."""
    if not exists(path):
        raise NotAStore(f"there is no store in {path}")
    marks: list[ReadMark] = []
    broken = _verify_one(path, marks)
    for one in stores_below(path):
        broken += [f"{one.name}: {text}" for text in _verify_one(one, marks, one.name)]
    return broken + list(read_too_far(marks))


def _verify_one(path: str | Path, marks: list[ReadMark], region: str | None = None) -> list[str]:
    """What is wrong with one store; how far it has read others is added to `marks`, if nothing is."""
    try:
        storage = Storage(path, "relaxed")
    except (NotAStore, StoreInUse):
        raise
    except Exception as damage:
        return [f"the file cannot be opened: {damage}"]
    try:
        broken = mistakes(storage.writes, region)
        if not broken:
            marks += read_marks(storage.writes, load(storage.writes).values())
        return broken
    finally:
        storage.close()


def mistakes(rows: Rows, region: str | None = None) -> list[str]:
    """Every broken invariant; `region` is the store's, where that is known."""
    with rows.snapshot():
        return list(_mistakes(rows, region))


def _mistakes(rows: Rows, region: str | None) -> Iterator[str]:
    yield from _named("the file", _wrong_file(rows))
    tables: list[Table] = []
    yield from _named("the catalog", _wrong_catalog(rows, tables))
    yield from _named("the file", _wrong_tables(rows, tables))
    written: Images = {}
    yield from _named("journal", _wrong_journal(rows, written))
    yield from _named("the streams", _wrong_streams(rows, tables))
    yield from _named("exports and imports", wrong_transfers(rows, tables))
    yield from _named("the figures", wrong_figures(rows))
    yield from _named("the past", wrong_past(rows, tables))
    yield from _named("the replicas", wrong_replicas(rows, tables))
    yield from _named("the region", wrong_regions(rows, tables, region))
    for table in tables:
        yield from _named(f"table {table.name}", _wrong_items(rows, table, written))


def _named(part: str, found: Iterable[str]) -> Iterator[str]:
    """What was found; damage that stops the search is itself a finding."""
    try:
        yield from found
    except Exception as damage:
        yield f"{part} cannot be read to the end: {type(damage).__name__}: {damage}"


def _wrong_file(rows: Rows) -> Iterator[str]:
    for text in rows.file_mistakes():
        yield f"the file itself: {text}"


def _wrong_catalog(rows: Rows, tables: list[Table]) -> Iterator[str]:
    ever = rows.counts(TABLES_EVER)[0]
    for number, name, body in rows.tables():
        try:
            table = from_json(number, body)
        except Exception as damage:
            yield f"the catalog: the definition of {name} cannot be read: {damage}"
            continue
        if table.name != name:
            yield f"the catalog: {name} is defined under the name {table.name}"
        if number > ever:
            yield f"the catalog: {name} has number {number}, but only {ever} tables were ever made"
        tables.append(table)


def _wrong_tables(rows: Rows, tables: list[Table]) -> Iterator[str]:
    """The file holds a SQL table for each table, index and collection list, and no others."""
    alive = {name for table in tables for name in table.sql_tables()}
    doomed = set(rows.doomed())
    found = {name for name in rows.sql_tables() if not name.startswith("sqlite_")}
    for name in sorted((alive | doomed | OWN_TABLES) - found):
        yield f"the file lacks {name}"
    for name in sorted(found - alive - doomed - OWN_TABLES):
        yield f"the file holds {name}, which belongs to no table"
    for name in sorted(alive & doomed):
        yield f"{name} is in use and waits to be removed"
    for name in sorted(rows.all_counts().keys() - alive - OWN_COUNTS):
        yield f"there is a counter for {name}, which belongs to no table"


def _wrong_journal(rows: Rows, written: Images) -> Iterator[str]:
    """Numbers without gaps after those pruned, time that never falls, and each change starting where the last ended.

    Leaves in `written` what the journal says each item is now.
    """
    last: tuple[int, int] | None = None
    pruned, blanked = rows.counts(ROWS_PRUNED)[0], rows.counts(ROWS_BLANKED)[0]
    if rows.first_sequence() != pruned + 1:
        yield f"journal: it begins with {rows.first_sequence()}, but {pruned} rows were pruned"
    for seq, at, _, table, key, old, new in rows.journal():
        if last is not None and seq != last[0] + 1:
            yield f"journal: {last[0]} is followed by {seq}"
        if last is not None and at < last[1]:
            yield f"journal: {seq} is earlier than the row before it"
        if old == new and (old is not None or seq > blanked):
            yield f"journal: {seq} changes nothing"
        is_known = written.get((table, key), BLANK) != BLANK
        if is_known and old != new and written[table, key] != _digest(old):
            yield f"journal: {seq} does not start from what was there"
        written[table, key] = BLANK if old is None and new is None else _digest(new)
        last = seq, at


def _digest(image: bytes | None) -> bytes | None:
    """Enough of an item to recognise it: a store may hold more items than memory does."""
    if image is None:
        return None
    # In a damaged file an image may be anything.
    return blake2b(image if isinstance(image, bytes) else repr(image).encode(), digest_size=16).digest()


def _wrong_streams(rows: Rows, tables: list[Table]) -> Iterator[str]:
    """An enabled stream for each table that says so, and no other; shards that leave no change out, and none twice."""
    streams = {stream.number: stream for stream in rows.streams()}
    enabled = {stream.arn: stream.owner for stream in streams.values() if stream.closed is None}
    said = {table.stream_arn: table.number for table in tables if table.stream_view is not None}
    for arn in sorted(said.keys() - enabled.keys()):
        yield f"stream {arn}: its table says it is enabled, and it is not"
    for arn in sorted(enabled.keys() - said.keys()):
        yield f"stream {arn}: it is enabled, and no table says so"
    for arn in sorted(arn for arn in said.keys() & enabled.keys() if said[arn] != enabled[arn]):
        yield f"stream {arn}: it belongs to another table"
    shards = rows.all_shards()
    for shard in shards:
        if shard.stream not in streams:
            yield f"shard {shard_name(shard)} belongs to no stream"
    newest = rows.last_sequence()[0]
    for stream in streams.values():
        mine = [shard for shard in shards if shard.stream == stream.number]
        yield from _wrong_shards(stream, mine, newest)


def _wrong_shards(stream: Stream, shards: list[Shard], newest: int) -> Iterator[str]:
    where = f"stream {stream.arn}"
    named = {shard_name(shard): shard for shard in shards}
    opened = [shard for shard in shards if shard.last is None]
    if (stream.closed is None) != _covers(opened, 0, HASH_SPACE) or (stream.closed is not None and opened):
        yield f"{where}: its open shards are not what an open or closed stream has"
    for shard in shards:
        if (shard.last is None) != (shard.closed is None):
            yield f"{where}: {shard_name(shard)} has half an end"
        last = newest if shard.last is None else shard.last
        if not shard.first - 1 <= last <= newest:
            yield f"{where}: {shard_name(shard)} reaches beyond the journal"
        if shard.last is not None and shard.closed is not None and stream.closed != shard.closed:
            children = [child for child in shards if child.parent == shard_name(shard)]
            if not _covers(children, shard.low, shard.high):
                yield f"{where}: {shard_name(shard)} is not followed by shards of the same keys"
        parent = named.get(shard.parent or "")
        if parent is not None and parent.last != shard.first - 1:
            yield f"{where}: {shard_name(shard)} does not begin where its parent ended"


def _covers(shards: list[Shard], low: int, high: int) -> bool:
    """Whether the shards divide the range of hashes among them."""
    for shard in sorted(shards, key=lambda shard: shard.low):
        if shard.low != low or shard.high <= low:
            return False
        low = shard.high
    return low == high


def _wrong_items(rows: Rows, table: Table, written: Images) -> Iterator[str]:
    where = f"table {table.name}"
    # An item that was last written long ago is in a pruned journal no more.
    is_pruned = rows.counts(ROWS_PRUNED)[0] > 0
    items = total = 0
    collections: dict[bytes, int] = {}
    entries = [(index, _entries(rows, where, table, index)) for index in table.indexes]
    expiries = _expiries(rows, where, table)
    for number, key, size, raw in _all_rows(rows, table):
        items += 1
        total += size
        place = f"{where}: item at {key.hex()}"
        # Nor is one that a restore or an import brought.
        is_new = not is_pruned and not table.is_filled
        is_known = written[table.number, key] != BLANK if (table.number, key) in written else is_new
        if is_known and written.get((table.number, key)) != _digest(raw):
            yield f"{place} is not what the journal last wrote"
        try:
            item: Item = orjson.loads(raw)
            yield from _wrong_item(table, place, key, size, item)
            asked = [(expiries, None if expiries is None else expiries.entry_of(number, key, item), 0)]
            held = size
            for index, kept in entries:
                entry = kept.entry_of(number, key, item)
                weight = 0 if entry is None else entry_size(table, index, item, size)
                asked.append((kept, entry, weight))
                held += weight if index.local else 0
            if table.has_local_indexes:
                partition = partition_of(table, item)
                collections[partition] = collections.get(partition, 0) + held
        except Exception as damage:
            yield f"{place} is not an item: {type(damage).__name__}: {damage}"
            continue
        for one, entry, weight in asked:
            if one is not None and entry is not None:
                yield from one.expect(entry, number, weight)
    for (owner, key), image in written.items():
        if owner == table.number and image not in (None, BLANK) and rows.get(owner, key) is None:
            yield f"{where}: the journal ends with an item at {key.hex()} that is not there"
    yield from _wrong_count(rows, where, table_name(table.number), items, total)
    for index, kept in entries:
        yield from _named(kept.where, kept.rest())
        yield from _wrong_count(
            rows, kept.where, index_name(table.number, index.number), kept.items, kept.size
        )
    if (table.ttl_attribute is None) != (table.ttl_index is None):
        yield f"{where}: it has TTL without a list of what expires, or the list without TTL"
    if expiries is not None:
        yield from _named(expiries.where, expiries.rest())
    if table.has_local_indexes:
        sizes = {partition: size for partition, size in rows.all_collections(table.number) if size}
        if sizes != collections:
            yield f"{where}: the sizes of its item collections are wrong"


def _entries(rows: Rows, where: str, table: Table, index: Index) -> Entries:
    return Entries(
        rows,
        f"{where}, index {index.name}",
        table.number,
        index.number,
        lambda number, key, item: None if index.awaits(number) else entry_key(table, index, item, key),
    )


def _expiries(rows: Rows, where: str, table: Table) -> Entries | None:
    if table.ttl_index is None:
        return None
    return Entries(
        rows,
        f"{where}, what expires",
        table.number,
        table.ttl_index,
        lambda number, key, item: None if table.awaits_expiry(number) else expiry_key(table, item, key),
    )


def _wrong_item(table: Table, place: str, key: bytes, size: int, item: Item) -> Iterator[str]:
    canonical, weight = admit_item(item)
    if canonical != item:
        yield f"{place} is not in canonical form"
    if weight != size:
        yield f"{place} is said to have {size} bytes and has {weight}"
    if any(name not in item for name in table.schema.names):
        yield f"{place} lacks a key attribute"
    elif item_key(table, item) != key:
        yield f"{place} does not live where its key says"


def _all_rows(rows: Rows, table: Table) -> Iterator[tuple[int, bytes, int, bytes]]:
    after = 0
    while step := rows.all_rows(table.number, after, STEP):
        yield from step
        after = step[-1][0]


def _wrong_count(rows: Rows, where: str, owner: str, items: int, size: int) -> Iterator[str]:
    counted = rows.counts(owner)
    if counted != (items, size):
        yield f"{where}: counted {counted[0]} items of {counted[1]} bytes, there are {items} of {size}"
