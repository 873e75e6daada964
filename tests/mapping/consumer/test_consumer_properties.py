"""Whatever happens to a table and to those who read its stream: each change has its effect once, in order for its key.

Histories of writes are drawn with time passing, so that shards roll and split, and with two workers that take their
turns, are cut off before any of their calls and begin anew; handlers that fail for some keys for a while, and replays
by hand. In the end somebody reads what is left and replays what is parked, and the effects are compared with what
was written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta
from threading import Event
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.mapping.consumer.feed import (
    HOUR,
    Failing,
    Feed,
    PowerCut,
    Tally,
    feed,
    note_of,
    opened,
    short,
    tallies,
)
from tests.properties.effort import effort

from tablewright.client import Retries
from tablewright.engine.api import streams as stream_verbs
from tablewright.engine.streams import shards
from tablewright.mapping import Change, Consumer, Db
from tablewright.mapping.consumer import consumer, shard_reader

NAMES = [f"note-{number}-" for number in range(6)]
NEVER = Event()
Step = tuple[str, Any]
CUTS = st.one_of(st.none(), st.integers(0, 40))

STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.lists(st.sampled_from(NAMES), min_size=1, max_size=8)),
        st.tuples(st.just("write"), st.lists(st.sampled_from(NAMES), min_size=1, max_size=8)),
        st.tuples(st.just("remove"), st.sampled_from(NAMES)),
        st.tuples(st.just("turn"), st.tuples(st.integers(0, 1), CUTS)),
        st.tuples(st.just("run"), st.tuples(st.integers(0, 1), CUTS)),
        st.tuples(st.just("replay"), CUTS),
        st.tuples(st.just("pass"), st.sampled_from([timedelta(seconds=11), timedelta(minutes=16), 5 * HOUR])),
        st.tuples(st.just("fail"), st.sets(st.sampled_from(NAMES), max_size=2)),
    ),
    min_size=10,
    max_size=50,
)


class Story:
    """A feed, two workers that may die, and what was written and done."""

    def __init__(self, at: Feed) -> None:
        self.at = at
        self.failing: set[str] = set()
        self.written: dict[str, list[str]] = defaultdict(list)
        self.tried: dict[str, list[str]] = defaultdict(list)
        self.numbers: dict[str, int] = {}
        self.last_read: datetime = at.clock.now()
        self.lines: dict[int, Failing] = {}
        self.workers: dict[int, Consumer] = {}

    # --- the table ---

    def write(self, names: list[str]) -> None:
        for name in names:
            self.numbers[name] = self.numbers.get(name, 0) + 1
            self.at.put(name, self.numbers[name])
            self.written[name].append(f"{name}{self.numbers[name]}")

    def remove(self, name: str) -> None:
        if self.written[name] and not self.written[name][-1].startswith("-"):
            self.at.remove(name)
            self.written[name].append(f"-{name}{self.numbers[name]}")

    def pass_(self, by: timedelta) -> None:
        if self.at.clock.now() + by - self.last_read >= 20 * HOUR:
            self.settle()  # nothing is promised to who stays away for a day
        self.at.pass_time(by)

    def fail(self, names: set[str]) -> None:
        self.failing = names

    # --- the workers ---

    def worker(self, number: int) -> Consumer:
        if number not in self.workers:
            line = self.lines[number] = Failing(self.at.call)
            db = Db(line, feed, world=self.at.clock.world())
            retries = Retries(sleep=lambda _: None)
            self.workers[number] = Consumer(
                db, feed, "feed", "tally", self.handler(db), attempts=2, batch=3, retries=retries
            )
        return self.workers[number]

    def handler(self, db: Db) -> Callable[[Change[Any]], None]:
        def handle(change: Change[Any]) -> None:
            name = note_of(change).id
            self.tried[name].append(short(change))
            if name in self.failing:
                raise RuntimeError(name)
            write = tallies.upsert(Tally(id=name)).at(lambda t: t.seen).append(short(change))
            db.write(write, once=f"tally/{change.event_id}")

        return handle

    def act(self, number: int, cut: int | None, what: Callable[[Consumer], object]) -> None:
        worker = self.worker(number)
        self.lines[number].left = -1 if cut is None else cut
        try:
            what(worker)
            self.lines[number].left = -1
        except PowerCut:
            del self.workers[number]

    def turn(self, who: tuple[int, int | None]) -> None:
        """One round of what `run` does; the leases are kept."""

        def one(worker: Consumer) -> None:
            worker._plan_when_due()
            for held in tuple(worker._leased.values()):
                worker._turn(held, NEVER)

        self.act(*who, one)

    def run(self, who: tuple[int, int | None]) -> None:
        self.act(*who, lambda worker: worker.run_once())

    def replay(self, cut: int | None) -> None:
        self.act(2, cut, lambda worker: worker.replay())

    def settle(self) -> None:
        """Everybody else is gone for good; one reads all there is."""
        self.workers.clear()
        self.at.clock.move(timedelta(minutes=1))
        self.worker(3).run_once()
        assert self.worker(3).lag() == timedelta()
        self.last_read = self.at.clock.now()

    # --- what must be so ---

    def check(self) -> None:
        self.settle()
        self.failing = set()
        self.at.clock.move(timedelta(minutes=1))
        self.worker(3).replay()
        assert self.worker(3).parked() == []
        assert self.worker(3).run_once().read == 0
        for name, written in self.written.items():
            tally = self.at.db.one(tallies.get(name), consistent=True)
            assert (tally.seen if tally else []) == written
            assert list(dict.fromkeys(self.tried[name])) == written


@given(STEPS, st.sampled_from([4, 20]), st.sampled_from([3, 5000]))
@effort(60)
def test_each_change_has_its_effect_once_and_in_order(steps: list[Step], shard: int, looked_at: int) -> None:
    with ExitStack() as stack:
        stack.enter_context(patch.object(shards, "SHARD_RECORDS", shard))
        stack.enter_context(patch.object(stream_verbs, "LOOKED_AT", looked_at))
        # With pages that look at three rows, a hundred of a neighbour's are more than a few empty pages.
        for module in (consumer, shard_reader):
            stack.enter_context(patch.object(module, "EMPTY_PAGES", 20 if looked_at > 3 else 500))
        story = Story(stack.enter_context(opened()))
        for name, what in steps:
            getattr(story, f"{name}_" if name == "pass" else name)(what)
        story.check()
