"""Fixtures of the wire tests: a server on a real engine in memory, and one on an engine the test controls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.wire.fake_engine import FakeEngine, as_engine

from tablewright import testing
from tablewright.wire import Limits, serving

QUICK = Limits(
    request_seconds=0.4, idle_seconds=0.4, unread_seconds=0.4, farewell_seconds=0.4, tick_seconds=0.05
)


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """A server for tests that leave nothing behind; it must outlive whatever they send."""
    with testing.engine() as engine, serving(engine) as url:
        yield url


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def fake_url(engine: FakeEngine) -> Iterator[str]:
    """A server on `engine`."""
    with serving(as_engine(engine)) as url:
        yield url
        engine.disk.set()


@pytest.fixture
def quick_url(engine: FakeEngine) -> Iterator[str]:
    """The same, with little patience."""
    with serving(as_engine(engine), limits=QUICK) as url:
        yield url
