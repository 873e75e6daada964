"""A replay that is asked for from outside: the consumer's next round handles what is parked, in order for its key."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.consumer.feed import START, Failing, Feed, Log, PowerCut, note_of, opened

from tablewright.mapping import Change, NotParked
from tablewright.mapping.consumer import dead_letters
from tablewright.mapping.consumer.design import holds_of
from tablewright.mapping.consumer.leases import Worker

TERM = timedelta(seconds=30)


@pytest.fixture(params=["embedded", "http", "boto3"])
def at(request: pytest.FixtureRequest) -> Iterator[Feed]:
    with opened(request.param) as found:
        yield found


@pytest.fixture
def here() -> Iterator[Feed]:
    with opened() as found:
        yield found


def outsider(at: Feed, name: str = "log") -> Worker:
    """Somebody who knows the consumer's name and not its handler."""
    return Worker(at.db, at.call, "feed", name, "outsider", TERM)


def parked_notes(at: Feed, log: Log, *ids: str, versions: int = 2) -> None:
    """So many versions of each note, all of them parked."""
    log.failing = set(ids)
    for number in range(versions):
        for id in ids:
            at.put(id, number)
    at.consumer(log, attempts=1).run_once()
    log.failing.clear()


def test_the_next_round_handles_what_was_asked_for_in_order(at: Feed) -> None:
    log = Log()
    parked_notes(at, log, "a", "b")
    assert dead_letters.request_replay(outsider(at), ()) == 2
    at.put("a", 2)
    at.put("c", 0)
    done = at.consumer(log).run_once()
    assert (done.replayed, done.handled, done.parked) == (4, 2, 0)
    assert [text for text in log.texts if text[0] == "a"] == ["a0", "a1", "a2"]
    assert [text for text in log.texts if text[0] == "b"] == ["b0", "b1"]
    assert at.consumer(log).parked() == []


def test_nothing_is_replayed_that_was_not_asked_for(here: Feed) -> None:
    log = Log()
    parked_notes(here, log, "a", "b")
    assert here.consumer(log).run_once().replayed == 0
    behind = here.consumer(log).parked()[2]
    assert dead_letters.request_replay(outsider(here), (behind.sequence,)) == 1
    assert here.consumer(log).run_once().replayed == 2
    assert log.texts == ["a0", "a1"]


def test_only_what_is_parked_can_be_asked_for(here: Feed) -> None:
    with pytest.raises(NotParked, match="no record 17 is parked"):
        dead_letters.request_replay(outsider(here), ("17",))


def test_a_record_that_fails_again_waits_to_be_asked_for_again(here: Feed) -> None:
    log = Log()
    parked_notes(here, log, "a")
    dead_letters.request_replay(outsider(here), ())
    log.failing = {"a"}
    here.clock.move(TERM)
    assert here.consumer(log).run_once().replayed == 0
    first, second = here.consumer(log).parked()
    assert (first.attempts, first.last_tried, second.error) == (2, START + TERM, "Behind")
    log.failing.clear()
    assert here.consumer(log).run_once().replayed == 0
    dead_letters.request_replay(outsider(here), ())
    assert here.consumer(log).run_once().replayed == 2


def test_a_worker_that_runs_finds_it_within_a_third_of_its_lease(here: Feed) -> None:
    log = Log()
    parked_notes(here, log, "a")
    consumer = here.consumer(log)
    consumer._plan_when_due()
    dead_letters.request_replay(outsider(here), ())
    assert consumer._plan_when_due().replayed == 0
    here.clock.move(TERM / 3)
    assert consumer._plan_when_due().replayed == 2
    consumer._give_back_all()


def test_a_long_replay_leaves_the_leases_their_time_and_still_comes_to_its_end(here: Feed) -> None:
    log = Log()
    parked_notes(here, log, "a", "b", versions=3)
    dead_letters.request_replay(outsider(here), ())

    def slow(change: Change[Any]) -> None:
        here.clock.move(TERM / 2)
        log(change)

    consumer = here.consumer(slow)
    assert consumer._plan_when_due().replayed == 1
    consumer._give_back_all()
    assert consumer.run_once().replayed == 5
    assert [text for text in log.texts if text[0] == "a"] == ["a0", "a1", "a2"]
    assert [text for text in log.texts if text[0] == "b"] == ["b0", "b1", "b2"]
    assert consumer.parked() == []


def test_a_crash_at_any_call_of_the_round_loses_nothing_and_forgets_no_request(here: Feed) -> None:
    for number in range(3):
        here.put("a", number)
    for left in range(90):
        name = f"log{left}"
        log = Log(failing={"a"})
        here.consumer(log, name, attempts=1).run_once()
        log.failing.clear()
        dead_letters.request_replay(outsider(here, name), ())
        try:
            here.consumer(log, name, call=Failing(here.call, left)).run_once()
        except PowerCut:
            here.clock.move(TERM)
            here.consumer(log, name).run_once()
        else:
            break
        assert list(dict.fromkeys(log.texts)) == ["a0", "a1", "a2"]
        assert list(here.db.all(holds_of(table="feed", consumer=name))) == []
    assert 20 < left < 89


def test_a_record_that_kills_its_workers_is_left_parked_after_a_few_of_them(here: Feed) -> None:
    log = Log()
    parked_notes(here, log, "a")
    dead_letters.request_replay(outsider(here), ())

    def deadly(line: Failing) -> Any:
        def handle(change: Change[Any]) -> None:
            if note_of(change).id == "a":
                line.left = 0
                raise PowerCut
            log(change)

        return handle

    deaths = 0
    while deaths < 10:
        line = Failing(here.call)
        try:
            here.consumer(deadly(line), call=line).run_once()
            break
        except PowerCut:
            deaths += 1
            here.clock.move(TERM)
    assert deaths == dead_letters.REPLAY_ATTEMPTS
    assert len(here.consumer(log).parked()) == 2


def test_what_is_parked_of_all_consumers_is_listed_by_table_consumer_and_age(here: Feed) -> None:
    for name in ("mailer", "index"):
        here.consumer(Log(), name).run_once()
    here.put("a", 1)
    here.put("b", 1)
    for name in ("mailer", "index"):
        here.consumer(Log(failing={"a", "b"}), name, attempts=1).run_once()
    found = dead_letters.list_all_parked(here.db)
    assert [one.consumer for one in found] == ["index", "index", "mailer", "mailer"]
    assert [one.key for one in found] == [one.key for one in found[:2]] * 2
    assert '"NOTE#a"' in found[0].key
