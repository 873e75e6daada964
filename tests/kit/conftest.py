from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kit.shop import shop

from tablewright import testing
from tablewright.kit.tables import Tables
from tablewright.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tables(clock: Clock) -> Iterator[Tables]:
    with testing.engine(world=clock.world()) as engine:
        yield shop(engine, clock)
