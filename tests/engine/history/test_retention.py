"""How far back the journal is kept: a day while somebody may read a stream, not at all when nobody may."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.stream_reader import arn_of, enable, names, read_all, streamed
from tests.engine.tables import definition, keyed, put, records

from tablewright import Engine
from tablewright.engine import verify_store
from tablewright.engine.history import retention
from tablewright.engine.journal import first_since, microseconds
from tablewright.engine.storage.rows import ROWS_PRUNED
from tablewright.testing import Clock


@pytest.fixture
def pets(clock: Clock) -> Iterator[SteppedEngine]:
    with SteppedEngine.stepped(world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        yield engine
        assert engine.verify() == []


def numbers(engine: Engine) -> list[int]:
    return [seq for seq, *_ in records(engine)]


def test_without_a_stream_only_the_newest_row_stays(pets: SteppedEngine) -> None:
    for number in range(10):
        pets.call("PutItem", put(f"pet {number}"))
    pets.settle()
    assert numbers(pets) == [10]
    pets.call("PutItem", put("pet 10"))
    assert numbers(pets) == [10, 11]


def test_with_a_stream_a_day_stays(pets: SteppedEngine, clock: Clock) -> None:
    pets.call("UpdateTable", enable())
    for number in range(30):
        pets.call("PutItem", put(f"pet {number}"))
        clock.move(timedelta(hours=1))
    pets.settle()
    assert numbers(pets) == list(range(7, 31))


def test_a_stream_of_one_table_keeps_the_changes_of_all(pets: SteppedEngine) -> None:
    pets.call("CreateTable", streamed("cats"))
    for number in range(5):
        pets.call("PutItem", put(f"pet {number}"))
    pets.settle()
    assert numbers(pets) == [1, 2, 3, 4, 5]


def test_the_last_stream_holds_the_journal_for_a_day_after_its_end(pets: SteppedEngine, clock: Clock) -> None:
    pets.call("UpdateTable", enable())
    for number in range(5):
        pets.call("PutItem", put(f"pet {number}"))
    arn = arn_of(pets)
    pets.call("UpdateTable", enable(view=None))
    clock.move(timedelta(days=1))
    pets.settle()
    assert len(read_all(pets, arn)) == 5
    clock.move(timedelta(microseconds=1))
    pets.settle()
    assert numbers(pets) == [5]


def test_pruning_goes_in_small_steps_that_leave_the_store_whole(
    pets: SteppedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PRUNED_ROWS", 3)
    for number in range(10):
        pets.call("PutItem", put(f"pet {number % 4}", age=number))
    left = []
    while pets.background.run_maintenance_step(due=True):
        assert pets.verify() == []
        left.append(len(numbers(pets)))
    assert left == [7, 4, 1]
    assert pets._storage.writes.counts(ROWS_PRUNED) == (9, 0)


def test_numbers_go_on_after_everything_was_pruned_and_the_store_was_opened_again(
    store: Path, clock: Clock
) -> None:
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        for number in range(3):
            engine.call("PutItem", put(f"pet {number}"))
        engine.settle()
    assert verify_store(store) == []
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.call("DeleteItem", keyed("pet 0"))
        assert numbers(engine) == [3, 4]
        engine.call("UpdateTable", enable())
        engine.call("PutItem", put("new"))
        assert names(read_all(engine, arn_of(engine))) == [("INSERT", "new")]
        assert engine.verify() == []


def test_the_first_row_of_a_moment_is_found_by_halving(pets: SteppedEngine, clock: Clock) -> None:
    start = microseconds(clock.now())
    for second in (0, 0, 1, 1, 1, 4, 9):
        clock.move(timedelta(microseconds=start + second * 1_000_000 - microseconds(clock.now())))
        pets.call("PutItem", put(f"pet {len(numbers(pets))}"))
    rows = pets._storage.writes
    wanted = {0: 1, 1: 3, 2: 6, 4: 6, 5: 7, 9: 7, 10: 8}
    assert {s: first_since(rows, start + s * 1_000_000) for s in wanted} == wanted
    pets.settle()
    assert first_since(rows, start) == 7
