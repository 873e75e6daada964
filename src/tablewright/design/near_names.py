"""The one known name that a misspelt name is meant to be, if there is one. Pure."""

from collections.abc import Iterable
from difflib import SequenceMatcher

# A name is meant if it is so alike, and no other is nearly as much.
_ALIKE, _MARGIN = 0.8, 0.1


def near_name(name: str, known: Iterable[str]) -> str:
    """`customer_id` for `customerid`; empty if no name is near, or two are."""
    ranked = sorted(
        ((SequenceMatcher(None, name.lower(), each.lower()).ratio(), each) for each in known), reverse=True
    )
    if not ranked or ranked[0][0] < _ALIKE:
        return ""
    is_alone = len(ranked) == 1 or ranked[0][0] - ranked[1][0] >= _MARGIN
    return ranked[0][1] if is_alone else ""
