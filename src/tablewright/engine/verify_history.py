"""Invariants of the past: chunks, snapshots, backups, restores, and that the journal leads from one to the other.

Elsewhere: all the others (verify.py).
"""

import zlib
from collections.abc import Iterator
from hashlib import blake2b

from tablewright.engine import storage_history as past
from tablewright.engine.catalog import Table, from_json
from tablewright.engine.chunks import items_of, name_of
from tablewright.engine.storage_history import Kept, Ref, Snapshot
from tablewright.engine.storage_rows import Rows

STATUSES = ("MAKING", "AVAILABLE", "FAILED", "DELETED")
STEP = 500


def wrong_past(rows: Rows, tables: list[Table]) -> Iterator[str]:
    snapshots = {one.number: one for one in past.snapshots(rows)}
    yield from _wrong_chunks(rows)
    for one in snapshots.values():
        yield from _wrong_snapshot(rows, one)
    yield from _wrong_backups(rows, snapshots)
    yield from _wrong_holds(rows, snapshots)
    yield from _wrong_blanks(rows, tables)
    yield from _wrong_restores(rows, tables)
    for table in tables:
        if table.recovery_since is not None:
            yield from _wrong_checkpoint(rows, table, list(snapshots.values()))


def _wrong_chunks(rows: Rows) -> Iterator[str]:
    """Every chunk is what its name says, and is somebody's."""
    for name, body, users in past.all_chunks(rows):
        try:
            is_right = name_of(zlib.decompress(body)) == name
        except zlib.error:
            is_right = False
        if not is_right:
            yield f"chunk {name.hex()} is not what its name says"
        if users == 0:
            yield f"chunk {name.hex()} belongs to no snapshot"


def _refs(rows: Rows, snapshot: int) -> Iterator[Ref]:
    low = b""
    while step := past.refs_from(rows, snapshot, low, STEP):
        yield from step
        low = step[-1].low + b"\x00"


def all_items(rows: Rows, snapshot: int) -> Iterator[Kept]:
    """What a snapshot holds."""
    for ref in _refs(rows, snapshot):
        yield from items_of(zlib.decompress(past.chunk(rows, ref.hash)))


def _wrong_snapshot(rows: Rows, one: Snapshot) -> Iterator[str]:
    """A snapshot's chunks are there, in order, and hold what it says."""
    where = f"snapshot {one.number} of table {one.owner}"
    if one.status not in STATUSES:
        yield f"{where}: nobody knows the status {one.status}"
    items = size = 0
    last = b""
    for ref in _refs(rows, one.number):
        items += ref.items
        size += ref.size
        try:
            held = items_of(zlib.decompress(past.chunk(rows, ref.hash)))
        except (LookupError, zlib.error):
            yield f"{where}: its chunk {ref.hash.hex()} is not there"
            continue
        keys = [kept.key for kept in held]
        if keys != sorted(set(keys)) or keys[0] != ref.low or ref.low <= last or len(keys) != ref.items:
            yield f"{where}: its chunk {ref.hash.hex()} does not belong where it stands"
        if sum(kept.size for kept in held) != ref.size:
            yield f"{where}: its chunk {ref.hash.hex()} is said to have {ref.size} bytes"
        if one.status == "MAKING" and keys[-1] >= one.done:
            yield f"{where}: it has a key it has not come to"
        last = keys[-1]
    if one.status != "DELETED" and (items, size) != (one.items, one.size):
        yield f"{where}: counted {one.items} items of {one.size} bytes, there are {items} of {size}"


def _wrong_backups(rows: Rows, snapshots: dict[int, Snapshot]) -> Iterator[str]:
    for backup in past.backups(rows):
        snapshot = snapshots.get(backup.snapshot)
        if snapshot is None or snapshot.kind != "BACKUP" or snapshot.status == "DELETED":
            yield f"backup {backup.arn}: there is no snapshot of it"
            continue
        source = from_json(snapshot.owner, backup.source)
        if not backup.arn.startswith(f"{source.arn}/backup/"):
            yield f"backup {backup.arn}: it is of another table, {source.arn}"
        if snapshot.status == "AVAILABLE" and (snapshot.items, snapshot.size) != (backup.items, backup.size):
            yield f"backup {backup.arn}: it holds {snapshot.items} items, and its table had {backup.items}"
    known = {backup.snapshot for backup in past.backups(rows)}
    for one in snapshots.values():
        if one.kind == "BACKUP" and one.status != "DELETED" and one.number not in known:
            yield f"snapshot {one.number} of table {one.owner}: it belongs to no backup"


