"""Bodies and views of grading.

Must hold: a view is made from a submission that passed grading/disclosure.py.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from tablewright.kit.http import Body, Moment, view_of
from tablewright.systems.campus.course_model import (
    GradeGroup,
    GradeLetter,
    MarkingState,
    Points,
    Submission,
    SubmissionStatus,
)
from tablewright.systems.campus.grade_model import Comment, Criterion, CriterionMark, Level, Mark, Rubric
from tablewright.systems.campus.grading.mark_entries import MarkEntry
from tablewright.systems.campus.model import Value

Id = Annotated[str, Field(max_length=64)]
Text = Annotated[str, Field(max_length=20_000)]
Share = Annotated[Decimal, Field(decimal_places=9)]
# Whether it is in the bounds of an assignment is checked later; here, that it can be a number of points at all.
Score = Annotated[Decimal, Field(ge=-100_000, le=100_000, decimal_places=2)]


# --- marks ---


class HandGradeBody(Body):
    """A mark; without `publish` it is a draft."""

    score: Score | None = None
    criteria: dict[Id, CriterionMark] = Field(default_factory=dict, max_length=50)
    adjustment: Score = Decimal(0)
    scores: dict[Id, Score] = Field(default_factory=dict, max_length=100)
    feedback: Text | None = None
    feedback_file_id: Id | None = None
    publish: bool = False

    def entry(self) -> MarkEntry:
        return MarkEntry(
            self.score, self.criteria, self.adjustment, self.scores, self.feedback, self.feedback_file_id
        )


class GradeBody(HandGradeBody):
    """A mark of a submission. `version` is the one that GET returned."""

    version: int | None = None


class CandidateView(Value):
    """A student or team without a submission."""

    student_id: str
    name: str
    section: str | None = None


class VersionBody(Body):
    version: int | None = None


class GradeView(Value):
    """A submission with its marking, as its reader may see it."""

    submission_id: str
    assignment_id: str
    course_id: str
    student_id: str
    student_name: str
    student_email: str
    team_name: str | None
    member_ids: list[str]
    submission_number: int
    submitted_at: datetime
    is_late: bool
    status: SubmissionStatus
    marking_state: MarkingState
    score: Points | None
    grade: Points | None
    max_grade: Points | None
    scores: dict[str, Points]
    grades: dict[str, Points]
    penalty_percent: Points | None
    feedback: str | None
    feedback_file_id: str | None
    graded_at: datetime | None
    graded_by: str | None
    graded_by_name: str | None
    grader_id: str | None
    second_grader_id: str | None
    version: int


class MarkingView(GradeView):
    """The same with what belongs to it: marks (for staff), the rubric and the comments."""

    marks: list[Mark] = Field(default_factory=list)
    criteria: dict[str, CriterionMark] = Field(default_factory=dict)
    rubric: Rubric | None = None
    comments: list[Comment] = Field(default_factory=list)


def grade_view(shown: Submission, version: int | None = None) -> GradeView:
    return view_of(GradeView, shown, **({} if version is None else {"version": version}))


def marking_view(
    shown: Submission,
    version: int,
    marks: Iterable[Mark],
    criteria: dict[str, CriterionMark],
    rubric: Rubric | None,
    comments: list[Comment],
) -> MarkingView:
    return view_of(
        MarkingView,
        shown,
        version=version,
        marks=list(marks),
        criteria=criteria,
        rubric=rubric,
        comments=comments,
    )


# --- comments ---


class CommentBody(Body):
    part_id: Id
    line: int | None = None
    page: int | None = None
    x: Share | None = None
    y: Share | None = None
    text: Text


class TextBody(Body):
    text: Text


# --- rubrics ---


class LevelBody(Body):
    level_id: Id = ""
    title: str
    points: Score


class CriterionBody(Body):
    criterion_id: Id = ""
    title: str
    description: str | None = None
    levels: list[LevelBody] = Field(max_length=50)


class RubricBody(Body):
    """Criteria and levels that have an id stay the same ones."""

    version: int | None = None
    title: str
    criteria: list[CriterionBody] = Field(max_length=200)

    def as_criteria(self) -> list[Criterion]:
        return [
            Criterion(
                criterion_id=each.criterion_id,
                title=each.title,
                description=each.description,
                levels=[
                    Level(level_id=level.level_id, title=level.title, points=level.points)
                    for level in each.levels
                ],
            )
            for each in self.criteria
        ]


class ChosenRubric(Body):
    version: int | None = None
    rubric_id: Id | None


# --- allocation, release ---


class AllocationBody(Body):
    """`evenly` among graders, or `section`: each section's grader."""

    method: Literal["evenly", "section"]
    graders: list[Id] = Field(default_factory=list, max_length=200)
    sections: dict[str, Id] = Field(default_factory=dict, max_length=200)


class GradersBody(Body):
    grader_id: Id | None = None
    second_grader_id: Id | None = None


class ReleaseBody(Body):
    """Now, or `at` a moment."""

    at: Moment = None
    version: int | None = None


class ReleaseView(Value):
    assignment_id: str
    released_at: datetime | None
    version: int


class ImportBody(Body):
    """A worksheet or zip file that was uploaded before."""

    file_id: Id
    publish: bool = False


class LineView(Value):
    line: int
    name: str
    outcome: Literal["saved", "unchanged", "empty", "refused"]
    message: str


# --- gradebook ---


class SchemeBody(Body):
    version: int | None = None
    grade_groups: list[GradeGroup] = Field(default_factory=list, max_length=100)
    letters: list[GradeLetter] = Field(default_factory=list, max_length=100)


class ResultView(Value):
    assignment_id: str
    submission_id: str | None = None
    points: Points
    score: Points | None
    state: Literal["graded", "submitted", "missing", "excused", "open"]
    counts: bool
    dropped: bool = False


class GroupView(Value):
    group_id: str
    name: str
    weight: Points
    percent: Points | None


class StudentGradesView(Value):
    """A student's results in a course, and the total."""

    student_id: str
    name: str
    results: list[ResultView]
    groups: list[GroupView]
    percent: Points | None
    letter: str | None


class GradeChangeView(Value):
    line: int
    student: str
    assignment: str
    old: Points | None
    new: Points
    by_hand: bool


class WrongCellView(Value):
    line: int
    student: str
    column: str
    message: str


class UnknownStudentView(Value):
    line: int
    student: str


class GradePlanView(Value):
    """What a file would change; `digest` is sent with the import."""

    changes: list[GradeChangeView]
    wrong: list[WrongCellView]
    unknown_students: list[UnknownStudentView]
    unknown_columns: list[str]
    unchanged: int
    digest: str


class GradeImportView(Value):
    """How many grades were saved, and those that another grader changed at the same moment."""

    saved: int
    refused: list[WrongCellView]


class GradebookView(Value):
    course_id: str
    assignments: list[dict[str, str]]
    students: list[StudentGradesView]
    distribution: list[int]
