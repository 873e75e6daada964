"""DynamoDB numbers: 38 decimal digits, kept as plain decimal text.

Must hold: `canonical` gives one text for one number, so 1, 1.0 and 1E0 are the same key.
Magnitude is 0 or 1E-130 to 9.99...E+125; arithmetic is exact or refused, never rounded.
"""

import re
from decimal import Context, Decimal
from functools import lru_cache

MAX_DIGITS = 38
MAX_EXPONENT = 125
MIN_EXPONENT = -130

NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
TOO_LARGE = "Number overflow. Attempting to store a number with magnitude larger than supported range"
TOO_SMALL = "Number underflow. Attempting to store a number with magnitude smaller than supported range"

_GRAMMAR = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?", re.ASCII)

# Fractions that are canonical and within all limits as they stand: a vector has a thousand of them.
_SHORT_FRACTION = re.compile(r"-?(?:0|[1-9]\d{0,17})\.\d{0,17}[1-9]", re.ASCII)

# Wide enough that a sum of any two storable numbers is exact: 126 + 130 digits.
_EXACT = Context(prec=300)


class BadValue(ValueError):
    """An attribute value that DynamoDB does not take; the text is the service's.

    `current` is its text in the verbs whose validation the service has reworded in 2026, where it is another one.
    """

    def __init__(self, text: str, current: str | None = None) -> None:
        super().__init__(text)
        self.current = text if current is None else current


class BadNumber(BadValue):
    """A text that is not a number DynamoDB can keep."""


def canonical(text: str) -> str:
    """The one spelling of the number in `text`: plain decimal, no exponent, no idle zeros."""
    return weigh(text)[0]


# The same numbers come again and again: quantities, prices, flags, years.
@lru_cache(maxsize=8192)
def weigh(text: str) -> tuple[str, int]:
    """The canonical spelling of a number and the bytes it costs in an item."""
    if _SHORT_FRACTION.fullmatch(text):
        whole, _, fraction = text.partition(".")
        digits = (whole.lstrip("-") + fraction).lstrip("0")
        return text, _size(text[0] == "-", digits, -len(fraction))
    negative, digits, exponent = parts(text)
    if not digits:
        return "0", 1
    if len(digits) > MAX_DIGITS:
        raise BadNumber(TOO_PRECISE)
    # The first digit stands for digits[0] x 10^(exponent + len - 1).
    magnitude = exponent + len(digits) - 1
    if magnitude > MAX_EXPONENT:
        raise BadNumber(TOO_LARGE)
    if magnitude < MIN_EXPONENT:
        raise BadNumber(TOO_SMALL)
    return _plain(negative, digits, exponent), _size(negative, digits, exponent)


def stored_size(text: str) -> int:
    """Bytes a number costs in an item."""
    return weigh(text)[1]


def _size(negative: bool, digits: str, exponent: int) -> int:
    """One, plus one per base-100 digit, plus one if negative.

    The pairs are aligned on the decimal point, so 120 (01 20) costs more than 1200 (12 00): an odd exponent
    moves the last digit into the upper half of its pair.
    """
    length = len(digits) + exponent % 2
    return min(1 + (length + 1) // 2 + negative, 21)


def parts(text: str) -> tuple[bool, str, int]:
    """(is negative, significant digits, exponent of the last digit); no digits for zero."""
    match = _GRAMMAR.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise BadNumber(f"{NOT_A_NUMBER}: {text}" if text else NOT_A_NUMBER, f"{NOT_A_NUMBER}: {text}")
    sign, whole, fraction, power = match.groups()
    fraction = fraction or ""
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    exponent = _power(power or "0") - len(fraction) + len(digits) - len(significant)
    return sign == "-" and bool(significant), significant, exponent


def _power(text: str) -> int:
    # Far beyond any number there is; Python refuses to read very long integers at all.
    digits = text.lstrip("+-").lstrip("0")
    size = 10**9 if len(digits) > 9 else int(digits or "0")
    return -size if text.startswith("-") else size


def _plain(negative: bool, digits: str, exponent: int) -> str:
    point = len(digits) + exponent
    if exponent >= 0:
        text = digits + "0" * exponent
    elif point > 0:
        text = f"{digits[:point]}.{digits[point:]}"
    else:
        text = f"0.{'0' * -point}{digits}"
    return "-" + text if negative else text


def sort_key(text: str) -> bytes:
    """Bytes that sort as the canonical numbers do, none of them a prefix of another."""
    negative, digits, exponent = parts(text)
    if not digits:
        return b"\x01"
    # 0.d1d2d3... x 10^scale with d1 not zero; scale runs from -129 to 126 and so fills one byte.
    scale = exponent + len(digits) + 129
    if len(digits) % 2:
        digits += "0"
    pairs = [int(digits[i : i + 2]) + 1 for i in range(0, len(digits), 2)]
    if negative:
        return bytes([0, 255 - scale, *(101 - pair for pair in pairs), 255])
    return bytes([2, scale, *pairs, 0])


def add(left: str, right: str) -> str:
    return _result(_EXACT.add(Decimal(left), Decimal(right)))


def subtract(left: str, right: str) -> str:
    return _result(_EXACT.subtract(Decimal(left), Decimal(right)))


def _result(number: Decimal) -> str:
    try:
        return canonical(str(number))
    except BadNumber as bad:
        # The service calls a result with too many digits (1E50 + 1) an overflow.
        raise BadNumber(TOO_LARGE if str(bad) == TOO_PRECISE else str(bad)) from None
