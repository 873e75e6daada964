"""The area of Skratch: the scratch map, and pages around it that work without a script.

desk.py is what the pages are made with; map.py the map with what it needs without a network; places.py lists and one
place; looking.py timeline, figures and the card to share; conflicts.py devices.py settings.py baggage.py (export and
import) and admin.py what they say; travellers.py how others are seen; sign_in.py the way in; finding.py searches,
wording.py speaks. The scripts are in static/travel.
"""

from tablewright.app.console.area import Area, Nav
from tablewright.app.console.console import Console
from tablewright.app.console.travel.admin import ADMIN_PAGES, admin_router
from tablewright.app.console.travel.baggage import baggage_router
from tablewright.app.console.travel.conflicts import conflicts_router
from tablewright.app.console.travel.desk import ADMIN, desk_of
from tablewright.app.console.travel.devices import devices_router
from tablewright.app.console.travel.finding import finder
from tablewright.app.console.travel.looking import looking_router
from tablewright.app.console.travel.map import map_router
from tablewright.app.console.travel.places import places_router
from tablewright.app.console.travel.settings import settings_router
from tablewright.app.console.travel.sign_in import sign_in_router
from tablewright.app.console.travel.travellers import travellers_router
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.routes import gather
from tablewright.systems.travel.service import Travel

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
    """The area of System.area."""
    desk = desk_of(travel, console, who)
    router = map_router(desk)
    parts = (
        places_router(desk),
        looking_router(desk),
        conflicts_router(desk),
        devices_router(desk),
        settings_router(desk),
        travellers_router(desk),
        baggage_router(desk),
        admin_router(desk),
        sign_in_router(desk),
    )
    gather(router, parts)
    return Area(
        "travel",
        "Skratch",
        "globe",
        "amber",
        PAGES,
        router,
        about="A map of the world that colours in where you have been, with or without a network.",
        serves=lambda caller: ADMIN in caller.roles or desk.has_map(caller),
        search=finder(desk),
        finds="a place",
        has_door=True,
    )
