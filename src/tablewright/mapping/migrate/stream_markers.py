"""Markers: items that are put and deleted only to appear in a stream, one in every shard of it.

A stream has no visible end: an empty page of an open shard proves nothing. But a shard's records have the order of the
writes, so a reader that has seen a marker has seen everything that was written to that shard before it. Markers are
written to random keys until each open shard has shown one; their positions say how far a consumer has to be.
Must hold: a position is that of a marker of this very round, so it follows everything that was answered before the
round.
Elsewhere: positions of consumers (consumer/leases.py in mapping).
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tablewright.client import CallRefused
from tablewright.mapping.consumer import shards
from tablewright.mapping.consumer.design import MARKER, holds_of, leases_of
from tablewright.mapping.consumer.shards import Shard
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.errors import NotDrained, PhaseMoved
from tablewright.mapping.migrate.migration import Key, TableVersion
from tablewright.mapping.migrate.state import State

SECONDS = 30.0
_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class MarkerPositions:
    """Every shard of a stream, the positions of the markers in the open ones, and the records read on the way."""

    shards: tuple[Shard, ...]
    at: Mapping[str, str]
    records: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class StreamTail:
    """Reads new records at the end of a table's stream, from the moment it was opened, without leases."""

    context: MigrationContext
    version: TableVersion
    _next: dict[str, str | None] = field(default_factory=dict)
    listed: tuple[Shard, ...] = ()

    def open(self) -> "StreamTail":
        self._list(is_first=True)
        return self

    def _list(self, *, is_first: bool = False) -> None:
        call = self.context.call
        self.listed = tuple(shards.shards_of(call, self.context.physical(self.version)))
        for shard in self.listed:
            if shard.id in self._next:
                continue
            if is_first and shard.last is not None:
                self._next[shard.id] = None
                continue
            # A shard that opens later continues one that is read: all of its records are new.
            kind = "LATEST" if is_first else "TRIM_HORIZON"
            request = {"StreamArn": shard.stream, "ShardId": shard.id, "ShardIteratorType": kind}
            self._next[shard.id] = call("GetShardIterator", request)["ShardIterator"]

    @property
    def open_shards(self) -> set[str]:
        return {shard for shard, place in self._next.items() if place is not None}

    def read(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The next records, each with its shard."""
        found: list[tuple[str, Mapping[str, Any]]] = []
        for shard, place in list(self._next.items()):
            while place is not None:
                try:
                    page = shards.read_page(self.context.call, place, 1000)
                except CallRefused as refusal:
                    if refusal.name != shards.BUSY:
                        raise
                    break
                found += [(shard, record) for record in page.records]
                place = self._next[shard] = page.next
                if not page.records:
                    break
        self._list()
        return found


def place_markers(context: MigrationContext, tail: StreamTail) -> MarkerPositions:
    """Write markers until every open shard has shown one; NotDrained if that takes too long."""
    nonce, at = context.world.new_id(), dict[str, str]()
    records: list[Mapping[str, Any]] = []
    give_up = context.steady() + SECONDS
    while True:
        missing = tail.open_shards - at.keys()
        if not missing:
            return MarkerPositions(tail.listed, at, tuple(records))
        if context.steady() > give_up:
            why = f"the stream of {tail.version.called} does not show what is written to it"
            raise NotDrained(context.name, why)
        for _ in range(2 + 2 * len(missing)):
            _write_marker(context, tail.version, nonce)
        seen = tail.read()
        for shard, record in seen:
            text = record["dynamodb"]["Keys"][tail.version.table.pk].get("S", "")
            if text.startswith(f"{MARKER}{nonce}"):
                at.setdefault(shard, record["dynamodb"]["SequenceNumber"])
            records.append(record)
        if not seen:
            context.sleep(0.05)


def _write_marker(context: MigrationContext, version: TableVersion, nonce: str) -> None:
    table, physical = version.table, context.physical(version)
    key: Key = {table.pk: {"S": f"{MARKER}{nonce}#{context.world.new_id()}"}}
    if table.sk is not None:
        key[table.sk] = {"S": "MARK"}
    item = dict(key)
    if table.ttl is not None:
        # In case this process dies before it deletes the item.
        item[table.ttl] = {"N": str(int(context.world.now().timestamp()) + _A_DAY)}
    context.call("PutItem", {"TableName": physical, "Item": item})
    context.call("DeleteItem", {"TableName": physical, "Key": key})


def has_passed(context: MigrationContext, table: str, consumer: str, places: MarkerPositions) -> bool:
    """Whether a consumer has handled everything before the markers, in every shard, and parked nothing."""
    known = {lease.shard: lease for lease in context.db.all(leases_of(table=table, consumer=consumer))}
    for shard in places.shards:
        lease = known.get(shard.id)
        if lease is None:
            return False
        if lease.closed:
            continue
        place = places.at.get(shard.id)
        if place is None or lease.checkpoint is None or int(lease.checkpoint) < int(place):
            return False
    return not any(True for _ in context.db.all(holds_of(table=table, consumer=consumer)))


# --- after a cut-over ---


def notify_consumers(context: MigrationContext, state: State) -> None:
    """Make every consumer of the side that was left read its lease, in each shard; then following may begin.

    Following writes to that side, and its consumers must not see these writes: their shards end before them.
    """
    if not state.barred:
        return
    left = context.migration.source if state.side == "target" else context.migration.target
    place_markers(context, StreamTail(context, left).open())
    course = state.course
    with suppress(PhaseMoved):  # another process did it
        gates = context.gates(state.epoch, course) if course else ()
        context.move(state, state.phase, *gates, barred=False)
