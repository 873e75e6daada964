"""A consumer that can handle several changes at once is given them so; what fails or dies changes nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from tests.mapping.consumer.feed import Feed, Log, PowerCut, note_of, opened

from tablewright.mapping import Change
from tablewright.mapping.consumer.design import MARKER, leases, leases_of


@pytest.fixture
def at() -> Iterator[Feed]:
    with opened() as found:
        yield found


@dataclass
class Many:
    """A way to handle several, beside the one for each: all or none of them."""

    one: Log
    sizes: list[int] = field(default_factory=list)

    def __call__(self, changes: Sequence[Change[Any]]) -> None:
        self.sizes.append(len(changes))
        if any(note_of(change).id in self.one.failing for change in changes):
            raise RuntimeError
        for change in changes:
            self.one(change)


def test_a_page_is_handed_over_at_once_and_the_checkpoint_is_behind_it(at: Feed) -> None:
    for number in range(12):
        at.put(f"n{number % 3}", number)
    many = Many(Log())
    done = at.consumer(many.one, handle_many=many).run_once()
    assert (done.handled, many.sizes) == (12, [12])
    assert [note_of(change).number for change in many.one.changes] == list(range(12))
    assert at.consumer(many.one, handle_many=many).run_once().handled == 0


def test_only_what_cannot_be_handled_is_parked_and_what_follows_of_its_key(at: Feed) -> None:
    for number in range(40):
        at.put("bad" if number in (21, 30) else f"n{number % 3}", number)
    many = Many(Log(failing={"bad"}))
    consumer = at.consumer(many.one, handle_many=many, attempts=2)
    done = consumer.run_once()
    assert (done.handled, done.parked) == (38, 2)
    assert [note_of(change).number for change in many.one.changes] == [
        n for n in range(40) if n not in (21, 30)
    ]
    assert [parked.error for parked in consumer.parked()] == ["RuntimeError", "Behind"]
    assert len(many.sizes) < 20
    many.one.failing.clear()
    assert consumer.replay().handled == 2
    assert many.one.texts[-2:] == ["bad21", "bad30"]


def test_who_dies_in_the_middle_of_several_leaves_all_of_them_to_the_next(at: Feed) -> None:
    for number in range(6):
        at.put(f"n{number}", number)
    log = Log()

    def dying(changes: Sequence[Change[Any]]) -> None:
        for change in changes[:3]:
            log(change)
        raise PowerCut

    with pytest.raises(PowerCut):
        at.consumer(log, handle_many=dying).run_once()
    # It was given back as whoever ends properly does; who really dies does not.
    for lease in at.db.all(leases_of(table="feed", consumer="log")):
        assert lease.checkpoint is None
        at.db.write(leases.change(lease, lease.model_copy(update={"owner": "dead"})))
    many = Many(log)
    at.clock.move(timedelta(minutes=1))
    assert at.consumer(log, handle_many=many).run_once().handled == 6
    assert many.sizes == [], "each is tried by itself where somebody died"
    assert [note_of(change).number for change in log.changes] == [0, 1, 2, *range(6)]


def test_a_mark_is_never_among_several_and_the_end_of_a_shard_is_seen_behind_it(at: Feed) -> None:
    log, many = Log(), Many(Log())
    consumer = at.consumer(log, handle_many=many)
    consumer.register()
    for number in range(4):
        at.put(f"n{number}", number)
    mark = {"PK": {"S": f"{MARKER}x"}, "SK": {"S": "MARKER"}}
    at.call("PutItem", {"TableName": "feed", "Item": mark})
    at.put("late", 9)
    (lease,) = at.db.all(leases_of(table="feed", consumer="log"))
    records = _records(at)
    place = next(r["SequenceNumber"] for r in records if r["Keys"] == mark)
    consumer._plan_when_due()
    # Decided while it is being read: only a mark makes a worker look.
    at.db.write(leases.update("feed", "log", lease.stream, lease.shard).at(lambda it: it.end).set(place))
    (held,) = consumer._leased.values()
    done = consumer._turn(held, Event())
    assert (done.handled, done.shards_ended) == (4, 1)
    assert [note_of(change).id for change in many.one.changes] == ["n0", "n1", "n2", "n3"]


def _records(at: Feed) -> list[dict[str, Any]]:
    (shard,) = at.shards()
    arn = at.call("ListStreams", {"TableName": "feed"})["Streams"][-1]["StreamArn"]
    asked = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
    place = at.call("GetShardIterator", asked)["ShardIterator"]
    return [record["dynamodb"] for record in at.call("GetRecords", {"ShardIterator": place})["Records"]]
