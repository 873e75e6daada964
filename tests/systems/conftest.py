"""Fixtures that the tests of every system share. Each system has its own clock, which begins when it likes.

Most tests run in this process; those that override `way` run on every way. `--endpoint URL` takes any DynamoDB
endpoint instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests import places

from tablewright.edge import Issuer
from tablewright.mapping.consumer import shard_reader
from tablewright.testing import Clock


@pytest.fixture(autouse=True, scope="module")
def followers_know_the_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """Who follows changes believes fewer empty pages here: our engine sends one only for every 5000 strange changes."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption("--endpoint"):
            patch.setattr(shard_reader, "EMPTY_PAGES", 3)
        yield


@pytest.fixture(autouse=True)
def counted_calls(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """The report of the test says how many requests it sent to the endpoint."""
    before = places.calls
    yield
    if places.calls > before:
        record_property("calls", places.calls - before)


@pytest.fixture
def issuer(tmp_path: Path, clock: Clock) -> Issuer:
    return Issuer(tmp_path / "keys", "https://id.example", clock.world(), longest=timedelta(days=400))


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """How the service reaches its database."""
    return "http" if request.config.getoption("--endpoint") else "embedded"
