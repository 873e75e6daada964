"""How a place for copies stands, for a person to read: which copies are whole, and which one is under way.

Elsewhere: making copies (job.py), what is where (store.py), who shows it (cli/db/copies_list.py, the Store
page).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tablewright.app.copies.job import GIVE_UP
from tablewright.app.copies.store import BucketUnusable, Copy, CopyPlace, moment_name


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A copy that was begun and is not whole. One that nobody goes on with any more `is_cut_off`."""

    store: str
    at: datetime
    is_cut_off: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """The copies of one store. `trouble` is why its place could not be looked at."""

    place: str
    newest: Copy | None = None
    under_way: UnderWay | None = None
    trouble: str = ""


def under_way(place: CopyPlace, now: datetime, store: str = "") -> Sequence[UnderWay]:
    """Copies that are not whole, of one store or of all."""
    return [
        UnderWay(whose, at, now - at >= GIVE_UP)
        for whose, at in sorted(place.begun(store).items())
        if moment_name(at) not in place.moments(whose)
    ]


def standing(place: CopyPlace, store: str, now: datetime) -> Standing:
    try:
        going = next(iter(under_way(place, now, store)), None)
        return Standing(place.name, place.newest(store), going)
    except BucketUnusable as trouble:
        return Standing(place.name, trouble=trouble.message)
