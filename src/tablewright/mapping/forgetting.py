"""Parked records taken away for good: because of whom they are about, or because they lie there for too long.

A parked record holds the item before and after its change, and its key: who erases somebody from a table has to look
here too. It cannot expire by itself, because the hold on its key counts it. Must hold: what is taken away is gone with
its pieces and its place in the hold; what others replay or discard meanwhile is theirs.
Elsewhere: parking (parked.py), what is stored (stream_design.py).
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import orjson

from tablewright.client import CallRefused
from tablewright.mapping import parked as parking
from tablewright.mapping.db import Db
from tablewright.mapping.errors import Missing, Stale
from tablewright.mapping.leases import LeaseLost, Worker
from tablewright.mapping.stream_design import Parked

_NO_TABLE = "ResourceNotFoundException"
_TERM = timedelta(seconds=30)


def parked_key(record: Parked) -> Mapping[str, Any]:
    """The key of the item that a parked record is about, as the store writes it."""
    key: Mapping[str, Any] = orjson.loads(record.key)
    return key


def forget_parked(db: Db, table: str, consumer: str, which: Callable[[Parked], bool]) -> int:
    """Take away what is parked and meant by `which`; how many records. None where no consumer ever began.

    What waits behind one that goes still waits, to be replayed.
    """
    return _forget(db, table, consumer, lambda _, record: which(record))


def forget_parked_saying(db: Db, table: str, consumer: str, says: Callable[[str], bool]) -> int:
    """The same by everything that a record says, as JSON text: for those who are named in the items of others too."""
    return _forget(db, table, consumer, lambda worker, record: says(_text(worker, record)))


def _text(worker: Worker, record: Parked) -> str:
    return record.key + orjson.dumps(parking.record_of(worker, record)).decode()


def _forget(db: Db, table: str, consumer: str, which: Callable[[Worker, Parked], bool]) -> int:
    worker = Worker(db, db._call, table, consumer, db.world.new_id(), _TERM)
    try:
        there = parking.listed(worker)
    except CallRefused as refusal:
        if refusal.name != _NO_TABLE:
            raise
        return 0
    return sum(_forgotten(worker, record) for record in there if which(worker, record))


def _forgotten(worker: Worker, record: Parked) -> bool:
    try:
        parking.settle(worker, record)
    except (LeaseLost, Missing, Stale):
        return False  # replayed or discarded meanwhile
    return True
