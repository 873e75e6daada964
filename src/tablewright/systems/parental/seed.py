"""Demo data: families in three time zones with a month of history, two firewalls, children on the network.

Families and policies are made through the service, under a clock that runs from five weeks ago to now; counts go
through the ingester; the rules on the firewalls come from the reconciler. Only the history of past weeks is written
directly, from what the policies say. Must hold: a second run skips existing items; nothing is random.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tablewright.edge.errors import CallerError, Conflict
from tablewright.kit.seed_clock import SeedClock
from tablewright.kit.system import Person, Progress
from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental import seed_past
from tablewright.systems.parental.blocked import weekly_report
from tablewright.systems.parental.blocked.events import Batch
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.model import (
    EVERYTHING,
    BlockedApp,
    Child,
    Day,
    Device,
    Family,
    Guardian,
    Window,
)
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.policy import effective
from tablewright.systems.parental.policy.policies import Draft, Policies
from tablewright.systems.parental.repository import Repository

DAYS = 35
METRIC_DAYS = 30
EVENTS_IN_A_BATCH = 1000
OPERATOR = Actor("olga@gateway.example", "operator", "operator_olga", "olga@gateway.example")
SUPPORT = Actor("sam@gateway.example", "support", "support_sam", "sam@gateway.example")
ANNA = Actor("anna@miller.example", "parent", "parent_anna", "anna@miller.example")
BEN = Actor("ben@miller.example", "parent", "parent_ben", "ben@miller.example")
CHIDI = Actor("chidi@okafor.example", "parent", "parent_chidi", "chidi@okafor.example")
NOMSA = Actor("nomsa@dube.example", "parent", "parent_nomsa", "nomsa@dube.example")
SARAH, TOM, ADA, THABO = "+15551234567", "+15557654321", "+4915112345678", "+27825550199"
FIREWALLS = (
    ("ftd-device-001", "Gateway east", "005056a7-bf9e-0ed3-0000-004294967296"),
    ("ftd-device-002", "Gateway west", "005056a7-bf9e-0ed3-0000-004294967297"),
)
_WEEK: tuple[Day, ...] = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_SCHOOL: tuple[Day, ...] = ("MON", "TUE", "WED", "THU", "FRI")
_SCHOOL_NIGHTS: tuple[Day, ...] = ("SUN", "MON", "TUE", "WED", "THU")


# The network's event source has a login like a person's; it needs only the token.
GATEWAY = Person(
    subject="gateway_east",
    name="Gateway east",
    role="Event source",
    sees="No pages. Reports to the API which address a child has and what was blocked.",
    roles=("network",),
    email="gateway-east@gateway.example",
    home="/docs",
)


def people(parental: Parental) -> tuple[Person, ...]:
    """Parents of two families, the network operator, support and a gateway."""
    return (
        Person(
            ANNA.subject, "Anna Miller", "Parent", "Her family: what is blocked for Sarah and Tom, and when.", (),
            ANNA.name,
        ),
        Person(
            BEN.subject, "Ben Miller", "Co-parent", "The same family; he was invited.", (), BEN.name,
        ),
        Person(
            CHIDI.subject, "Chidi Okafor", "Parent", "Another family, in Berlin; sees nothing about the Millers.", (),
            CHIDI.name,
        ),
        Person(
            OPERATOR.subject, "Olga Petrova", "Network operator",
            "Firewalls, failures and the app list, without seeing whose they are.", ("operator",), OPERATOR.name, True,
            home="/console/parental/devices",
        ),
        Person(
            SUPPORT.subject, "Sam Wright", "Support", "A family's pages, with a reason that the family can read.",
            ("support",), SUPPORT.name,
        ),
        GATEWAY,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Kid:
    """A child of the demo. `eager` is how often it tries what is blocked."""

    phone: str
    name: str
    plans: tuple[Draft, ...]
    address: str = ""
    device: int = 0
    eager: int = 3


@dataclass(frozen=True, slots=True)
class _Home:
    """A family of the demo."""

    name: str
    owner: Actor
    owner_name: str
    zone: str
    kids: tuple[_Kid, ...]


def _night(days: Sequence[Day], start: str = "22:00", end: str = "06:00") -> Window:
    return Window(start_time=start, end_time=end, days=list(days))


def _rule(apps: Sequence[str], windows: tuple[Window, ...], notes: str, domains: Sequence[str] = ()) -> Draft:
    return Draft([BlockedApp(app_name=app, domains=list(domains)) for app in apps], windows, notes=notes)


_BEDTIME = _rule(
    ("TikTok", "Instagram"), (_night(_WEEK), _night(_SCHOOL, "08:00", "15:00")), "School and sleep time restrictions"
)  # fmt: skip
HOMES = (
    _Home("The Millers", ANNA, "Anna Miller", "America/New_York", (
        _Kid(SARAH, "Sarah", (
            _BEDTIME,
            _rule(("YouTube",), (_night(_SCHOOL_NIGHTS, "20:30", "23:00"),), "Homework first"),
        ), "10.20.30.40", 0, 5),
        _Kid(TOM, "Tom", (
            _rule(("Fortnite", "Roblox"), (_night(_SCHOOL, "07:00", "16:00"), _night(_WEEK, "19:30", "07:00")),
                  "Games only in the afternoon"),
            _rule(("TikTok", "Snapchat"), (), "Not yet"),
            _rule((EVERYTHING,), (_night(_WEEK, "21:00", "06:30"),), "Sleep"),
        ), "10.20.30.41", 0, 7),
    )),
    _Home("Okafor", CHIDI, "Chidi Okafor", "Europe/Berlin", (
        _Kid(ADA, "Ada", (
            _rule(("Instagram", "Snapchat"), (_night(_WEEK, "21:30", "06:30"),), "Handy aus"),
            _rule(("Puzzle site",), (_night(_SCHOOL, "08:00", "13:00"),), "Her own list", ("puzzles.example",)),
        ), "10.40.7.15", 1, 4),
    )),
    _Home("Dube", NOMSA, "Nomsa Dube", "Africa/Johannesburg", (
        _Kid(THABO, "Thabo", (
            _rule(("YouTube", "TikTok"), (_night(_SCHOOL, "14:00", "17:00"),), "Homework"),
        ), "10.60.2.8", 1, 3),
    )),
)  # fmt: skip
_NAMES = ("Mia", "Noah", "Lina", "Omar", "Ivy", "Luca", "Zola", "Finn", "Aiko", "Mateo", "Nia", "Elias")
_HOUSES = (
    "Fischer", "Naidoo", "Garcia", "Tanaka", "Novak", "Silva", "Haddad", "Larsen", "Moyo", "Rossi", "Kim", "Dunn",
)  # fmt: skip
_ZONES = ("Europe/Berlin", "Africa/Johannesburg", "America/New_York", "Asia/Kathmandu", "Australia/Sydney")


def seed(parental: Parental, progress: Progress, families: int = 12) -> None:
    """Fill an empty store; `progress` reports the progress. `families`: how many to add without a demo user."""
    homes = [*HOMES, *(_other_home(number) for number in range(families))]
    kids = [(home, kid) for home in homes for kid in home.kids]
    total = 2 + len(homes) + 2 * len(kids) + 2
    parental.registry.load()
    progress(1, total, "apps and firewalls")
    _firewalls(parental)
    progress(2, total, "apps and firewalls")
    done = 2
    start = parental.repository.now().replace(microsecond=0) - timedelta(days=DAYS)
    for number, home in enumerate(homes):
        _home(parental, SeedClock(start + timedelta(hours=number)), home)
        done += 1
        progress(done, total, "families and policies")
    # The time of the first run, even after an interrupted one: what follows must be the same each time.
    (first,) = [family for family in parental.families.of(ANNA) if family.name == HOMES[0].name]
    today = first.created_at.replace(microsecond=0) + timedelta(days=DAYS)
    for _, kid in kids:
        child = parental.repository.child_of_phone(kid.phone)
        if child is not None:
            _month(parental, child, kid, today)
        done += 1
        progress(done, total, "a month of attempts and history")
    for _, kid in kids:
        _on_the_network(parental, kid)
        done += 1
        progress(done, total, "children on the network")
    _today(parental)
    weekly_report.run(parental.repository)
    progress(total, total, "done")


def is_there(parental: Parental) -> bool:
    """Whether this store has the demo data."""
    return any(family.name == HOMES[0].name for family in parental.families.of(ANNA))


def keep_alive(parental: Parental) -> int:
    """Repeat the demo's session events, so that the sessions do not end; returns how many."""
    heard = 0
    for home in HOMES:
        for kid in home.kids:
            with suppress(CallerError):
                session = parental.sessions.event(
                    "start", kid.phone, _session_of(kid), ip=kid.address, device=FIREWALLS[kid.device][0]
                )
                heard += session is not None
    return heard


