"""How values are shown on a page, as HTML: times, links, names between backticks. Pure.

Must hold: a time is always shown with its zone, if only on hover. Elsewhere: how values read (english.py).
"""

import re
from datetime import UTC, datetime

from markupsafe import Markup, escape

from tablewright.english import ago, exact

_LINK = re.compile(r"(https?://[^\s<>]+|(?<!\S)/console/[^\s<>]*)")


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
