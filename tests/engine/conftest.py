"""Fixtures of the engine's tests: engines that are verified when the test is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.tables import definition

from tablewright import Engine, testing


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock()


@pytest.fixture
def engine(clock: testing.Clock) -> Iterator[Engine]:
    """In memory, with a table of pets."""
    with testing.engine(world=clock.world()) as opened:
        opened.call("CreateTable", definition())
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where a store may be made."""
    return tmp_path / "store"


@pytest.fixture(params=["memory", "disk"])
def either(request: pytest.FixtureRequest, store: Path) -> Iterator[Engine]:
    """In memory and on disk: their readers take different ways."""
    with testing.engine(":memory:" if request.param == "memory" else store) as opened:
        opened.call("CreateTable", definition())
        yield opened
