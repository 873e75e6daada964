"""A server on disk whose clock the tests move. The packages know the real time, at which it begins."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.published.agent_tables import CREDENTIALS

from tablewright import Engine, testing
from tablewright.testing import Clock
from tablewright.wire import serving


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime.now(UTC))


@pytest.fixture
def engine(tmp_path: Path, clock: Clock) -> Iterator[Engine]:
    with testing.engine(tmp_path / "store", world=clock.world()) as engine:
        yield engine


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    with serving(engine) as url:
        yield url


@pytest.fixture
def client(url: str) -> Any:
    return boto3.client("dynamodb", endpoint_url=url, **CREDENTIALS)
