"""Fixtures of the edge tests: a clock that can be moved and a world that has it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tablewright.edge import Issuer
from tablewright.testing import Clock
from tablewright.world import World


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world(clock: Clock) -> World:
    return clock.world()


@pytest.fixture
def issuer(tmp_path: Path, world: World) -> Issuer:
    return Issuer(tmp_path / "keys", "https://id.example", world)


@pytest.fixture
def minute() -> timedelta:
    return timedelta(minutes=1)
