"""Deleting parked records for good: because of the person they are about, or because they are too old.

A parked record holds the item before and after its change, and its key: erasing a person from a table includes these.
It cannot expire through TTL, because the hold on its key counts it. Must hold: a record is deleted with its parts, and
the hold is counted down; records that are replayed or discarded at the same time are left to that.
Elsewhere: parking (dead_letters.py), what is stored (design.py).
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

import orjson

from tablewright.client import CallRefused
from tablewright.mapping.consumer import dead_letters
from tablewright.mapping.consumer.design import Parked
from tablewright.mapping.consumer.leases import LeaseLost, Worker
from tablewright.mapping.consumer.shards import NOT_FOUND
from tablewright.mapping.db import Db
from tablewright.mapping.errors import Missing, Stale

_TERM = timedelta(seconds=30)


def parked_key(record: Parked) -> Mapping[str, Any]:
    """The key of the item that a parked record is about, as the store writes it."""
    return orjson.loads(record.key)  # type: ignore[no-any-return]  # as it was stored


def forget_parked(db: Db, table: str, consumer: str, which: Callable[[Parked], bool]) -> int:
    """Delete the parked records for which `which` is true; how many. 0 if no consumer ever began.

    Records behind a deleted one stay parked, to be replayed.
    """
    return _remove_parked(db, table, consumer, lambda _, record: which(record))


def forget_parked_saying(db: Db, table: str, consumer: str, says: Callable[[str], bool]) -> int:
    """The same by the whole record as JSON text: for people who are named in the items of others too."""

    def is_named(worker: Worker, record: Parked) -> bool:
        return says(record.key + orjson.dumps(dead_letters.stored_record(worker, record)).decode())

    return _remove_parked(db, table, consumer, is_named)


def _remove_parked(db: Db, table: str, consumer: str, which: Callable[[Worker, Parked], bool]) -> int:
    worker, removed = Worker(db, db._call, table, consumer, db.world.new_id(), _TERM), 0
    try:
        there = dead_letters.list_parked(worker)
    except CallRefused as refusal:
        if refusal.name != NOT_FOUND:
            raise
        return 0
    for record in there:
        if which(worker, record):
            with suppress(LeaseLost, Missing, Stale):  # replayed or discarded since
                dead_letters.remove(worker, record)
                removed += 1
    return removed
