"""Fixtures of the tests of grading: a classroom."""

from __future__ import annotations

import pytest
from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Place


@pytest.fixture
def room(at: Place) -> Classroom:
    return Classroom(at)