def _other_home(number: int) -> _Home:
    house = _HOUSES[number % len(_HOUSES)]
    mail = f"{house.lower()}{number:02}@family.example"
    apps = (("TikTok", "Instagram"), ("YouTube",), ("Fortnite", "Snapchat"))[number % 3]
    plan = _rule(apps, (_night(_WEEK, f"{20 + number % 3}:00", "06:00"),), "Evenings")
    kid = _Kid(
        f"+1555200{number:04}",
        _NAMES[number % len(_NAMES)],
        (plan,),
        f"10.90.0.{number + 2}" if number % 2 else "",
        number % 2,
        2,
    )
    owner = Actor(mail, "parent", f"parent_{number:03}", mail)
    return _Home(house, owner, f"Parent {house}", _ZONES[number % len(_ZONES)], (kid,))


def _firewalls(parental: Parental) -> None:
    for device_id, name, policy in FIREWALLS:
        with suppress(Conflict):
            parental.devices.add(
                Device(device_id=device_id, kind="simulated", name=name, access_policy_id=policy)
            )


# --- what people wrote ---


def _home(parental: Parental, clock: SeedClock, home: _Home) -> None:
    """A family as it came to be: made, completed, its policies written."""
    db, world = parental.repository.db, parental.repository.world
    past = Repository(db, replace(world, now=clock))
    families = Families(past)
    policies = Policies(past, families, parental.registry.all)
    family = families.create(home.name, home.owner, person=home.owner_name, key=f"seed-{home.owner.subject}")
    if home.owner == ANNA:
        _ben(past, family)
        if not family.allowed_domains:
            families.change(
                family.family_id,
                {"allowed_domains": ["school.example", "library.example"], "alert_after_blocks": 60},
                ANNA,
            )
    for kid in home.kids:
        clock.now += timedelta(hours=1)
        child = _child(past, family, home, kid)
        for number, plan in enumerate(kid.plans):
            clock.now += timedelta(minutes=10)
            policies.create(child, plan, home.owner, key=f"seed-policy-{number}")


