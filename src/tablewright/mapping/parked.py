"""Parked records: what could not be handled, and what waits behind it, until somebody replays or discards it.

A parked record puts a hold on its key; later records of the key are parked behind it, so that a key's changes are
handled in order or not at all. Must hold: record, hold and checkpoint are one transaction, so nothing is parked and
forgotten, or parked and handled; a hold goes only with the last record behind it, and whoever parks sees that.
Who has no handler (a command, another program) asks for a replay: the mark is on the hold, and the consumer's next
round finds it there.
Elsewhere: when a record is parked (consumer.py), what is stored (stream_design.py).
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

import orjson

from tablewright.client import pages
from tablewright.client.identity import place_of
from tablewright.design import Write
from tablewright.mapping.db import Db
from tablewright.mapping.errors import AlreadyExists, ConditionNotMet, MappingMistake, Missing, Stale
from tablewright.mapping.items import model_of
from tablewright.mapping.leases import LeaseLost, Worker, save, saving
from tablewright.mapping.stream_design import (
    Hold,
    Lease,
    Parked,
    Piece,
    holds,
    holds_of,
    parked,
    parked_in_line,
    parked_of,
    pieces,
    pieces_of,
)

BEHIND = "Behind"
# Sequence numbers have up to 40 digits and sort as text only with as many.
_DIGITS = 40
_PIECE = 300_000
# How often a replay that was asked for is begun. More than once, since a worker may be stopped in the middle of it;
# not for ever, since the record may be what kills the workers.
ASKED = 3

Attempt = Callable[[Mapping[str, Any]], str | None]  # the kind of error, or None if all went well


class NotParked(MappingMistake):
    """A sequence number under which nothing is parked, or nothing any more."""

    def __init__(self, sequence: str) -> None:
        self.sequence = sequence
        super().__init__(f"no record {sequence} is parked; parked() lists those that are")


@dataclass(frozen=True, slots=True)
class Replayed:
    """How many parked records were handled, and how many are still parked."""

    handled: int
    left: int


def line_of(record: Mapping[str, Any]) -> str:
    """What all records of one key share: a digest, since the key may hold a name."""
    return blake2b(place_of("", record["dynamodb"]["Keys"])[1].encode(), digest_size=16).hexdigest()


def held_lines(worker: Worker) -> set[str]:
    """The keys whose records have to wait."""
    return {hold.line for hold in worker.db.all(holds_of(table=worker.table, consumer=worker.consumer))}


# --- parking ---


def park(
    worker: Worker, lease: Lease, record: Mapping[str, Any], entity: str, error: str, attempts: int
) -> bool:
    """Park a record and keep the lease, whose checkpoint is that record. False: there is nothing to wait behind.

    Raises LeaseLost, and has then parked nothing.
    """
    head, data = _head(worker, record, entity, error, attempts)
    hold = Hold(table=worker.table, consumer=worker.consumer, line=head.line)
    waiting = holds.update(hold.table, hold.consumer, hold.line) if error == BEHIND else holds.upsert(hold)
    try:
        worker.db.write(
            parked.create(head), *data, waiting.at(lambda v: v.count).add(1), saving(worker, lease)
        )
    except AlreadyExists:
        save(worker, lease)  # this very record, by a worker that did not come to know that it had parked it
    except (Missing, ConditionNotMet) as refused:
        if refused.entity != holds.shape.tag:
            raise LeaseLost from None
        return False
    return True


def _head(
    worker: Worker, record: Mapping[str, Any], entity: str, error: str, attempts: int
) -> tuple[Parked, list[Write[Piece]]]:
    told, now = record["dynamodb"], worker.now()
    place = told["SequenceNumber"].zfill(_DIGITS)
    packed = zlib.compress(orjson.dumps(record))
    parts = [packed[at : at + _PIECE] for at in range(0, len(packed), _PIECE)]
    head = Parked(
        table=worker.table,
        consumer=worker.consumer,
        line=line_of(record),
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
    return head, [
        pieces.put(Piece(table=head.table, consumer=head.consumer, place=place, number=n, data=part))
        for n, part in enumerate(parts)
    ]


# --- looking, replaying, discarding ---


def listed(worker: Worker) -> list[Parked]:
    """Everything that is parked, oldest first."""
    found = worker.db.all(parked_of(table=worker.table, consumer=worker.consumer))
    return sorted(found, key=lambda one: one.place)


def listed_everywhere(db: Db) -> list[Parked]:
    """What is parked of all consumers of all tables; reads the whole table they share."""
    table = parked.shape.table
    request = {
        "TableName": db.physical(table.name),
        "FilterExpression": "begins_with(#s, :parked)",
        "ExpressionAttributeNames": {"#s": str(table.sk)},
        "ExpressionAttributeValues": {":parked": {"S": "PARKED#"}},
        "ConsistentRead": True,
    }
    found: list[Parked] = [
        model_of(parked.shape, item) for page in pages(db._call, "Scan", request) for item in page["Items"]
    ]
    return sorted(found, key=lambda one: (one.table, one.consumer, one.place))


def record_of(worker: Worker, head: Parked) -> dict[str, Any]:
    """The record as the stream told it."""
    asked = pieces_of(table=head.table, consumer=head.consumer, place=head.place)
    record: dict[str, Any] = orjson.loads(
        zlib.decompress(b"".join(piece.data for piece in worker.db.all(asked)))
    )
    return record


def chosen(worker: Worker, sequences: tuple[str, ...]) -> list[str]:
    """The lines of these records, or of all, oldest first; raises NotParked."""
    there = {one.sequence: one.line for one in listed(worker)}
    for sequence in sequences:
        if sequence not in there:
            raise NotParked(sequence)
    return list(dict.fromkeys(there[sequence] for sequence in sequences or there))


def replay_line(worker: Worker, line: str, attempt: Attempt) -> int:
    """Handle what is parked of a key in order, up to the first that fails again; how many were handled."""
    return _replay(worker, line, attempt, until=None) if _hold_taken(worker, line) else 0


def replay_asked(worker: Worker, attempt: Attempt, until: datetime) -> int:
    """Replay the keys that somebody asked for, until then at most; how many records were handled."""
    handled = 0
    for hold in worker.db.all(holds_of(table=worker.table, consumer=worker.consumer)):
        if hold.asked > 0 and _hold_taken(worker, hold.line, is_asked=True):
            handled += _replay(worker, hold.line, attempt, until)
            if worker.now() >= until:
                break
    return handled


def ask(worker: Worker, sequences: tuple[str, ...]) -> int:
    """Ask for a replay of these records, or of all, by the consumer's next round; of how many keys. Raises NotParked.

    As with a replay, naming one record means all of its key.
    """
    asked = 0
    for line in chosen(worker, sequences):
        try:
            worker.db.write(
                holds.update(worker.table, worker.consumer, line).at(lambda v: v.asked).set(ASKED)
            )
        except Missing:  # replayed or discarded meanwhile
            continue
        asked += 1
    return asked


def _replay(worker: Worker, line: str, attempt: Attempt, until: datetime | None) -> int:
    """The part of a replay for which we have the hold; that is let go in the end."""
    handled, asked = 0, 0
    try:
        while found := _in_line(worker, line):  # what came behind them meanwhile, too
            for head in found:
                error = attempt(record_of(worker, head))
                if error is not None:
                    _note(worker, head, error)
                    return handled
                handled += 1
                if settle(worker, head, worker.id):
                    return handled  # what is parked of the key from now on is under a new hold, and not ours
                if until is not None and worker.now() >= until:
                    asked = ASKED  # it went well so far: another round goes on
                    return handled
    except (LeaseLost, Missing, Stale):  # the hold, or the record, is another's business now
        return handled
    finally:
        _let_go(worker, line, asked)
    return handled


def discard(worker: Worker, sequence: str) -> None:
    """Give a parked record up; raises NotParked. What waits behind it still waits, to be replayed."""
    head = next((one for one in listed(worker) if one.sequence == sequence), None)
    if head is None:
        raise NotParked(sequence)
    try:
        settle(worker, head)
    except (LeaseLost, Missing, Stale):
        raise NotParked(sequence) from None


def _in_line(worker: Worker, line: str) -> list[Parked]:
    return list(worker.db.all(parked_in_line(table=worker.table, consumer=worker.consumer, line=line)))


def settle(worker: Worker, head: Parked, owner: str | None = None) -> bool:
    """Take a record away and, with the last of its key, the hold; whether that is gone.

    If `owner` is not who has the hold any more, it raises LeaseLost.
    """
    gone: list[Write[Any]] = [
        parked.delete(head),
        *(pieces.discard(head.table, head.consumer, head.place, n) for n in range(head.pieces)),
    ]
    while True:
        hold = worker.db.one(holds.get(head.table, head.consumer, head.line), consistent=True)
        if hold is None or owner not in (None, hold.owner):
            raise LeaseLost
        try:
            worker.db.write(*gone, _lighter(worker, hold, owner))
            return hold.count == 1
        except Stale as refused:
            if refused.entity != holds.shape.tag:  # otherwise another record came or went: look again
                raise


def _lighter(worker: Worker, hold: Hold, owner: str | None) -> Write[Hold]:
    """The hold with one record less, kept for another term by who replays; gone with the last."""
    if hold.count == 1:
        return holds.delete(hold)
    until = hold.until if owner is None else worker.now() + worker.term
    return holds.change(hold, hold.model_copy(update={"count": hold.count - 1, "until": until}))


def _note(worker: Worker, head: Parked, error: str) -> None:
    now = worker.now()
    worker.db.write(
        parked.update(head.table, head.consumer, head.line, head.place)
        .at(lambda v: v.error)
        .set(error)
        .at(lambda v: v.attempts)
        .add(1)
        .at(lambda v: v.last_tried)
        .set(now)
    )


# --- holds ---


def _hold_taken(worker: Worker, line: str, *, is_asked: bool = False) -> bool:
    """Whether the line is now ours to replay: two at once would mix up the order."""
    now, until = worker.now(), worker.now() + worker.term
    write = holds.update(worker.table, worker.consumer, line).at(lambda v: v.owner).set(worker.id)
    if is_asked:
        # Counted before it is tried: who dies of it does not come to count.
        write = write.at(lambda v: v.asked).add(-1).when(lambda v: v.asked > 0)
    try:
        worker.db.write(write.at(lambda v: v.until).set(until).when(lambda v: v.until <= now))
    except (ConditionNotMet, Missing):
        return False
    return True


def _let_go(worker: Worker, line: str, asked: int) -> None:
    me, now = worker.id, worker.now()
    write = holds.update(worker.table, worker.consumer, line).at(lambda v: v.until).set(now)
    write = write.at(lambda v: v.asked).set(asked)
    try:
        worker.db.write(write.at(lambda v: v.owner).set(None).when(lambda v: v.owner == me))
    except (ConditionNotMet, Missing):
        return
