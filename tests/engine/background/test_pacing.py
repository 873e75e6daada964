"""How long the keeper rests: as long as a step took where others write, hardly where nobody does."""

import pytest

from tablewright.engine.background.pacing import (
    ALONE_SECONDS,
    CROWDED_SECONDS,
    LONGEST_SECONDS,
    MEMORY_SECONDS,
    NO_DEADLINE,
    Pacer,
)


class Days:
    """A clock and a count of writes that a test moves; rests only take notes."""

    def __init__(self) -> None:
        self.now, self.writes = 100.0, 0
        self.rests: list[float] = []
        self.pace = Pacer(lambda: self.writes, lambda: self.now, self._rest)

    def _rest(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.now += seconds

    def step(self, took: float, others: int = 0, times: int = 1) -> float:
        """A step of the keeper's own write, with so many of others beside it; the rest that follows."""
        self.pace.step()
        self.now += took
        self.writes += 1 + others
        self.pace.rest(times)
        return self.rests[-1]


def test_alone_it_hardly_rests() -> None:
    days = Days()
    assert [days.step(0.004) for _ in range(3)] == [ALONE_SECONDS] * 3


def test_where_others_write_half_of_the_time_is_theirs() -> None:
    days = Days()
    assert days.step(0.004, others=1) == pytest.approx(0.004)
    assert days.step(0.020, others=5) == pytest.approx(0.020)


def test_of_what_nobody_waits_for_others_have_three_quarters_of_the_time() -> None:
    days = Days()
    assert days.step(0.004, others=1, times=NO_DEADLINE) == pytest.approx(0.012)
    assert days.step(0.004, times=NO_DEADLINE) == pytest.approx(0.012)
    days.now += MEMORY_SECONDS
    assert days.step(0.004, times=NO_DEADLINE) == ALONE_SECONDS


def test_a_rest_among_others_is_never_too_short_to_be_used_nor_too_long() -> None:
    days = Days()
    assert days.step(0.00001, others=1) == CROWDED_SECONDS
    assert days.step(9.0, others=1) == LONGEST_SECONDS


def test_others_who_wrote_a_moment_ago_are_still_there() -> None:
    days = Days()
    days.step(0.004, others=1)
    assert days.step(0.004) == pytest.approx(0.004)
    days.now += MEMORY_SECONDS
    assert days.step(0.004) == ALONE_SECONDS


def test_writes_that_came_during_a_rest_count() -> None:
    days = Days()
    days.step(0.004)
    days.writes += 1
    assert days.step(0.004) == pytest.approx(0.004)
