"""Fixtures of the tests of parental controls: a place on a way to a database, a clock, simulated firewalls, the API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.places import Reached, reached
from tests.systems.parental.talk import AUDIENCE, SECRET, START, Api, Place
from tests.systems.talk import Stage, staged

from tablewright.edge import Issuer
from tablewright.mapping import Db
from tablewright.systems.parental.api import router as parental_api
from tablewright.systems.parental.design import PARENTAL
from tablewright.systems.parental.firewall.driver import FirewallDriver
from tablewright.systems.parental.firewall.simulated import SimulatedFirewall
from tablewright.systems.parental.model import App, Device
from tablewright.systems.parental.parental import Parental, open_parental
from tablewright.systems.parental.policy.registry import Registry, shipped_apps
from tablewright.systems.parental.repository import Repository
from tablewright.testing import Clock

NAMED = frozenset((
    "Discord", "Encrypted DNS", "Fortnite", "Instagram", "Netflix", "Pinterest", "Reddit", "Roblox", "Snapchat",
    "Spotify", "TikTok", "Twitch", "X", "YouTube",
))  # fmt: skip


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def at(request: pytest.FixtureRequest, way: str, clock: Clock, issuer: Issuer) -> Iterator[Place]:
    """Parental controls, opened."""
    endpoint: str | None = request.config.getoption("--endpoint")
    with reached(way, endpoint, clock.world(), PARENTAL, load_apps) as way_there:
        here = _open(way_there, clock, issuer)
        yield here
        here.parental.close()


def few_apps(clock: Clock) -> list[App]:
    """The shipped apps that tests name: to load all 174 took half the time of most tests."""
    return [app for app in shipped_apps(clock.now()) if app.app_name in NAMED]


def load_apps(db: Db, clock: Clock) -> None:
    Registry(Repository(db, clock.world(), SECRET)).load(shipped=few_apps(clock))


def _open(there: Reached, clock: Clock, issuer: Issuer) -> Place:
    def issue(subject: str, roles: tuple[str, ...], email: str) -> str:
        return issuer.issue(
            subject, audience=AUDIENCE, lifetime=timedelta(hours=12), roles=roles, email=email
        )

    firewalls: dict[str, SimulatedFirewall] = {}

    def driver(device: Device) -> FirewallDriver:
        if device.device_id not in firewalls:
            firewalls[device.device_id] = SimulatedFirewall(clock.world(), sleep=lambda seconds: None)
        return firewalls[device.device_id]

    db = Db(there.call, PARENTAL, world=clock.world(), secret=SECRET, environment=there.environment)
    parental = open_parental(db, clock.world(), SECRET, issue, drivers=driver)
    return Place(parental, db, there.call, clock, issuer, there.engine, firewalls)


@pytest.fixture
def parental(at: Place) -> Parental:
    return at.parental


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """The API, served once for all tests."""
    with staged(AUDIENCE, parental_api.router, parental_api.TRANSLATIONS) as made:
        yield made


@pytest.fixture
def api(stage: Stage, at: Place) -> Iterator[Api]:
    """The API, about what is in `at`."""
    with stage.showing(at.parental, at.clock, at.issuer, AUDIENCE) as client:
        yield Api(client, at.issuer)
