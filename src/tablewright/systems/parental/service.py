"""Parental controls as the app runs them: SYSTEM.

Elsewhere: their parts as one value (parental.py), HTTP (api/router.py), pages (pages/area.py).
"""

from tablewright.kit.cache import cache_at
from tablewright.kit.erased import FOLDER as ERASED_LIST
from tablewright.kit.system import Start, System
from tablewright.systems.parental import jobs, seed
from tablewright.systems.parental.api.router import TRANSLATIONS, router
from tablewright.systems.parental.blocked import log_readers
from tablewright.systems.parental.design import DESIGNS
from tablewright.systems.parental.enforcement import on_change
from tablewright.systems.parental.firewall.device_secrets import DeviceSecrets
from tablewright.systems.parental.firewall.devices import open_driver
from tablewright.systems.parental.pages.area import parental_area
from tablewright.systems.parental.parental import INVITATION_LINK, Parental, open_parental


def start(given: Start) -> Parental:
    """Parental controls over their tables and firewalls, with the erased of before erased again."""
    secrets = DeviceSecrets(given.home / "secrets")
    drivers = open_driver(given.home / "devices", given.world, secrets.of)
    parental = open_parental(
        given.db,
        given.world,
        given.secret,
        given.issue,
        drivers=drivers,
        secrets=secrets,
        drives=given.drives,
        cache=cache_at(given.cache, given.world, "parental"),
        listen=log_readers.open_log_readers(given.home / "devices", given.world),
        inbox=given.home / "events",
        invitation_link=given.url.rstrip("/") + INVITATION_LINK,
        home=given.home,
        objects=given.objects,
    )
    parental.devices.refuse_unshared(parental.devices.all())
    for consumer in on_change.consumers(parental):
        consumer.create_tables()  # before anything is written: changes from before a stream are not in it
    jobs.erase_again(parental)  # before anybody is served
    return parental


SYSTEM = System(
    name="parental",
    title="Parental controls",
    about="Parents decide what their children can't use and when; firewalls enforce it.",
    designs=DESIGNS,
    start=start,
    accent="violet",
    router=router,
    pages=parental_area,
    package="tablewright.systems.parental.pages",
    people=seed.people,
    seed=seed.seed,
    close=Parental.close,
    dispatch=lambda parental: parental.dispatch,
    jobs=jobs.work,
    subjects=lambda parental: (parental.privacy.people.child, parental.privacy.people.family),
    translations=TRANSLATIONS,
    beside=(ERASED_LIST,),
    has_devices=True,
)
