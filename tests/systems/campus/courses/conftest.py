"""A course for the tests of courses."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.systems.campus.courses.talk import COURSE, Class
from tests.systems.campus.talk import Place


@pytest.fixture
def lesson(at: Place) -> Class:
    """A course with sections A and B, a teacher, and the students u1 and u2."""
    teacher = at.user("grace", "instructor")
    at.campus.courses.create(
        teacher,
        {
            "course_id": COURSE,
            "name": "Computing",
            "semester": "2030 spring",
            "semester_end": at.clock.now() + timedelta(days=120),
            "time_zone": "Europe/Berlin",
            "sections": ["A", "B"],
        },
    )
    found = Class(at, teacher)
    found.person("u1", section="A")
    found.person("u2", section="B")
    return found
