"""The area of Skratch: the scratch map, and the pages around it, which work without JavaScript.

page.py has what every page needs; map.py the map and its offline files; places.py the lists and the page of one place;
statistics.py the timeline, the statistics and the share card; conflicts.py devices.py settings.py import_export.py and
admin.py the pages of these names; travellers.py public profiles; sign_in.py the sign-in; search.py the search;
words.py the texts they share. The scripts are in static/.
"""

from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.pages.area import Area, Nav
from tablewright.pages.layout import Console
from tablewright.systems.travel.access import ADMIN
from tablewright.systems.travel.pages.admin import ADMIN_PAGES, admin_router
from tablewright.systems.travel.pages.conflicts import conflicts_router
from tablewright.systems.travel.pages.devices import devices_router
from tablewright.systems.travel.pages.import_export import baggage_router
from tablewright.systems.travel.pages.map import map_router
from tablewright.systems.travel.pages.page import pages_of
from tablewright.systems.travel.pages.places import places_router
from tablewright.systems.travel.pages.search import finder
from tablewright.systems.travel.pages.settings import settings_router
from tablewright.systems.travel.pages.sign_in import sign_in_router
from tablewright.systems.travel.pages.statistics import looking_router
from tablewright.systems.travel.pages.travellers import travellers_router
from tablewright.systems.travel.travel import Travel

_ADMIN = (ADMIN,)
PAGES = (
    Nav("Map", "", (), except_for=_ADMIN),
    Nav("Places", "places", (), except_for=_ADMIN),
    Nav("Timeline", "timeline", (), except_for=_ADMIN),
    Nav("Statistics", "statistics", (), except_for=_ADMIN),
    Nav("Share card", "share", (), except_for=_ADMIN),
    Nav("Conflicts", "conflicts", (), except_for=_ADMIN),
    Nav("Devices", "devices", (), except_for=_ADMIN),
    Nav("Settings", "settings", (), except_for=_ADMIN),
    Nav("Export and import", "export", (), except_for=_ADMIN),
    *ADMIN_PAGES,
)


def travel_area(travel: Travel, console: Console, who: FindPrincipal) -> Area:
    """The area of SYSTEM.pages."""
    pages = pages_of(travel, console, who)
    router = map_router(pages)
    parts = (
        places_router(pages),
        looking_router(pages),
        conflicts_router(pages),
        devices_router(pages),
        settings_router(pages),
        travellers_router(pages),
        baggage_router(pages),
        admin_router(pages),
        sign_in_router(pages),
    )
    gather(router, parts)
    return Area(
        "travel",
        "Skratch",
        "globe",
        "amber",
        PAGES,
        router,
        about="A map of the world that colours in where you've been, online and offline.",
        serves=lambda caller: ADMIN in caller.roles or pages.has_map(caller),
        search=finder(pages),
        finds="a place",
        has_door=True,
        scripts=("travel/sending.js",),
        everywhere=("travel/leave.js",),
    )
