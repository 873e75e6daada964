"""A consumer handles every change of its entities, typed and in order, whichever way the calls go."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.consumer.feed import (
    HOUR,
    START,
    Feed,
    Log,
    Sign,
    feed,
    note_of,
    notes,
    opened,
    signs,
    tallies,
)

from tablewright.client import Call, CallRefused, Retries
from tablewright.engine.streams import shards
from tablewright.mapping import Change, Consumer, ConsumerUnusable, Db, NoStream
from tablewright.mapping.consumer.design import Lease, leases_of


@pytest.fixture(params=["embedded", "http", "boto3"])
def at(request: pytest.FixtureRequest) -> Iterator[Feed]:
    with opened(request.param) as found:
        yield found


@pytest.fixture
def here() -> Iterator[Feed]:
    """In this process only, for what does not depend on the way."""
    with opened() as found:
        yield found


def leases(at: Feed, name: str = "log") -> list[Lease]:
    return list(at.db.all(leases_of(table="feed", consumer=name)))


# --- every change, typed, in order ---


def test_every_change_is_handled_once_in_order_and_typed(at: Feed) -> None:
    first = at.put("a", 1, text="one")
    second = at.put("a", 2, text="two")
    at.remove("a")
    log = Log()
    assert at.consumer(log).run_once().handled == 3
    assert [change.kind for change in log.changes] == ["INSERT", "MODIFY", "REMOVE"]
    assert [(change.before, change.after) for change in log.changes] == [
        (None, first),
        (first, second),
        (second, None),
    ]
    assert {change.at for change in log.changes} == {START}
    assert len({change.event_id for change in log.changes}) == 3


def test_what_others_keep_in_the_table_is_passed_over(at: Feed) -> None:
    at.put("a", 1)
    at.db.write(signs.create(Sign(id="x")))
    log = Log()
    done = at.consumer(log).run_once()
    assert (done.handled, done.passed_over) == (1, 2)  # the sign, and the guard of the note
    assert log.texts == ["a1"]


def test_a_consumer_goes_on_where_it_was_also_as_another_process(at: Feed) -> None:
    log = Log()
    at.put("a", 1)
    consumer = at.consumer(log)
    consumer.run_once()
    at.put("a", 2)
    consumer.run_once()
    at.put("b", 1)
    assert at.consumer(log).run_once().handled == 1
    assert at.consumer(log).run_once().read == 0
    assert log.texts == ["a1", "a2", "b1"]


def test_a_round_ends_with_what_there_was_when_it_began_however_fast_others_write(here: Feed) -> None:
    log = Log()

    def handle(change: Change[Any]) -> None:
        log(change)
        assert len(log.changes) < 100
        here.clock.move(timedelta(seconds=1))
        here.put("a", len(log.changes))

    for number in range(5):
        here.put("b", number)
    assert here.consumer(handle).run_once().handled <= 50
    assert log.texts[:5] == ["b0", "b1", "b2", "b3", "b4"]
    before = len(log.changes)
    here.consumer(log).run_once()
    first = note_of(log.changes[before]).number
    assert log.texts[before:] == [f"a{number}" for number in range(first, before + 1)]


def test_consumers_of_other_names_have_their_own_place(at: Feed) -> None:
    at.put("a", 1)
    one, other = Log(), Log()
    at.consumer(one, "one").run_once()
    at.put("a", 2)
    at.consumer(other, "other").run_once()
    at.consumer(one, "one").run_once()
    assert one.texts == other.texts == ["a1", "a2"]


def test_a_swept_item_is_a_removal_by_the_service(at: Feed) -> None:
    at.put("a", 1, until=START + HOUR)
    at.put("b", 1)
    at.remove("b")
    at.pass_time(2 * HOUR)
    log = Log()
    at.consumer(log).run_once()
    assert [(change.kind, change.by_ttl) for change in log.changes if change.after is None] == [
        ("REMOVE", False),
        ("REMOVE", True),
    ]


def test_an_effect_with_the_changes_id_happens_once(at: Feed) -> None:
    def tell(change: Change[Any]) -> None:
        write = tallies.update("all").at(lambda t: t.seen).append(change.event_id)
        at.db.write(write, once=f"log/{change.event_id}")
        at.db.write(write, once=f"log/{change.event_id}")  # as after a crash

    at.db.write(tallies.create(tallies.model(id="all")))
    at.put("a", 1)
    at.put("a", 2)
    at.consumer(tell).run_once()
    tally = at.db.one(tallies.get("all"))
    assert tally is not None
    assert len(tally.seen) == len(set(tally.seen)) == 2


# --- shards ---


def test_a_shards_children_are_read_behind_it(at: Feed) -> None:
    for number in range(3):
        at.put("a", number)
        at.put("b", number)
        at.pass_time(5 * HOUR)
    assert len(at.shards()) == 4
    log = Log()
    done = at.consumer(log).run_once()
    assert (done.handled, done.shards_ended) == (6, 3)
    assert log.texts == ["a0", "b0", "a1", "b1", "a2", "b2"]


def test_a_key_stays_in_order_when_its_shard_splits(here: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_RECORDS", 20)
    for number in range(12):
        for name in "abcd":
            here.put(name, number)
        here.engine.settle()
    assert sum("ParentShardId" in shard for shard in here.shards()) > 2
    log = Log()
    here.consumer(log, batch=3).run_once()
    for name in "abcd":
        assert [text for text in log.texts if text[0] == name] == [f"{name}{n}" for n in range(12)]
    assert len(log.texts) == 48


def test_a_stream_that_was_switched_off_and_on_is_read_on(at: Feed) -> None:
    log = Log()
    consumer = at.consumer(log)
    at.put("a", 1)
    consumer.run_once()
    at.put("a", 2)
    for setting in ({"StreamEnabled": False}, {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}):
        at.call("UpdateTable", {"TableName": "feed", "StreamSpecification": setting})
        at.pass_time(HOUR)
    at.put("a", 3)
    assert len(at.call("ListStreams", {"TableName": "feed"})["Streams"]) == 2
    consumer.run_once()
    assert log.texts == ["a1", "a2", "a3"]


def test_a_newer_stream_waits_until_the_older_is_done(here: Feed) -> None:
    for number in range(30):
        here.put("a", number)
        if number == 20:
            for setting in ({"StreamEnabled": False}, {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}):
                here.call("UpdateTable", {"TableName": "feed", "StreamSpecification": setting})
                here.clock.move(HOUR)
    log = Log()
    here.consumer(log, batch=1).run_once()  # one turn is not enough for the older stream
    assert log.texts == [f"a{n}" for n in range(30)]


def test_leases_of_shards_that_are_gone_go_too(here: Feed) -> None:
    log = Log()
    consumer = here.consumer(log)
    for number in range(12):
        here.put("a", number)
        consumer.run_once()
        here.pass_time(5 * HOUR)
    consumer.run_once()
    assert len(log.texts) == 12
    assert {lease.shard for lease in leases(here)} == {shard["ShardId"] for shard in here.shards()}


def test_a_busy_neighbour_does_not_hide_a_change(here: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are empty where others wrote; a closed shard is read to its end however many there are."""
    from tablewright.engine.api import streams as stream_verbs

    monkeypatch.setattr(stream_verbs, "LOOKED_AT", 3)
    here.put("a", 0)
    assert here.consumer(Log()).run_once().handled == 1
    here.db.write(tallies.create(tallies.model(id="all")))
    for number in range(150):
        here.db.write(tallies.update("all").at(lambda t: t.seen).set([str(number)]))
    here.put("a", 1)
    log = Log()
    consumer = here.consumer(log)
    consumer.run_once()
    assert log.texts == []  # more than twenty empty pages: for now this looks like the end
    there = Log()
    assert [here.consumer(there).run_once().read for _ in range(3)] == [
        0,
        0,
        0,
    ]  # others begin at the checkpoint
    for _ in range(3):
        consumer.run_once()  # goes on behind the empty pages
    assert log.texts == ["a1"]


