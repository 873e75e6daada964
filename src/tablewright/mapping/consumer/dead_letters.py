"""Dead letters: records that could not be handled are parked, with those that follow of the same key, until they are
replayed or discarded.

A parked record puts a hold on its key; later records of the key are parked behind it, so that the changes of a key are
handled in order or not at all. Must hold: record, hold and checkpoint are one transaction, so a record is never parked
and forgotten, or parked and handled; a hold is deleted only with the last record of its key.
A parked record holds the item before and after its change: erasing a person from a table includes these records. They
cannot expire through TTL, because the hold on their key counts them.
A process without the handler (a command, another program) requests a replay: it sets a mark on the hold, which the next
round of the consumer finds.
Elsewhere: when a record is parked (processor.py), what is stored (design.py).
"""

import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import orjson

from tablewright.client import CallRefused
from tablewright.client.item_identity import identity_of
from tablewright.design import Write
from tablewright.mapping.consumer.design import (
    KeyHold,
    Lease,
    Parked,
    RecordPart,
    holds,
    holds_of,
    parked,
    parked_of,
    parked_of_key,
    pieces,
    pieces_of,
)
from tablewright.mapping.consumer.leases import LeaseLost, Worker, save, save_write
from tablewright.mapping.consumer.shards import NOT_FOUND
from tablewright.mapping.db import Db
from tablewright.mapping.errors import AlreadyExists, ConditionNotMet, MappingMistake, Missing, Stale

BEHIND = "Behind"
# Sequence numbers have up to 40 digits and sort as text only with as many.
_DIGITS = 40
_PIECE = 300_000
# How often a replay that was asked for is begun. More than once, since a worker may be stopped in the middle of it;
# not for ever, since the record may be what kills the workers.
REPLAY_ATTEMPTS = 3

Handler = Callable[[Mapping[str, Any]], str | None]  # the kind of error, or None if all went well


