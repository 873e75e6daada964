"""How often a schedule fires: `cron(0 3 * * ? *)` once a day, `rate(12 hours)` twice. Pure."""

import re
from decimal import Decimal

from tablewright.design.errors import DesignMistake

_SPANS = {"minute": 1440, "hour": 24, "day": 1}
# Of minutes, hours, days of a month, months and days of a week: how many there are, and the number of the first.
_FIELDS = ((60, 0), (24, 0), (30, 1), (12, 1), (7, 1))


class ScheduleUnreadable(DesignMistake):
    """A schedule of backups that cannot be counted."""

    def __init__(self, schedule: str) -> None:
        super().__init__(
            f"how often {schedule!r} comes cannot be told; write cron(minute hour day month weekday year) with "
            "numbers, lists, ranges and steps, or rate(number minutes|hours|days)"
        )


def times_a_day(schedule: str) -> Decimal:
    """How many times a day, on average."""
    rate = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", schedule)
    if rate is not None and int(rate[1]):
        return Decimal(_SPANS[rate[2]]) / int(rate[1])
    cron = re.fullmatch(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+)(?: (?:\*|\?))?\)", schedule)
    if cron is None:
        raise ScheduleUnreadable(schedule)
    minutes, hours, days, months, weekdays = (
        _chosen(text, *field, schedule) for text, field in zip(cron.groups(), _FIELDS, strict=True)
    )
    share = Decimal(days) / 30 * months / 12 * weekdays / 7
    return minutes * hours * share


def _chosen(text: str, many: int, begins: int, schedule: str) -> int:
    """How many of the values of a field are chosen."""
    return sum(_one(piece, many, begins, schedule) for piece in text.split(","))


def _one(piece: str, many: int, begins: int, schedule: str) -> int:
    found = re.fullmatch(r"(\*|\?|[A-Z]{3}|\d+)(?:-([A-Z]{3}|\d+))?(?:/(\d+))?", piece)
    if found is None:
        raise ScheduleUnreadable(schedule)
    first, last, step = found[1], found[2], int(found[3] or 1)
    if first in "*?":
        span = many
    elif last is None:
        span = many + begins - int(first) if found[3] and first.isdigit() else 1
    elif first.isdigit() and last.isdigit() and int(first) <= int(last):
        span = int(last) - int(first) + 1
    elif (first, last) == ("MON", "FRI"):
        span = 5
    else:
        raise ScheduleUnreadable(schedule)
    if not step:
        raise ScheduleUnreadable(schedule)
    return max(-(-span // step), 1)
