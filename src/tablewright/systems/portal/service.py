"""The customer portal as the app runs it: SYSTEM.

Elsewhere: its parts as one value (portal.py), HTTP (api/router.py), pages (pages/area.py).
"""

from tablewright.kit.erased import FOLDER as ERASED_LIST
from tablewright.kit.system import Start, System
from tablewright.systems.portal import jobs, seed
from tablewright.systems.portal.api.router import TRANSLATIONS, router
from tablewright.systems.portal.design import DESIGNS
from tablewright.systems.portal.pages.area import portal_area
from tablewright.systems.portal.portal import ORDER_LINK, VERIFY_LINK, Portal, open_portal


def start(given: Start) -> Portal:
    """The portal over its tables, with the erased of before erased again."""
    url = given.url.rstrip("/")
    portal = open_portal(
        given.db,
        given.world,
        given.secret,
        given.issue,
        verify_link=url + VERIFY_LINK,
        order_link=url + ORDER_LINK,
        home=given.home,
        staff=lambda: given.staff("admin"),
    )
    for consumer in jobs.consumers(portal):
        consumer.create_tables()  # before anything is written: changes from before a stream are not in it
    portal.tenants.erase_again()
    return portal


SYSTEM = System(
    name="portal",
    title="Customer portal",
    about="Sells WordPress hosting: a catalogue, campaigns, checkout, and the customers that come of it.",
    designs=DESIGNS,
    start=start,
    accent="teal",
    router=router,
    pages=portal_area,
    package="tablewright.systems.portal.pages",
    people=seed.people,
    seed=seed.seed,
    dispatch=lambda portal: portal.dispatch,
    jobs=jobs.work,
    translations=TRANSLATIONS,
    beside=(ERASED_LIST,),
)
