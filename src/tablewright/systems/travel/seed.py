"""Demo data: travellers with their maps, marked on several devices, and two conflicts between devices.

Everything is made by signing up, registering devices and pushing, as real devices would. Must hold: a second run skips
existing travellers; nothing in it is random.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import JsonValue

from tablewright.edge.errors import Conflict
from tablewright.kit.system import Person, Progress
from tablewright.systems.travel.account.accounts import Proved
from tablewright.systems.travel.account.devices import Gadget
from tablewright.systems.travel.model import RegionType
from tablewright.systems.travel.sync.operations import Edit, Target
from tablewright.systems.travel.travel import Travel

Data = dict[str, JsonValue]

MAYA, JONAS, LENA, ADMIN = "traveller_maya", "traveller_jonas", "traveller_lena", "admin_ines"
PHONE, TABLET, LAPTOP = "phone", "tablet", "laptop"


def people(travel: Travel) -> tuple[Person, ...]:
    """Three travellers, and an admin."""
    return (
        Person(
            MAYA, "Maya Okonkwo", "Traveller", "A map on three devices, with two conflicts to resolve.", (),
            "maya@skratch.example",
        ),
        Person(
            JONAS, "Jonas Weber", "Traveller", "A public map on two devices.", (),
            "jonas@skratch.example",
        ),
        Person(
            LENA, "Lena Weber", "Young traveller", "A child's map. It is always private.", (), "lena@skratch.example",
        ),
        Person(
            ADMIN, "Ines Duarte", "Skratch admin", "Refused operations, conflicts and the geography. No notes.",
            ("admin",), "ines@skratch.example", True,
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Traveller:
    """A traveller of the demo: where they have been, when and on which device they marked it."""

    user_id: str
    name: str
    zone: str
    devices: tuple[tuple[str, str, str], ...]
    countries: str
    states: str = ""
    provinces: str = ""
    data: dict[str, Data] = field(default_factory=dict)
    is_public: bool = False
    is_minor: bool = False


_MAYA = _Traveller(
    MAYA, "Maya Okonkwo", "Europe/Amsterdam",
    ((PHONE, "Maya's iPhone", "ios"), (TABLET, "Maya's iPad", "ios"), (LAPTOP, "Firefox at home", "web")),
    "NL BE DE FR IT ES PT GB IE DK SE NO IS AT CH CZ PL HU GR TR MA EG KE TZ ZA NG GH JP KR TH VN ID AU NZ US CA MX "
    "PE AR",
    "US-NY US-MA US-CA US-NV US-UT US-AZ US-WA US-OR US-HI US-IL US-FL",
    "CA-ON CA-QC CA-BC CA-AB",
    {
        "NL": {"notes": "Home."},
        "NG": {"visited_date": "1998", "notes": "Grandmother's house in Enugu."},
        "JP": {"visited_date": "2023-04", "notes": "Cherry blossom in Kyoto."},
        "IS": {"visited_date": "2019-08-11", "notes": "The ring road in nine days."},
        "PE": {"visited_date": "2022-07", "notes": "Four days on foot to Machu Picchu."},
        "FR": {
            "visited_date": "2007",
            "trips": {
                "paris": {"start": "2007", "notes": "School trip"},
                "brittany": {"start": "2016-07-02", "end": "2016-07-16", "notes": "Cycling"},
                "marseille": {"start": "2024-05", "notes": "With Jonas"},
            },
        },
        "US": {"visited_date": "2011"},
        "US-HI": {"visited_date": "2025-02-20", "notes": "Whales, every morning."},
        "CA-QC": {"visited_date": "2018-10", "notes": "The woods were red."},
        "KE": {"visited_date": "2020-01", "notes": "Amboseli."},
    },
)  # fmt: skip
_JONAS = _Traveller(
    JONAS, "Jonas Weber", "Europe/Berlin", ((PHONE, "Jonas's Pixel", "android"), (LAPTOP, "Chrome", "web")),
    "DE AT CH FR IT NL BE LU DK PL CZ HR SI GR ES GB US BR CL", "US-CO US-NM US-TX US-LA US-TN", "",
    {
        "SI": {"visited_date": "2021-09", "notes": "Triglav, in fog."},
        "CL": {"visited_date": "2024-01-15", "notes": "Torres del Paine."},
        "US": {"visited_date": "2017-06"},
    },
    is_public=True,
)  # fmt: skip
_LENA = _Traveller(
    LENA, "Lena Weber", "Europe/Berlin", ((TABLET, "Lena's tablet", "android"),),
    "DE AT DK FR IT", data={"DK": {"notes": "Legoland!!"}}, is_minor=True,
)  # fmt: skip
_OTHERS = tuple(
    _Traveller(
        f"traveller_{name.lower()}", name, zone, ((PHONE, f"{name}'s phone", "android"),), countries, is_public=True
    )
    for name, zone, countries in (
        ("Amara", "Africa/Accra", "GH NG CI TG BJ SN MA FR GB US"),
        ("Bruno", "America/Sao_Paulo", "BR AR UY CL PE BO PT ES FR IT"),
        ("Chloe", "Australia/Sydney", "AU NZ FJ ID SG TH VN JP GB FR US CA"),
        ("Dmitri", "Asia/Tbilisi", "GE AM TR GR DE FR IT"),
        ("Emi", "Asia/Tokyo", "JP KR TW TH FR IT US"),
    )
)  # fmt: skip
TRAVELLERS = (_MAYA, _JONAS, _LENA, *_OTHERS)


def seed(travel: Travel, progress: Progress = lambda done, total, what: None) -> None:
    """Create the demo travellers that are missing."""
    for number, person in enumerate(TRAVELLERS):
        progress(number, len(TRAVELLERS), person.name)
        if not _is_complete(travel, person):
            _create(travel, person)
    progress(len(TRAVELLERS), len(TRAVELLERS), "")


def _is_complete(travel: Travel, person: _Traveller) -> bool:
    """Whether all places of a traveller are marked; one may have been removed again."""
    places = f"{person.countries} {person.states} {person.provinces}".split()
    return len(travel.visits.all(person.user_id)) >= len(places) - 1


def _create(travel: Travel, person: _Traveller) -> None:
    local = person.user_id.partition("_")[2]
    with suppress(Conflict):  # signed up by an earlier run
        travel.accounts.sign_up(Proved("email", email=f"{local}@skratch.example"), user_id=person.user_id)
    for id, name, platform in person.devices:
        travel.devices.register(person.user_id, Gadget(id, name, platform))
    switches: Data = {"profile_public": person.is_public, "share_visits": person.is_public}
    settings: Data = {"display_name": person.name, "time_zone": person.zone, "privacy_settings": switches}
    travel.sync.change_user(person.user_id, settings)
    if person.is_minor:
        travel.accounts.set_minor(person.user_id, True, ADMIN, "admin")
    parts = list(_batches(person))
    for number, targets in enumerate(parts):
        device = person.devices[number % len(person.devices)][0]
        # Marked over the last weeks: operations older than a month are taken as a month old.
        ago = timedelta(days=27 - number * 25 // max(len(parts), 1), hours=number * 5 % 12)
        edit = Edit(
            operation_id=f"seed-{local}-{number}",
            operation_type="batch_create",
            visits=list(targets),
            client_timestamp=travel.repository.now() - ago,
        )
        travel.sync.push(person.user_id, device, [edit])
    here = travel.feed.snapshot(person.user_id, person.devices[0][0], size=1)
    for id, _, _ in person.devices:
        travel.feed.pull(person.user_id, id, here.as_of, here.seal)
    if person is _MAYA:
        _disagree(travel)
    travel.statistics.of(person.user_id)


def _batches(person: _Traveller) -> Iterator[Sequence[Target]]:
    """A few places at a time, as a person would mark them."""
    kinds: tuple[tuple[RegionType, str], ...] = (
        ("country", person.countries),
        ("us_state", person.states),
        ("canadian_province", person.provinces),
    )
    for kind, codes in kinds:
        found = [
            Target(region_type=kind, region_code=code, entity_data=person.data.get(code, {}))
            for code in codes.split()
        ]
        for start in range(0, len(found), 9):
            yield found[start : start + 9]


def _disagree(travel: Travel) -> None:
    """Two offline devices make conflicting edits, and one removes a place that the other edits."""
    now = travel.repository.now()

    def edit(id: str, code: str, version: int, data: Data | None = None) -> Edit:
        return Edit(
            operation_id=f"seed-conflict-{id}",
            operation_type="delete" if data is None else "update",
            region_type="country",
            region_code=code,
            client_version=version,
            entity_data=data or {},
            client_timestamp=now - timedelta(hours=9),
        )

    seen = {code: travel.visits.one(MAYA, "country", code).sync_version for code in ("JP", "MX")}
    on_phone = [
        edit("jp-phone", "JP", seen["JP"], {"visited_date": "2023-04-02"}),
        edit("mx-phone", "MX", seen["MX"]),
    ]
    on_tablet = [
        edit(
            "jp-tablet",
            "JP",
            seen["JP"],
            {"visited_date": "2023-03-28", "notes": "Kyoto, then Naoshima by ferry."},
        ),
        edit("mx-tablet", "MX", seen["MX"], {"notes": "Oaxaca on the Day of the Dead."}),
    ]
    travel.sync.push(MAYA, PHONE, on_phone)
    travel.sync.push(MAYA, TABLET, on_tablet)
