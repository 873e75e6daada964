"""Long work gives way at its doors: where others write it rests as long as it worked, where nobody does not at all."""

from collections.abc import Iterator
from time import monotonic

import pytest
from tests.engine.history_requests import back_up
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition, put

from tablewright.engine.background.pacing import LONGEST_SECONDS, MEMORY_SECONDS, PacedSession
from tablewright.engine.transaction import ReadTransaction, WriteTransaction


class Day:
    """A job on the session of a real engine, with a clock that a test moves; pauses are only recorded."""

    def __init__(self, engine: SteppedEngine) -> None:
        self.engine, self.now, self.written = engine, 100.0, 0
        self.rests: list[float] = []
        self.session = PacedSession(engine._session, lambda: self.now, self._rest)
        self.session.begin()

    def _rest(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.now += seconds

    def works(self, seconds: float, others: int = 0, way: str = "read") -> None:
        """So long it computes, and so many others write meanwhile; then it comes to a door."""
        self.now += seconds
        for _ in range(others):
            self.written += 1
            self.engine.call("PutItem", put(f"pet {self.written}"))
        self.session.read(_read) if way == "read" else self.session.write(_write)


def _read(reading: ReadTransaction) -> int:
    return len(reading.tables)


def _write(writing: WriteTransaction) -> int:
    return len(writing.tables)


@pytest.fixture
def day() -> Iterator[Day]:
    with SteppedEngine.stepped() as engine:
        engine.call("CreateTable", definition())
        yield Day(engine)


@pytest.mark.parametrize("way", ["read", "write"])
def test_where_nobody_writes_it_does_not_rest(day: Day, way: str) -> None:
    for _ in range(4):
        day.works(0.004, way=way)
    assert day.rests == []


@pytest.mark.parametrize("way", ["read", "write"])
def test_where_others_write_it_rests_as_long_as_it_worked(day: Day, way: str) -> None:
    day.works(0.001)
    day.works(0.002, others=1, way=way)  # at this door it sees that there are others
    day.works(0.004, way=way)
    day.works(0.003, others=2, way=way)
    assert day.rests == pytest.approx([0.007, 0.003])


def test_a_rest_is_never_long(day: Day) -> None:
    day.works(0.001)
    day.works(0.001, others=1)
    day.works(MEMORY_SECONDS * 0.9)
    assert day.rests == [LONGEST_SECONDS]


def test_others_who_wrote_a_while_ago_are_forgotten(day: Day) -> None:
    day.works(0.001)
    day.works(0.001, others=1)
    day.works(MEMORY_SECONDS * 1.1)
    assert day.rests == []


def test_what_was_before_a_step_is_no_work(day: Day) -> None:
    day.works(0.001)
    day.works(0.001, others=1)
    day.now += 0.05
    day.session.begin()
    day.works(0.002)
    assert day.rests == pytest.approx([0.002])


def test_the_doors_answer_what_was_asked(day: Day) -> None:
    assert (day.session.read(_read), day.session.write(_write)) == (1, 1)


def test_a_backup_rests_while_others_write_and_a_quiet_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []

    def made(busy: bool) -> int:
        rests.clear()
        with SteppedEngine.stepped() as engine:
            engine.call("CreateTable", definition())
            for number in range(40):
                engine.call("PutItem", put(f"pet {number}"))
            back_up(engine)
            number = 0
            while engine.job_step():
                if busy:
                    number += 1
                    engine.call("PutItem", put(f"new {number}"))
            return len(rests)

    # The Unhurried of an engine is made with the sleep of that moment.
    monkeypatch.setattr(PacedSession.__init__, "__defaults__", (monotonic, rests.append))
    monkeypatch.setattr("tablewright.engine.history.time_travel.PAGE_ITEMS", 4)
    monkeypatch.setattr("tablewright.engine.history.snapshots.STEP_REFS", 1)
    monkeypatch.setattr("tablewright.engine.history.chunks.MOST_ITEMS", 4)
    assert made(busy=False) == 0
    assert made(busy=True) > 3
