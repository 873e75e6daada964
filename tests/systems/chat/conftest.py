"""Fixtures of Zoo chat's tests: a zoo on a way to a database, a clock that can be moved, its API over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.places import reached
from tests.systems.chat.place import AUDIENCE, SECRET, START, Api, Place, uuid_world
from tests.systems.talk import Stage, staged

from tablewright.edge import Issuer
from tablewright.mapping import Db
from tablewright.systems.chat.api import router as chat_api
from tablewright.systems.chat.chat import Chat, open_chat
from tablewright.systems.chat.design import CHAT
from tablewright.systems.chat.service import SYSTEM
from tablewright.systems.chat.settings import Settings
from tablewright.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def settings() -> Settings:
    """What the operator set; a test can have its own."""
    return Settings()


@pytest.fixture
def at(
    request: pytest.FixtureRequest,
    way: str,
    clock: Clock,
    issuer: Issuer,
    tmp_path: Path,
    settings: Settings,
) -> Iterator[Place]:
    """Zoo chat, opened, with nobody in it yet."""
    endpoint: str | None = request.config.getoption("--endpoint")
    world = uuid_world(clock.world())
    with reached(way, endpoint, world, CHAT) as there:
        db = Db(there.call, CHAT, world=world, secret=SECRET, environment=there.environment)
        home = tmp_path / "chat"
        chat = open_chat(db, world, SECRET, home=home, url="https://zoo.example", settings=settings)
        yield Place(chat, db, there.call, clock, issuer, there.engine, world, home, way)


@pytest.fixture
def chat(at: Place) -> Chat:
    return at.chat


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """The API, served once for the tests of a file."""
    with staged(AUDIENCE, chat_api.router, SYSTEM.translations) as made:
        yield made


@pytest.fixture
def api(stage: Stage, at: Place) -> Iterator[Api]:
    """The API, about what is in `at`."""
    with stage.showing(at.chat, at.clock, at.issuer, AUDIENCE) as client:
        yield Api(client, at.issuer)
