"""Marks: items that are put and removed for nothing but to be seen in a stream, one in every shard of it.

A stream has no end that one could see: an empty page of an open shard promises nothing. But a shard's records come in
the order of the writes; so who has read a mark has read everything that was written to that shard before it. Marks go
to random keys until each open shard has shown one; the places where they were seen say how far a consumer has to be.
Must hold: a place is that of a mark of this very round, so it is behind everything that was answered before the round.
Elsewhere: consumers' places (leases.py in mapping).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tablewright.client import CallRefused
from tablewright.mapping import shards
from tablewright.mapping.migrate.bench import Bench
from tablewright.mapping.migrate.errors import NotDrained, PhaseMoved
from tablewright.mapping.migrate.migration import Form, Key
from tablewright.mapping.migrate.state import State
from tablewright.mapping.shards import Shard
from tablewright.mapping.stream_design import MARK, holds_of, leases_of

SECONDS = 30.0
_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Places:
    """Every shard of a stream, and where the marks were seen in those that are open; what was seen on the way."""

    shards: tuple[Shard, ...]
    at: Mapping[str, str]
    records: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class Tail:
    """What comes in at the end of a table's stream, from the moment it was opened, read without leases."""

    bench: Bench
    form: Form
    _next: dict[str, str | None] = field(default_factory=dict)
    listed: tuple[Shard, ...] = ()

    def open(self) -> "Tail":
        self._list(is_first=True)
        return self

    def _list(self, *, is_first: bool = False) -> None:
        call = self.bench.call
        self.listed = tuple(shards.shards_of(call, self.bench.physical(self.form)))
        for shard in self.listed:
            if shard.id in self._next:
                continue
            if is_first and shard.last is not None:
                self._next[shard.id] = None
                continue
            # What opens later continues what we read: all of it is new to us.
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
                    page = shards.read(self.bench.call, place, 1000)
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


def marked(bench: Bench, tail: Tail) -> Places:
    """Put marks until every open shard has shown one. NotDrained if the stream does not show them in time."""
    nonce, at = bench.world.new_id(), dict[str, str]()
    records: list[Mapping[str, Any]] = []
    give_up = bench.steady() + SECONDS
    while True:
        missing = tail.open_shards - at.keys()
        if not missing:
            return Places(tail.listed, at, tuple(records))
        if bench.steady() > give_up:
            raise NotDrained(
                bench.name, f"the stream of {tail.form.called} does not show what is written to it"
            )
        for _ in range(2 + 2 * len(missing)):
            _mark(bench, tail.form, nonce)
        seen = tail.read()
        for shard, record in seen:
            text = record["dynamodb"]["Keys"][tail.form.table.pk].get("S", "")
            if text.startswith(f"{MARK}{nonce}"):
                at.setdefault(shard, record["dynamodb"]["SequenceNumber"])
            records.append(record)
        if not seen:
            bench.sleep(0.05)


def _mark(bench: Bench, form: Form, nonce: str) -> None:
    table, physical = form.table, bench.physical(form)
    key: Key = {table.pk: {"S": f"{MARK}{nonce}#{bench.world.new_id()}"}}
    if table.sk is not None:
        key[table.sk] = {"S": "MARK"}
    item = dict(key)
    if table.ttl is not None:
        # Should we die before it is removed.
        item[table.ttl] = {"N": str(int(bench.world.now().timestamp()) + _A_DAY)}
    bench.call("PutItem", {"TableName": physical, "Item": item})
    bench.call("DeleteItem", {"TableName": physical, "Key": key})


def has_passed(bench: Bench, table: str, consumer: str, places: Places) -> bool:
    """Whether a consumer has handled everything before the marks, in every shard, and parked nothing."""
    known = {lease.shard: lease for lease in bench.db.all(leases_of(table=table, consumer=consumer))}
    for shard in places.shards:
        lease = known.get(shard.id)
        if lease is None:
            return False
        if lease.closed:
            continue
        place = places.at.get(shard.id)
        if place is None or lease.checkpoint is None or int(lease.checkpoint) < int(place):
            return False
    return not any(True for _ in bench.db.all(holds_of(table=table, consumer=consumer)))


# --- after sides were changed ---


def unbar(bench: Bench, state: State) -> None:
    """Have every consumer of the side that was left look at its lease, in each shard; then following may begin.

    What follows writes to that side, and its consumers are to see none of it: their shards end before.
    """
    if not state.barred:
        return
    left = bench.migration.source if state.side == "target" else bench.migration.target
    marked(bench, Tail(bench, left).open())
    course = state.course
    try:
        bench.moved(state, state.phase, *(bench.gates(state.turn, course) if course else ()), barred=False)
    except PhaseMoved:
        return  # somebody else did it
