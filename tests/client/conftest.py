"""Fixtures of the client's tests: an engine with a table of pets, and each way to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.client.ways import WAYS, Naps, table

from tablewright import Engine, testing
from tablewright.client import Call


@pytest.fixture
def engine() -> Iterator[Engine]:
    with testing.engine() as opened:
        opened.call("CreateTable", table())
        yield opened


@pytest.fixture(params=list(WAYS))
def call(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Call]:
    """The same engine in process, over HTTP with verified signatures, and through boto3."""
    with WAYS[request.param](engine) as way:
        yield way


@pytest.fixture
def naps() -> Naps:
    return Naps()
