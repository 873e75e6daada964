"""How values are shown on a page: numbers, sizes, money, times, text. Pure; the templates' filters.

Must hold: a time is always shown with its zone, if only on hover.
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from tablewright.values import size_words as size

__all__ = [
    "NARROW", "ago", "coded", "duration", "exact", "label", "lifetime", "linked", "money", "number",
    "plural", "size", "when",
]  # fmt: skip
NARROW = "\u202f"  # a narrow space that does not break: between groups of digits
_CURRENCIES = {"ZAR": "R", "USD": "$", "EUR": "€", "GBP": "£"}

_LINK = re.compile(r"(https?://[^\s<>]+|(?<!\S)/console/[^\s<>]*)")


def number(value: float | int | Decimal) -> str:
    """`12 400`, `0.5`: whole numbers in groups, others with up to two digits behind the point."""
    text = f"{value:,.2f}".rstrip("0").rstrip(".") if value != int(value) else f"{int(value):,}"
    return text.replace(",", NARROW)


def plural(count: float, one: str, many: str | None = None) -> str:
    """`1 table`, `3 tables`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def money(amount: Decimal, currency: str = "USD") -> str:
    """`R 1 299.99`, `$0.72`; what is less than a cent and not nothing says so."""
    sign = _CURRENCIES.get(currency, currency)
    if currency == "USD" and 0 < amount < Decimal("0.01"):
        return "less than $0.01"
    minus = "−" if amount < 0 else ""
    text = f"{abs(amount).quantize(Decimal('0.01'), ROUND_HALF_UP):,}".replace(",", NARROW)
    return f"{minus}{sign}{text}" if currency == "USD" else f"{minus}{sign}\u00a0{text}"


def ago(at: datetime, now: datetime) -> str:
    """`just now`, `5 minutes ago`, `in 3 days`; a date when it is long ago."""
    passed = now - at
    is_past = passed >= timedelta()
    seconds = abs(passed).total_seconds()
    if seconds < 10:
        return "just now" if is_past else "in a moment"
    if seconds > 45 * 86400:
        return f"{at.day} {at:%B %Y}"
    for unit, length, most in (("second", 1, 60), ("minute", 60, 60), ("hour", 3600, 24), ("day", 86400, 46)):
        count = int(seconds // length)
        if count < most:
            words = plural(count, unit)
            return f"{words} ago" if is_past else f"in {words}"
    return f"{at.day} {at:%B %Y}"


def exact(at: datetime, zone: str = "UTC") -> str:
    """`16 November 2026, 09:30:12 UTC`."""
    local = at.astimezone(UTC if zone == "UTC" else ZoneInfo(zone))
    return f"{local.day} {local:%B %Y, %H:%M:%S} {local.tzname()}"


def when(at: datetime | None, now: datetime, zone: str = "UTC") -> Markup | str:
    """Relative time for reading, the exact one on hover and for machines."""
    if at is None:
        return "–"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        at.astimezone(UTC).isoformat(timespec="seconds"), exact(at, zone), ago(at, now)
    )


def label(name: str) -> str:
    """A field's name as words: `discountPercentage` and `discount_percentage` are `Discount percentage`."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).replace(
        "_", " "
    )
    return spaced.strip().capitalize()


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


def lifetime(given: timedelta) -> str:
    """`30 days`, `2 hours`; `7 years`, whatever leap days are in them."""
    years = round(given.days / 365.25)
    if years and abs(given.days - years * 365.25) <= 2:
        return plural(years, "year")
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count, rest = divmod(int(given.total_seconds()), length)
        if count and not rest:
            return plural(count, unit)
    return plural(int(given.total_seconds()), "second")


def linked(text: str) -> Markup:
    """The text of a message with its links: whole addresses, and paths of this console."""
    parts = [
        Markup('<a href="{0}">{0}</a>').format(part) if place % 2 else escape(part)
        for place, part in enumerate(_LINK.split(text))
    ]
    return Markup("").join(parts)


def coded(text: str) -> Markup:
    """A description from a design, with names in backticks as code."""
    parts = [
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(re.split(r"`([^`]+)`", text))
    ]
    return Markup("").join(parts)
