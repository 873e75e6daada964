"""Lists over signed page tokens: next, previous and first as addresses that keep every filter.

Previous reads the same pattern in the other direction from the first item shown, so pages need no numbers and stay
right while items come and go. A sharded pattern has no previous, only next and first.
"""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from urllib.parse import urlencode

from fastapi import Request
from pydantic import BaseModel

from tablewright.design import Query
from tablewright.mapping import Db, Page

E = TypeVar("E", bound=BaseModel)
AFTER, BEFORE = "after", "before"


@dataclass(frozen=True, slots=True)
class Listing(Generic[E]):
    """One page of a list, and where the others are (None where there are none)."""

    items: tuple[E, ...]
    next: str | None = None
    previous: str | None = None
    first: str | None = None
    read_units: float = 0.0

    def __len__(self) -> int:
        return len(self.items)


def here(request: Request, **changed: str | None) -> str:
    """This page's own address with some of its query changed; None takes a part away."""
    kept = {name: text for name, text in request.query_params.items() if text and name not in changed}
    query = urlencode({**kept, **{name: text for name, text in changed.items() if text}})
    return f"{request.url.path}?{query}" if query else request.url.path


def listing(
    request: Request,
    db: Db,
    query: Query[E],
    *,
    size: int,
    reader: str,
    deleted: bool = False,
) -> Listing[E]:
    """The page a request asks for with `after` or `before`; BadCursor if its token is not for this reader."""
    after, before = request.query_params.get(AFTER), request.query_params.get(BEFORE)

    def ask(asked: Query[E], token: str | None) -> Page[E]:
        return db.page(asked, size=size, after=token, reader=reader, deleted=deleted)

    def at(item: tuple[E, ...]) -> str | None:
        return db.token_at(query, item[0], reader) if item else None

    first = here(request, after=None, before=None) if after or before else None
    if before:
        found = ask(replace(query, descending=not query.descending), before)
        items = tuple(reversed(found.items))
        more_before, next_token = found.next, at(items[-1:])
        back = here(request, after=None, before=at(items[:1]))
        previous = back if more_before else None
    else:
        found = ask(query, after)
        items, next_token = found.items, found.next
        token = at(items[:1]) if after else None
        previous = here(request, after=None, before=token) if token else None
    following = here(request, before=None, after=next_token) if next_token else None
    return Listing(items, following, previous, first, found.read_units)
