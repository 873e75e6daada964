"""The store's invariants, checked from its rows; each violated one is a sentence.

A library function, a command (`tablewright db verify DIR`), and run by the test fixture after every test.
Must hold: damage is reported, never raised: whatever is in the file, the result is a list. Memory holds a digest for
each item in the journal and a number for each item collection, not the keys of tables and indexes.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import orjson

from tablewright.engine.catalog import Table, from_json, load
from tablewright.engine.history.store import ROWS_STRIPPED
from tablewright.engine.keys import HASH_SPACE, item_key, partition_of
from tablewright.engine.storage import schema
from tablewright.engine.storage.checksum import crc32
from tablewright.engine.storage.rows import ROWS_PRUNED, TABLES_EVER, RowReader, index_name, table_name
from tablewright.engine.storage.sqlite import NotAStore, Storage, StoreInUse, exists, stores_below
from tablewright.engine.streams import store as streams_store
from tablewright.engine.streams.shards import shard_name
from tablewright.engine.streams.store import Shard, Stream
from tablewright.engine.verify.history import digest, wrong_history
from tablewright.engine.verify.index_entries import EntryCheck, entry_checks
from tablewright.engine.verify.metrics import wrong_metrics
from tablewright.engine.verify.replication import (
    TableMark,
    read_too_far,
    table_marks,
    wrong_regions,
    wrong_replicas,
)
from tablewright.engine.verify.store import changes_after
from tablewright.engine.verify.transfer import wrong_transfers
from tablewright.values import Item, admit_item

STEP = 1000
# The digest of each item (table's number, key) by its last journal row; None where it was deleted.
Images: TypeAlias = dict[tuple[int, bytes], bytes | None]
OWN_COUNTS = frozenset((TABLES_EVER, ROWS_PRUNED, ROWS_STRIPPED))
# The digest of a journal row whose images were stripped (history/retention.py).
STRIPPED = b""


def verify_store(path: str | Path) -> list[str]:
    """Every violated invariant of the store in the directory, and of the regions below it; none may be open."""
    if not exists(path):
        raise NotAStore(f"there is no store in {path}")
    marks: list[TableMark] = []
    broken = _verify_one(path, marks)
    for one in stores_below(path):
        broken += [f"{one.name}: {text}" for text in _verify_one(one, marks, one.name)]
    return broken + list(read_too_far(marks))


def _verify_one(path: str | Path, marks: list[TableMark], region: str | None = None) -> list[str]:
    """The errors of one store; if there are none, how far it has read other regions is added to `marks`."""
    try:
        with closing(Storage(path, "relaxed")) as storage:
            broken = mistakes(storage.writes, region)
            if not broken:
                marks += table_marks(storage.writes, load(storage.writes).values())
            return broken
    except (NotAStore, StoreInUse, OSError):
        raise
    except Exception as damage:
        return [f"the file cannot be opened: {damage}"]


def mistakes(rows: RowReader, region: str | None = None) -> list[str]:
    """Every violated invariant; `region` is the store's, where it is known."""
    with rows.snapshot():
        return list(_mistakes(rows, region))


def _mistakes(rows: RowReader, region: str | None) -> Iterator[str]:
    yield from _named("the file", (f"the file itself: {text}" for text in rows.integrity_errors()))
    tables: list[Table] = []
    yield from _named("the catalog", wrong_catalog(rows, tables))
    yield from _named("the file", wrong_tables(rows, tables))
    written: Images = {}
    yield from _named("journal", _wrong_journal(rows, written))
    yield from _named("the streams", wrong_streams(rows, tables))
    yield from _named("exports and imports", wrong_transfers(rows, tables))
    yield from _named("the metrics", wrong_metrics(rows))
    yield from _named("the history", wrong_history(rows, tables))
    yield from _named("the replicas", wrong_replicas(rows, tables))
    yield from _named("the region", wrong_regions(rows, tables, region))
    for table in tables:
        yield from _named(f"table {table.name}", _wrong_items(rows, table, written))


def _named(part: str, found: Iterable[str]) -> Iterator[str]:
    """The findings; damage that stops the check is itself a finding."""
    try:
        yield from found
    except Exception as damage:
        yield f"{part} cannot be read to the end: {type(damage).__name__}: {damage}"


def wrong_catalog(rows: RowReader, tables: list[Table]) -> Iterator[str]:
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


def wrong_tables(rows: RowReader, tables: list[Table]) -> Iterator[str]:
    """The file has an SQL table for each table, index, expiry list and collection list, and no others."""
    alive = {name for table in tables for name in table.sql_tables()}
    pending = set(rows.pending_drops())
    found = {name for name in rows.sql_tables() if not name.startswith("sqlite_")}
    for name in sorted((alive | pending | schema.TABLES) - found):
        yield f"the file lacks {name}"
    for name in sorted(found - alive - pending - schema.TABLES):
        yield f"the file holds {name}, which belongs to no table"
    for name in sorted(alive & pending):
        yield f"{name} is in use and its drop is pending"
    for name in sorted(rows.all_counts().keys() - alive - OWN_COUNTS):
        yield f"there is a counter for {name}, which belongs to no table"


def _wrong_journal(rows: RowReader, written: Images) -> Iterator[str]:
    """Numbers without gaps, time that never decreases, and each change starting from the one before of its key.

    Adds to `written` the digest of each item by its last journal row.
    """
    last: tuple[int, int] | None = None
    pruned, stripped = rows.counts(ROWS_PRUNED)[0], rows.counts(ROWS_STRIPPED)[0]
    if rows.first_sequence() != pruned + 1:
        yield f"journal: it begins with {rows.first_sequence()}, but {pruned} rows were pruned"
    for seq, at, _, table, key, old, new in rows.journal():
        if last is not None and seq != last[0] + 1:
            yield f"journal: {last[0]} is followed by {seq}"
        if last is not None and at < last[1]:
            yield f"journal: {seq} is earlier than the row before it"
        if old == new and (old is not None or seq > stripped):
            yield f"journal: {seq} changes nothing"
        is_known = written.get((table, key), STRIPPED) != STRIPPED
        if is_known and old != new and written[table, key] != digest(old):
            yield f"journal: {seq} does not start from the item as it was before"
        written[table, key] = STRIPPED if old is None and new is None else digest(new)
        last = seq, at
    yield from _wrong_sums(rows)


