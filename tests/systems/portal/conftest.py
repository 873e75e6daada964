"""Fixtures of the portal's tests: a portal on a way to a database, a clock that can be moved, its API over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.places import Reached, reached
from tests.systems.portal.talk import AUDIENCE, SECRET, START, Api, Place
from tests.systems.talk import Stage, staged

from tablewright.edge import Issuer
from tablewright.mapping import Db
from tablewright.systems.portal.api import router as portal_api
from tablewright.systems.portal.design import PORTAL
from tablewright.systems.portal.portal import Portal, open_portal
from tablewright.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def at(request: pytest.FixtureRequest, way: str, clock: Clock, issuer: Issuer) -> Iterator[Place]:
    """A portal, opened."""
    endpoint: str | None = request.config.getoption("--endpoint")
    with reached(way, endpoint, clock.world(), PORTAL) as way_there:
        yield _open(way_there, clock, issuer)


def _open(there: Reached, clock: Clock, issuer: Issuer) -> Place:
    def issue(subject: str, roles: tuple[str, ...], email: str) -> str:
        return issuer.issue(
            subject, audience=AUDIENCE, lifetime=timedelta(hours=12), roles=roles, email=email
        )

    db = Db(there.call, PORTAL, world=clock.world(), secret=SECRET, environment=there.environment)
    return Place(open_portal(db, clock.world(), SECRET, issue), db, there.call, clock, issuer, there.engine)


@pytest.fixture
def portal(at: Place) -> Portal:
    return at.portal


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """The API, served once for all tests."""
    with staged(AUDIENCE, portal_api.router, {}) as made:
        yield made


@pytest.fixture
def api(stage: Stage, at: Place) -> Iterator[Api]:
    """The API, about what is in `at`."""
    with stage.showing(at.portal, at.clock, at.issuer, AUDIENCE) as client:
        yield Api(client, at.issuer)
