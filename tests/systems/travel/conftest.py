"""Fixtures of the tests of Skratch: a place on a way to a database, a clock, a traveller with two devices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.places import reached
from tests.systems.talk import Stage, staged
from tests.systems.travel.people import AUDIENCE, Api, Home, home_over
from tests.systems.travel.talk import PHONE, SECRET, START, TABLET, Gadget, Place, sign_up

from tablewright.edge import Issuer
from tablewright.mapping import Db
from tablewright.systems.travel.api import router as travel_api
from tablewright.systems.travel.design import TRAVEL
from tablewright.systems.travel.travel import Travel, open_travel
from tablewright.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def at(request: pytest.FixtureRequest, way: str, clock: Clock) -> Iterator[Place]:
    """Skratch, opened, with one traveller."""
    endpoint: str | None = request.config.getoption("--endpoint")
    with reached(way, endpoint, clock.world(), TRAVEL, sign_up) as there:
        db = Db(there.call, TRAVEL, world=clock.world(), secret=SECRET, environment=there.environment)
        yield Place(open_travel(db, clock.world()), db, there.call, clock, there.engine)


@pytest.fixture
def travel(at: Place) -> Travel:
    return at.travel


@pytest.fixture
def phone(at: Place) -> Gadget:
    return at.gadget(PHONE)


@pytest.fixture
def tablet(at: Place) -> Gadget:
    return at.gadget(TABLET)


@pytest.fixture
def home(
    request: pytest.FixtureRequest, way: str, clock: Clock, issuer: Issuer, tmp_path: Path
) -> Iterator[Home]:
    """Skratch with logins, mail and objects, and nobody in it yet."""
    endpoint: str | None = request.config.getoption("--endpoint")
    with reached(way, endpoint, clock.world(), TRAVEL) as there:
        yield home_over(there.call, clock, issuer, tmp_path, there.environment)


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """The API, served once for all tests."""
    with staged(AUDIENCE, travel_api.router, travel_api.TRANSLATIONS) as made:
        yield made


@pytest.fixture
def api(stage: Stage, home: Home) -> Iterator[Api]:
    """The API, about what is in `home`."""
    with stage.showing(home.travel, home.clock, home.issuer, AUDIENCE) as client:
        yield Api(client, home.issuer)