def _wrong_sums(rows: RowReader) -> Iterator[str]:
    after = 0
    while step := changes_after(rows, after, STEP):
        for seq, is_whole in step:
            if not is_whole:
                yield f"journal: {seq} does not match its checksum"
        after = step[-1][0]


def wrong_streams(rows: RowReader, tables: list[Table]) -> Iterator[str]:
    """One enabled stream for each table with a stream, and no other; shards that cover each change exactly once."""
    streams = {stream.number: stream for stream in streams_store.streams(rows)}
    enabled = {stream.arn: stream.owner for stream in streams.values() if stream.closed is None}
    expected = {table.stream_arn: table.number for table in tables if table.stream_view is not None}
    for arn in sorted(expected.keys() - enabled.keys()):
        yield f"stream {arn}: it is enabled in its table's definition, and it is not open"
    for arn in sorted(enabled.keys() - expected.keys()):
        yield f"stream {arn}: it is open, and no table has it enabled"
    for arn in sorted(arn for arn in expected.keys() & enabled.keys() if expected[arn] != enabled[arn]):
        yield f"stream {arn}: it belongs to another table"
    shards = streams_store.all_shards(rows)
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
        yield f"{where}: its open shards do not cover every key of an open stream, or belong to a closed one"
    for shard in shards:
        if (shard.last is None) != (shard.closed is None):
            yield f"{where}: {shard_name(shard)} has a last change without a closing time, or the reverse"
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
    """Whether the shards cover the range of hashes without overlap."""
    for shard in sorted(shards, key=lambda shard: shard.low):
        if shard.low != low or shard.high <= low:
            return False
        low = shard.high
    return low == high


def _wrong_items(rows: RowReader, table: Table, written: Images) -> Iterator[str]:
    where = f"table {table.name}"
    # The last change of an old item may have been pruned.
    is_pruned = rows.counts(ROWS_PRUNED)[0] > 0
    items = total = 0
    collections: dict[bytes, int] = {}
    checks = entry_checks(rows, table)
    for number, key, size, raw, kept_sum in _all_rows(rows, table):
        items += 1
        total += size
        place = f"{where}: item at {key.hex()}"
        if kept_sum is not None and (not isinstance(raw, bytes) or crc32(raw) != kept_sum):
            yield f"{place} does not match its checksum"
        # Items of a restore or an import are not in the journal either.
        is_new = not is_pruned and not table.is_filled
        is_known = written[table.number, key] != STRIPPED if (table.number, key) in written else is_new
        if is_known and written.get((table.number, key)) != digest(raw):
            yield f"{place} is not what the journal last wrote"
        try:
            item: Item = orjson.loads(raw)
            yield from wrong_item(table, place, key, size, item)
            expected: list[tuple[EntryCheck, bytes, int]] = []
            held = size
            for one in checks:
                if (entry := one.entry_of(number, key, item)) is not None:
                    weight = one.weight(item, size)
                    expected.append((one, entry, weight))
                    held += weight if one.index is not None and one.index.local else 0
            if table.has_local_indexes:
                partition = partition_of(table, item)
                collections[partition] = collections.get(partition, 0) + held
        except Exception as damage:
            yield f"{place} is not an item: {type(damage).__name__}: {damage}"
            continue
        for one, entry, weight in expected:
            yield from one.expect(entry, number, weight)
    for (owner, key), image in written.items():
        if owner == table.number and image not in (None, STRIPPED) and rows.get(owner, key) is None:
            yield f"{where}: by the journal there is an item at {key.hex()}, and there is none"
    yield from _wrong_count(rows, where, table_name(table.number), items, total)
    for one in checks:
        yield from _named(one.where, one.unexpected())
        if one.is_counted:
            name = index_name(table.number, one.number)
            yield from _wrong_count(rows, one.where, name, one.items, one.size)
    if (table.ttl_attribute is None) != (table.ttl_index is None):
        yield f"{where}: it has TTL without an expiry list, or an expiry list without TTL"
    if table.has_local_indexes:
        sizes = {partition: size for partition, size in rows.all_collections(table.number) if size}
        if sizes != collections:
            yield f"{where}: the sizes of its item collections are wrong"


def wrong_item(table: Table, place: str, key: bytes, size: int, item: Item) -> Iterator[str]:
    canonical, weight = admit_item(item)
    if canonical != item:
        yield f"{place} is not in canonical form"
    if weight != size:
        yield f"{place} is recorded with {size} bytes and has {weight}"
    if any(name not in item for name in table.schema.names):
        yield f"{place} lacks a key attribute"
    elif item_key(table, item) != key:
        yield f"{place} is stored under a key that is not its own"


def _all_rows(rows: RowReader, table: Table) -> Iterator[tuple[int, bytes, int, bytes, int | None]]:
    after = 0
    while step := rows.rows_with_checksums(table.number, after, STEP):
        yield from step
        after = step[-1][0]


def _wrong_count(rows: RowReader, where: str, owner: str, items: int, size: int) -> Iterator[str]:
    counted = rows.counts(owner)
    if counted != (items, size):
        yield f"{where}: counted {counted[0]} items of {counted[1]} bytes, there are {items} of {size}"
