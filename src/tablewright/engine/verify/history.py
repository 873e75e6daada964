"""Invariants of history: chunks, snapshots, pins, backups, restores, and checkpoints against the journal.

Elsewhere: all the others (invariants.py).
"""

import zlib
from collections.abc import Iterator
from hashlib import blake2b

from tablewright.engine.catalog import Table, from_json
from tablewright.engine.history import store as history_store
from tablewright.engine.history.chunks import is_whole, unpack
from tablewright.engine.history.store import ChunkRef, Snapshot, StoredItem
from tablewright.engine.storage.rows import RowReader, table_name

STATUSES = ("MAKING", "AVAILABLE", "FAILED", "DELETED")
STEP = 500


def wrong_history(rows: RowReader, tables: list[Table]) -> Iterator[str]:
    snapshots = {one.number: one for one in history_store.snapshots(rows)}
    yield from _wrong_chunks(rows)
    for one in snapshots.values():
        yield from _wrong_snapshot(rows, one)
    yield from _wrong_backups(rows, snapshots)
    yield from _wrong_pins(rows, snapshots)
    yield from _wrong_stripped(rows, tables)
    yield from _wrong_restores(rows, tables)
    for table in tables:
        if table.recovery_since is not None:
            yield from _wrong_checkpoint(rows, table, list(snapshots.values()))


def _wrong_chunks(rows: RowReader) -> Iterator[str]:
    """Every chunk has the content of its name, and belongs to a snapshot."""
    for name, body, users in history_store.all_chunks(rows):
        if not is_whole(name, body):
            yield f"chunk {name.hex()} does not have the content of its name"
        if users == 0:
            yield f"chunk {name.hex()} belongs to no snapshot"


def _refs(rows: RowReader, snapshot: int) -> Iterator[ChunkRef]:
    low = b""
    while step := history_store.refs_from(rows, snapshot, low, STEP):
        yield from step
        low = step[-1].low + b"\x00"


def all_items(rows: RowReader, snapshot: int) -> Iterator[StoredItem]:
    """The items of a snapshot."""
    for ref in _refs(rows, snapshot):
        yield from unpack(history_store.chunk(rows, ref.hash))


def _wrong_snapshot(rows: RowReader, one: Snapshot) -> Iterator[str]:
    """A snapshot's chunks exist, are in order, and have the recorded items and bytes."""
    where = f"snapshot {one.number} of table {one.owner}"
    if one.status not in STATUSES:
        yield f"{where}: its status {one.status} is unknown"
    items = size = 0
    last = b""
    for ref in _refs(rows, one.number):
        items += ref.items
        size += ref.size
        try:
            held = unpack(history_store.chunk(rows, ref.hash))
        except (LookupError, zlib.error):
            yield f"{where}: its chunk {ref.hash.hex()} is missing"
            continue
        keys = [stored.key for stored in held]
        if keys != sorted(set(keys)) or keys[0] != ref.low or ref.low <= last or len(keys) != ref.items:
            yield f"{where}: its chunk {ref.hash.hex()} is in the wrong place"
        if sum(stored.size for stored in held) != ref.size:
            yield f"{where}: its chunk {ref.hash.hex()} is recorded with {ref.size} bytes"
        if one.status == "MAKING" and keys[-1] >= one.done:
            yield f"{where}: it has a key beyond its progress"
        last = keys[-1]
    if one.status != "DELETED" and (items, size) != (one.items, one.size):
        yield f"{where}: counted {one.items} items of {one.size} bytes, there are {items} of {size}"


def _wrong_backups(rows: RowReader, snapshots: dict[int, Snapshot]) -> Iterator[str]:
    for backup in history_store.backups(rows):
        snapshot = snapshots.get(backup.snapshot)
        if snapshot is None or snapshot.kind != "BACKUP" or snapshot.status == "DELETED":
            yield f"backup {backup.arn}: its snapshot is missing"
            continue
        source = from_json(snapshot.owner, backup.source)
        if not backup.arn.startswith(f"{source.arn}/backup/"):
            yield f"backup {backup.arn}: it is of another table, {source.arn}"
        if snapshot.status == "AVAILABLE" and (snapshot.items, snapshot.size) != (backup.items, backup.size):
            yield f"backup {backup.arn}: it holds {snapshot.items} items, and its table had {backup.items}"
    known = {backup.snapshot for backup in history_store.backups(rows)}
    for one in snapshots.values():
        if one.kind == "BACKUP" and one.status != "DELETED" and one.number not in known:
            yield f"snapshot {one.number} of table {one.owner}: it belongs to no backup"


