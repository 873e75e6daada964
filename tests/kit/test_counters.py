"""Counters: each change counts once, and a wrong number is corrected without counting a change twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.mapping.talk import at_once
from tests.properties.effort import effort

from tablewright import testing
from tablewright.client import Call, embedded
from tablewright.design import Design
from tablewright.kit import counters
from tablewright.kit.counters import Counters, Numbers, additions
from tablewright.mapping import Change, Consumer, Db
from tablewright.testing import Clock

ZOO = Design("zoo_counters", about="Animals, and how many there are of each state.")


class Animal(BaseModel):
    id: str
    state: str = "awake"


class Total(BaseModel):
    """Counted in a dict."""

    of: str
    counts: dict[str, int] = {}
    compared_at: datetime | None = None
    version: int = 0


class Part(BaseModel):
    """Counted in fields, of half of the animals."""

    half: str
    awake: int = 0
    asleep: int = 0


def by_id(id: str) -> None: ...
def by_of(of: str) -> None: ...
def by_half(half: str) -> None: ...


animal_table = ZOO.table("animals", pk="PK", stream="NEW_AND_OLD_IMAGES", about="Animals.")
count_table = ZOO.table("counts", pk="PK", about="Counts.")
animals = animal_table.entity(Animal, by_id, tag="animal", pk="ANIMAL#{id}")
totals = count_table.entity(Total, by_of, tag="total", pk="TOTAL#{of}", version="version")
parts = count_table.entity(Part, by_half, tag="part", pk="PART#{half}")
ZOO.build()

TOTALS = Counters(totals, "total", within="counts")
PARTS = Counters(parts, "part")
START, HALVES = Total(of="animals"), (Part(half="0"), Part(half="1"))


def state_of(animal: Animal) -> Numbers:
    return {animal.state: 1}


def half_of(animal: Animal) -> str:
    return str(int(animal.id) % 2)


@dataclass
class Zoo:
    db: Db
    call: Call
    clock: Clock
    pauses: list[float] = field(default_factory=list)
    ids: Iterator[int] = field(default_factory=count)

    # --- animals ---

    def add(self, state: str = "awake") -> Animal:
        animal = Animal(id=str(next(self.ids)), state=state)
        self.db.write(animals.create(animal))
        return animal

    def all(self) -> list[Animal]:
        return sorted(self.db.every(animals), key=lambda animal: int(animal.id))

    def turn(self, animal: Animal) -> None:
        """Awake to asleep, or back."""
        state = "asleep" if animal.state == "awake" else "awake"
        self.db.write(animals.change(animal, animal.model_copy(update={"state": state})))

    def remove(self, animal: Animal) -> None:
        self.db.write(animals.delete(animal))

    def real(self, start: BaseModel) -> Numbers:
        found = {"awake": 0, "asleep": 0}
        for animal in self.all():
            if not isinstance(start, Part) or half_of(animal) == start.half:
                found[animal.state] += 1
        return found

    # --- counting ---

    def count(self, change: Change[Animal]) -> bool:
        """In the total and in a part; True if it was counted now."""
        animal = change.after or change.before
        assert animal is not None
        added = additions(change, state_of)
        PARTS.count(self.db, change, parts.upsert(Part(half=half_of(animal))), added)
        return TOTALS.count(self.db, change, totals.upsert(START), added)

    def consumer(self, name: str = "counts", handle: Callable[[Change[Any]], Any] | None = None) -> Consumer:
        """A worker of its own."""
        own = Db(self.call, ZOO, world=self.db.world)
        counts: Callable[[Any], Any] = handle or self.count
        return Consumer(own, [animals], "animals", name, counts, skip_to_horizon=True)

    def follow(self) -> None:
        consumer = self.consumer()
        consumer.run_once()
        assert consumer.parked() == []

    def reconcile(self, real: Callable[[BaseModel], Numbers] | None = None) -> list[Numbers]:
        consumer, real = self.consumer(), real or self.real
        stamp = {"compared_at": self.clock.now()}
        corrected = TOTALS.reconcile(self.db, [START], real, consumer, **stamp)
        return corrected + PARTS.reconcile(self.db, HALVES, real, consumer)

    def total(self) -> Total:
        return self.db.one(totals.get("animals"), consistent=True) or START

    def counted(self) -> dict[str, int]:
        return {state: number for state, number in self.total().counts.items() if number}

    def is_right(self) -> bool:
        """Whether the total and both parts are what there is."""
        found = [self.db.one(parts.get(start.half), consistent=True) or start for start in HALVES]
        real = {state: number for state, number in self.real(START).items() if number}
        return self.counted() == real and all(
            {"awake": part.awake, "asleep": part.asleep} == self.real(part) for part in found
        )

    def lose_changes(self) -> None:
        """What was not followed by now is no longer in the stream."""
        self.clock.move(timedelta(hours=25))


@contextmanager
def opened() -> Iterator[Zoo]:
    clock, pauses = Clock(), list[float]()

    def sleep(seconds: float) -> None:
        if seconds == counters.PAUSE_SECONDS:
            pauses.append(seconds)
        else:
            time.sleep(seconds)  # before a retry

    world = replace(clock.world(), sleep=sleep)
    with testing.engine(world=world) as engine:
        call = embedded(engine)
        db = Db(call, ZOO, world=world)
        db.create_tables()
        zoo = Zoo(db, call, clock, pauses)
        zoo.consumer().create_tables()
        yield zoo


@pytest.fixture
def zoo() -> Iterator[Zoo]:
    with opened() as zoo:
        yield zoo


# --- counting ---


def test_numbers_follow_what_is_made_changed_and_removed(zoo: Zoo) -> None:
    first, second, third = zoo.add(), zoo.add(), zoo.add("asleep")
    zoo.follow()
    assert zoo.counted() == {"awake": 2, "asleep": 1}
    zoo.turn(first)
    zoo.remove(second)
    zoo.remove(third)
    zoo.follow()
    assert zoo.counted() == {"asleep": 1}
    assert zoo.is_right()


def test_a_change_that_two_consumers_deliver_at_once_is_counted_once(zoo: Zoo) -> None:
    for _ in range(12):
        zoo.turn(zoo.add())
    seen: list[Change[Any]] = []
    zoo.consumer("watcher", seen.append).run_once()
    outcomes = at_once([partial(zoo.count, change) for change in seen * 3], threads=8)
    assert sorted(outcomes, key=str) == [False] * 48 + [True] * 24
    assert zoo.counted() == {"asleep": 12}
    assert zoo.is_right()


def test_a_change_that_adds_nothing_is_not_written(zoo: Zoo) -> None:
    animal = zoo.add()
    change = Change("event-1", "MODIFY", animals.shape, animal, animal, zoo.clock.now())
    assert not zoo.count(change)
    assert zoo.total() == START


# --- reconciling ---


def test_a_number_that_is_wrong_is_corrected(zoo: Zoo) -> None:
    zoo.add()
    zoo.follow()
    total, part = zoo.total(), zoo.db.one(parts.get("0"))
    assert part is not None
    zoo.db.write(totals.change(total, total.model_copy(update={"counts": {"awake": 7, "lost": 2}})))
    zoo.db.write(parts.change(part, part.model_copy(update={"asleep": -3})))
    assert zoo.reconcile() == [{"awake": -6, "lost": -2}, {"asleep": 3}]
    assert zoo.is_right()
    assert zoo.pauses == [counters.PAUSE_SECONDS] * 2
    assert zoo.reconcile() == []


def test_what_the_stream_no_longer_has_is_counted_by_reconciling(zoo: Zoo) -> None:
    zoo.add()
    zoo.lose_changes()
    assert zoo.reconcile() == [{"awake": 1}, {"awake": 1}]
    zoo.follow()
    assert zoo.is_right()


def test_numbers_are_corrected_while_the_stream_is_off(zoo: Zoo) -> None:
    zoo.call("UpdateTable", {"TableName": "animals", "StreamSpecification": {"StreamEnabled": False}})
    zoo.add()
    zoo.lose_changes()
    assert zoo.reconcile() == [{"awake": 1}, {"awake": 1}]
    assert zoo.is_right()


def test_a_change_that_waits_is_not_counted_by_the_correction(zoo: Zoo) -> None:
    """It would be counted twice: now, and when its turn comes."""
    zoo.add()
    assert zoo.reconcile() == []
    assert zoo.pauses == [], "there is nothing to wait for"
    zoo.follow()
    assert zoo.is_right()


def test_a_change_that_comes_between_the_comparisons_is_not_counted_twice(zoo: Zoo) -> None:
    """The second real count misses one animal and has another instead: the same difference, but that one waits."""
    zoo.add()
    zoo.lose_changes()
    first = zoo.real(START)
    looks = count()

    def real(start: BaseModel) -> Numbers:
        if next(looks):
            zoo.add()
        return first

    assert TOTALS.reconcile(zoo.db, [START], real, zoo.consumer()) == []
    zoo.follow()
    assert zoo.counted() == {"awake": 1}
    zoo.reconcile()
    assert zoo.is_right()


def test_a_change_that_is_counted_during_the_real_count_is_not_counted_twice(zoo: Zoo) -> None:
    zoo.add()
    zoo.lose_changes()

    def real(start: BaseModel) -> Numbers:
        zoo.add()
        found = zoo.real(start)
        zoo.follow()
        return found

    assert zoo.reconcile(real) == []
    assert zoo.reconcile() != []
    assert zoo.is_right()


def test_the_first_change_of_a_row_is_not_lost_if_it_is_counted_during_the_real_count(zoo: Zoo) -> None:
    zoo.add()
    zoo.lose_changes()
    lost = zoo.real(START)
    looks = count()

    def real(start: BaseModel) -> Numbers:
        if next(looks):
            zoo.add()
            zoo.follow()
        return lost

    assert TOTALS.reconcile(zoo.db, [START], real, zoo.consumer()) == []
    assert zoo.counted() == {"awake": 1}


def test_a_difference_that_the_second_comparison_does_not_find_is_not_corrected(zoo: Zoo) -> None:
    """An index that shows two animals a moment late, one after the other."""
    zoo.add()
    zoo.add()
    zoo.follow()
    late = iter([{"awake": 0}, {"awake": 1}])
    assert TOTALS.reconcile(zoo.db, [START], lambda start: next(late), zoo.consumer()) == []
    assert zoo.is_right()


def test_a_row_that_is_right_gets_the_stamp_and_without_one_is_not_written(zoo: Zoo) -> None:
    assert zoo.reconcile() == []
    assert zoo.total().compared_at == zoo.clock.now()
    assert [zoo.db.one(parts.get(start.half)) for start in HALVES] == [None, None]


def test_a_row_that_could_not_be_compared_gets_no_stamp(zoo: Zoo) -> None:
    zoo.add()
    zoo.reconcile()
    assert zoo.total().compared_at is None


# --- together ---

STEPS = st.lists(
    st.sampled_from(("add", "turn", "remove", "follow", "again", "reconcile", "lose")), max_size=25
)


@given(STEPS)
@effort(60)
def test_numbers_are_right_after_any_history(steps: list[str]) -> None:
    """While no change is lost, reconciling corrects nothing; once one was lost, reconciling finds it."""
    with opened() as zoo:
        is_lost, seen = False, list[Change[Any]]()
        for step in steps:
            known = zoo.all()
            match step:
                case "turn" if known:
                    zoo.turn(known[0])
                case "remove" if known:
                    zoo.remove(known[0])
                case "follow":
                    zoo.follow()
                    zoo.consumer("watcher", seen.append).run_once()
                case "again":
                    assert not any([zoo.count(change) for change in seen])
                case "reconcile":
                    corrected = zoo.reconcile()
                    assert is_lost or not corrected
                    is_lost = is_lost and zoo.consumer().is_behind()
                case "lose":
                    is_lost = is_lost or zoo.consumer().is_behind()
                    zoo.lose_changes()
                    seen.clear()
                case _:
                    zoo.add()
        zoo.follow()
        zoo.reconcile()
        assert zoo.is_right()


def test_reconciling_beside_two_workers_that_count_never_makes_a_number_wrong(zoo: Zoo) -> None:
    """Writers, two that count every change, and one that reconciles all the time."""
    stop, corrected = threading.Event(), list[Numbers]()

    def write() -> None:
        for number in range(40):
            animal = zoo.add()
            if number % 2:
                zoo.turn(animal)

    def repeat(do: Callable[[], object]) -> None:
        while not stop.is_set():
            do()

    def reconcile() -> None:
        corrected.extend(TOTALS.reconcile(zoo.db, [START], zoo.real, zoo.consumer()))

    others = [
        threading.Thread(target=repeat, args=(do,))
        for do in (zoo.consumer().run_once, zoo.consumer("other").run_once, reconcile)
    ]
    for other in others:
        other.start()
    outcomes = at_once([write] * 3, threads=3)
    stop.set()
    for other in others:
        other.join()
    assert outcomes == [None] * 3
    zoo.follow()
    assert zoo.is_right()
    assert corrected == []
