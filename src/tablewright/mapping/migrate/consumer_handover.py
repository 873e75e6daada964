"""Handing over consumers: every consumer of a table's changes continues with the stream of the side that opens.

A consumer reads the stream of the old side up to the markers that were written while writes were paused; then it
continues after the markers of the other side. So it gets each change once, and none that the migration itself wrote.
Must hold: the hand-over is one transaction with the change of sides; a consumer that begins at the same moment is
either moved too or begins on the side that opens (the roster in consumer/design.py).
Elsewhere: where a shard ends for a consumer (consumer/processor.py, consumer/leases.py in mapping).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tablewright.client.transactions import ACTIONS
from tablewright.design import Write
from tablewright.mapping.consumer.design import Start, leases, leases_of, starts
from tablewright.mapping.consumer.leases import new_lease, roster_change, roster_of
from tablewright.mapping.migrate.context import CONSUMERS, MigrationContext
from tablewright.mapping.migrate.errors import NotDrained
from tablewright.mapping.migrate.state import State
from tablewright.mapping.migrate.stream_markers import MarkerPositions

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
    writes += [write for name in names for write in _consumer_writes(context, name, left, opened)]
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
    listed, places = [shard.id for shard in opened.shards], dict(opened.at)
    name, now = context.consumer_name(epoch), context.world.now()
    return starts.put(Start(table=table, consumer=name, at=now, shards=listed, places=places))


def forget_epochs(context: MigrationContext, state: State) -> None:
    """Delete what the followers of ended epochs stored: parked records contain items."""
    last = state.epoch if state.course is not None else state.epoch + 1
    for epoch in range(1, last):
        for version in (context.migration.source, context.migration.target):
            kept = leases_of(table=version.called, consumer=context.consumer_name(epoch))
            context.db.clear(replace(kept, sort=()))  # the whole partition, not only its leases


def _consumer_writes(
    context: MigrationContext, name: str, left: MarkerPositions, opened: MarkerPositions
) -> Iterator[Write[Any]]:
    names, now = {"table": context.migration.called, "consumer": name}, context.world.now()
    known = {lease.shard: lease for lease in context.db.all(leases_of(**names))}
    for shard in left.shards:  # of the old side, each up to its marker
        end, lease = left.at.get(shard.id, _NEVER), known.get(shard.id)
        if lease is None:
            yield leases.create(new_lease(names, shard, now, first=shard.first, end=end, ended=now))
        elif not lease.closed:
            # Only its end changes: its worker keeps it, and reads the lease again at the next marker.
            write = leases.update(**names, stream=shard.stream, shard=shard.id)
            yield write.at(lambda v: v.end).set(end).at(lambda v: v.ended).set(now)
    for shard in opened.shards:  # after its marker; a closed one holds nothing for this consumer
        at, lease = opened.at.get(shard.id), known.get(shard.id)
        new = new_lease(names, shard, now, checkpoint=at, closed=at is None)
        if lease is None:
            yield leases.create(new)
        else:
            yield leases.change(lease, new.model_copy(update={"version": lease.version}))
