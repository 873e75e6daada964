"""Grades: rubrics, marks, comments in place and regrade requests.

Plain values without storage. Elsewhere: the submission with its published grade (course_model.py), the rest (model.py).
"""

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from tablewright.systems.campus.course_model import PinnedFile, Points
from tablewright.systems.campus.model import Value

RegradeStatus = Literal["open", "answered", "closed"]


class Level(Value):
    level_id: str
    title: str
    points: Points


class Criterion(Value):
    criterion_id: str
    title: str
    description: str | None = None
    levels: list[Level]


class Rubric(Value):
    """Criteria with levels and points, used by assignments of a course."""

    course_id: str
    rubric_id: str
    title: str
    criteria: list[Criterion]
    created_at: datetime
    updated_at: datetime
    version: int = 1


class CriterionMark(Value):
    """The level chosen for a criterion, or points of the marker's own, and a comment."""

    level_id: str | None = None
    points: Points | None = None
    comment: str | None = None


class Mark(Value):
    """What one marker thinks of a submission: a draft until it is published."""

    submission_id: str
    marker_id: str
    marker_name: str
    assignment_id: str
    rubric_id: str | None = None
    criteria: dict[str, CriterionMark] = Field(default_factory=dict)
    adjustment: Points = Decimal(0)
    score: Points | None = None
    grades: dict[str, Points] = Field(default_factory=dict)
    feedback: str | None = None
    feedback_file_id: str | None = None
    feedback_file: PinnedFile | None = None
    # With second marking: the marker is done. The grade of the submission is the mark that is published.
    finished: bool = False
    published: bool = False
    updated_at: datetime
    version: int = 1


class Comment(Value):
    """A comment at a place: a line, or a position on a page of a PDF or on an image (0 to 1 from the top left)."""

    submission_id: str
    comment_id: str
    part_id: str
    author_id: str
    author_name: str
    line: int | None = None
    page: int | None = None
    x: Points | None = None
    y: Points | None = None
    text: str
    created_at: datetime
    version: int = 1


class SavedComment(Value):
    """A comment that markers of a course use again."""

    course_id: str
    saved_comment_id: str
    text: str
    created_at: datetime


class RegradePost(Value):
    author_id: str
    author_name: str
    text: str
    at: datetime


class Regrade(Value):
    """A request to look at a grade again: a thread."""

    submission_id: str
    regrade_id: str
    assignment_id: str
    course_id: str
    student_id: str
    student_name: str
    status: RegradeStatus = "open"
    posts: list[RegradePost] = Field(default_factory=list)
    opened_at: datetime
    version: int = 1
