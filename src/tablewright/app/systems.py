"""The systems in the box, in the order the console shows them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial

from tablewright.app.bucket_objects import objects_of
from tablewright.app.console.parental import parental_area
from tablewright.app.console.portal import portal_area
from tablewright.app.console.travel import travel_area
from tablewright.app.people import Person
from tablewright.app.schedule import Follower, Job
from tablewright.app.system import Start, System, SystemsClash
from tablewright.edge import Principal
from tablewright.edge.erased import FOLDER as ERASED_LIST
from tablewright.systems.parental import api as parental_api
from tablewright.systems.parental import jobs as parental_jobs
from tablewright.systems.parental import seed as parental_seed
from tablewright.systems.parental import sensors
from tablewright.systems.parental.cache import cache_at
from tablewright.systems.parental.design import DESIGNS as PARENTAL_DESIGNS
from tablewright.systems.parental.device_secrets import DeviceSecrets, secrets_in
from tablewright.systems.parental.devices import open_driver
from tablewright.systems.parental.event_files import deliver_all
from tablewright.systems.parental.events import Batch
from tablewright.systems.parental.service import INVITATION_LINK, Parental, open_parental
from tablewright.systems.portal import api as portal_api
from tablewright.systems.portal import jobs as portal_jobs
from tablewright.systems.portal import seed as portal_seed
from tablewright.systems.portal.design import DESIGNS as PORTAL_DESIGNS
from tablewright.systems.portal.service import ORDER_LINK, VERIFY_LINK, Portal, open_portal
from tablewright.systems.travel import api as travel_api
from tablewright.systems.travel import jobs as travel_jobs
from tablewright.systems.travel import seed as travel_seed
from tablewright.systems.travel.apple import apple_in
from tablewright.systems.travel.design import DESIGNS as TRAVEL_DESIGNS
from tablewright.systems.travel.exporting import FOLDER as ANALYTICS
from tablewright.systems.travel.migrations import MIGRATIONS as TRAVEL_MIGRATIONS
from tablewright.systems.travel.pictures import PICTURES
from tablewright.systems.travel.privacy import ERASED
from tablewright.systems.travel.secret_checks import CHECKS, checked_keyring
from tablewright.systems.travel.service import Travel, open_travel

__all__ = ["PARENTAL", "PORTAL", "SYSTEMS", "TRAVEL", "System", "SystemsClash"]


def _start_portal(given: Start) -> Portal:
    url = given.url.rstrip("/")
    portal = open_portal(
        given.db,
        given.world,
        given.secret,
        given.issue,
        verify_link=url + VERIFY_LINK,
        order_link=url + ORDER_LINK,
        home=given.home,
    )
    for consumer in portal_jobs.followers(portal.repository):
        consumer.create_tables()  # before anything is written: changes from before a stream are not in it
    portal.tenants.erase_again()
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
            "Applies scheduled prices.",
        ),
        Job(
            "unpaid orders",
            timedelta(minutes=5),
            portal.orders.expire_unpaid,
            "Expires orders that were not paid within a day, and frees their campaign's use.",
        ),
        Job(
            "restored",
            timedelta(hours=1),
            portal.tenants.erase_again,
            "Re-applies erasures after a restore.",
        ),
        Job(
            "reminders",
            timedelta(hours=1),
            lambda: portal_jobs.remind_unvalidated(repository),
            "Reminds people who haven't confirmed their address after a day.",
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
    dispatch=lambda portal: portal.dispatch,
    jobs=_portal_jobs,
    translations=portal_api.TRANSLATIONS,
    beside=(ERASED_LIST,),
)


# --- parental controls ---


def _start_parental(given: Start) -> Parental:
    secrets = DeviceSecrets(secrets_in(given.home / "secrets"))
    drivers = open_driver(given.home / "devices", given.world, secrets.of)
    parental = open_parental(
        given.db,
        given.world,
        given.secret,
        given.issue,
        drivers=drivers,
        secrets=secrets,
        cache=cache_at(given.cache, given.world),
        listen=sensors.ears(given.home / "devices", given.world),
        inbox=given.home / "events",
        invitation_link=given.url.rstrip("/") + INVITATION_LINK,
        home=given.home,
    )
    for consumer in parental_jobs.followers(parental):
        consumer.create_tables()  # before anything is written: changes from before a stream are not in it
    parental_jobs.erase_again(parental)  # before anybody is served
    return parental


def _parental_followers(parental: Parental) -> Iterator[Follower]:
    for consumer in parental_jobs.followers(parental):
        yield Follower(f"changes of {consumer.table}", consumer.run, "What they change on firewalls.")
    yield Follower(
        "windows and retries",
        partial(parental_jobs.watch, parental),
        "Windows that open and close, exceptions that end, what failed and may be tried again; where names lead.",
    )
    if parental.listen is not None:
        yield Follower(
            "blocked connections of gateways",
            partial(sensors.watch, parental, parental.listen),
            "What gateways stopped, for the parents' dashboard.",
        )


def _parental_jobs(parental: Parental) -> Sequence[Job | Follower]:
    minute, hour = timedelta(minutes=1), timedelta(hours=1)
    jobs = parental_jobs
    found = [
        Job("errands", minute, partial(jobs.run_errands, parental), "Erasures, moves and new addresses."),
        Job("restored", hour, partial(jobs.erase_again, parental), "Re-applies erasures after a restore."),
        Job("sessions", minute, partial(jobs.reap_sessions, parental), "Ends those that are not heard of."),
        Job("notices", 5 * minute, partial(jobs.run_notices, parental), "Alerts and weekly reports."),
        Job(
            "verify", 10 * minute, partial(jobs.verify, parental), "Compares each firewall with our records."
        ),
        Job("files", minute, partial(_read_files, parental), "What sensors wrote into files."),
        Job("purge", hour, partial(jobs.purge_policies, parental), "Policies deleted 30 days ago."),
        Job(
            "parked",
            hour,
            partial(jobs.forget_what_was_parked, parental),
            "Deletes changes parked for a month.",
        ),
        Job("sweep", minute, partial(jobs.sweep, parental), "Looks at everybody, some at a time."),
    ]
    if parental_seed.is_there(parental):
        words = "Keeps the demo's children on the network."
        found.append(Job("demo", hour, partial(parental_seed.keep_alive, parental), words))
    return (*_parental_followers(parental), *found)


def _read_files(parental: Parental) -> int:
    """Count what sensors have appended to `events/*.jsonl` in the system's directory."""

    def take(batch: Batch) -> None:
        parental.notices.blocked_often(parental.ingest.take(batch).touched)

    return 0 if parental.inbox is None else deliver_all(parental.inbox, take)