def _wrong_pins(rows: RowReader, snapshots: dict[int, Snapshot]) -> Iterator[str]:
    """What a pin needs exists; each snapshot in progress has a pin."""
    held = {one.name: one for one in history_store.pins(rows)}
    first, stored = rows.first_sequence(), rows.sql_tables()
    for one in held.values():
        if one.base is None and table_name(one.owner) not in stored:
            yield f"{one.name}: the table {one.owner} that it reads is missing"
        if one.base is not None and one.base not in snapshots:
            yield f"{one.name}: the snapshot {one.base} that it reads is missing"
        if one.floor < first:
            yield f"{one.name}: it needs the journal from {one.floor} on, which begins with {first}"
    for snapshot in snapshots.values():
        if (snapshot.status == "MAKING") != (f"snapshot {snapshot.number}" in held):
            where = f"snapshot {snapshot.number} of table {snapshot.owner}"
            yield f"{where}: it is {snapshot.status}, which does not fit its pin"


def _wrong_stripped(rows: RowReader, tables: list[Table]) -> Iterator[str]:
    """No change that may still be read was stripped of its images."""
    since = {table.number: table.recovery_since for table in tables if table.recovery_since is not None}
    floors = {one.owner: one.floor for one in sorted(history_store.pins(rows), key=lambda one: -one.floor)}
    for seq, at, _, owner, _, old, new in rows.journal():
        if old is None and new is None:
            if owner in since and at >= since[owner]:
                yield f"journal: {seq} has no images, and its table may be restored to that moment"
            elif owner in floors and seq >= floors[owner]:
                yield f"journal: {seq} has no images, and a pin needs it"


def _wrong_restores(rows: RowReader, tables: list[Table]) -> Iterator[str]:
    held = {one.name for one in history_store.pins(rows)}
    filled = {table.number for table in tables if table.status == "CREATING" and table.restored is not None}
    under_way = {table for table, _ in history_store.restores(rows)}
    for table in sorted(filled ^ under_way):
        yield f"table {table}: the catalog and the records of restores differ on whether it is being restored"
    for table in sorted(under_way):
        if f"restore {table}" not in held:
            yield f"table {table} is being restored without a pin"


def _wrong_checkpoint(rows: RowReader, table: Table, snapshots: list[Snapshot]) -> Iterator[str]:
    """The newest checkpoint and the journal after it give the table's items."""
    mine = [one for one in snapshots if one.owner == table.number and one.kind == "CHECKPOINT"]
    whole = [one for one in mine if one.status == "AVAILABLE"]
    if not any(one.status != "DELETED" for one in mine):
        yield f"table {table.name}: it has point-in-time recovery, and no checkpoint"
    if not whole or whole[-1].seq + 1 < rows.first_sequence():
        return
    state = {stored.key: digest(stored.item) for stored in all_items(rows, whole[-1].number)}
    for _, _, _, owner, key, _, new in rows.journal(whole[-1].seq):
        if owner != table.number:
            continue
        if new is None:
            state.pop(key, None)
        else:
            state[key] = digest(new)
    low = b""
    while step := list(history_store.items_from(rows, table.number, low, STEP)):
        for key, _, item in step:
            if state.pop(key, None) != digest(item):
                yield f"table {table.name}: the item at {key.hex()} differs from its checkpoint and the journal"
        low = step[-1].key + b"\x00"
    for key in state:
        yield f"table {table.name}: by its checkpoint and the journal there is an item at {key.hex()}"


def digest(image: bytes | None) -> bytes | None:
    """A hash to compare items by: a store may have more items than fit into memory."""
    if image is None:
        return None
    # In a damaged file an image may have any type.
    return blake2b(image if isinstance(image, bytes) else repr(image).encode(), digest_size=16).digest()
