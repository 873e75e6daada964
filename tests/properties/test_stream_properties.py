"""Laws of streams: whatever happens to a table, its stream tells each change once, in order for each key.

Histories are drawn with time passing and chores done in between, so that shards roll, split and are forgotten and the
journal is pruned while they are read. Two readers are compared with the model: one who reads everything at the end,
and one who comes back after every step, knows only the numbers of the records he has seen, and must miss nothing.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.engine.stream_reader import arn_of, enable, iterator, read_all, read_from, shards
from tests.properties import requests
from tests.properties.claims import ALWAYS
from tests.properties.effort import effort
from tests.properties.model import Shape, Table
from tests.properties.plain import Item, item_size
from tests.properties.strategies import PLAIN, VALUES

from tablewright import Engine, ServiceError
from tablewright.engine.api import streams as stream_verbs
from tablewright.engine.history import retention
from tablewright.engine.streams import shards as streams
from tablewright.testing import Clock

SHAPE = Shape("pk", "sk", {"pk": "S", "sk": "N"})
# Few keys, so that they meet; their hashes are in all quarters of the hash space.
PARTITIONS = ("bob", "kit", "zoe", "owl", "eva", "mia", "leo", "fox")
VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
DAY = timedelta(days=1)
Step = tuple[str, Any]


@st.composite
def small_items(draw: st.DrawFn) -> Item:
    key = {"pk": {"S": draw(st.sampled_from(PARTITIONS))}, "sk": {"N": draw(st.sampled_from("12"))}}
    return key | draw(st.dictionaries(st.sampled_from(PLAIN), VALUES, max_size=2))


WRITES = st.tuples(st.sampled_from(["put", "put", "delete"]), small_items())
HOURS = st.tuples(st.just("pass"), st.sampled_from([0.5, 1, 4, 11, 25]))
CHORES = st.tuples(st.just("chores"), st.integers(5, 30))
ELSEWHERE = st.tuples(st.just("elsewhere"), st.integers(1, 4))


def histories(most: int = 40) -> st.SearchStrategy[list[Step]]:
    return st.lists(
        st.one_of(WRITES, WRITES, WRITES, CHORES, HOURS, ELSEWHERE), min_size=most // 3, max_size=most
    )


@dataclass
class Told:
    """A change as the model saw it."""

    at: datetime
    key: Item
    old: Item | None
    new: Item | None

    @property
    def kind(self) -> str:
        return "INSERT" if self.old is None else "REMOVE" if self.new is None else "MODIFY"


@dataclass
class World:
    """A table in an engine, the same as dicts, and every change of it."""

    engine: SteppedEngine
    clock: Clock
    table: Table = field(default_factory=lambda: Table("pets", SHAPE))
    other: Table = field(default_factory=lambda: Table("cats", SHAPE))
    told: list[Told] = field(default_factory=list)
    writes_elsewhere: int = 0

    def take(self, step: Step) -> None:
        kind, what = step
        if kind == "pass":
            self.clock.move(timedelta(hours=what))
        elif kind == "chores":
            for _ in range(what):
                self.engine.background.run_maintenance_step(due=True)
        elif kind == "elsewhere":
            for _ in range(what):
                self.writes_elsewhere += 1
                item = {"pk": {"S": "a"}, "sk": {"N": str(self.writes_elsewhere)}}
                self.engine.call("PutItem", requests.put(self.other, item))
        else:
            self._write(kind, what)

    def _write(self, kind: str, item: Item) -> None:
        key = {name: item[name] for name in SHAPE.keys}
        old = self.table.found(key)
        if kind == "put":
            self.engine.call("PutItem", requests.put(self.table, item))
            self.table.put(item, ALWAYS.holds)
        else:
            self.engine.call("DeleteItem", requests.keyed(self.table, key))
            self.table.delete(key, ALWAYS.holds)
        new = self.table.found(key)
        if old != new:
            known = new or old or {}
            shown = {name: known[name] for name in SHAPE.keys}
            self.told.append(Told(self.clock.now(), shown, old, new))


@contextmanager
def world(view: str) -> Iterator[World]:
    """Shards that split at their second record, and steps so small that every history has many."""
    clock = Clock()
    with ExitStack() as stack:
        stack.enter_context(small_steps())
        for module, name, value in (
            (streams, "SHARD_RECORDS", 1),
            (streams, "COUNTED_ROWS", 2),
            (retention, "PRUNED_ROWS", 2),
            (stream_verbs, "LOOKED_AT", 3),
        ):
            stack.enter_context(patch.object(module, name, value))
        engine = stack.enter_context(SteppedEngine.stepped(world=clock.world()))
        made = World(engine, clock)
        for table in (made.table, made.other):
            engine.call("CreateTable", requests.create_table(table))
        engine.call("UpdateTable", enable(view=view))
        yield made
        assert engine.verify() == []


def by_key(records: list[Any], key: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for record in records:
        found.setdefault(str(sorted(key(record).items())), []).append(record)
    return found


def check(records: list[dict[str, Any]], told: list[Told], view: str) -> None:
    """The records are the model's changes, each once, in order for each key."""
    seen = by_key(records, lambda record: record["dynamodb"]["Keys"])
    expected = by_key(told, lambda one: one.key)
    assert {key: len(some) for key, some in seen.items()} == {
        key: len(some) for key, some in expected.items()
    }
    for key, some in seen.items():
        numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in some]
        assert numbers == sorted(set(numbers))
        for record, one in zip(some, expected[key], strict=True):
            check_one(record, one, view)
    assert len({record["eventID"] for record in records}) == len(records)


