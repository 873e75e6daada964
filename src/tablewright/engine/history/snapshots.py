"""Snapshots of tables: how one is begun, made in the background, and deleted; and when a checkpoint is due.

A snapshot is a checkpoint of a table with point-in-time recovery, or a backup. It is begun in a transaction, whose
state it has, and made by a job: chunk by chunk; a chunk that has not changed since an earlier snapshot is only
referenced again.
Must hold: a snapshot is AVAILABLE when it is complete; until then it records its last key, and continues there after a
restart. Its chunks stay as long as it is pinned.
Elsewhere: chunks (chunks.py), the state that is copied (time_travel.py), backups (backups.py), windows
(pitr_window.py).
"""

from functools import partial

from tablewright.engine.background.session import Session
from tablewright.engine.history import store
from tablewright.engine.history.chunks import cut, pack
from tablewright.engine.history.pitr_window import window
from tablewright.engine.history.store import ChunkRef, Snapshot
from tablewright.engine.history.time_travel import (
    StatePage,
    StateReader,
    items_of,
    pages_as_of,
    pin,
    read_step,
    release,
)
from tablewright.engine.storage.rows import table_name
from tablewright.engine.transaction import WriteTransaction

# A checkpoint is due after this many changes of its table, or half as many as it has items, so that reading the state
# at any moment costs no more than the table itself; or when the journal has grown by MOST_ROWS since, for whichever
# tables.
FEWEST_CHANGES = 10_000
MOST_ROWS = 1_000_000
# The work of one transaction: chunks added, chunks deleted, journal rows counted.
STEP_BYTES = 256 * 1024
STEP_REFS = 100
REMOVED_CHUNKS = 50
COUNTED_ROWS = 2000

CHECKPOINT = "CHECKPOINT"
BACKUP = "BACKUP"


def begin_snapshot(txn: WriteTransaction, table: int, kind: str) -> int:
    """Begin a snapshot of the table's current state; returns its number."""
    number = store.add_snapshot(txn.rows, table, txn.position.seq, txn.position.at, kind)
    pin(txn, _pin_name(number), table, txn.position.seq, for_snapshot=True)
    txn.has_background_work = True
    return number


def discard(txn: WriteTransaction, snapshot: int) -> None:
    """The snapshot is not needed any more, finished or not; its chunks are deleted in small steps."""
    store.set_status(txn.rows, snapshot, "DELETED")
    release(txn, _pin_name(snapshot))


def _pin_name(snapshot: int) -> str:
    return f"snapshot {snapshot}"


# --- making ---


def make_batch(session: Session) -> bool:
    """A job: add a batch of chunks to an incomplete snapshot; False when there is none."""
    found = session.read(lambda txn: store.unfinished(txn.rows))
    if found is not None:
        begin = partial(pages_as_of, session, _pin_name(found.number), found.done)
        read_step(session, "snapshot", found.number, begin, _add_batch, partial(_end, status="FAILED"))
    return found is not None


def _add_batch(session: Session, making: StateReader[StatePage]) -> bool:
    """One step; returns whether the snapshot is complete, or discarded."""
    refs: list[ChunkRef] = []
    bodies: dict[bytes, bytes] = {}
    done: bytes | None = b""
    while done is not None and len(refs) < STEP_REFS and sum(map(len, bodies.values())) < STEP_BYTES:
        page = next(making.pages)
        if page.ref is not None and page.is_shared and not making.rest:
            refs.append(page.ref)
        else:
            runs, making.rest = cut(making.rest + items_of(session, page), page.high is None)
            for run in runs:
                ref, body = pack(run)
                refs.append(ref)
                bodies[ref.hash] = body
        done = making.rest[0].key if making.rest else page.high
    return session.write(lambda txn: _save(txn, making.number, done, refs, bodies))


def _save(
    txn: WriteTransaction, number: int, done: bytes | None, refs: list[ChunkRef], bodies: dict[bytes, bytes]
) -> bool:
    if not _is_made(txn, number):
        return True
    store.add_chunks(txn.rows, number, done or b"", refs, bodies)
    return done is None and _end(txn, number, "AVAILABLE")


