"""Several workers of one consumer share its shards; whoever dies is replaced, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.consumer.feed import HOUR, Failing, Feed, Log, PowerCut, opened

from tablewright.engine.streams import shards
from tablewright.mapping import Change, Consumer, Replayed
from tablewright.mapping.consumer import design as stream_design
from tablewright.mapping.consumer.design import Lease, leases_of
from tablewright.mapping.consumer.shards import shards_of

TERM = timedelta(seconds=30)
NAMES = [f"note-{number}-" for number in range(12)]  # enough for every part of the hash


@pytest.fixture
def at() -> Iterator[Feed]:
    with opened() as found:
        yield found


def leases(at: Feed) -> list[Lease]:
    return list(at.db.all(leases_of(table="feed", consumer="log")))


def owners(at: Feed) -> list[str | None]:
    return [lease.owner for lease in leases(at) if not lease.closed]


def split(at: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four open shards or more."""
    with monkeypatch.context() as patch:
        patch.setattr(shards, "SHARD_RECORDS", 8)
        for number in range(6):
            for name in NAMES:
                at.put(name, number)
            at.engine.settle()
    assert sum("EndingSequenceNumber" not in shard["SequenceNumberRange"] for shard in at.shards()) >= 4


# --- dying ---


def test_a_crash_at_any_call_loses_nothing_and_keeps_the_order(at: Feed) -> None:
    """The worker is cut off before each of its calls in turn; the next one does the rest."""
    for number in range(4):
        at.put("a", number)
        at.put("bad", number)
        at.put("b", number)
        if number == 1:
            at.pass_time(5 * HOUR)
    for left in range(300):
        log = Log(failing={"bad"})
        try:
            at.consumer(log, f"log{left}", call=Failing(at.call, left), batch=3).run_once()
        except PowerCut:
            at.clock.move(2 * TERM)
            at.consumer(log, f"log{left}", batch=3).run_once()
        else:
            break
        for key in "ab":
            mine = [text for text in log.texts if text[0] == key]
            assert list(dict.fromkeys(mine)) == [f"{key}{n}" for n in range(4)]
            assert mine[-1] == f"{key}3"
        parked = at.consumer(log, f"log{left}")
        log.failing.clear()
        assert parked.replay() == Replayed(4, 0)
        assert log.texts[-4:] == ["bad0", "bad1", "bad2", "bad3"]
    assert 50 < left < 299


def test_what_a_dead_worker_had_is_left_alone_until_its_lease_is_over(at: Feed) -> None:
    at.put("a", 1)
    log = Log()
    line = Failing(at.call)

    def die(change: Change[Any]) -> None:
        line.left = 0

    with pytest.raises(PowerCut):
        at.consumer(die, call=line).run_once()
    assert at.consumer(log).run_once().read == 0
    at.clock.move(TERM - timedelta(seconds=1))
    assert at.consumer(log).run_once().read == 0
    at.clock.move(timedelta(seconds=1))
    assert at.consumer(log).run_once().handled == 1
    assert log.texts == ["a1"]


class PassedTime(threading.Event):
    """Waiting moves the clock instead; after an hour it is set."""

    def __init__(self, at: Feed) -> None:
        super().__init__()
        self.at, self.end = at, at.clock.world().now() + HOUR

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.at.clock.move(timedelta(seconds=timeout))
        if self.at.clock.world().now() >= self.end:
            self.set()
        return self.is_set()


@pytest.mark.parametrize("poll", [0.7, 1.0, 7.0, 60.0])
def test_what_a_dead_worker_had_is_taken_up_the_moment_its_lease_is_over(at: Feed, poll: float) -> None:
    at.put("a", 1)
    line, taken = Failing(at.call), []

    def die(change: Change[Any]) -> None:
        line.left = 0

    stop = PassedTime(at)

    def take(change: Change[Any]) -> None:
        taken.append(at.clock.world().now())
        stop.set()

    with pytest.raises(PowerCut):
        at.consumer(die, call=line).run_once()
    (until,) = [lease.until for lease in leases(at) if lease.owner is not None]
    at.clock.move(timedelta(seconds=4))
    at.consumer(take, poll=poll).run(stop)
    assert taken == [until]


def test_a_handler_that_is_interrupted_gives_its_shards_back_with_what_was_done(at: Feed) -> None:
    at.put("a", 1)
    at.put("a", 2)
    log = Log()

    def interrupted(change: Change[Any]) -> None:
        if log.changes:
            raise KeyboardInterrupt
        log(change)

    with pytest.raises(KeyboardInterrupt):
        at.consumer(interrupted).run_once()
    assert owners(at) == [None]
    assert at.consumer(log).run_once().handled == 1
    assert log.texts == ["a1", "a2"]


def test_a_worker_that_is_too_slow_loses_its_shard_and_stops(at: Feed) -> None:
    for number in range(3):
        at.put("a", number)
    slow, quick = Log(), Log()

    def dawdle(change: Change[Any]) -> None:
        slow(change)
        if len(slow.changes) == 1:
            at.clock.move(TERM)
            at.consumer(quick).run_once()

    done = at.consumer(dawdle).run_once()
    assert slow.texts == ["a0"]
    assert quick.texts == ["a0", "a1", "a2"]
    assert done.leases_lost == 1
    assert at.consumer(quick).run_once().read == 0


