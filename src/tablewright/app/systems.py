"""The systems in the box, in the order the console shows them."""

from collections.abc import Sequence
from dataclasses import asdict

from tablewright.app.console.portal import portal_area
from tablewright.app.people import Person
from tablewright.app.system import Start, System, SystemsClash
from tablewright.systems.portal import api as portal_api
from tablewright.systems.portal import seed as portal_seed
from tablewright.systems.portal.design import DESIGNS as PORTAL_DESIGNS
from tablewright.systems.portal.service import VERIFY_LINK, Portal, open_portal

__all__ = ["PORTAL", "SYSTEMS", "System", "SystemsClash"]


def _start_portal(given: Start) -> Portal:
    link = given.url.rstrip("/") + VERIFY_LINK
    return open_portal(given.db, given.world, given.secret, given.issue, verify_link=link)


def _portal_people(portal: Portal) -> Sequence[Person]:
    return [Person(**asdict(person)) for person in portal_seed.people(portal)]


PORTAL = System(
    name="portal",
    title="Customer portal",
    about="Sells WordPress hosting: a catalogue, campaigns, checkout, and the customers that come of it.",
    designs=PORTAL_DESIGNS,
    start=_start_portal,
    accent="teal",
    router=portal_api.router,
    area=portal_area,
    people=_portal_people,
    seed=portal_seed.seed,
    translations=portal_api.TRANSLATIONS,
)
SYSTEMS: tuple[System, ...] = (PORTAL,)
