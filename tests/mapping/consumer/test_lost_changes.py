"""A consumer that was away too long says so, and never when nothing can be missing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.mapping.consumer.feed import HOUR, START, Feed, Log, opened

from tablewright.mapping import ChangesLost


@pytest.fixture(params=["embedded", "http", "boto3"])
def at(request: pytest.FixtureRequest) -> Iterator[Feed]:
    with opened(request.param) as found:
        yield found


def hours(at: Feed, count: int) -> None:
    for _ in range(count):
        at.pass_time(HOUR)


def test_who_was_away_for_longer_than_a_day_is_told_since_when(at: Feed) -> None:
    log = Log()
    at.put("a", 1)
    at.consumer(log).run_once()
    hours(at, 2)
    at.put("a", 2)
    hours(at, 40)
    at.put("a", 3)
    for _ in range(2):  # it does not go away by itself
        with pytest.raises(ChangesLost, match="skip_to_horizon") as caught:
            at.consumer(log).run_once()
    assert (caught.value.table, caught.value.consumer) == ("feed", "log")
    assert caught.value.since == START
    assert log.texts == ["a1"]


def test_who_says_so_goes_on_with_the_oldest_change_there_is(at: Feed) -> None:
    log = Log()
    at.put("a", 1)
    at.consumer(log).run_once()
    hours(at, 2)
    at.put("a", 2)
    hours(at, 40)
    at.put("a", 3)
    done = at.consumer(log, skip_to_horizon=True).run_once()
    assert (done.handled, done.lost_since) == (1, START)
    assert log.texts == ["a1", "a3"]
    at.put("a", 4)
    assert at.consumer(log).run_once().handled == 1


@pytest.mark.parametrize("away", [2, 5, 13, 23])
def test_who_was_away_for_less_than_a_day_has_missed_nothing(at: Feed, away: int) -> None:
    log = Log()
    at.put("a", 1)
    at.consumer(log).run_once()
    for number in range(away):
        at.put("a", 2 + number)
        at.pass_time(HOUR)
    at.consumer(log).run_once()
    assert log.texts == [f"a{n}" for n in range(1, away + 2)]


@pytest.mark.parametrize("away", [25, 26, 27, 28, 29, 33])
@pytest.mark.parametrize("before", [3, 5])
def test_a_loss_is_noticed_wherever_the_shards_happened_to_end(at: Feed, before: int, away: int) -> None:
    """The first hours are gone: in a shard that is known, a child of one, or one whose parents are forgotten."""
    log = Log()
    at.put("a", 0)
    hours(at, before)
    at.consumer(log).run_once()
    for number in range(away):
        at.put("a", 1 + number)
        at.pass_time(HOUR)
    with pytest.raises(ChangesLost):
        at.consumer(log).run_once()


def test_a_quiet_table_is_not_taken_for_a_lost_one(at: Feed) -> None:
    log = Log()
    at.put("a", 1)
    for _ in range(6):
        at.consumer(log).run_once()  # each time as another process, which knows only its checkpoint
        hours(at, 11)
    at.put("a", 2)
    at.consumer(log).run_once()
    assert log.texts == ["a1", "a2"]


def test_a_checkpoint_that_is_forgotten_is_no_loss_to_who_was_up_to_date_later(at: Feed) -> None:
    log = Log()
    at.put("a", 1)
    hours(at, 3)
    at.consumer(log).run_once()  # nothing new, but seen to be so
    hours(at, 7)
    at.put("a", 2)
    hours(at, 15)
    at.consumer(log).run_once()
    assert log.texts == ["a1", "a2"]


def test_a_consumer_begins_with_the_oldest_change_there_is(at: Feed) -> None:
    at.put("a", 1)
    hours(at, 30)
    at.put("a", 2)
    log = Log()
    assert at.consumer(log).run_once().lost_since is None
    assert log.texts == ["a2"]


def test_a_consumer_that_keeps_reading_outlives_every_shard(at: Feed) -> None:
    log = Log()
    consumer = at.consumer(log)
    for number in range(20):
        at.put("a", number)
        consumer.run_once()
        at.pass_time(timedelta(hours=7))
    consumer.run_once()
    assert log.texts == [f"a{n}" for n in range(20)]


def test_a_new_stream_after_a_long_pause_without_one_is_no_loss_of_its_changes(at: Feed) -> None:
    log = Log()
    at.put("a", 1)
    at.consumer(log).run_once()
    at.call("UpdateTable", {"TableName": "feed", "StreamSpecification": {"StreamEnabled": False}})
    at.consumer(log).run_once()
    hours(at, 30)
    at.consumer(log).create_tables()
    at.put("a", 2)
    at.consumer(log).run_once()
    assert log.texts == ["a1", "a2"]


def test_a_stream_that_went_before_it_was_read_is_a_loss(at: Feed) -> None:
    log = Log()
    at.put("a", 1)
    at.consumer(log).run_once()
    at.put("a", 2)
    at.call("UpdateTable", {"TableName": "feed", "StreamSpecification": {"StreamEnabled": False}})
    hours(at, 30)
    at.consumer(log).create_tables()
    at.put("a", 3)
    with pytest.raises(ChangesLost) as caught:
        at.consumer(log).run_once()
    assert caught.value.since == START
    assert at.consumer(log, skip_to_horizon=True).run_once().lost_since == START
    assert log.texts == ["a1", "a3"]