def test_a_lease_is_renewed_while_there_is_work(at: Feed) -> None:
    for number in range(6):
        at.put("a", number)
    log, other = Log(), Log()

    def steadily(change: Change[Any]) -> None:
        log(change)
        at.clock.move(TERM / 2)
        at.consumer(other).run_once()

    assert at.consumer(steadily).run_once().handled == 6
    assert other.texts == []


def test_pauses_between_attempts_do_not_outlast_the_lease(at: Feed) -> None:
    at.put("a", 1)
    log, other = Log(failing={"a"}), Log()
    consumer = at.consumer(log, attempts=12)

    class Moving(list[float]):
        def append(self, seconds: float) -> None:
            super().append(seconds)
            at.clock.move(timedelta(seconds=seconds))
            at.consumer(other).run_once()

    at.naps = Moving()
    consumer = at.consumer(log, attempts=12)
    assert consumer.run_once().parked == 1
    assert len(at.naps) == 11
    assert max(at.naps) <= TERM.total_seconds() / 4
    assert other.texts == []


# --- sharing ---


def test_a_newcomer_is_given_its_share_and_a_key_is_never_with_both(
    at: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    split(at, monkeypatch)
    at.consumer(Log()).run_once()
    one, other, stop = Log(), Log(), threading.Event()
    first, second = at.consumer(one), at.consumer(other)

    def step(consumer: Consumer) -> None:
        """One round of what `run` does."""
        consumer._plan_when_due()
        for held in tuple(consumer._leased.values()):
            consumer._turn(held, stop)

    step(first)
    assert len(set(owners(at))) == 1
    for number in range(4 * len(owners(at))):
        for name in NAMES:
            at.put(name, 100 + number)
        at.clock.move(TERM / 3)
        step(second)
        step(first)
    counts = [owners(at).count(owner) for owner in set(owners(at))]
    assert None not in owners(at)
    assert len(counts) == 2
    assert abs(counts[1] - counts[0]) <= 1
    sofar, late = [len(one.texts), len(other.texts)], len(one.texts + other.texts)
    assert late == len(NAMES) * (number + 1)  # given back between two pages, so nothing is done twice
    for name in NAMES:
        at.put(name, 999)
    step(first)
    step(second)
    latest = one.texts[sofar[0] :], other.texts[sofar[1] :]
    assert sorted(latest[0] + latest[1]) == sorted(f"{name}999" for name in NAMES)
    assert all(latest)


def test_a_shard_that_is_asked_for_is_given_back_after_the_page(at: Feed) -> None:
    at.put("a", 1)
    at.consumer(Log()).run_once()
    at.put("a", 2)

    def asked_for(change: Change[Any]) -> None:
        (lease,) = leases(at)
        at.db.write(stream_design.leases.change(lease, lease.model_copy(update={"wanted": "another"})))

    assert at.consumer(asked_for).run_once().handled == 1
    (lease,) = leases(at)
    assert (lease.owner, lease.wanted, lease.until) == (None, "another", at.clock.now() + TERM)


def test_a_worker_that_comes_while_another_is_just_beginning_finds_nothing_lost(
    at: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first has noted where it begins, and made one of its leases; whose parents the shards had is forgotten."""
    split(at, monkeypatch)
    for number in range(8):
        at.put("a", number)
        at.pass_time(5 * HOUR)
    with pytest.raises(PowerCut):
        at.consumer(Log(), call=Failing(at.call, 7)).run_once()
    assert 0 < len(leases(at)) < len(at.shards())
    at.clock.move(TERM)
    log = Log()
    at.consumer(log).run_once()
    assert log.texts == ["a4", "a5", "a6", "a7"]


def test_a_shard_that_was_given_up_for_a_worker_that_died_is_taken_again(at: Feed) -> None:
    at.put("a", 1)
    log = Log()
    at.consumer(log).run_once()
    lease = leases(at)[0]
    gone = lease.model_copy(update={"wanted": "nobody", "until": at.clock.now() + TERM})
    at.db.write(stream_design.leases.change(lease, gone))
    at.put("a", 2)
    assert at.consumer(log).run_once().read == 0
    at.clock.move(TERM)
    assert at.consumer(log).run_once().handled == 1


def test_two_workers_that_begin_at_the_same_time_agree_where(at: Feed) -> None:
    for number in range(3):
        at.put("a", number)
        at.pass_time(5 * HOUR)
    one, other = Log(), Log()
    threads = [
        threading.Thread(target=at.consumer(log, "fresh").run_once) for log in (one, other) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    at.consumer(one, "fresh").run_once()
    assert sorted(one.texts + other.texts) == ["a0", "a1", "a2"]


def test_a_stream_that_does_not_say_when_it_was_made_is_as_old_as_its_label(at: Feed) -> None:
    def silent(verb: str, request: Any) -> dict[str, Any]:
        answer = at.db.call(verb, request)
        answer.get("StreamDescription", {}).pop("CreationRequestDateTime", None)
        return answer

    told, untold = (shards_of(call, at.db.physical("feed")) for call in (at.db.call, silent))
    assert [shard.id for shard in untold] == [shard.id for shard in told]
    for one, other in zip(told, untold, strict=True):
        assert abs(one.created - other.created) < timedelta(seconds=1)
