"""Sizes of pages and ends of ranges, as parental controls read them in queries."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, BeforeValidator

from tablewright.edge.problems import bad_request
from tablewright.kit.http import moment_of
from tablewright.kit.tables import TICK

# One for every list but what was done and what failed (PC-21), though the store could give more of some.
LARGEST_PAGE, LARGEST_HISTORY_PAGE = 100, 200
SECOND = timedelta(seconds=1)


def _page_size(size: int | None, at_most: int) -> int | None:
    if size is not None and not 1 <= size <= at_most:
        raise bad_request("INVALID_PAGE_SIZE", f"A page can have 1 to {at_most} entries.", "pageSize")
    return size


def _through(value: Any) -> datetime | None:
    """The end of a range: a time without fractions is the whole of that second, which is in it (PC-22)."""
    found = moment_of(value, "to")
    is_second = isinstance(value, str) and "." not in value and "," not in value
    return found + (SECOND - TICK) if found is not None and is_second else found


PageSize = Annotated[
    int | None,
    AfterValidator(lambda size: _page_size(size, LARGEST_PAGE)),
    Query(alias="pageSize", description=f"1 to {LARGEST_PAGE}; the default depends on the list"),
]
HistoryPageSize = Annotated[
    int | None,
    AfterValidator(lambda size: _page_size(size, LARGEST_HISTORY_PAGE)),
    Query(alias="pageSize", description=f"1 to {LARGEST_HISTORY_PAGE}; 50 if not given"),
]
Through = Annotated[
    datetime | None,
    BeforeValidator(_through),
    Query(alias="to", description="without fractions, that whole second is included"),
]
