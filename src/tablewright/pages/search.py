"""The search of a front: its pages by their title, then what its area finds itself; nothing of another front."""

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from tablewright.edge import Principal
from tablewright.pages.area import Area, Hit
from tablewright.pages.front import SEARCH
from tablewright.pages.layout import Console

_MOST_HITS = 50
_MOST_LETTERS = 100


def search_router(console: Console, area: Area) -> APIRouter:
    router = console.router()

    @router.get(SEARCH)
    def search(request: Request, q: str = "") -> Response:
        caller, text = area.local(console.caller(request)), q.strip()[:_MOST_LETTERS]
        has_more = area.finds and area.pages_for(caller)
        return console.page(
            request,
            "search.html",
            title="Search",
            text=text,
            found=hits(area, caller, text) if text else [],
            hint=f"Try {area.finds} or a page name." if has_more else "Try a page name.",
        )

    return router


def hits(area: Area, caller: Principal, text: str) -> list[Hit]:
    """The results for a caller, who has the roles of this area's system."""
    words = text.casefold().split()
    pages = [
        Hit(page.title, area.href(page)) for page in area.pages_for(caller) if matches(words, page.title)
    ]
    return [*pages, *area.search(caller, text)][:_MOST_HITS]


def matches(words: Sequence[str], text: str) -> bool:
    """Whether every word is somewhere in the text."""
    folded = text.casefold()
    return all(word in folded for word in words)
