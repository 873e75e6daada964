"""The nearest vectors of an index: exact, over all rows of the partition.

First each row gets an interval in which its score lies, from a dot product in fast arithmetic: 32 bits with numpy, 64
without. Then the rows whose interval reaches among the best get their exact score (scores.py).
Must hold: the answer is the best `top` rows by score and then by key, whichever arithmetic made the intervals.
Memory holds the rows that may still be among the best, not the index. Elsewhere: reading the rows (store.py).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from heapq import nsmallest
from importlib import import_module
from itertools import islice
from math import sqrt
from operator import attrgetter, mul
from typing import Any, NamedTuple, TypeAlias

from tablewright.engine.vectors.scores import layout, score, squared, unpack
from tablewright.values.float32 import MOST

# A row of the index: key, row number, size, square of the length, checksum, vector.
IndexRow: TypeAlias = tuple[bytes, int, int, float, int, bytes]
# The least and the greatest rank of each row, from the distance function, the searched vector and its length squared.
Intervals: TypeAlias = Callable[[str, bytes, float, Sequence[IndexRow]], tuple[list[float], list[float]]]

STEP = 256
# What a row costs beside its bytes (read_budget.py): less than an item, which is parsed.
ROW_COST = 128
# Rounding a score to 32 bits may make two equal that differ by this, relative to them.
_ROUNDING = 2.0**-21
# The distance of two 32-bit floats near zero.
_LEAST = 2.0**-149
# Numbers that vanish because they are too small for 32 bits.
_VANISHING = 2.0**-126
_reach = attrgetter("most")


class Match(NamedTuple):
    """A row that may be among the best: its rank lies between `least` and `most`; less is better."""

    least: float
    most: float
    key: bytes
    row: int
    squared: float
    sum: int
    vector: bytes


class Found(NamedTuple):
    row: int
    score: float
    sum: int
    vector: bytes


def nearest(
    distance: str, wanted: bytes, top: int, rows: Iterator[IndexRow], spend: Callable[[int], None]
) -> tuple[list[Found], int]:
    """The best rows, best first, and the sum of the sizes of all rows; `spend` gets the cost of each step."""
    examined = 0
    length = squared(wanted)
    matches: list[Match] = []
    edge = float("inf")
    while step := list(islice(rows, STEP)):
        examined += sum([row[2] for row in step])
        spend(len(step) * (len(wanted) + ROW_COST))
        least, most = intervals()(distance, wanted, length, step)
        if len(step) > top:
            edge = min(edge, sorted(most)[top - 1])
        matches += [
            Match(low, high, key, row, square, checksum, vector)
            for low, high, (key, row, _, square, checksum, vector) in zip(least, most, step, strict=True)
            if low <= edge
        ]
        if len(matches) > 2 * top + STEP:
            matches, edge = _best(matches, top)
    return _ranked(distance, wanted, length, _best(matches, top)[0])[:top], examined


def _best(matches: list[Match], top: int) -> tuple[list[Match], float]:
    """The matches that may be among the best `top`, and the rank that another one must reach."""
    if len(matches) <= top:
        return matches, float("inf")
    edge = nsmallest(top, matches, key=_reach)[-1].most
    return [match for match in matches if match.least <= edge], edge


def _ranked(distance: str, wanted: bytes, length: float, matches: Sequence[Match]) -> list[Found]:
    numbers = unpack(wanted)
    scores: dict[bytes, float] = {}  # many items may have the same vector
    for match in matches:
        if match.vector not in scores:
            scores[match.vector] = score(distance, numbers, unpack(match.vector), length * match.squared)
    sign = -1.0 if distance == "DOT_PRODUCT" else 1.0
    ordered = sorted(matches, key=lambda match: (sign * scores[match.vector], match.key))
    return [Found(match.row, scores[match.vector], match.sum, match.vector) for match in ordered]


# --- intervals ---


@cache
def intervals() -> Intervals:
    # Imported when it is needed: it takes longer to load than the rest of the engine.
    try:
        numpy = import_module("numpy")
    except ModuleNotFoundError:  # it is optional: tablewright[vectors]
        return plain_intervals
    return partial(numpy_intervals, numpy)


def plain_intervals(
    distance: str, wanted: bytes, length: float, rows: Sequence[IndexRow]
) -> tuple[list[float], list[float]]:
    form = layout(len(wanted) // 4)
    numbers = form.unpack(wanted)
    error = (len(numbers) + 4) * 2.0**-53 * 1.01
    least, most = [], []
    for _, _, _, square, _, vector in rows:
        dot = sum(map(mul, numbers, form.unpack(vector)))
        rank, doubt = _rank(distance, dot, error * sqrt(length * square), length, square)
        least.append(rank - doubt)
        most.append(rank + doubt)
    return least, most


def _rank(distance: str, dot: float, wrong: float, length: float, square: float) -> tuple[float, float]:
    """A number that is less for a nearer vector, and how wrong it may be, rounding of the score included."""
    if distance == "DOT_PRODUCT":
        rank = -min(max(dot, -MOST), MOST)
        return rank, wrong + abs(rank) * _ROUNDING + _LEAST
    if distance == "EUCLIDEAN":
        rank = min(max(length + square - 2.0 * dot, 0.0), MOST * MOST)
        rounding = rank * _ROUNDING + 4.0 * _LEAST * sqrt(rank) + _LEAST * _LEAST
        return rank, 2.0 * wrong + (length + square) * 1e-15 + rounding
    squares = length * square
    if squares == 0.0:
        return 0.0, _ROUNDING  # a right angle
    return -dot / sqrt(squares), wrong / sqrt(squares) + _ROUNDING


def numpy_intervals(
    numpy: Any, distance: str, wanted: bytes, length: float, rows: Sequence[IndexRow]
) -> tuple[list[float], list[float]]:
    """The same for all rows at once; the dot products are sums of 32-bit floats."""
    dimensions = len(wanted) // 4
    joined = b"".join([row[5] for row in rows])
    matrix = numpy.frombuffer(joined, dtype="<f4").reshape(len(rows), dimensions)
    with numpy.errstate(all="ignore"):
        dots = (matrix @ numpy.frombuffer(wanted, dtype="<f4")).astype("f8")
        if not numpy.isfinite(dots).all():  # too large for 32 bits
            return plain_intervals(distance, wanted, length, rows)
        square = numpy.array([row[3] for row in rows])
        root = numpy.sqrt(length * square)
        # The usual bound for a sum of so many products in 32 bits, in any order.
        wrong = (dimensions + 4) * 2.0**-24 * 1.01 * root + 4 * dimensions * _VANISHING
        if distance == "DOT_PRODUCT":
            rank = -numpy.clip(dots, -MOST, MOST)
            doubt = wrong + abs(rank) * _ROUNDING + _LEAST
        elif distance == "EUCLIDEAN":
            rank = numpy.clip(length + square - 2.0 * dots, 0.0, MOST * MOST)
            rounding = rank * _ROUNDING + 4.0 * _LEAST * numpy.sqrt(rank) + _LEAST * _LEAST
            doubt = 2.0 * wrong + (length + square) * 1e-15 + rounding
        else:
            rank = numpy.where(root == 0.0, 0.0, -dots / root)  # of a zero vector: a right angle
            doubt = numpy.where(root == 0.0, 0.0, wrong / root) + _ROUNDING
    return (rank - doubt).tolist(), (rank + doubt).tolist()
