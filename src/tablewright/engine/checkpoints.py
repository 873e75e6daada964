"""Snapshots of tables: how one is begun, made beside the writes, and removed; and when a checkpoint is due.

A snapshot is a checkpoint of a table with point-in-time recovery, or a backup. It is begun in a transaction, whose
moment is its moment, and made by a labour: chunk by chunk, and a chunk that has not changed since an earlier snapshot
is only named again.
Must hold: a snapshot is AVAILABLE when it is whole; until then it says up to which key it has come, and goes on there
after a restart. Its chunks stay as long as somebody holds on to it.
Elsewhere: chunks (chunks.py), the state that is copied (history.py), backups (backups.py), windows (recovery.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tablewright.engine import storage_history as past
from tablewright.engine.chunks import cut, pack
from tablewright.engine.doors import Doors, EngineClosed
from tablewright.engine.errors import ServiceError
from tablewright.engine.history import Page, hold, items_of, pages_at, release, with_body
from tablewright.engine.recovery import window
from tablewright.engine.storage_history import Kept, Ref, Snapshot
from tablewright.engine.storage_rows import table_name
from tablewright.engine.writing import Writing

# A checkpoint is due after so many changes, or half as many as there are items, so that going back to any moment
# costs no more than the table itself; or when the journal has grown so much since, whoever's changes they are.
FEWEST_CHANGES = 10_000
MOST_ROWS = 1_000_000
# What one transaction takes: chunks added, chunks removed, rows of the journal counted.
STEP_BYTES = 256 * 1024
STEP_REFS = 100
REMOVED_CHUNKS = 50
COUNTED_ROWS = 2000

CHECKPOINT = "CHECKPOINT"
BACKUP = "BACKUP"


def begin(writing: Writing, table: int, kind: str) -> int:
    """The number of a new snapshot of the table as it is now."""
    number = past.add_snapshot(writing.rows, table, writing.pen.seq, writing.pen.at, kind)
    hold(writing, _hold_name(number), table, writing.pen.seq, anew=True)
    writing.is_owing = True
    return number


def give_up(writing: Writing, snapshot: int) -> None:
    """Nobody wants the snapshot any more, finished or not; its chunks go in small steps."""
    past.mark(writing.rows, snapshot, "DELETED")
    release(writing, _hold_name(snapshot))


def _hold_name(snapshot: int) -> str:
    return f"snapshot {snapshot}"


# --- making ---


@dataclass(slots=True)
class _Making:
    """A snapshot that is being made: what it has read and not yet written is in `rest`."""

    number: int
    pages: Iterator[Page]
    rest: list[Kept] = field(default_factory=list)


def make_some(doors: Doors) -> bool:
    """A labour: add a few chunks to a snapshot that is not whole; False when all are."""
    found = doors.read(lambda reading: past.unfinished(reading.rows))
    if found is None:
        return False
    making = doors.memory.get("snapshot")
    if not isinstance(making, _Making) or making.number != found.number:
        making = _Making(found.number, pages_at(doors, _hold_name(found.number), found.done))
    # Taken out, so that a step that fails is begun anew from what the store says.
    doors.memory.pop("snapshot", None)
    try:
        is_done = _add_some(doors, making)
    except (ServiceError, EngineClosed):
        raise
    except Exception:
        # What it is made of cannot be read: that will not get better. It may also have been given up since we looked,
        # and what it is made of with it; then there is nothing to tell.
        if doors.write(lambda writing: _fail(writing, found.number)):
            raise
        return True
    if not is_done:
        doors.memory["snapshot"] = making
    return True


def _add_some(doors: Doors, making: _Making) -> bool:
    """One step; whether the snapshot is whole, or given up."""
    refs: list[Ref] = []
    bodies: dict[bytes, bytes] = {}
    done: bytes | None = b""
    while done is not None and len(refs) < STEP_REFS and sum(map(len, bodies.values())) < STEP_BYTES:
        page = next(making.pages)
        if page.ref is not None and page.is_shared and not making.rest:
            refs.append(page.ref)
        else:
            if page.is_shared:
                page = with_body(doors, page)
            runs, making.rest = cut(making.rest + items_of(page), page.high is None)
            for run in runs:
                ref, body = pack(run)
                refs.append(ref)
                bodies[ref.hash] = body
        done = making.rest[0].key if making.rest else page.high
    return doors.write(lambda writing: _save(writing, making.number, done, refs, bodies))


def _save(
    writing: Writing, number: int, done: bytes | None, refs: list[Ref], bodies: dict[bytes, bytes]
) -> bool:
    if not _is_made(writing, number):
        return True
    past.grow(writing.rows, number, done or b"", refs, bodies)
    if done is not None:
        return False
    past.mark(writing.rows, number, "AVAILABLE")
    release(writing, _hold_name(number))
    return True


def _fail(writing: Writing, number: int) -> bool:
    """Mark it; False if nobody wants it any more."""
    if not _is_made(writing, number):
        return False
    past.mark(writing.rows, number, "FAILED")
    release(writing, _hold_name(number))
    return True


def _is_made(writing: Writing, number: int) -> bool:
    snapshot = past.snapshot(writing.rows, number)
    return snapshot is not None and snapshot.status == "MAKING"


# --- what time brings ---


def tend_some(writing: Writing) -> bool:
    """One step of what snapshots need: new ones, old ones that go, counting. False when they need nothing."""
    snapshots = past.snapshots(writing.rows)
    if not snapshots and not any(table.recovery_since is not None for table in writing.tables.values()):
        return False
    return (
        _expire_backup(writing)
        or _retire_checkpoint(writing, snapshots)
        or _remove_some(writing, snapshots)
        or _begin_checkpoint(writing, snapshots)
        or _count_some(writing, snapshots)
    )


def _expire_backup(writing: Writing) -> bool:
    """Backups the service made are kept for a while only."""
    for backup in past.backups(writing.rows):
        if backup.expires is not None and backup.expires <= writing.pen.at:
            give_up(writing, backup.snapshot)
            past.forget_backup(writing.rows, backup.arn)
            return True
    return False


def _windows(writing: Writing) -> dict[int, int]:
    """When the window of each table with recovery begins, by the table's number."""
    return {
        table.number: window(table, writing.pen.at)[0]
        for table in writing.tables.values()
        if table.recovery_since is not None
    }


