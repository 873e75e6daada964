"""Search in Skratch: places by any of their names, and a traveller's own notes.

Must hold: a search never finds another traveller's notes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from tablewright.edge import Principal
from tablewright.edge.errors import BadRequest
from tablewright.pages.area import Hit
from tablewright.systems.travel.geography.regions import Region
from tablewright.systems.travel.model import REGION_TYPES, Place, Visit
from tablewright.systems.travel.pages.page import TravelPages
from tablewright.systems.travel.pages.places import place_path
from tablewright.systems.travel.pages.words import ONE
from tablewright.systems.travel.travel import Travel

_FEWEST_LETTERS = 2
_MOST_PLACES = 8
_MOST_NOTES = 5


def finder(pages: TravelPages) -> Callable[[Principal, str], Sequence[Hit]]:
    travel = pages.travel

    def search(caller: Principal, text: str) -> Sequence[Hit]:
        if len(text.strip()) < _FEWEST_LETTERS or not caller.is_known or not pages.has_map(caller):
            return ()
        visits = {(it.region_type, it.region_code): it for it in travel.visits.all(caller.subject)}
        return (*_places(travel, text, visits), *_notes(text, visits))

    return search


def _places(travel: Travel, text: str, visits: Mapping[Place, Visit]) -> Iterator[Hit]:
    found: list[Region] = []
    with suppress(BadRequest):  # nothing but punctuation was typed
        found = travel.places.search(text, REGION_TYPES)
    for region in found[:_MOST_PLACES]:
        visit = visits.get((region.region_type, region.region_code))
        about = f"{ONE[region.region_type]}, {'visited' if visit is not None else 'not marked'}"
        yield Hit(region.display_name, place_path(region.region_type, region.region_code), about)


def _notes(text: str, visits: Mapping[Place, Visit]) -> Iterator[Hit]:
    wanted = text.strip().casefold()
    found = [visit for visit in visits.values() if wanted in (visit.notes or "").casefold()]
    for visit in found[:_MOST_NOTES]:
        yield Hit(
            f"Notes on {visit.region_name}",
            place_path(visit.region_type, visit.region_code),
            visit.notes or "",
        )
