"""Skratch as the app runs it: SYSTEM.

Elsewhere: its parts as one value (travel.py), HTTP (api/router.py), pages (pages/area.py).
"""

from tablewright.edge import Principal
from tablewright.kit.erased import FOLDER as ERASED
from tablewright.kit.keyring_check import CHECKS, checked_keyring
from tablewright.kit.objects.settings import objects_of
from tablewright.kit.system import Start, System
from tablewright.systems.travel import jobs, seed
from tablewright.systems.travel.account.apple import apple_in
from tablewright.systems.travel.account.data_export import FOLDER as ANALYTICS
from tablewright.systems.travel.account.pictures import PICTURES
from tablewright.systems.travel.api.router import TRANSLATIONS, router
from tablewright.systems.travel.design import DESIGNS
from tablewright.systems.travel.migrations import MIGRATIONS
from tablewright.systems.travel.pages.area import travel_area
from tablewright.systems.travel.travel import KEYRING, Travel, open_travel

_SECRETS = "secrets"
_OBJECTS = "objects"


def start(given: Start) -> Travel:
    """Skratch over its table and its objects, cleaned if the table is an older copy."""

    def issue(user_id: str, session_id: str, email: str | None) -> str:
        """A token for a device: it ends with the session it names."""
        return given.issue(user_id, (), email or "", {"sid": session_id})

    objects = objects_of(
        given.home, _OBJECTS, (PICTURES, ANALYTICS, ERASED, CHECKS), given.world, at=given.objects
    )
    # With other secrets, erased travellers would not be recognised in a restored copy.
    keyring = checked_keyring(KEYRING, given.home / _SECRETS, objects, given.world)
    travel = open_travel(
        given.db,
        given.world,
        keyring=keyring,
        issue=issue,
        apple=apple_in(given.home, given.world),
        objects=objects,
    )
    for consumer in jobs.consumers(travel):
        consumer.create_tables()  # before anything is written: changes from before a stream are not in it
    jobs.clean_restored(travel)  # before the first request
    return travel


def _sign_out(travel: Travel, caller: Principal) -> None:
    session_id = caller.claims.get("sid")
    if isinstance(session_id, str):
        travel.sessions.sign_out(caller.subject, session_id)


SYSTEM = System(
    name="travel",
    title="Skratch",
    about="A map that colours in where you've been: on any device, online and offline.",
    designs=DESIGNS,
    start=start,
    accent="amber",
    router=router,
    pages=travel_area,
    package="tablewright.systems.travel.pages",
    people=seed.people,
    seed=seed.seed,
    sign_out=_sign_out,
    dispatch=lambda travel: travel.dispatch,
    jobs=jobs.work,
    subjects=lambda travel: (travel.exporting.traveller,),
    translations=TRANSLATIONS,
    beside=(f"{_OBJECTS}/{ERASED}", f"{_OBJECTS}/{CHECKS}"),
    apart=(_SECRETS,),
    keyrings=(_SECRETS,),
    migrations=MIGRATIONS,
)
