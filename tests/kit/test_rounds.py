"""Rounds: everybody is visited once a round, some at a time, whoever runs it and wherever it stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tablewright import testing
from tablewright.client import embedded
from tablewright.design import Design
from tablewright.kit.rounds import A_DAY, Stretch, add_rounds, named
from tablewright.mapping import Db
from tablewright.testing import Clock

NAMES = ("ana", "ben", "eva", "ida", "leo")

SCHOOL = Design("school_rounds", about="Rounds.")
table = SCHOOL.table("Rounds", pk="PK", sk="SK", about="Everything.")
ROUNDS = add_rounds(table)
SCHOOL.build()


def among(after: str | None) -> Stretch[str]:
    return named((name for name in NAMES if after is None or name > after), 2)


@dataclass
class Walk:
    db: Db
    clock: Clock
    seen: list[str] = field(default_factory=list)

    def run(self, visit: Callable[[str], object] | None = None, **settings: object) -> int:
        return ROUNDS.run(self.db, "visit", among, visit or self.seen.append, **settings)  # type: ignore[arg-type]  # passed on


@pytest.fixture
def walk() -> Iterator[Walk]:
    clock = Clock()
    with testing.engine(world=clock.world()) as engine:
        db = Db(embedded(engine), SCHOOL, world=clock.world())
        db.create_tables()
        yield Walk(db, clock)


def test_a_run_visits_some_and_the_next_one_continues(walk: Walk) -> None:
    assert [walk.run() for _ in range(3)] == [2, 2, 1]
    assert walk.seen == list(NAMES)


def test_a_new_round_begins_a_day_after_the_last_began(walk: Walk) -> None:
    for _ in range(3):
        walk.run()
    assert walk.run() == 0
    walk.clock.move(A_DAY - timedelta(seconds=1))
    assert walk.run() == 0
    walk.clock.move(timedelta(seconds=1))
    assert walk.run() == 2
    assert walk.seen[5:] == ["ana", "ben"]


def test_a_round_that_is_under_way_goes_on_whatever_its_period(walk: Walk) -> None:
    walk.run(every=timedelta(days=7))
    walk.clock.move(timedelta(days=30))
    assert walk.run(every=timedelta(days=7)) == 2
    assert walk.seen == ["ana", "ben", "eva", "ida"]


def test_an_error_with_one_does_not_delay_the_others(walk: Walk) -> None:
    def visit(name: str) -> None:
        if name == "ana":
            raise RuntimeError("no")
        walk.seen.append(name)

    assert walk.run(visit) == 2
    assert walk.run(visit) == 2
    assert walk.seen == ["ben", "eva", "ida"]


def test_after_a_crash_some_are_visited_again_and_none_is_left_out(walk: Walk) -> None:
    class Died(BaseException):
        pass

    def dies(those: object) -> None:
        raise Died

    with pytest.raises(Died):
        walk.run(then=dies)
    assert [walk.run() for _ in range(3)] == [2, 2, 1]
    assert walk.seen == ["ana", "ben", *NAMES]


def test_a_process_that_is_overtaken_does_not_set_the_round_back(walk: Walk) -> None:
    def overtaken(name: str) -> None:
        if name == "ana":
            walk.run()
            walk.run()

    walk.run(overtaken)
    assert walk.run() == 1
    assert walk.seen == list(NAMES)


def test_a_name_that_is_erased_leaves_the_position(walk: Walk) -> None:
    walk.run()
    ROUNDS.replace_position(walk.db, "visit", "ida", "x")
    ROUNDS.replace_position(walk.db, "visit", "ben", "b")
    ROUNDS.replace_position(walk.db, "other", "ben", "b")
    assert walk.run() == 2
    assert walk.seen == ["ana", "ben", "ben", "eva"]
