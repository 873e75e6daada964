"""The systems in the box, in the order the console shows them."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from tablewright.app.console.portal import portal_area
from tablewright.app.people import Person
from tablewright.app.schedule import Follower, Job
from tablewright.app.system import Start, System, SystemsClash
from tablewright.systems.portal import api as portal_api
from tablewright.systems.portal import jobs as portal_jobs
from tablewright.systems.portal import seed as portal_seed
from tablewright.systems.portal.design import DESIGNS as PORTAL_DESIGNS
from tablewright.systems.portal.service import VERIFY_LINK, Portal, open_portal

__all__ = ["PORTAL", "SYSTEMS", "System", "SystemsClash"]


def _start_portal(given: Start) -> Portal:
    link = given.url.rstrip("/") + VERIFY_LINK
    portal = open_portal(given.db, given.world, given.secret, given.issue, verify_link=link)
    for consumer in portal_jobs.followers(portal.repository):
        consumer.create_tables()  # before anything is written: changes from before a stream are not in it
    return portal


def _portal_jobs(portal: Portal) -> Sequence[Job | Follower]:
    repository = portal.repository
    return (
        *(
            Follower(
                f"changes of {consumer.table}", consumer.run, "Tallies, and the price history of products."
            )
            for consumer in portal_jobs.followers(repository)
        ),
        Job(
            "prices",
            timedelta(minutes=1),
            lambda: portal_jobs.apply_due_prices(repository),
            "Prices whose day has come.",
        ),
        Job(
            "reminders",
            timedelta(hours=1),
            lambda: portal_jobs.remind_unvalidated(repository),
            "A mail to who has not confirmed an address for a day.",
        ),
        Job(
            "tallies",
            timedelta(minutes=10),
            lambda: portal_jobs.reconcile_tallies(repository),
            "Compares each tally with a real count, once a day.",
        ),
    )


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
    jobs=_portal_jobs,
    translations=portal_api.TRANSLATIONS,
)
SYSTEMS: tuple[System, ...] = (PORTAL,)