def check_one(record: dict[str, Any], one: Told, view: str) -> None:
    shown = record["dynamodb"]
    new = one.new if view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES") else None
    old = one.old if view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES") else None
    assert record["eventName"] == one.kind
    assert (shown.get("NewImage"), shown.get("OldImage")) == (new, old)
    assert shown["ApproximateCreationDateTime"] == int(one.at.timestamp())
    assert shown["SizeBytes"] == sum(item_size(image) for image in (one.key, new, old) if image is not None)


@effort(80)
@given(histories(), st.sampled_from(VIEWS), st.integers(1, 5))
def test_a_stream_holds_the_changes_of_the_last_day_in_order_for_each_key(
    history: list[Step], view: str, limit: int
) -> None:
    with world(view) as made:
        for step in history:
            made.take(step)
            assert made.engine.verify() == []
        recent = [one for one in made.told if one.at >= made.clock.now() - DAY]
        check(read_all(made.engine, arn_of(made.engine), limit), recent, view)
        made.engine.settle()
        check(read_all(made.engine, arn_of(made.engine)), recent, view)


@dataclass
class Consumer:
    """Reads on from the last record it has seen of each shard, as one does after a restart."""

    seen: list[dict[str, Any]] = field(default_factory=list)
    last: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    def come_back(self, engine: Engine, arn: str) -> None:
        for shard in [shard["ShardId"] for shard in shards(engine, arn)]:
            if shard in self.ended:
                continue
            records, is_over = read_from(engine, self._start(engine, arn, shard), limit=2)
            self.seen += records
            if records:
                self.last[shard] = records[-1]["dynamodb"]["SequenceNumber"]
            if is_over:
                self.ended.add(shard)

    def _start(self, engine: Engine, arn: str, shard: str) -> str:
        if shard in self.last:
            try:
                return iterator(engine, arn, shard, "AFTER_SEQUENCE_NUMBER", SequenceNumber=self.last[shard])
            except ServiceError as refused:
                if refused.name != "TrimmedDataAccessException":
                    raise
                # What it saw last is more than a day ago, so all there is now is new.
        return iterator(engine, arn, shard)


@effort(80)
@given(histories(), st.sampled_from(VIEWS))
def test_a_consumer_who_comes_back_sees_every_change_once(history: list[Step], view: str) -> None:
    with world(view) as made:
        consumer = Consumer()
        for step in history:
            made.take(step)
            consumer.come_back(made.engine, arn_of(made.engine))
        check(consumer.seen, made.told, view)


@effort(40)
@given(histories(12), histories(12), histories(12), st.sampled_from(VIEWS))
def test_a_stream_that_was_disabled_keeps_its_day_and_a_new_one_begins_empty(
    first: list[Step], between: list[Step], second: list[Step], view: str
) -> None:
    with world(view) as made:
        for step in first:
            made.take(step)
        arn, told = arn_of(made.engine), list(made.told)
        made.engine.call("UpdateTable", enable(view=None))
        ended = made.clock.now()
        for step in between:
            made.take(step)
        made.told.clear()
        made.engine.call("UpdateTable", enable(view="KEYS_ONLY"))
        for step in second:
            made.take(step)
        now = made.clock.now()
        if ended >= now - DAY:
            check(read_all(made.engine, arn), [one for one in told if one.at >= now - DAY], view)
        recent = [one for one in made.told if one.at >= now - DAY]
        check(read_all(made.engine, arn_of(made.engine)), recent, "KEYS_ONLY")
