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
from tablewright.systems.travel.pages.admin import ADMIN_PAGES, add_admin
from tablewright.systems.travel.pages.conflicts import add_conflicts
from tablewright.systems.travel.pages.devices import add_devices
from tablewright.systems.travel.pages.import_export import add_import_export
from tablewright.systems.travel.pages.map import add_map
from tablewright.systems.travel.pages.page import pages_of
from tablewright.systems.travel.pages.places import add_places
from tablewright.systems.travel.pages.search import finder
from tablewright.systems.travel.pages.settings import add_settings
from tablewright.systems.travel.pages.sign_in import add_sign_in
from tablewright.systems.travel.pages.statistics import add_statistics
from tablewright.systems.travel.pages.travellers import add_profiles
from tablewright.systems.travel.travel import Travel

_ADMIN = (ADMIN,)
PAGES = (
    Nav("Map", "", (), except_for=_ADMIN, icon="globe"),
    Nav("Places", "places", (), except_for=_ADMIN, icon="pin"),
    Nav("Timeline", "timeline", (), except_for=_ADMIN, icon="calendar"),
    Nav("Statistics", "statistics", (), except_for=_ADMIN, icon="chart"),
    Nav("Share card", "share", (), except_for=_ADMIN, icon="card"),
    Nav("Conflicts", "conflicts", (), except_for=_ADMIN, icon="swap"),
    Nav("Devices", "devices", (), except_for=_ADMIN, icon="device"),
    Nav("Settings", "settings", (), except_for=_ADMIN, icon="settings"),
    Nav("Export and import", "export", (), except_for=_ADMIN, icon="transfer"),
    *ADMIN_PAGES,
)


def travel_area(travel: Travel, console: Console, who: FindPrincipal) -> Area:
    """The area of SYSTEM.pages."""
    pages = pages_of(travel, console, who)
    router, travellers, admins = pages.router(), pages.router(pages.signed_in), pages.router(pages.admin)
    add_map(router, pages)
    for add in (add_places, add_statistics, add_conflicts, add_devices, add_settings, add_import_export):
        add(travellers, pages)
    add_admin(admins, pages)
    gather(router, (travellers, admins))
    add_profiles(router, pages)
    add_sign_in(router, pages)
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
