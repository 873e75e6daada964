"""Campus Cloud as the app runs it: SYSTEM.

Elsewhere: its parts as one value (campus.py), HTTP (api/router.py), pages (pages/area.py).
"""

from tablewright.kit.erased import FOLDER as ERASED
from tablewright.kit.settings import settings_in
from tablewright.kit.system import Start, System
from tablewright.systems.campus import jobs, seed
from tablewright.systems.campus.api.parts import STREAMED
from tablewright.systems.campus.api.router import router
from tablewright.systems.campus.campus import Campus, open_campus
from tablewright.systems.campus.design import DESIGNS
from tablewright.systems.campus.pages.area import campus_area
from tablewright.systems.campus.pages.releases import FORM_BODIES
from tablewright.systems.campus.settings import FILE, Settings


def start(given: Start) -> Campus:
    """Campus Cloud over its tables and its objects."""
    campus = open_campus(
        given.db,
        given.world,
        given.secret,
        home=given.home,
        url=given.url,
        settings=settings_in(given.home / FILE, Settings),
        objects_url=given.objects,
    )
    for consumer in jobs.consumers(campus):
        consumer.create_tables()  # before the first write: a stream has no changes from before it was created
    campus.privacy.erase_again()  # before the first request, in case its tables were restored
    return campus


SYSTEM = System(
    name="campus",
    title="Campus Cloud",
    about="Files, shares, assignments and grades for students and their teachers.",
    designs=DESIGNS,
    start=start,
    accent="green",
    router=router,
    pages=campus_area,
    package="tablewright.systems.campus.pages",
    people=seed.people,
    seed=seed.seed,
    dispatch=lambda campus: campus.dispatch,
    jobs=jobs.work,
    subjects=lambda campus: (campus.privacy.user,),
    # The bytes of files are copied with the directory of the server, or are in a bucket: there may be very many.
    beside=(f"objects/{ERASED}",),
    streamed_bodies=STREAMED,
    form_bodies=FORM_BODIES,
)