def _wrong_holds(rows: Rows, snapshots: dict[int, Snapshot]) -> Iterator[str]:
    """What somebody reads is there; who makes or fills something reads."""
    held = {one.name: one for one in past.holds(rows)}
    first = rows.first_sequence()
    for one in held.values():
        if one.base is None and not past.is_stored(rows, one.owner):
            yield f"{one.name}: the table {one.owner} that it reads is not there"
        if one.base is not None and one.base not in snapshots:
            yield f"{one.name}: the snapshot {one.base} that it reads is not there"
        if one.floor < first:
            yield f"{one.name}: it needs the journal from {one.floor} on, which begins with {first}"
    for snapshot in snapshots.values():
        if (snapshot.status == "MAKING") != (f"snapshot {snapshot.number}" in held):
            yield f"snapshot {snapshot.number} of table {snapshot.owner}: it is {snapshot.status}, and its hold is not"


def _wrong_blanks(rows: Rows, tables: list[Table]) -> Iterator[str]:
    """No change that somebody may ask for has lost what it says."""
    since = {table.number: table.recovery_since for table in tables if table.recovery_since is not None}
    floors = {one.owner: one.floor for one in sorted(past.holds(rows), key=lambda one: -one.floor)}
    for seq, at, _, owner, _, old, new in rows.journal():
        if old is None and new is None:
            if owner in since and at >= since[owner]:
                yield f"journal: {seq} has lost what it says, and its table may be restored to that moment"
            elif owner in floors and seq >= floors[owner]:
                yield f"journal: {seq} has lost what it says, and somebody reads it"


def _wrong_restores(rows: Rows, tables: list[Table]) -> Iterator[str]:
    held = {one.name for one in past.holds(rows)}
    filled = {table.number for table in tables if table.status == "CREATING" and table.restored is not None}
    under_way = {table for table, _ in past.restores(rows)}
    for table in sorted(filled ^ under_way):
        yield f"table {table} is being restored, or is not: the catalog and the restores say different things"
    for table in sorted(under_way):
        if f"restore {table}" not in held:
            yield f"table {table} is being restored from nothing"


def _wrong_checkpoint(rows: Rows, table: Table, snapshots: list[Snapshot]) -> Iterator[str]:
    """The newest checkpoint and the journal after it give the table."""
    mine = [one for one in snapshots if one.owner == table.number and one.kind == "CHECKPOINT"]
    whole = [one for one in mine if one.status == "AVAILABLE"]
    if not any(one.status != "DELETED" for one in mine):
        yield f"table {table.name}: it has recovery, and no checkpoint"
    if not whole or whole[-1].seq + 1 < rows.first_sequence():
        return
    state = {kept.key: _digest(kept.item) for kept in all_items(rows, whole[-1].number)}
    for _, _, _, owner, key, _, new in rows.journal(whole[-1].seq):
        if owner != table.number:
            continue
        if new is None:
            state.pop(key, None)
        else:
            state[key] = _digest(new)
    low = b""
    while step := list(past.stored(rows, table.number, low, STEP)):
        for key, _, item in step:
            if state.pop(key, None) != _digest(item):
                yield f"table {table.name}: the item at {key.hex()} is not what its checkpoint and the journal say"
        low = step[-1].key + b"\x00"
    for key in state:
        yield f"table {table.name}: its checkpoint and the journal say there is an item at {key.hex()}"


def _digest(item: bytes) -> bytes:
    """Enough of an item to recognise it: a store may hold more items than memory does."""
    return blake2b(item, digest_size=16).digest()
