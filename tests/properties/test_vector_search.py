"""Searches in vector indexes: exact, the same with numpy and without, in the order of scores and then of keys."""

from collections.abc import Sequence
from functools import partial
from struct import pack

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.engine.vectors import search
from tablewright.engine.vectors.scores import score, squared, unpack
from tablewright.engine.vectors.search import IndexRow, Intervals, numpy_intervals, plain_intervals

DISTANCES = ("COSINE", "EUCLIDEAN", "DOT_PRODUCT")

# Numbers near each other, so that scores are equal or differ in the last bits; and numbers of any size.
near = st.integers(-3, 3).map(float)
close = st.integers(-4, 4).map(lambda step: 1.0 + step * 2.0**-23)
wide = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def indexes(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A vector to search for, and the vectors of an index."""
    dimensions = draw(st.integers(1, 5))
    numbers = draw(st.sampled_from((near, close, wide)))
    one = st.lists(numbers, min_size=dimensions, max_size=dimensions).map(packed)
    return draw(one), draw(st.lists(one, max_size=40))


def packed(numbers: Sequence[float]) -> bytes:
    return pack(f"<{len(numbers)}f", *numbers)


def rows_of(vectors: Sequence[bytes]) -> list[IndexRow]:
    """Rows in an order that is not that of their keys."""
    return [
        (b"%03d" % (len(vectors) - number), number, 100, squared(vector), 0, vector)
        for number, vector in enumerate(vectors)
    ]


def by_sorting(distance: str, wanted: bytes, top: int, rows: Sequence[IndexRow]) -> list[tuple[int, float]]:
    """The definition: the score of every row, sorted."""
    sign = -1.0 if distance == "DOT_PRODUCT" else 1.0
    scored = [
        (score(distance, unpack(wanted), unpack(row[5]), squared(wanted) * row[3]), row[0], row[1])
        for row in rows
    ]
    ranked = sorted(scored, key=lambda one: (sign * one[0], one[1]))
    return [(number, value) for value, _, number in ranked[:top]]


def found_with(
    intervals: Intervals, distance: str, wanted: bytes, top: int, rows: Sequence[IndexRow]
) -> list[tuple[int, float]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "intervals", lambda: intervals)
        patch.setattr(search, "STEP", 7)
        found, examined = search.nearest(distance, wanted, top, iter(rows), lambda _: None)
    assert examined == 100 * len(rows)
    return [(one.row, one.score) for one in found]


with_numpy = partial(numpy_intervals, numpy)


@settings(deadline=None)
@given(index=indexes(), top=st.integers(1, 12), distance=st.sampled_from(DISTANCES))
def test_a_search_finds_what_sorting_by_score_and_key_would(
    index: tuple[bytes, list[bytes]], top: int, distance: str
) -> None:
    wanted, vectors = index
    rows = rows_of(vectors)
    expected = by_sorting(distance, wanted, top, rows)
    assert found_with(plain_intervals, distance, wanted, top, rows) == expected
    assert found_with(with_numpy, distance, wanted, top, rows) == expected


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), distance=st.sampled_from(DISTANCES))
def test_the_same_is_true_of_many_dimensions_and_near_duplicates(seed: int, distance: str) -> None:
    random = numpy.random.default_rng(seed)
    base = random.standard_normal(300).astype("<f4")
    # Each differs from the next by less than the error of a sum in 32 bits.
    vectors = [(base * (1 + number * 2.0**-22)).astype("<f4").tobytes() for number in range(40)]
    rows = rows_of(vectors)
    expected = by_sorting(distance, base.tobytes(), 10, rows)
    assert found_with(plain_intervals, distance, base.tobytes(), 10, rows) == expected
    assert found_with(with_numpy, distance, base.tobytes(), 10, rows) == expected


def test_numpy_is_what_a_search_uses_where_it_is_installed() -> None:
    search.intervals.cache_clear()
    assert search.intervals() is not plain_intervals
