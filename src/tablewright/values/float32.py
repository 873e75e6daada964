"""32-bit floats as decimal text: the numbers of vectors.

Must hold: the text has the fewest digits that give the same 32-bit float, so writing and reading changes nothing.
"""

from math import isfinite
from struct import Struct

MOST = 3.4028234663852886e38
_ONE = Struct("<f")


def rounded(number: float) -> float:
    """The nearest 32-bit float; OverflowError for what has none."""
    if not isfinite(number):
        raise OverflowError(f"{number} is not a finite number")
    return float(_ONE.unpack(_ONE.pack(number))[0])


def text_of(number: float) -> str:
    """A 32-bit float in the fewest digits."""
    for precision in range(1, 10):
        text = f"{number:.{precision}g}"
        if abs(float(text)) <= MOST and rounded(float(text)) == number:
            break
    return repr(float(text))
