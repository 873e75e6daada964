"""Durations in a design file: `90 days`, `15 minutes`. Must hold: duration(text_of(period)) == period."""

import re
from datetime import timedelta

_UNITS = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "microsecond": timedelta(microseconds=1),
}
PATTERN = rf"^-?[0-9]{{1,18}} ({'|'.join(_UNITS)})s?$"


def duration(text: str) -> timedelta:
    """The duration that a text of PATTERN names; OverflowError if it is longer than a timedelta can be."""
    number, unit = re.sub(r"s$", "", text).split(" ")
    return int(number) * _UNITS[unit]


def text_of(period: timedelta) -> str:
    """In the largest unit of which it is a whole number."""
    for name, unit in _UNITS.items():
        if period % unit == timedelta():
            count = period // unit
            return f"{count} {name}{'' if count == 1 else 's'}"
    raise AssertionError(period)  # every duration is a whole number of microseconds
