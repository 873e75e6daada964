"""The switch: the writers are stopped, the last changes are applied, and the target gets its stream.

    seconds = drain(leases)       # how long the last changes took
    verify_pair(...)              # both sides are at rest
    release_target(lease)

Must hold: the target's stream is switched on after the last write of the copy, so that none of these is in it; the
state says finished only when that was done.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tablewright.client import Call, CallRefused, Retries, pages
from tablewright.design import Environment
from tablewright.mapping.consumer.consumer import Consumer
from tablewright.mapping.consumer.design import leases as shard_leases
from tablewright.mapping.consumer.design import leases_of, starts, stream_consumers
from tablewright.mapping.consumer.shards import enable_stream
from tablewright.mapping.copy.context import CopyLease
from tablewright.mapping.copy.errors import NotCopied, NotDrained
from tablewright.mapping.copy.follower import catch_up, is_up_to_date
from tablewright.mapping.copy.state import TableCopy
from tablewright.mapping.copy.tables import describe, disable_stream, view_of
from tablewright.mapping.db import Db
from tablewright.world import World

PATIENCE = 300.0
_TABLE = "stream_consumers"


@dataclass(frozen=True, slots=True)
class Cutover:
    """How long applying the last changes took, and how many there were."""

    seconds: float
    changes: int


def drain(leases: Sequence[CopyLease]) -> Cutover:
    """Apply changes until there are none left; NotDrained if that takes longer than a pause may."""
    for lease in leases:
        if lease.copy.phase == "copying":
            raise NotCopied(lease.copy.table)
    context, changes = leases[0].context, 0
    began = context.steady()
    waiting = list(leases)
    while waiting:
        done = sum(catch_up(lease).read for lease in waiting)
        changes += done
        waiting = [lease for lease in waiting if not is_up_to_date(lease)]
        if waiting and context.steady() - began > PATIENCE:
            raise NotDrained([lease.copy.source for lease in waiting], PATIENCE)
        if waiting and not done:
            context.sleep(0.1)
    return Cutover(context.steady() - began, changes)


def consumers_behind(
    call: Call, copies: Sequence[TableCopy], world: World, environment: Environment | None = None
) -> list[tuple[str, str]]:
    """The consumers of the source's own system that have changes left to process, each with its table."""
    tables = {copy.source for copy in copies if copy.follows}
    db = Db(call, stream_consumers, world=world, environment=environment)
    found = []
    for table, name in _consumers(call, db.physical(_TABLE)):
        if db.physical(table) in tables:
            consumer = Consumer(db, None, table, name, lambda record: None)
            if consumer.is_behind() or consumer.parked():
                found.append((table, name))
    return found


def _consumers(call: Call, stored: str) -> Iterator[tuple[str, str]]:
    try:
        for page in pages(call, "Scan", {"TableName": stored, "ConsistentRead": True}):
            for item in page["Items"]:
                if item.get("SK", {}).get("S") == "START":
                    yield item["table"]["S"], item["consumer"]["S"]
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise


def release_target(lease: CopyLease) -> None:
    """Switch the target's stream on, and the source's off where the copy had added it; the copy is finished."""
    context, copy = lease.context, lease.copy
    lease.hold()
    if copy.stream is not None:
        enable_stream(context.target, copy.table, copy.stream, Retries(sleep=context.sleep))
    described = describe(context.source, copy.source)
    if copy.added_stream and described is not None and view_of(described) is not None:
        disable_stream(context, context.source, copy.source)
    lease.change(phase="finished")
    names = {"table": copy.source, "consumer": copy.consumer}
    for shard in list(context.db.all(leases_of(**names))):
        context.db.write(shard_leases.discard(copy.source, copy.consumer, shard.stream, shard.shard))
    context.db.write(starts.discard(copy.source, copy.consumer))
