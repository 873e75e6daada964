"""What cannot be handled is tried again, parked with all that follows of its key, and replayed in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.consumer.feed import (
    HOUR,
    START,
    Failing,
    Feed,
    Log,
    PowerCut,
    feed,
    note_of,
    notes,
    opened,
    signs,
)
from tests.mapping.talk import at_once

from tablewright import testing
from tablewright.client import embedded, pages
from tablewright.mapping import Change, Consumer, Db, NotParked, Parked, Replayed, forget_parked, parked_key
from tablewright.mapping.consumer import design as stream_design
from tablewright.mapping.consumer.design import holds_of

TERM = timedelta(seconds=30)


@pytest.fixture(params=["embedded", "http", "boto3"])
def at(request: pytest.FixtureRequest) -> Iterator[Feed]:
    with opened(request.param) as found:
        yield found


@pytest.fixture
def here() -> Iterator[Feed]:
    with opened() as found:
        yield found


def stored(at: Feed) -> list[dict[str, Any]]:
    return [
        item for page in pages(at.call, "Scan", {"TableName": "stream_consumers"}) for item in page["Items"]
    ]


# --- trying again ---


def test_a_handler_that_fails_is_tried_again_with_growing_pauses(here: Feed) -> None:
    here.put("a", 1)
    log = Log(failing={"a"})

    def in_the_end(change: Change[Any]) -> None:
        if len(log.tried) == 3:
            log.failing.clear()
        log(change)

    assert here.consumer(in_the_end).run_once().handled == 1
    assert log.tried == ["a"] * 4
    assert [nap <= most for nap, most in zip(here.naps, (0.5, 1, 2), strict=True)] == [True] * 3


def test_after_so_many_attempts_a_record_is_parked_and_others_go_on(at: Feed) -> None:
    log = Log(failing={"bad"})
    at.put("bad", 1)
    at.put("good", 1)
    consumer = at.consumer(log, attempts=3)
    done = consumer.run_once()
    assert (done.handled, done.parked) == (1, 1)
    assert log.tried == ["bad"] * 3 + ["good"]
    (one,) = consumer.parked()
    assert (one.entity, one.kind, one.error, one.attempts) == ("note", "INSERT", "RuntimeError", 3)
    assert one.key == '{"PK":{"S":"NOTE#bad"},"SK":{"S":"NOTE"}}'
    assert one.first_tried == one.last_tried == START
    assert consumer.run_once().read == 0


def test_neither_the_error_nor_the_item_can_be_read_where_parked_records_are_listed(here: Feed) -> None:
    here.put("a", 1, text="a child's message")
    consumer = here.consumer(Log(failing={"a"}))
    consumer.run_once()
    assert "message" not in repr(consumer.parked())
    assert "message" not in repr(stored(here))


def test_an_item_that_does_not_fit_its_model_is_parked_at_once(at: Feed) -> None:
    note = at.put("a", 1)
    key = dict(notes.get("a").key)
    broken = {"UpdateExpression": "SET #n = :n", "ExpressionAttributeNames": {"#n": "number"}}
    at.call(
        "UpdateItem",
        {"TableName": "feed", "Key": key, **broken, "ExpressionAttributeValues": {":n": {"S": "none"}}},
    )
    log = Log()
    consumer = at.consumer(log)
    assert consumer.run_once().parked == 1
    assert [change.after for change in log.changes] == [note]
    assert [(one.error, one.attempts) for one in consumer.parked()] == [("ItemUnreadable", 1)]
    assert at.naps == []


def test_a_record_that_kills_its_workers_is_parked_too(here: Feed) -> None:
    """No attempt is counted by who dies of it; so whoever comes after a death marks a record before trying it."""
    for number in range(3):
        here.put("good", number)
    here.put("bad", 1)
    here.put("good", 3)
    log, deaths = Log(), 0

    def deadly(line: Failing) -> Callable[[Change[Any]], None]:
        def handle(change: Change[Any]) -> None:
            if note_of(change).id == "bad":
                line.left = 0
                raise PowerCut
            log(change)

        return handle

    for _ in range(20):
        line = Failing(here.call)
        try:
            here.consumer(deadly(line), call=line, attempts=3).run_once()
            break
        except PowerCut:
            deaths += 1
            here.clock.move(TERM)
    assert deaths == 4
    assert [(one.error, one.attempts) for one in here.consumer(log).parked()] == [("WorkerDied", 3)]
    assert list(dict.fromkeys(log.texts)) == ["good0", "good1", "good2", "good3"]


# --- waiting behind ---


def test_later_records_of_the_key_wait_behind_it_also_in_later_shards_and_workers(at: Feed) -> None:
    log = Log(failing={"a"})
    at.put("a", 1)
    at.consumer(log).run_once()
    log.failing.clear()
    at.put("a", 2)
    at.put("b", 1)
    at.consumer(log).run_once()
    at.pass_time(5 * HOUR)
    at.put("a", 3)
    at.remove("a")
    consumer = at.consumer(log)
    consumer.run_once()
    assert log.texts == ["b1"]
    assert [one.error for one in consumer.parked()] == ["RuntimeError", "Behind", "Behind", "Behind"]
    assert consumer.replay() == Replayed(handled=4, left=0)
    assert log.texts == ["b1", "a1", "a2", "a3", "-a3"]
    at.put("a", 5)
    assert consumer.run_once().handled == 1


def test_what_is_replayed_is_the_same_change(at: Feed) -> None:
    one, two = Log(failing={"a"}), Log()
    at.put("a", 1, text="é🦁")
    at.put("a", 2)
    consumer = at.consumer(one)
    consumer.run_once()
    one.failing.clear()
    consumer.replay()
    at.consumer(two, "other").run_once()
    assert one.changes == two.changes


def test_a_record_of_two_large_images_is_kept_whole(at: Feed) -> None:
    log = Log(failing={"a"})
    at.put("a", 1, text=os.urandom(180_000).hex())
    at.put("a", 2, text=os.urandom(180_000).hex())
    consumer = at.consumer(log)
    consumer.run_once()
    assert [one.pieces for one in consumer.parked()] == [1, 2]
    log.failing.clear()
    consumer.replay()
    assert (log.changes[1].before, log.changes[1].after) == (log.changes[0].after, at.db.one(notes.get("a")))
    assert sorted(item["SK"]["S"][:5] for item in stored(at)) == ["LEASE", "ROSTE", "START"]


# --- replaying ---


def test_replaying_stops_at_the_first_of_a_key_that_fails_again(here: Feed) -> None:
    log = Log(failing={"a", "b"})
    for number in range(2):
        here.put("a", number)
        here.put("b", number)
    consumer = here.consumer(log, attempts=2)
    consumer.run_once()
    log.failing = {"a"}
    here.clock.move(HOUR)
    assert consumer.replay() == Replayed(handled=2, left=2)
    assert log.texts == ["b0", "b1"]
    first, second = consumer.parked()
    assert (first.error, first.attempts, first.first_tried, first.last_tried) == (
        "RuntimeError",
        3,
        START,
        START + HOUR,
    )
    assert (second.error, second.attempts) == ("Behind", 0)


def test_naming_a_record_replays_all_of_its_key_in_order(here: Feed) -> None:
    log = Log(failing={"a", "b"})
    for number in range(2):
        here.put("a", number)
        here.put("b", number)
    consumer = here.consumer(log)
    consumer.run_once()
    log.failing.clear()
    behind = consumer.parked()[2]
    assert consumer.replay(behind.sequence) == Replayed(handled=2, left=2)
    assert log.texts == ["a0", "a1"]
    with pytest.raises(NotParked, match="no record 17 is parked"):
        consumer.replay("17")


def test_a_record_that_is_discarded_is_never_handled_and_the_next_may_be(here: Feed) -> None:
    log = Log(failing={"a"})
    here.put("a", 1)
    here.put("a", 2)
    consumer = here.consumer(log)
    consumer.run_once()
    first, second = consumer.parked()
    consumer.discard(first.sequence)
    assert [one.sequence for one in consumer.parked()] == [second.sequence]
    here.put("a", 3)
    consumer.run_once()
    log.failing.clear()
    consumer.replay()
    assert log.texts == ["a2", "a3"]
    with pytest.raises(NotParked):
        consumer.discard(first.sequence)


def test_the_last_record_that_is_discarded_frees_its_key(here: Feed) -> None:
    log = Log(failing={"a"})
    here.put("a", 1)
    consumer = here.consumer(log)
    consumer.run_once()
    consumer.discard(consumer.parked()[0].sequence)
    log.failing.clear()
    here.put("a", 2)
    consumer.run_once()
    assert log.texts == ["a2"]


def test_what_is_parked_of_a_key_is_forgotten_whole_and_frees_it(here: Feed) -> None:
    log = Log(failing={"a", "b"})
    for number, name in enumerate(("a", "b", "a")):
        here.put(name, number)
    consumer = here.consumer(log)
    consumer.run_once()

    def is_a(record: Parked) -> bool:
        return "NOTE#a" in (value["S"] for value in parked_key(record).values())

    worker = consumer._worker
    assert forget_parked(worker.db, worker.table, worker.consumer, is_a) == 2
    assert forget_parked(worker.db, worker.table, worker.consumer, is_a) == 0
    (left,) = consumer.parked()
    assert not is_a(left)
    assert sum(item["SK"]["S"].startswith("PIECE#") for item in stored(here)) == 1
    log.failing.clear()
    here.put("a", 3)
    consumer.run_once()
    assert log.texts == ["a3"]


def test_where_no_consumer_ever_began_there_is_nothing_to_forget() -> None:
    with testing.engine() as engine:
        assert forget_parked(Db(embedded(engine)), "notes", "nobody", lambda record: True) == 0


def test_a_crash_at_any_call_of_a_replay_loses_nothing(here: Feed) -> None:
    for number in range(3):
        here.put("a", number)
    for left in range(60):
        log = Log(failing={"a"})
        here.consumer(log, f"log{left}").run_once()
        log.failing.clear()
        try:
            here.consumer(log, f"log{left}", call=Failing(here.call, left)).replay()
        except PowerCut:
            here.clock.move(TERM)
            here.consumer(log, f"log{left}").replay()
        else:
            break
        assert list(dict.fromkeys(log.texts)) == ["a0", "a1", "a2"]
        assert list(here.db.all(holds_of(table="feed", consumer=f"log{left}"))) == []
    assert 10 < left < 59


def test_two_who_replay_at_once_do_not_mix_up_the_order(here: Feed) -> None:
    log = Log(failing={"a"})
    for number in range(3):
        here.put("a", number)
    here.consumer(log).run_once()
    log.failing.clear()

    def meddling(change: Change[Any]) -> None:
        assert here.consumer(Log()).replay().handled == 0
        log(change)

    assert here.consumer(meddling).replay() == Replayed(3, 0)
    assert log.texts == ["a0", "a1", "a2"]


def test_who_lost_the_hold_while_it_replayed_leaves_the_rest_to_who_has_it(here: Feed) -> None:
    log = Log(failing={"a"})
    for number in range(3):
        here.put("a", number)
    here.consumer(log).run_once()
    log.failing.clear()

    def slow(change: Change[Any]) -> None:
        log(change)
        (hold,) = here.db.all(holds_of(table="feed", consumer="log"))
        here.db.write(stream_design.holds.change(hold, hold.model_copy(update={"owner": "another"})))

    assert here.consumer(slow).replay() == Replayed(handled=1, left=3)
    here.clock.move(TERM)
    assert here.consumer(log).replay() == Replayed(handled=3, left=0)
    assert log.texts == ["a0", "a0", "a1", "a2"]


def test_what_is_parked_while_it_is_replayed_is_replayed_too(here: Feed) -> None:
    log = Log(failing={"a"})
    here.put("a", 1)
    here.consumer(log).run_once()
    log.failing.clear()

    def busy(change: Change[Any]) -> None:
        log(change)
        if note_of(change).number < 3:
            here.put("a", note_of(change).number + 1)
            assert here.consumer(Log()).run_once().parked == 1

    assert here.consumer(busy).replay() == Replayed(3, 0)
    assert log.texts == ["a1", "a2", "a3"]


def test_who_replays_leaves_alone_what_is_parked_after_the_key_was_freed(here: Feed) -> None:
    log = Log(failing={"a"})
    here.put("a", 1)
    here.consumer(log).run_once()
    log.failing.clear()

    def line(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Right after the hold is gone, the next change of the key fails too."""
        answer = here.call(verb, request)
        deletes = [action["Delete"] for action in request.get("TransactItems", ()) if "Delete" in action]
        if any(delete["Key"]["SK"]["S"].startswith("HOLD#") for delete in deletes):
            here.put("a", 2)
            assert here.consumer(Log(failing={"a"})).run_once().parked == 1
        return answer

    assert here.consumer(log, call=line).replay() == Replayed(handled=1, left=1)
    assert log.texts == ["a1"]
    assert here.consumer(log).replay() == Replayed(1, 0)
    assert log.texts == ["a1", "a2"]