def _newest(snapshots: list[Snapshot], table: int) -> Snapshot | None:
    mine = [one for one in snapshots if one.kind == CHECKPOINT and one.owner == table]
    return next((one for one in reversed(mine) if one.status != "DELETED"), None)


def _retire_checkpoint(writing: Writing, snapshots: list[Snapshot]) -> bool:
    """Checkpoints go with the recovery they were for, or when the window has passed them and there is a newer one."""
    windows = _windows(writing)
    for one in snapshots:
        if one.kind != CHECKPOINT or one.status == "DELETED":
            continue
        newest, since = _newest(snapshots, one.owner), windows.get(one.owner)
        is_followed = newest is not None and newest != one and newest.status == "AVAILABLE"
        if since is None or (one.at < since and is_followed):
            give_up(writing, one.number)
            return True
    return False


def _remove_some(writing: Writing, snapshots: list[Snapshot]) -> bool:
    held = {one.base for one in past.holds(writing.rows)}
    for one in snapshots:
        if one.status == "DELETED" and one.number not in held:
            past.remove_chunks(writing.rows, one.number, REMOVED_CHUNKS)
            return True
    return False


def _begin_checkpoint(writing: Writing, snapshots: list[Snapshot]) -> bool:
    for table, since in _windows(writing).items():
        newest = _newest(snapshots, table)
        if newest is None or _is_due(writing, newest, since):
            begin(writing, table, CHECKPOINT)
            return True
    return False


def _is_due(writing: Writing, newest: Snapshot, since: int) -> bool:
    if newest.status == "MAKING":
        return False
    items = writing.rows.counts(table_name(newest.owner))[0]
    many = newest.changes > max(FEWEST_CHANGES, items // 2)
    return many or writing.pen.seq - newest.seq > MOST_ROWS or newest.at < since


def _count_some(writing: Writing, snapshots: list[Snapshot]) -> bool:
    """Count the changes since each table's newest checkpoint; False when all were counted.

    Each row of the journal is looked at once, beside the writes: a counter would make every write dearer.
    """
    newest = [one for table in _windows(writing) if (one := _newest(snapshots, table)) is not None]
    counted = min((one.counted for one in newest), default=writing.pen.seq)
    if counted >= writing.pen.seq:
        return False
    rows = past.owners_of(writing.rows, counted, COUNTED_ROWS)
    last = rows[-1][0] if rows else writing.pen.seq
    for one in newest:
        found = sum(seq > one.counted and owner == one.owner for seq, owner in rows)
        past.count_changes(writing.rows, one.number, one.changes + found, max(last, one.counted))
    return True