def _end(txn: WriteTransaction, number: int, status: str) -> bool:
    """Set the status of a snapshot that is not made any further; False if it was discarded."""
    if not _is_made(txn, number):
        return False
    store.set_status(txn.rows, number, status)
    release(txn, _pin_name(number))
    return True


def _is_made(txn: WriteTransaction, number: int) -> bool:
    snapshot = store.snapshot(txn.rows, number)
    return snapshot is not None and snapshot.status == "MAKING"


# --- scheduled maintenance ---


def maintain_batch(txn: WriteTransaction) -> bool:
    """One step: begin, discard or delete snapshots, or count changes. False when there was nothing to do."""
    snapshots = store.snapshots(txn.rows)
    if not snapshots and not any(table.recovery_since is not None for table in txn.tables.values()):
        return False
    return (
        _expire_backup(txn)
        or _retire_checkpoint(txn, snapshots)
        or _remove_batch(txn, snapshots)
        or _begin_checkpoint(txn, snapshots)
        or _count_batch(txn, snapshots)
    )


def _expire_backup(txn: WriteTransaction) -> bool:
    """Discard a system backup that has expired."""
    for backup in store.backups(txn.rows):
        if backup.expires is not None and backup.expires <= txn.position.at:
            discard(txn, backup.snapshot)
            store.forget_backup(txn.rows, backup.arn)
            return True
    return False


def _windows(txn: WriteTransaction) -> dict[int, int]:
    """When the window of each table with recovery begins, by the table's number."""
    return {
        table.number: window(table, txn.position.at)[0]
        for table in txn.tables.values()
        if table.recovery_since is not None
    }


def _newest(snapshots: list[Snapshot], table: int) -> Snapshot | None:
    mine = [one for one in snapshots if one.kind == CHECKPOINT and one.owner == table]
    return next((one for one in reversed(mine) if one.status != "DELETED"), None)


def _retire_checkpoint(txn: WriteTransaction, snapshots: list[Snapshot]) -> bool:
    """Discard a checkpoint whose table has no recovery any more, or that a newer one before the window replaces."""
    windows = _windows(txn)
    for one in snapshots:
        if one.kind != CHECKPOINT or one.status == "DELETED":
            continue
        newest, since = _newest(snapshots, one.owner), windows.get(one.owner)
        is_followed = newest is not None and newest != one and newest.status == "AVAILABLE"
        if since is None or (one.at < since and is_followed):
            discard(txn, one.number)
            return True
    return False


def _remove_batch(txn: WriteTransaction, snapshots: list[Snapshot]) -> bool:
    held = {one.base for one in store.pins(txn.rows)}
    for one in snapshots:
        if one.status == "DELETED" and one.number not in held:
            store.remove_chunks(txn.rows, one.number, REMOVED_CHUNKS)
            return True
    return False


def _begin_checkpoint(txn: WriteTransaction, snapshots: list[Snapshot]) -> bool:
    for table, since in _windows(txn).items():
        newest = _newest(snapshots, table)
        if newest is None or _is_due(txn, newest, since):
            begin_snapshot(txn, table, CHECKPOINT)
            return True
    return False


def _is_due(txn: WriteTransaction, newest: Snapshot, since: int) -> bool:
    if newest.status == "MAKING":
        return False
    items = txn.rows.counts(table_name(newest.owner))[0]
    many = newest.changes > max(FEWEST_CHANGES, items // 2)
    return many or txn.position.seq - newest.seq > MOST_ROWS or newest.at < since


def _count_batch(txn: WriteTransaction, snapshots: list[Snapshot]) -> bool:
    """Count the changes since each table's newest checkpoint; False when all are counted.

    Each journal row is read once, in the background: a counter would make every write slower.
    """
    newest = [one for table in _windows(txn) if (one := _newest(snapshots, table)) is not None]
    counted = min((one.counted for one in newest), default=txn.position.seq)
    if counted >= txn.position.seq:
        return False
    rows = txn.rows.journal_keys(counted, COUNTED_ROWS)
    last = rows[-1][0] if rows else txn.position.seq
    for one in newest:
        found = sum(seq > one.counted and owner == one.owner for seq, owner, _ in rows)
        store.count_changes(txn.rows, one.number, one.changes + found, max(last, one.counted))
    return True