def test_a_key_that_is_freed_while_a_worker_thinks_it_waits_is_handled(here: Feed) -> None:
    log = Log(failing={"a"})
    here.put("a", 1)
    here.consumer(log).run_once()
    log.failing.clear()
    here.put("b", 1)
    here.put("a", 2)

    def freeing(change: Change[Any]) -> None:
        if note_of(change).id == "b":
            here.consumer(log).replay()
        log(change)

    assert here.consumer(freeing).run_once().handled == 2
    assert log.texts == ["a1", "b1", "a2"]
    assert here.consumer(log).parked() == []


def test_replays_and_workers_at_once_keep_each_key_in_order(here: Feed) -> None:
    """A handler that fails every third time, workers and replays side by side: order is all that counts."""
    log, calls = Log(), iter(range(10_000))

    def unsteady(change: Change[Any]) -> None:
        if next(calls) % 3 == 0:
            raise RuntimeError
        log(change)

    def work() -> None:
        for _ in range(5):
            here.consumer(unsteady, attempts=1, batch=2).run_once()

    def replay() -> None:
        for _ in range(10):
            here.consumer(unsteady).replay()

    for number in range(10):
        for name in "abc":
            here.put(name, number)
    at_once([work, replay, work, replay], 4)
    here.clock.move(TERM)
    here.consumer(log).run_once()
    while here.consumer(log).parked():
        here.consumer(log).replay()
    for name in "abc":
        assert [text for text in log.texts if text[0] == name] == [f"{name}{n}" for n in range(10)]


def test_an_entity_that_is_no_longer_known_stays_parked(here: Feed) -> None:

    here.put("a", 1)
    here.consumer(Log(failing={"a"})).run_once()
    db = Db(here.call, feed, world=here.clock.world())
    other = Consumer(db, [signs], "feed", "log", Log())
    assert other.replay() == Replayed(0, 1)
    assert other.parked()[0].error == "EntityUnknown"
