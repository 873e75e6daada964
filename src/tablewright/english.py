"""How values read in English: numbers, sizes, money, dates, times, durations, plurals and lists. Pure.

Must hold: the same on every machine, whatever its locale; numbers do not break across lines; a moment has its zone.
Elsewhere: HTML (pages/words.py), columns of a terminal (cli/format.py). What programs read (keys, HTTP dates, ISO 8601)
is not written here. Why this is not Babel: docs/decisions/0022.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

NARROW = "\u202f"  # a narrow space that does not break: between groups of digits
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SIZES = ("B", "KB", "MB", "GB", "TB")
_CURRENCIES = {"ZAR": "R", "USD": "$", "EUR": "€", "GBP": "£"}
_CENT = Decimal("0.01")
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
_PLAIN = str.maketrans({NARROW: " ", "\u00a0": " ", "−": "-"})


def plain(text: str) -> str:
    """The text with the spaces and the minus of a keyboard: for terminals, JSON and Markdown."""
    return text.translate(_PLAIN)


# --- numbers ---


def grouped(value: float | Decimal, places: int = 0) -> str:
    """`12 400`, `1 234.50`: with so many digits behind the point."""
    return f"{value:,.{places}f}".replace(",", NARROW)


def number(value: float | Decimal) -> str:
    """`12 400`, `0.5`: whole numbers in groups, others with up to two digits behind the point."""
    return grouped(value) if value == int(value) else grouped(value, 2).rstrip("0").rstrip(".")


def size(count: float | Decimal) -> str:
    """`640 B`, `1.46 KB`, `3.4 MB`: three figures, in powers of 1024 as DynamoDB counts items, units and limits."""
    value = float(count)
    for unit in _SIZES:
        if abs(value) < 1023.5 or unit == _SIZES[-1]:
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.3g} {unit}"


def money(amount: Decimal, currency: str = "USD") -> str:
    """`R 1 299.99`, `$0.72`; what is less than half a cent and not nothing says so."""
    sign = _CURRENCIES.get(currency, currency) + ("" if currency == "USD" else "\u00a0")
    if 0 < abs(amount) < _CENT / 2:
        return f"less than {sign}0.01"
    return f"{'−' if amount < 0 else ''}{sign}{grouped(abs(amount).quantize(_CENT, ROUND_HALF_UP), 2)}"


def plural(count: float, one: str, many: str | None = None) -> str:
    """`1 table`, `3 tables`, `2 entities`."""
    if count == 1:
        return f"1 {one}"
    if many is None:
        many = f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in "aeiou" else f"{one}s"
    return f"{number(count)} {many}"


def join_words(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# --- dates and times ---


def month_and_year(day: date) -> str:
    """`November 2026`."""
    return f"{MONTHS[day.month - 1]} {day.year}"


def day_and_month(day: date) -> str:
    """`16 November`."""
    return f"{day.day} {MONTHS[day.month - 1]}"


def full_date(day: date) -> str:
    """`16 November 2026`."""
    return f"{day.day} {month_and_year(day)}"


def moment(at: datetime, zone: str | ZoneInfo = "UTC") -> str:
    """`16 November 2026, 09:30 SAST`."""
    local = in_zone(at, zone)
    return f"{full_date(local)}, {local:%H:%M} {local.tzname()}"


def moment_of_week(at: datetime, zone: str | ZoneInfo = "UTC") -> str:
    """`Mon 16 November 2026, 09:30 CET`."""
    return f"{WEEKDAYS[in_zone(at, zone).weekday()][:3]} {moment(at, zone)}"


def exact(at: datetime, zone: str | ZoneInfo = "UTC") -> str:
    """`16 November 2026, 09:30:12 UTC`."""
    local = in_zone(at, zone)
    return f"{full_date(local)}, {local:%H:%M:%S} {local.tzname()}"


def in_zone(at: datetime, zone: str | ZoneInfo) -> datetime:
    return at.astimezone(ZoneInfo(zone) if isinstance(zone, str) else zone)


def ago(at: datetime, now: datetime) -> str:
    """`just now`, `5 minutes ago`, `in 3 days`; a date when it is long ago."""
    passed = now - at
    is_past = passed >= timedelta()
    seconds = abs(passed).total_seconds()
    if seconds < 10:
        return "just now" if is_past else "in a moment"
    if seconds > 45 * 86400:
        return full_date(at)
    unit, length = next(each for each in _UNITS if seconds >= each[1])
    words = plural(int(seconds // length), unit)
    return f"{words} ago" if is_past else f"in {words}"


def duration(seconds: float) -> str:
    """`4 s`, `3 min 20 s`, `2 h 5 min`: as exact as it matters."""
    if 0 < seconds < 1:
        return "under a second"
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def lifetime(period: timedelta) -> str:
    """`30 days`, `2 hours`; `7 years`, whatever leap days are in them."""
    years = round(period.days / 365.25)
    if years and (period == years * timedelta(days=365) or abs(period.days - years * 365.25) <= 2):
        return plural(years, "year")
    seconds = int(period.total_seconds())
    unit, length = next(each for each in _UNITS if seconds % each[1] == 0)
    return plural(seconds // length, unit)
