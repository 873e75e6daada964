"""Handing over consumers: whoever follows a table's changes goes on with the stream of the side that opens.

A consumer reads what is left of the side that is left, up to the marks that were put when nobody wrote; then it goes on
behind the marks of the other side. So it is told of each change once, and of nothing that the migration itself wrote.
Must hold: all of it is one transaction with the change of sides; who begins in the same moment either goes along or
begins on the side that opens (the roster in stream_design.py).
Elsewhere: where a shard ends for a consumer (handling.py, leases.py in mapping).
"""

from typing import Any

from tablewright.client import pages
from tablewright.client.transactions import ACTIONS
from tablewright.design import Write
from tablewright.mapping.leases import entered, roster_of
from tablewright.mapping.migrate.bench import CONSUMERS, Bench
from tablewright.mapping.migrate.errors import NotDrained
from tablewright.mapping.migrate.marks import Places
from tablewright.mapping.migrate.state import State
from tablewright.mapping.reads import get_request
from tablewright.mapping.shards import Shard
from tablewright.mapping.stream_design import Lease, Start, leases, leases_of, starts

# Beside the state, its gates, the follower and a receipt.
AT_MOST = ACTIONS - 11
# A closed shard ends by itself.
_NEVER = "9" * 40


def handed_over(bench: Bench, left: Places, opened: Places) -> list[Write[Any]]:
    """The writes that move every consumer of the table to the other side."""
    table = bench.migration.called
    # Before the consumers are listed: who begins from now on makes this refused, and they are listed again.
    roster = roster_of(bench.db, table)
    names = _consumers(bench)
    refuse_behind(bench)
    writes: list[Write[Any]] = [entered(table, roster)]
    writes += [write for name in names for write in _moved(bench, table, name, left, opened)]
    if len(writes) > AT_MOST:
        raise NotDrained(
            bench.name,
            f"{len(names)} consumers of {len(left.shards) + len(opened.shards)} shards are more than one transaction "
            "can move; stop the consumers that can begin anew, and remove what they keep",
        )
    return writes


def refuse_behind(bench: Bench) -> None:
    """NotDrained if a consumer still has to read what was written before sides were changed the last time."""
    table = bench.migration.called
    for name in _consumers(bench):
        found = bench.db.all(leases_of(table=table, consumer=name))
        if any(lease.end is not None and not lease.closed for lease in found):
            raise NotDrained(
                bench.name,
                f"the consumer {name} has not read everything from before the last change of sides; run it",
            )


def _consumers(bench: Bench) -> list[str]:
    """Who else follows the table's changes."""
    return sorted(
        start.consumer
        for start in bench.db.every(starts)
        if start.table == bench.migration.called and not start.consumer.startswith(CONSUMERS)
    )


def followed(bench: Bench, table: str, turn: int, opened: Places) -> Write[Any]:
    """The write that registers the follower of a turn: it reads what comes behind the marks, nothing before.

    For the transaction in which the turn begins: from then on nobody moves it.
    """
    name, listed = bench.consumer_name(turn), [shard.id for shard in opened.shards]
    at = dict(opened.at)
    return starts.put(Start(table=table, consumer=name, at=bench.world.now(), shards=listed, places=at))


def forget_turns(bench: Bench, state: State) -> None:
    """Remove what the followers of turns that are over remember: what they parked holds items."""
    last = state.turn if state.course is not None else state.turn + 1
    for turn in range(1, last):
        for form in (bench.migration.source, bench.migration.target):
            first = get_request(starts.get(form.called, bench.consumer_name(turn)), bench.db.physical, True)
            table = first["TableName"]
            request = {
                "TableName": table,
                "KeyConditionExpression": "PK = :pk",
                "ExpressionAttributeValues": {":pk": first["Key"]["PK"]},
                "ProjectionExpression": "PK, SK",
                "ConsistentRead": True,
            }
            for page in pages(bench.call, "Query", request):
                for key in page["Items"]:
                    bench.call("DeleteItem", {"TableName": table, "Key": key})


def _moved(bench: Bench, table: str, name: str, left: Places, opened: Places) -> list[Write[Any]]:
    known = {lease.shard: lease for lease in bench.db.all(leases_of(table=table, consumer=name))}
    ending = [
        write
        for shard in left.shards
        for write in _ending(bench, table, name, shard, left, known.get(shard.id))
    ]
    return [
        *ending,
        *(_behind(bench, table, name, shard, opened, known.get(shard.id)) for shard in opened.shards),
    ]


def _ending(
    bench: Bench, table: str, name: str, shard: Shard, left: Places, lease: Lease | None
) -> list[Write[Any]]:
    """A shard of the side that is left, up to its mark."""
    end, now = left.at.get(shard.id, _NEVER), bench.world.now()
    if lease is None:
        return [
            leases.create(
                _lease(bench, table, name, shard).model_copy(
                    update={"first": shard.first, "end": end, "ended": now}
                )
            )
        ]
    if lease.closed:
        return []
    # Only where it ends: it stays with who reads it, who looks at the lease when the next mark comes.
    step = leases.update(table, name, shard.stream, shard.id).at(lambda it: it.end).set(end)
    return [step.at(lambda it: it.ended).set(now)]


def _behind(
    bench: Bench, table: str, name: str, shard: Shard, opened: Places, lease: Lease | None
) -> Write[Any]:
    """A shard of the side that opens, from its mark on; a closed one holds nothing for this consumer."""
    at = opened.at.get(shard.id)
    new = _lease(bench, table, name, shard).model_copy(update={"checkpoint": at, "closed": at is None})
    if lease is None:
        return leases.create(new)
    return leases.change(lease, new.model_copy(update={"version": lease.version}))


def _lease(bench: Bench, table: str, name: str, shard: Shard) -> Lease:
    return Lease(
        table=table,
        consumer=name,
        stream=shard.stream,
        shard=shard.id,
        parent=shard.parent,
        began=bench.world.now(),
    )