def _ben(past: Repository, family: Family) -> None:
    guardian = Guardian(
        family_id=family.family_id,
        subject=BEN.subject,
        email=BEN.name,
        name="Ben Miller",
        joined_at=past.now(),
    )
    if past.db.get_or_create(d.guardians.create(guardian))[1]:
        past.db.write(past.audit(family.family_id, BEN.name, "invitation accepted", BEN, None, guardian))


def _child(past: Repository, family: Family, home: _Home, kid: _Kid) -> Child:
    """A child whose number counts as verified: a code from then would have expired."""
    now = past.now()
    child = Child(
        child=kid.phone,
        phone=kid.phone,
        held_phone=kid.phone,
        family_id=family.family_id,
        child_name=kid.name,
        timezone=home.zone,
        parent_email=home.owner.name,
        created_at=now,
        updated_at=now,
    )
    kept, is_new = past.db.get_or_create(d.children.create(child))
    if is_new:
        past.db.write(past.audit(family.family_id, child.child, "child added", home.owner, None, child))
    return kept


# --- what happened ---


def _month(parental: Parental, child: Child, kid: _Kid, today: datetime) -> None:
    """Past blocks, blocked attempts, and the history of the firewalls."""
    policies = parental.repository.policies_of(child.child)
    start = today - timedelta(days=METRIC_DAYS)
    spans = effective.timeline(child, policies, [], start, today)
    events = list(seed_past.attempts(child, kid.eager, spans))
    for number in range(0, len(events), EVENTS_IN_A_BATCH):
        batch = Batch(
            f"seed-{seed_past.id_of(child.child)}-{number}", events[number : number + EVENTS_IN_A_BATCH]
        )
        parental.ingest.take(batch)
    if not kid.address:
        return
    device = (FIREWALLS[kid.device][0], FIREWALLS[kid.device][2])
    actions = [
        action
        for span in spans
        for action in seed_past.actions(child, kid.address, device, span, start, today)
    ]
    for number in range(0, len(actions), 500):
        parental.repository.db.batch(d.actions.put(action) for action in actions[number : number + 500])


# --- what is now ---


def _session_of(kid: _Kid) -> str:
    return f"demo-{kid.address}"


def _on_the_network(parental: Parental, kid: _Kid) -> None:
    child = parental.repository.child_of_phone(kid.phone)
    if child is None or not kid.address:
        return
    parental.sessions.event(
        "start",
        kid.phone,
        _session_of(kid),
        ip=kid.address,
        device=FIREWALLS[kid.device][0],
        once=f"seed-{_session_of(kid)}",
    )
    parental.reconciler.reconcile(child.child)


def _today(parental: Parental) -> None:
    """Today's activity: a view by support, an invitation, an exception."""
    sarah = parental.repository.child_of_phone(SARAH)
    if sarah is None:
        return
    entries = parental.repository.db.all(d.audit.of(sarah.family_id))
    if not any(entry.actor == SUPPORT.name for entry in entries):
        parental.families.child(SUPPORT, SARAH, reason="Ticket 4711: is YouTube blocked at nine?")
        parental.guardians.invite(sarah.family_id, "grandma@miller.example", ANNA)
    now = parental.repository.now()
    with suppress(CallerError):
        parental.overrides.add(
            sarah, "allow", "YouTube", now + timedelta(minutes=45), ANNA, reason="A film for school",
            key="seed-override",
        )  # fmt: skip
