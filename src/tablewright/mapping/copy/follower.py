"""Following: a consumer of the source's stream puts and deletes in the target what its records say, in order per key.

Of the records of a page only the last of each key is applied: it holds the whole item. A stream that tells keys only
is followed too: the item is read from the source, which has it at least as new as the record.
Must hold: the consumer is registered before the first page of the scan is read.
Elsewhere: positions, shards and records that fail (mapping/consumer).
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from threading import Event
from typing import Any

from tablewright.client import Retries, batch_get
from tablewright.client.item_identity import identity_of
from tablewright.mapping.consumer.consumer import Consumer
from tablewright.mapping.consumer.leases import ChangesLost
from tablewright.mapping.consumer.processor import Progress
from tablewright.mapping.consumer.shards import created_at
from tablewright.mapping.copy.context import CopyLease, Write
from tablewright.mapping.copy.errors import ChangesMissed, TargetBusy

# How long the shards of a process that died are kept from the next one.
LEASE = timedelta(seconds=5)
BATCH = 200
# Records that are so much older than the copy are in what the scan reads. Clocks differ by less: requests are signed
# with the time, and services refuse a signature that is a quarter of an hour off.
CLOCKS_DIFFER = timedelta(hours=1)
_PATIENCE = Retries(base=0.1, cap=2.0)
Record = Mapping[str, Any]


def follower(lease: CopyLease, poll: float = 1.0) -> Consumer:
    """The consumer of a copy; `poll` is its pause where there are no changes, in seconds."""
    copy = lease.copy

    def handle_many(records: Sequence[Record]) -> None:
        since = copy.began - CLOCKS_DIFFER
        recent = [one for one in records if (at := created_at(one)) is None or at >= since]
        lease.write(_writes(lease, recent))

    return Consumer(
        lease.context.db, None, copy.source, copy.consumer, lambda record: handle_many([record]),
        retries=_PATIENCE, lease=LEASE, batch=BATCH, handle_many=handle_many, poll=poll,
    )  # fmt: skip


def register(lease: CopyLease) -> None:
    """Begin to follow: every change from now on is read, whenever that is."""
    if lease.copy.follows:
        try:
            follower(lease).register()
        except ChangesLost as lost:
            raise ChangesMissed(lease.copy.source, lease.copy.table, lost.since) from None


def catch_up(lease: CopyLease) -> Progress:
    """Apply the changes there are; those that failed before are tried again."""
    lease.hold()
    if not lease.copy.follows:
        return Progress()
    consumer = follower(lease)
    try:
        done = consumer.run_once()
    except ChangesLost as lost:
        raise ChangesMissed(lease.copy.source, lease.copy.table, lost.since) from None
    if consumer.parked():
        done += Progress(replayed=consumer.replay().handled)
    lease.hold()
    return done


def stay(lease: CopyLease, stop: Event, poll: float) -> None:
    """Apply changes as they come, until `stop` is set."""
    try:
        follower(lease, poll).run(stop)
    except ChangesLost as lost:
        raise ChangesMissed(lease.copy.source, lease.copy.table, lost.since) from None


def is_up_to_date(lease: CopyLease, within: timedelta | None = None) -> bool:
    """Whether the scan is over and every change was applied, or every one that is older than `within`."""
    if lease.copy.phase == "copying":
        return False
    if not lease.copy.follows:
        return True
    consumer = follower(lease)
    is_near = not consumer.is_behind() if within is None else consumer.lag() <= within
    return is_near and not consumer.parked()


def _writes(lease: CopyLease, records: Sequence[Record]) -> list[Write]:
    """One write for each key: what its last record says."""
    table = lease.copy.source
    last = {identity_of(table, record["dynamodb"]["Keys"]): record for record in records}
    unseen = [
        record["dynamodb"]["Keys"]
        for record in last.values()
        if record["eventName"] != "REMOVE" and "NewImage" not in record["dynamodb"]
    ]
    looked_up = _look_up(lease, unseen)
    writes: list[Write] = []
    for place, record in last.items():
        told = record["dynamodb"]
        item = looked_up.get(place) if record["eventName"] != "REMOVE" else None
        item = told.get("NewImage", item) if record["eventName"] != "REMOVE" else None
        writes.append(
            {"PutRequest": {"Item": item}} if item is not None else {"DeleteRequest": {"Key": told["Keys"]}}
        )
    return writes


def _look_up(lease: CopyLease, keys: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """The items that the source has under these keys now."""
    if not keys:
        return {}
    table = lease.copy.source
    read = batch_get(lease.context.source, {table: keys}, consistent=True)
    if read.unread:
        raise TargetBusy(lease.copy.table, len(keys))
    names = list(keys[0])
    return {identity_of(table, {name: item[name] for name in names}): item for _, item in read.items}
