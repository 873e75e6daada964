"""Vectors as 32-bit floats, and how near two are: the three distance functions.

A score is computed in 64 bits from 32-bit values, with sums that are rounded once, and is rounded to 32 bits at the
end, within their range: so it does not depend on the order of additions, nor on who adds. COSINE is 0 for the same
direction, 1 for a right angle and beside a vector of length zero, 2 for the opposite.
Must hold: the same vectors give the same score, to the last bit, on every machine, with numpy and without.
Elsewhere: finding the few vectors whose score is needed (search.py).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import fsum, sqrt
from operator import mul
from struct import Struct

from tablewright.values import Value
from tablewright.values.float32 import MOST, rounded, text_of

# Half a unit in the last place of a cosine: what is less than this is rounding of the division.
_NOISE = 1e-15


class NotAVector(ValueError):
    """A value is not a list of 32-bit floats. `place` is the first element that is none; None: it is not a list."""

    def __init__(self, place: int | None = None) -> None:
        self.place = place
        super().__init__("not a list of 32-bit floats")


@lru_cache(maxsize=64)
def layout(dimensions: int) -> Struct:
    return Struct(f"<{dimensions}f")


def pack(elements: Sequence[Value]) -> bytes:
    """The bytes of a vector; raises NotAVector for an element that is not a number, or out of range."""
    try:
        return layout(len(elements)).pack(*[float(element["N"]) for element in elements])
    except (KeyError, OverflowError):
        raise NotAVector(next(n for n, element in enumerate(elements) if not _fits(element))) from None


def _fits(element: Value) -> bool:
    try:
        rounded(float(element["N"]))
    except (KeyError, OverflowError):
        return False
    return True


def unpack(vector: bytes) -> tuple[float, ...]:
    return layout(len(vector) // 4).unpack(vector)


def as_list(vector: bytes) -> Value:
    """The vector as an attribute: each number in the fewest digits that give the same 32-bit float."""
    return {"L": [{"N": text_of(number)} for number in unpack(vector)]}


def squared(vector: bytes) -> float:
    """The square of its length."""
    numbers = unpack(vector)
    return fsum(map(mul, numbers, numbers))


def score(distance: str, one: Sequence[float], other: Sequence[float], squares: float) -> float:
    """The score of two vectors; `squares` is the product of the squares of their lengths."""
    if distance == "EUCLIDEAN":
        value = sqrt(fsum([(a - b) * (a - b) for a, b in zip(one, other, strict=True)]))
    elif distance == "DOT_PRODUCT":
        value = fsum(map(mul, one, other))
    else:
        value = _cosine_distance(fsum(map(mul, one, other)), squares)
    return rounded(min(max(value, -MOST), MOST))


def _cosine_distance(dot: float, squares: float) -> float:
    if squares == 0.0:
        return 1.0
    distance = 1.0 - dot / sqrt(squares)
    return 0.0 if distance < _NOISE else min(distance, 2.0)