def test_a_closed_shard_is_read_to_its_end_whatever_is_empty(
    here: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tablewright.engine.api import streams as stream_verbs

    monkeypatch.setattr(stream_verbs, "LOOKED_AT", 3)
    here.db.write(tallies.create(tallies.model(id="all")))
    for number in range(150):
        here.db.write(tallies.update("all").at(lambda t: t.seen).set([str(number)]))
    here.put("a", 1)
    here.pass_time(5 * HOUR)
    log = Log()
    here.consumer(log).run_once()
    assert log.texts == ["a1"]


# --- what a service may say ---


@dataclass
class Interrupting:
    """A Call that refuses GetRecords in given ways first."""

    call: Call
    refusals: list[str]

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "GetRecords" and self.refusals:
            raise CallRefused(self.refusals.pop(0))
        return self.call(verb, request)


def test_an_iterator_that_expired_is_made_anew_where_the_checkpoint_is(here: Feed) -> None:
    log = Log()
    stop = threading.Event()
    consumer = here.consumer(log)
    here.put("a", 1)
    for number in range(2, 5):
        consumer._plan_when_due()
        for held in tuple(consumer._leased.values()):
            consumer._turn(held, stop)
        here.clock.move(timedelta(minutes=20))
        here.put("a", number)
    consumer.run_once()
    assert log.texts == ["a1", "a2", "a3", "a4"]


def test_a_shard_that_too_many_read_is_asked_again_after_a_pause(here: Feed) -> None:
    here.put("a", 1)
    log = Log()
    line = Interrupting(here.call, ["LimitExceededException"] * 3)
    assert here.consumer(log, call=line).run_once().handled == 1
    assert len(here.naps) == 3
    line.refusals = ["LimitExceededException"] * 9
    with pytest.raises(CallRefused, match="LimitExceeded"):
        here.consumer(log, call=line).run_once()
    assert [lease.owner for lease in leases(here)] == [None]


def test_a_refusal_nobody_expects_ends_the_run_and_gives_the_shards_back(here: Feed) -> None:
    here.put("a", 1)
    log = Log()
    with pytest.raises(CallRefused, match="AccessDenied"):
        here.consumer(log, call=Interrupting(here.call, ["AccessDeniedException"])).run_once()
    assert [lease.owner for lease in leases(here)] == [None]
    assert here.consumer(log).run_once().handled == 1


# --- running on ---


def test_run_handles_changes_as_they_come_until_it_is_stopped(here: Feed) -> None:
    log, stop, seen = Log(), threading.Event(), threading.Semaphore(0)

    def handle(change: Change[Any]) -> None:
        log(change)
        seen.release()

    worker = threading.Thread(target=here.consumer(handle, poll=0.001).run, args=(stop,))
    worker.start()
    for number in range(3):
        here.put("a", number)
        assert seen.acquire(timeout=10)
    here.pass_time(5 * HOUR)
    here.put("a", 3)
    assert seen.acquire(timeout=10)
    stop.set()
    worker.join(10)
    assert log.texts == ["a0", "a1", "a2", "a3"]
    assert [lease.owner for lease in leases(here)] == [None, None]
    assert here.consumer(log).run_once().read == 0


def test_who_is_stopped_in_the_middle_of_a_page_leaves_the_rest_for_later(here: Feed) -> None:
    log, stop = Log(), threading.Event()

    def handle(change: Change[Any]) -> None:
        log(change)
        if len(log.changes) == 2:
            stop.set()

    for number in range(4):
        here.put("a", number)
    here.consumer(handle).run(stop)
    assert log.texts == ["a0", "a1"]
    here.consumer(log).run_once()
    assert log.texts == ["a0", "a1", "a2", "a3"]


def test_lag_is_the_age_of_the_oldest_change_that_waits(at: Feed) -> None:
    consumer = at.consumer(Log())
    assert consumer.lag() == timedelta()
    at.put("a", 1)
    at.pass_time(HOUR)
    at.put("a", 2)
    assert consumer.lag() == HOUR
    consumer.run_once()
    assert consumer.lag() == timedelta()
    at.pass_time(30 * HOUR)
    assert consumer.lag() == timedelta()  # the checkpoint itself is trimmed by now


def test_a_consumer_is_behind_while_a_change_waits_also_one_of_this_very_second(here: Feed) -> None:
    consumer = here.consumer(Log())
    assert not consumer.is_behind()
    here.put("a", 1)
    assert (consumer.is_behind(), consumer.lag()) == (True, timedelta())
    consumer.run_once()
    assert not consumer.is_behind()


# --- setting up ---


def test_create_tables_switches_the_stream_on_where_the_design_asks_for_it(at: Feed) -> None:
    described = at.call("DescribeTable", {"TableName": "feed"})["Table"]
    assert described["StreamSpecification"] == {
        "StreamEnabled": True,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    at.consumer(Log()).create_tables()
    assert len(at.call("ListStreams", {"TableName": "feed"})["Streams"]) == 1


def test_a_table_without_a_stream_is_said_to_have_none(here: Feed) -> None:
    consumer = Consumer(here.db, [tallies], "tallies", "log", Log())
    consumer.create_tables()
    with pytest.raises(NoStream, match="tallies has no stream"):
        consumer.run_once()


def test_a_consumer_takes_a_design_or_entities_of_its_table_only(here: Feed) -> None:
    log = Log()
    here.put("a", 1)
    here.db.write(signs.create(Sign(id="x")))
    Consumer(here.db, [notes], "feed", "notes", log).run_once()
    both: list[Change[Any]] = []
    Consumer(here.db, feed, "feed", "all", both.append).run_once()
    assert [change.shape.tag for change in both] == ["note", "sign"]
    with pytest.raises(ConsumerUnusable, match="not in this table: tally"):
        Consumer(here.db, [notes, tallies], "feed", "log", log)
    with pytest.raises(ConsumerUnusable, match="no entities"):
        Consumer(here.db, feed, "feeds", "log", log)


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"attempts": 0}, {"batch": 0}, {"batch": 1001}, {"lease": timedelta(0)}]
)
def test_a_consumer_that_could_not_work_is_refused(here: Feed, wrong: dict[str, Any]) -> None:
    options: dict[str, Any] = {"name": "log"} | wrong
    with pytest.raises(ConsumerUnusable, match="needs a name"):
        Consumer(here.db, feed, "feed", handle=Log(), **options)


def test_a_consumer_counts_what_it_costs_in_its_dbs_meter(here: Feed) -> None:
    here.put("a", 1)
    db = Db(here.call, feed, world=here.clock.world())
    Consumer(db, feed, "feed", "log", Log(), retries=Retries()).run_once()
    assert db.meter.spent()["stream_lease.update"].write >= 2
