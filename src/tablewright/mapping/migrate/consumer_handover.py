"""Handing over consumers: every consumer of a table's changes continues with the stream of the side that opens.

A consumer reads the stream of the old side up to the markers that were written while writes were paused; then it
continues after the markers of the other side. So it gets each change once, and none that the migration itself wrote.
Must hold: the hand-over is one transaction with the change of sides; a consumer that begins at the same moment is
either moved too or begins on the side that opens (the roster in consumer/design.py).
Elsewhere: where a shard ends for a consumer (consumer/processor.py, consumer/leases.py in mapping).
"""

from typing import Any

from tablewright.client import pages
from tablewright.client.transactions import ACTIONS
from tablewright.design import Write
from tablewright.mapping.consumer.design import Lease, Start, leases, leases_of, starts
from tablewright.mapping.consumer.leases import roster_change, roster_of
from tablewright.mapping.consumer.shards import Shard
from tablewright.mapping.migrate.context import CONSUMERS, MigrationContext
from tablewright.mapping.migrate.errors import NotDrained
from tablewright.mapping.migrate.state import State
from tablewright.mapping.migrate.stream_markers import MarkerPositions
from tablewright.mapping.read_requests import get_request

# Beside the state, its gates, the follower and a receipt.
AT_MOST = ACTIONS - 11
# A closed shard ends without a marker.
_NEVER = "9" * 40


def handover_writes(
    context: MigrationContext, left: MarkerPositions, opened: MarkerPositions
) -> list[Write[Any]]:
    """The writes that move every consumer of the table to the other side."""
    table = context.migration.called
    # Before the consumers are listed: if one begins after this, the write is refused and they are listed again.
    roster = roster_of(context.db, table)
    names = _consumers(context)
    refuse_behind(context)
    writes: list[Write[Any]] = [roster_change(table, roster)]
    writes += [write for name in names for write in _consumer_writes(context, table, name, left, opened)]
    if len(writes) > AT_MOST:
        raise NotDrained(
            context.name,
            f"{len(names)} consumers of {len(left.shards) + len(opened.shards)} shards are more than one transaction "
            "can move; stop consumers that can start from the beginning, and delete their leases",
        )
    return writes


def refuse_behind(context: MigrationContext) -> None:
    """NotDrained if a consumer still has to read what was written before sides were changed the last time."""
    table = context.migration.called
    for name in _consumers(context):
        found = context.db.all(leases_of(table=table, consumer=name))
        if any(lease.end is not None and not lease.closed for lease in found):
            raise NotDrained(
                context.name,
                f"the consumer {name} has not read everything from before the last change of sides; run it",
            )


def _consumers(context: MigrationContext) -> list[str]:
    """The other consumers of the table's changes."""
    return sorted(
        start.consumer
        for start in context.db.every(starts)
        if start.table == context.migration.called and not start.consumer.startswith(CONSUMERS)
    )


def follower_registration(
    context: MigrationContext, table: str, epoch: int, opened: MarkerPositions
) -> Write[Any]:
    """The write that registers the follower of an epoch: it reads what comes after the markers, nothing before.

    It belongs to the transaction in which the epoch begins; after that the start is never moved.
    """
    name, listed = context.consumer_name(epoch), [shard.id for shard in opened.shards]
    at = dict(opened.at)
    return starts.put(Start(table=table, consumer=name, at=context.world.now(), shards=listed, places=at))


def forget_epochs(context: MigrationContext, state: State) -> None:
    """Delete what the followers of ended epochs stored: parked records contain items."""
    last = state.epoch if state.course is not None else state.epoch + 1
    for epoch in range(1, last):
        for version in (context.migration.source, context.migration.target):
            first = get_request(
                starts.get(version.called, context.consumer_name(epoch)), context.db.physical, True
            )
            table = first["TableName"]
            request = {
                "TableName": table,
                "KeyConditionExpression": "PK = :pk",
                "ExpressionAttributeValues": {":pk": first["Key"]["PK"]},
                "ProjectionExpression": "PK, SK",
                "ConsistentRead": True,
            }
            for page in pages(context.call, "Query", request):
                for key in page["Items"]:
                    context.call("DeleteItem", {"TableName": table, "Key": key})


def _consumer_writes(
    context: MigrationContext, table: str, name: str, left: MarkerPositions, opened: MarkerPositions
) -> list[Write[Any]]:
    known = {lease.shard: lease for lease in context.db.all(leases_of(table=table, consumer=name))}
    ending = [
        write
        for shard in left.shards
        for write in _ending(context, table, name, shard, left, known.get(shard.id))
    ]
    return [
        *ending,
        *(_behind(context, table, name, shard, opened, known.get(shard.id)) for shard in opened.shards),
    ]


def _ending(
    context: MigrationContext, table: str, name: str, shard: Shard, left: MarkerPositions, lease: Lease | None
) -> list[Write[Any]]:
    """A shard of the old side, up to its marker."""
    end, now = left.at.get(shard.id, _NEVER), context.world.now()
    if lease is None:
        return [
            leases.create(
                _lease(context, table, name, shard).model_copy(
                    update={"first": shard.first, "end": end, "ended": now}
                )
            )
        ]
    if lease.closed:
        return []
    # Only its end changes: its worker keeps it, and reads the lease again at the next marker.
    step = leases.update(table, name, shard.stream, shard.id).at(lambda it: it.end).set(end)
    return [step.at(lambda it: it.ended).set(now)]


def _behind(
    context: MigrationContext,
    table: str,
    name: str,
    shard: Shard,
    opened: MarkerPositions,
    lease: Lease | None,
) -> Write[Any]:
    """A shard of the side that opens, after its marker; a closed one holds nothing for this consumer."""
    at = opened.at.get(shard.id)
    new = _lease(context, table, name, shard).model_copy(update={"checkpoint": at, "closed": at is None})
    if lease is None:
        return leases.create(new)
    return leases.change(lease, new.model_copy(update={"version": lease.version}))


def _lease(context: MigrationContext, table: str, name: str, shard: Shard) -> Lease:
    return Lease(
        table=table,
        consumer=name,
        stream=shard.stream,
        shard=shard.id,
        parent=shard.parent,
        began=context.world.now(),
    )
