"""Fixtures of Campus Cloud's tests: a campus on a way to a database, a clock that can be moved, its API over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.places import reached
from tests.systems.campus.talk import AUDIENCE, SECRET, START, Api, Place, uuid_world
from tests.systems.talk import Stage, staged

from tablewright.edge import Issuer
from tablewright.mapping import Db
from tablewright.systems.campus.api import router as campus_api
from tablewright.systems.campus.api.parts import STREAMED
from tablewright.systems.campus.campus import Campus, open_campus
from tablewright.systems.campus.design import CAMPUS
from tablewright.systems.campus.settings import Settings
from tablewright.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def at(
    request: pytest.FixtureRequest, way: str, clock: Clock, issuer: Issuer, tmp_path: Path
) -> Iterator[Place]:
    """A campus, opened, with nobody in it yet."""
    endpoint: str | None = request.config.getoption("--endpoint")
    world = uuid_world(clock.world())
    with reached(way, endpoint, world, CAMPUS) as there:
        db = Db(there.call, CAMPUS, world=world, secret=SECRET, environment=there.environment)
        campus = open_campus(
            db,
            world,
            SECRET,
            home=tmp_path / "campus",
            url="https://campus.example",
            settings=Settings(scanner="signatures"),
        )
        yield Place(campus, db, there.call, clock, issuer, there.engine, world)


@pytest.fixture
def campus(at: Place) -> Campus:
    return at.campus


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """The API, served once for all tests."""
    with staged(AUDIENCE, campus_api.router, {}, STREAMED) as made:
        yield made


@pytest.fixture
def api(stage: Stage, at: Place) -> Iterator[Api]:
    """The API, about what is in `at`."""
    with stage.showing(at.campus, at.clock, at.issuer, AUDIENCE) as client:
        yield Api(client, at.issuer)