class NotParked(MappingMistake):
    """No parked record has this sequence number (any more)."""

    def __init__(self, sequence: str) -> None:
        self.sequence = sequence
        super().__init__(f"no record {sequence} is parked; parked() lists those that are")


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many parked records were handled, and how many are still parked."""

    handled: int
    left: int


def key_digest(record: Mapping[str, Any]) -> str:
    """A digest of the key of a record; not the key itself, which may contain a name."""
    return blake2b(identity_of("", record["dynamodb"]["Keys"])[1].encode(), digest_size=16).hexdigest()


def held_keys(worker: Worker) -> set[str]:
    """The digests of the keys with parked records."""
    return {hold.line for hold in worker.db.all(holds_of(**worker.names))}


# --- parking ---


def park(
    worker: Worker, lease: Lease, record: Mapping[str, Any], entity: str, error: str, attempts: int
) -> bool:
    """Park a record and save the lease, whose checkpoint is that record. False: its key has no parked records.

    Raises LeaseLost, and has then parked nothing.
    """
    told, now, line = record["dynamodb"], worker.now(), key_digest(record)
    place = told["SequenceNumber"].zfill(_DIGITS)
    packed = zlib.compress(orjson.dumps(record))
    parts = [packed[at : at + _PIECE] for at in range(0, len(packed), _PIECE)]
    head = Parked(
        **worker.names,
        line=line,
        place=place,
        sequence=told["SequenceNumber"],
        event_id=record["eventID"],
        entity=entity,
        kind=record["eventName"],
        key=orjson.dumps(told["Keys"], option=orjson.OPT_SORT_KEYS).decode(),
        error=error,
        attempts=attempts,
        first_tried=now,
        last_tried=now,
        pieces=len(parts),
    )
    data = [
        pieces.put(RecordPart(**worker.names, place=place, number=number, data=part))
        for number, part in enumerate(parts)
    ]
    hold = KeyHold(**worker.names, line=line)
    waiting = _update_hold(worker, line) if error == BEHIND else holds.upsert(hold)
    try:
        worker.db.write(
            parked.create(head), *data, waiting.at(lambda v: v.count).add(1), save_write(worker, lease)
        )
    except AlreadyExists:
        save(worker, lease)  # this record was parked before, and the answer was lost
    except (Missing, ConditionNotMet) as refused:
        if refused.entity != holds.shape.tag:
            raise LeaseLost from None
        return False
    return True


# --- listing, replaying, discarding ---


def list_parked(worker: Worker) -> list[Parked]:
    """Everything that is parked, oldest first."""
    found = worker.db.all(parked_of(**worker.names))
    return sorted(found, key=lambda one: one.place)


def list_all_parked(db: Db) -> list[Parked]:
    """The parked records of all consumers of all tables; scans their table."""
    return sorted(db.every(parked), key=lambda one: (one.table, one.consumer, one.place))


def stored_record(worker: Worker, head: Parked) -> dict[str, Any]:
    """The record as it was in the stream."""
    asked = pieces_of(table=head.table, consumer=head.consumer, place=head.place)
    packed = b"".join(piece.data for piece in worker.db.all(asked))
    return orjson.loads(zlib.decompress(packed))  # type: ignore[no-any-return]  # as it was packed


def keys_of(worker: Worker, sequences: tuple[str, ...]) -> list[str]:
    """The key digests of these records, or of all, oldest first; raises NotParked."""
    there = {one.sequence: one.line for one in list_parked(worker)}
    for sequence in sequences:
        if sequence not in there:
            raise NotParked(sequence)
    return list(dict.fromkeys(there[sequence] for sequence in sequences or there))


def replay_key(worker: Worker, line: str, attempt: Handler) -> int:
    """Handle what is parked of a key in order, up to the first that fails again; how many were handled."""
    return _replay(worker, line, attempt, until=None) if _claim_hold(worker, line) else 0


def replay_requested(worker: Worker, attempt: Handler, until: datetime) -> int:
    """Replay the keys for which that was requested, until `until` at most; how many records were handled."""
    handled = 0
    for hold in worker.db.all(holds_of(**worker.names)):
        if hold.asked > 0 and _claim_hold(worker, hold.line, is_asked=True):
            handled += _replay(worker, hold.line, attempt, until)
            if worker.now() >= until:
                break
    return handled


def request_replay(worker: Worker, sequences: tuple[str, ...]) -> int:
    """Ask for a replay of these records, or of all, by the consumer's next round; of how many keys. Raises NotParked.

    As with a replay, naming one record means all of its key.
    """
    asked = 0
    for line in keys_of(worker, sequences):
        try:
            worker.db.write(_update_hold(worker, line).at(lambda v: v.asked).set(REPLAY_ATTEMPTS))
        except Missing:  # replayed or discarded since
            continue
        asked += 1
    return asked


def _replay(worker: Worker, line: str, attempt: Handler, until: datetime | None) -> int:
    """Replay a key whose hold this worker has claimed; releases it at the end."""
    handled, asked = 0, 0
    try:
        # Again, since records may have been parked in the meantime.
        while found := list(worker.db.all(parked_of_key(**worker.names, line=line))):
            for head in found:
                error = attempt(stored_record(worker, head))
                if error is not None:
                    _record_failure(worker, head, error)
                    return handled
                handled += 1
                if remove(worker, head, worker.id):
                    return handled  # records parked from now on are under a new hold
                if until is not None and worker.now() >= until:
                    asked = REPLAY_ATTEMPTS  # no failure so far: another round continues
                    return handled
    except (LeaseLost, Missing, Stale):  # another worker has the hold or the record now
        return handled
    finally:
        _release_hold(worker, line, asked)
    return handled


def discard(worker: Worker, sequence: str) -> None:
    """Delete a parked record; raises NotParked. Records behind it stay parked, to be replayed."""
    head = next((one for one in list_parked(worker) if one.sequence == sequence), None)
    if head is None:
        raise NotParked(sequence)
    try:
        remove(worker, head)
    except (LeaseLost, Missing, Stale):
        raise NotParked(sequence) from None


def remove(worker: Worker, head: Parked, owner: str | None = None) -> bool:
    """Delete a parked record and, with the last one of its key, the hold; True if the hold was deleted.

    Raises LeaseLost if `owner` no longer has the hold.
    """
    gone: list[Write[Any]] = [
        parked.delete(head),
        *(pieces.discard(head.table, head.consumer, head.place, n) for n in range(head.pieces)),
    ]
    while True:
        hold = worker.db.one(holds.get(head.table, head.consumer, head.line), consistent=True)
        if hold is None or owner not in (None, hold.owner):
            raise LeaseLost
        if hold.count == 1:
            counted: Write[KeyHold] = holds.delete(hold)
        else:
            until = hold.until if owner is None else worker.now() + worker.term  # renewed for its owner
            counted = holds.change(hold, hold.model_copy(update={"count": hold.count - 1, "until": until}))
        try:
            worker.db.write(*gone, counted)
            return hold.count == 1
        except Stale as refused:
            if refused.entity != holds.shape.tag:
                raise  # otherwise another record was parked or removed: read the hold again


def _record_failure(worker: Worker, head: Parked, error: str) -> None:
    write = parked.update(head.table, head.consumer, head.line, head.place).at(lambda v: v.error).set(error)
    write = write.at(lambda v: v.attempts).add(1).at(lambda v: v.last_tried).set(worker.now())
    worker.db.write(write)


# --- holds ---


def _update_hold(worker: Worker, line: str) -> Write[KeyHold]:
    return holds.update(worker.table, worker.consumer, line)


def _claim_hold(worker: Worker, line: str, *, is_asked: bool = False) -> bool:
    """Claim a key for replay; False if another worker has it: two at once would mix up the order."""
    now, until = worker.now(), worker.now() + worker.term
    write = _update_hold(worker, line).at(lambda v: v.owner).set(worker.id)
    if is_asked:
        # Counted before the attempt: a worker that dies of it could not count afterwards.
        write = write.at(lambda v: v.asked).add(-1).when(lambda v: v.asked > 0)
    try:
        worker.db.write(write.at(lambda v: v.until).set(until).when(lambda v: v.until <= now))
    except (ConditionNotMet, Missing):
        return False
    return True


def _release_hold(worker: Worker, line: str, asked: int) -> None:
    me = worker.id
    write = _update_hold(worker, line).at(lambda v: v.until).set(worker.now())
    write = write.at(lambda v: v.asked).set(asked).at(lambda v: v.owner).set(None)
    with suppress(ConditionNotMet, Missing):
        worker.db.write(write.when(lambda v: v.owner == me))


# --- deleting records for good ---


def parked_key(record: Parked) -> Mapping[str, Any]:
    """The key of the item that a parked record is about, as the store writes it."""
    return orjson.loads(record.key)  # type: ignore[no-any-return]  # as it was stored


def forget_parked(db: Db, table: str, consumer: str, which: Callable[[Parked], bool]) -> int:
    """Delete the parked records for which `which` is true; how many. 0 if no consumer ever began.

    Records behind a deleted one stay parked, to be replayed.
    """
    return _forget(db, table, consumer, lambda _, record: which(record))


def forget_parked_saying(db: Db, table: str, consumer: str, says: Callable[[str], bool]) -> int:
    """The same by the whole record as JSON text: for people who are named in the items of others too."""

    def is_named(worker: Worker, record: Parked) -> bool:
        return says(record.key + orjson.dumps(stored_record(worker, record)).decode())

    return _forget(db, table, consumer, is_named)


def _forget(db: Db, table: str, consumer: str, which: Callable[[Worker, Parked], bool]) -> int:
    worker, removed = Worker(db, db._call, table, consumer, db.world.new_id(), timedelta(seconds=30)), 0
    try:
        there = list_parked(worker)
    except CallRefused as refusal:
        if refusal.name != NOT_FOUND:
            raise
        return 0
    for record in there:
        if which(worker, record):
            with suppress(LeaseLost, Missing, Stale):  # replayed or discarded since
                remove(worker, record)
                removed += 1
    return removed
