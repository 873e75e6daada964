"""Fixtures of the mapping's tests: a Db of the shop, on each way to a database, with a clock that can be moved.

`--endpoint URL` runs the suite against any DynamoDB endpoint instead, with tables of its own that are deleted
afterwards; what needs the inside of our engine is passed over then.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.client.ways import WAYS
from tests.mapping.shop import START, shop
from tests.mapping.talk import Shop
from tests.places import Reached, reached

from tablewright.mapping import Db
from tablewright.testing import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture(params=list(WAYS))
def at(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Shop]:
    """A shop, opened: its Db, the Call under it, the clock; the engine where it is ours."""
    endpoint: str | None = request.config.getoption("--endpoint")
    with reached(request.param, endpoint, clock.world(), shop) as there:
        yield _open(there, clock)


def _open(there: Reached, clock: Clock) -> Shop:
    secret = b"the same secret in every process"
    db = Db(there.call, shop, world=clock.world(), secret=secret, environment=there.environment)
    return Shop(db, there.call, clock, there.engine, secret)


@pytest.fixture
def db(at: Shop) -> Db:
    return at.db


@pytest.fixture
def ours(at: Shop) -> Shop:
    """The same, for tests that look inside or stop the engine: our own only."""
    if at.engine is None:
        pytest.skip("looks inside our own engine")
    return at
