"""The search of the frame: pages by their title, then what each area finds itself."""

from collections.abc import Sequence

from tablewright.edge import Principal
from tablewright.pages.area import Area, Hit

_MOST_HITS = 50


def hits(areas: Sequence[Area], caller: Principal, text: str) -> list[tuple[str, Hit]]:
    """The results of all areas: pages first, then what each area finds itself."""
    found: list[tuple[str, Hit]] = []
    words = text.casefold().split()
    for area in areas:
        local = area.local(caller)
        found += [
            (area.title, Hit(page.title, area.href(page)))
            for page in area.pages_for(local)
            if matches(words, f"{area.title} {page.title}")
        ]
        found += [(area.title, hit) for hit in area.search(local, text)]
    return found[:_MOST_HITS]


def matches(words: Sequence[str], text: str) -> bool:
    """Whether every word is somewhere in the text."""
    folded = text.casefold()
    return all(word in folded for word in words)