def _parental_people(parental: Parental) -> Sequence[Person]:
    return [*(Person(**asdict(person)) for person in parental_seed.people(parental)), GATEWAY]


# What reports from the network has a login as people have; its token is all it needs.
GATEWAY = Person(
    subject="gateway_east",
    name="Gateway east",
    role="Event source",
    sees="No pages. Tells the API which address a child has and what was blocked.",
    roles=("network",),
    email="gateway-east@gateway.example",
    home="/docs",
)
PARENTAL = System(
    name="parental",
    title="Parental controls",
    about="What children may not use, and when: written by parents, enforced on firewalls, shown as it is.",
    designs=PARENTAL_DESIGNS,
    start=_start_parental,
    accent="violet",
    router=parental_api.router,
    area=parental_area,
    people=_parental_people,
    seed=parental_seed.seed,
    close=Parental.close,
    dispatch=lambda parental: parental.dispatch,
    jobs=_parental_jobs,
    translations=parental_api.TRANSLATIONS,
    beside=(ERASED_LIST,),
)


# --- Skratch ---


_SECRETS = "secrets"
_OBJECTS = "objects"


def _start_travel(given: Start) -> Travel:
    def issue(user_id: str, session_id: str, email: str | None) -> str:
        """A login of a device: it ends with the session it names."""
        return given.issue(user_id, (), email or "", {"sid": session_id})

    objects = objects_of(given.home, _OBJECTS, (PICTURES, ANALYTICS, ERASED, CHECKS), given.world)
    # With others, who was erased would not be known in a restored copy.
    keyring = checked_keyring(given.home / _SECRETS, objects, given.world)
    travel = open_travel(
        given.db,
        given.world,
        keyring=keyring,
        issue=issue,
        apple=apple_in(given.home, given.world),
        objects=objects,
    )
    travel.follower().create_tables()  # before anything is written: changes from before a stream are not in it
    travel_jobs.clean_restored(travel)  # before anybody is served
    return travel


def _travel_jobs(travel: Travel) -> Sequence[Job | Follower]:
    minute, hour = timedelta(minutes=1), timedelta(hours=1)
    jobs = travel_jobs
    follower = jobs.follower(travel)
    return (
        Follower(f"changes of {follower.table}", follower.run, "Figures, and who has been to a region."),
        Job("erasures", minute, partial(jobs.erase, travel), "Accounts whose week is over."),
        Job("restored", hour, partial(jobs.clean_restored, travel), "Re-applies erasures after a restore."),
        Job(
            "conflicts", minute, partial(jobs.tell_conflicts, travel), "Who has something to settle is told."
        ),
        Job("recount", minute, partial(jobs.recount, travel), "Counts everybody's places, some at a time."),
        Job("visitors", minute, partial(jobs.recount_regions, travel), "Counts who has been to each region."),
        Job("tombstones", minute, partial(jobs.purge_tombstones, travel), "What every device knows is gone."),
        Job("addresses", minute, partial(jobs.rekey, travel), "Hashes of addresses, with the newest secret."),
        Job("figures", minute, partial(jobs.warm_statistics, travel), "Today's, for who had some yesterday."),
        Job("weekly", minute, partial(jobs.weekly_statistics, travel), "Mail with figures, to who wants it."),
        Job("inactive", minute, partial(jobs.tell_inactive, travel), "Mail to who was not seen for a year."),
        Job("analytics", minute, partial(jobs.export_week, travel), "The file of the week, without names."),
        # Thousands of writes: until they are done searches read the files.
        Job("geography", hour, partial(jobs.publish_geography, travel), "Regions, for searches."),
    )


def _travel_people(travel: Travel) -> Sequence[Person]:
    return [Person(**asdict(person)) for person in travel_seed.people(travel)]


def _sign_out_of_travel(travel: Travel, caller: Principal) -> None:
    session_id = caller.claims.get("sid")
    if isinstance(session_id, str):
        travel.sessions.sign_out(caller.subject, session_id)


TRAVEL = System(
    name="travel",
    title="Skratch",
    about="A map that colours in where somebody has been: on any device, with or without a network.",
    designs=TRAVEL_DESIGNS,
    start=_start_travel,
    accent="amber",
    router=travel_api.router,
    area=travel_area,
    people=_travel_people,
    seed=travel_seed.seed,
    sign_out=_sign_out_of_travel,
    dispatch=lambda travel: travel.dispatch,
    jobs=_travel_jobs,
    translations=travel_api.TRANSLATIONS,
    beside=(f"{_OBJECTS}/{ERASED}", f"{_OBJECTS}/{CHECKS}"),
    apart=(_SECRETS,),
    migrations=TRAVEL_MIGRATIONS,
)
SYSTEMS: tuple[System, ...] = (PORTAL, PARENTAL, TRAVEL)
