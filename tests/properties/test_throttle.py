"""A bucket against a model that works everything out anew from the list of what was asked, in exact fractions."""

from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine.throughput.token_buckets import SECOND, Bucket

# microseconds since the last, what is asked for in half units
ASKED = st.lists(
    st.tuples(
        st.one_of(st.just(0), st.integers(0, 3 * SECOND), st.integers(0, 1000 * SECOND)), st.integers(1, 900)
    ),
    max_size=60,
)
RATES = st.integers(1, 400)


@dataclass
class Model:
    """Everything that was let through, and nothing else."""

    rate: int
    seconds: int
    start: int
    let_through: list[tuple[int, Fraction]] = field(default_factory=list)

    def level(self, now: int) -> Fraction:
        most = Fraction(self.rate * self.seconds)
        level, at = Fraction(self.rate), self.start
        for moment, units in [*self.let_through, (now, Fraction(0))]:
            level = min(level + Fraction(moment - at, SECOND) * self.rate, most)
            level, at = level - units, moment
        return level


@pytest.mark.parametrize("seconds", [1, 300])
@given(rate=RATES, asked=ASKED)
def test_a_bucket_lets_through_what_the_model_does(
    seconds: int, rate: int, asked: list[tuple[int, int]]
) -> None:
    now = 1_767_225_600 * SECOND
    bucket, model = Bucket.saved_since(rate, seconds, now, now), Model(rate, seconds, now)
    for wait, halves in asked:
        now += wait
        level = model.level(now)
        assert bucket.has_units(now) == (level > 0)
        assert bucket.level == level * SECOND
        if level > 0:
            bucket.spend(halves / 2, now)
            model.let_through.append((now, Fraction(halves, 2)))


@given(rate=RATES, asked=ASKED)
def test_over_any_time_no_more_is_used_than_was_saved_and_came_in_and_one_request(
    rate: int, asked: list[tuple[int, int]]
) -> None:
    now = start = 1_767_225_600 * SECOND
    bucket = Bucket.saved_since(rate, 300, now, now - 1000 * SECOND)
    used: list[tuple[int, float]] = []
    for wait, halves in asked:
        now += wait
        if bucket.has_units(now):
            bucket.spend(halves / 2, now)
            used.append((now, halves / 2))
    dearest = max((units for _, units in used), default=0.0)
    for first in range(len(used)):
        since = used[first][0] if first else start
        total = 0.0
        for moment, units in used[first:]:
            total += units
            assert total <= rate * 300 + rate * (moment - since) / SECOND + dearest + 1e-6


@given(rate=RATES, other=RATES, wait=st.integers(0, 500 * SECOND))
def test_a_changed_rate_keeps_what_was_saved_as_far_as_it_fits(rate: int, other: int, wait: int) -> None:
    now = 1_767_225_600 * SECOND
    bucket = Bucket.saved_since(rate, 300, now, now)
    before = min(rate * SECOND + wait * rate, rate * 300 * SECOND)
    bucket.set_rate(other, now + wait)
    assert bucket.level == min(before, other * 300 * SECOND)


@given(rate=RATES, back=st.integers(1, 10_000 * SECOND))
def test_a_clock_that_is_set_back_brings_and_takes_nothing(rate: int, back: int) -> None:
    now = 1_767_225_600 * SECOND
    bucket = Bucket.saved_since(rate, 300, now, now)
    bucket.spend(rate, now)
    assert not bucket.has_units(now - back)
    assert not bucket.has_units(now)
    assert bucket.has_units(now + 1)
