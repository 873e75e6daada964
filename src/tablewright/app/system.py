"""What the app must know of a system to carry it: a value of functions, nothing to inherit from.

The app opens the store, makes the tables of `designs`, calls `start` for the service, `seed` once in the life of a
store, mounts `router` under `/<name>` and shows `area` in the console.
Must hold: `seed` may be called again after a crash, so it passes over what is there already; it tells its progress.
Elsewhere: which systems there are (systems.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from tablewright.app.console.area import Accent, Area
from tablewright.app.console.console import Console
from tablewright.app.logins import Issue
from tablewright.app.people import Person
from tablewright.app.progress import Told
from tablewright.app.schedule import Follower, Job
from tablewright.design import Design
from tablewright.edge import Principal
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.outbox import OutboxDispatch
from tablewright.edge.problems import Problem
from tablewright.mapping import Db
from tablewright.mapping.migrate import Migration
from tablewright.world import World


def _nobody(service: Any) -> Sequence[Person]:
    return ()


def _no_jobs(service: Any) -> Sequence[Job | Follower]:
    return ()


@dataclass(frozen=True, slots=True)
class Start:
    """What a system is started with. `secret` is its own, no two have the same; `url` is where people reach us.

    `home` is a directory of its own for what is no item; it is made by whoever first writes there. `cache` is the
    address of a Redis for what is read often, if there is one.
    """

    db: Db
    world: World
    secret: bytes = field(repr=False)
    issue: Issue
    url: str
    home: Path
    cache: str | None = None


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
    area: Callable[[Any, Console, FindPrincipal], Area] | None = None
    people: Callable[[Any], Sequence[Person]] = _nobody
    seed: Callable[[Any, Told], None] | None = None
    close: Callable[[Any], None] | None = None
    # What it keeps of a login ends with it.
    sign_out: Callable[[Any, Principal], None] | None = None
    # What it has to say to people by mail.
    dispatch: Callable[[Any], OutboxDispatch[Any]] | None = None
    # What runs by itself while the app is up.
    jobs: Callable[[Any], Sequence[Job | Follower]] = _no_jobs
    translations: Mapping[type[Exception], Callable[[Any], Problem]] = field(default_factory=dict)
    # Folders of its directory that go with a copy of its tables (copies.py). Nothing secret, and nothing that changes.
    beside: tuple[str, ...] = ()
    # Folders without which a copy is of no use, and which are in none: whoever restores one puts them back.
    apart: tuple[str, ...] = ()
    # Tables of its designs that have, or may be given, another form.
    migrations: tuple[Migration, ...] = ()


class SystemsClash(ValueError):
    """Two systems want the same name, path or table."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"two systems have the {what} '{name}'; rename it in one of them")
