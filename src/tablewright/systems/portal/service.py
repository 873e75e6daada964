"""The customer portal as the app runs it: SYSTEM.

Elsewhere: its parts as one value (portal.py), HTTP (api/router.py), pages (pages/area.py).
"""

from tablewright.kit.erased import FOLDER as ERASED_LIST
from tablewright.kit.system import Start, System
from tablewright.systems.portal import jobs, seed
from tablewright.systems.portal.api.router import router
from tablewright.systems.portal.design import DESIGNS
from tablewright.systems.portal.pages.area import portal_area
from tablewright.systems.portal.portal import ORDER_LINK, VERIFY_LINK, Portal, open_portal


def start(given: Start) -> Portal:
    """Open the portal, and apply earlier erasures again in case its tables were restored."""
    url = given.url.rstrip("/")
    portal = open_portal(
        given.db,
        given.world,
        given.secret,
        given.issue,
        verify_link=url + VERIFY_LINK,
        order_link=url + ORDER_LINK,
        home=given.home,
        objects=given.objects,
        staff=lambda: given.staff("admin"),
    )
    for consumer in jobs.consumers(portal):
        consumer.create_tables()  # before the first write: a stream has no changes from before it was created
    portal.privacy.erase_again()
    return portal


SYSTEM = System(
    name="portal",
    title="Customer portal",
    about="Sells WordPress hosting: plans, campaigns, checkout and customer accounts.",
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
    subjects=lambda portal: (portal.privacy.customer,),
    beside=(ERASED_LIST,),
)
