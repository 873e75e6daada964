"""The status of a location for copies: which copies are complete, and which one is in progress.

Elsewhere: making copies (job.py), the layout (store.py), where it is shown (cli/db/copies_list.py, the Store page).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tablewright.app.copies.job import GIVE_UP
from tablewright.app.copies.store import Copy, CopyPlace, moment_name
from tablewright.engine.transfer.buckets import BucketUnusable


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A copy that is incomplete; `is_cut_off` if it will not be continued."""

    store: str
    at: datetime
    is_cut_off: bool


@dataclass(frozen=True, slots=True)
class CopiesStatus:
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


def copies_status(place: CopyPlace, store: str, now: datetime) -> CopiesStatus:
    try:
        going = next(iter(under_way(place, now, store)), None)
        return CopiesStatus(place.name, place.newest(store), going)
    except BucketUnusable as trouble:
        return CopiesStatus(place.name, trouble=trouble.message)
