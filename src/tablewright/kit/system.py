"""What the app needs from a system to run it: a value of functions, nothing to inherit from.

The app opens the store, makes the tables of `designs`, calls `start` for the service, `seed` once in the life of a
store, mounts `router` under `/<name>` and `pages` under `/console/<name>`, and runs `jobs`. Each system's service.py
exports its `SYSTEM`.
Must hold: `seed` may be called again after a crash, so it skips existing items; it reports its progress.
A role of one system is never valid in another: `portal.admin` in a token is `admin` in the portal, and nothing
elsewhere.
Elsewhere: which systems there are (app/systems.py), jobs and followers (jobs.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from fastapi import APIRouter

from tablewright.design import Design
from tablewright.edge import ANYONE, Principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import Problem
from tablewright.kit.delivery import OutboxDispatch
from tablewright.kit.jobs import Follower, Job
from tablewright.kit.subjects import Subject
from tablewright.mapping import Db
from tablewright.mapping.migrate import Migration
from tablewright.world import World

Accent: TypeAlias = Literal["slate", "blue", "teal", "green", "violet", "amber", "rose"]
# (done, total, what): the progress of a job; None if the total is not known yet.
Progress: TypeAlias = Callable[[int, int | None, str], None]
LOGIN_LASTS = timedelta(hours=12)
FOR = "for"  # a claim of our tokens: the one system that issued it


class Issue(Protocol):
    """(subject, roles by their plain names, proved e-mail address, further claims) -> a login for one system."""

    def __call__(
        self, subject: str, roles: tuple[str, ...], email: str, claims: Mapping[str, Any] | None = None, /
    ) -> str: ...


# --- people ---


@dataclass(frozen=True, slots=True)
class Person:
    """A demo user to sign in as. `role` and `sees` are for people to read, `roles` for programs."""

    subject: str
    name: str
    role: str
    sees: str
    roles: tuple[str, ...] = ()
    email: str | None = None
    used_mfa: bool = False
    system: str = ""
    home: str = field(default="")

    @property
    def qualified_roles(self) -> tuple[str, ...]:
        """The roles as a token spells them."""
        return tuple(f"{self.system}.{role}" if self.system else role for role in self.roles)

    @property
    def initials(self) -> str:
        return initials_of(self.name)


def initials_of(name: str) -> str:
    """`AL` for Ada Lovelace; of an address, its first letter."""
    words = [word for word in name.split() if word[:1].isalpha()]
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()


def in_system(caller: Principal, system: str) -> Principal:
    """The caller with the roles of one system, under their plain names; ANYONE if the login is another system's."""
    if caller.claims.get(FOR, system) != system:
        return ANYONE
    prefix = f"{system}."
    return replace(
        caller,
        roles=frozenset(role.removeprefix(prefix) for role in caller.roles if role.startswith(prefix)),
    )


# --- a system ---


def _none(service: Any) -> Sequence[Any]:
    return ()


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Start:
    """What a system is started with. `secret` is different for each system; `url` is the public address.

    `home` is a directory of its own for what is not an item; the first write there makes it. `cache` is the address of
    a Redis for what is read often, if there is one. `staff` gives the e-mail addresses of the accounts with a role.
    `objects` is where objects are, if several processes share the tables (kit/objects/settings.py): then `home` has
    only what the operator puts there, settings and secrets, and nothing is written to it.
    `drives` says whether this process is, at this moment, the one that drives the system's devices; None if processes
    share the tables and none of them was declared to be it, so devices that fit one process cannot be used.
    """

    db: Db
    world: World
    secret: bytes = field(repr=False)
    issue: Issue
    url: str
    home: Path
    cache: str | None = None
    staff: Callable[[str], Sequence[str]] = _none
    objects: str | None = None
    drives: Callable[[], bool] | None = _always


@dataclass(frozen=True, slots=True)
class System:
    """One system. `name` is its path and its roles' prefix; what `start` returns is handed to the other functions."""

    name: str
    title: str
    about: str
    designs: tuple[Design, ...]
    start: Callable[[Start], Any]
    accent: Accent = "blue"
    router: Callable[[Any, FindPrincipal], APIRouter] | None = None
    # (service, Console, who asks) -> Area, both of pages/, which imports this package.
    pages: Callable[[Any, Any, FindPrincipal], Any] | None = None
    # The package with the templates/ and static/ of its pages; they are found under its name.
    package: str = ""
    people: Callable[[Any], Sequence[Person]] = _none
    seed: Callable[[Any, Progress], None] | None = None
    close: Callable[[Any], None] | None = None
    # Ends the sessions that it keeps for a login.
    sign_out: Callable[[Any, Principal], None] | None = None
    # Its outgoing mail.
    dispatch: Callable[[Any], OutboxDispatch[Any]] | None = None
    # What runs without a request while the app is up.
    jobs: Callable[[Any], Sequence[Job[Any] | Follower[Any]]] = _none
    # The people whose data it keeps.
    subjects: Callable[[Any], Sequence[Subject[Any]]] = _none
    translations: Mapping[type[Exception], Callable[[Any], Problem]] = field(default_factory=dict)
    # Folders of its directory that go with a copy of its tables (app/copies/job.py). Nothing secret, and nothing that
    # changes.
    beside: tuple[str, ...] = ()
    # Folders that a restored copy needs and that are in no copy: the operator puts them back by hand.
    apart: tuple[str, ...] = ()
    # Folders of its directory with the secrets of a ring (keyring.py). One process makes them at its first start; those
    # that share tables must be given them.
    keyrings: tuple[str, ...] = ()
    # The bytes that a PUT may have on paths below its own such as `/v1/uploads/*/parts/*`: their routes read streams.
    streamed_bodies: Mapping[str, int] = field(default_factory=dict)
    # The bytes that a form with files may have on paths below those of its pages, such as `/courses/*/import`.
    form_bodies: Mapping[str, int] = field(default_factory=dict)
    # It drives devices, and some of those only one process can drive.
    has_devices: bool = False
    # Tables of its designs that have, or may be given, another form.
    migrations: tuple[Migration, ...] = ()
    # Migrations whose functions need the service, such as the keys of people. The server runs them; they are operated
    # through the system's own pages and API, and requests are not routed by them.
    service_migrations: Callable[[Any], Sequence[Migration]] = _none
    # How commands name its designs, such as shop.yaml; by the system's name, if this is empty.
    source: str = ""


class SystemsClash(ValueError):
    """Two systems want the same name, path or table."""

    def __init__(self, what: str, name: str) -> None:
        self.what, self.name = what, name
        super().__init__(f"two systems have the same {what} '{name}'; rename one of them")
