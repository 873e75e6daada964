"""Fixtures that the tests of every system share. Each system has its own clock, which begins when it likes.

Most tests run in this process; those that override `way` run on every way. `--endpoint URL` takes any DynamoDB
endpoint instead.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tablewright.edge import Issuer
from tablewright.testing import Clock


@pytest.fixture
def issuer(tmp_path: Path, clock: Clock) -> Issuer:
    return Issuer(tmp_path / "keys", "https://id.example", clock.world(), longest=timedelta(days=400))


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """How the service reaches its database."""
    return "http" if request.config.getoption("--endpoint") else "embedded"
