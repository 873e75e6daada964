"""Courses: enrolments, teams, assignments with their dates, drafts and submissions.

Plain values without storage. Elsewhere: grades (grade_model.py), the rest (model.py).
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer

from tablewright.systems.campus.model import Value

CourseRole = Literal["student", "ta", "instructor"]
AssignmentStatus = Literal["draft", "active", "closed"]
SubmissionStatus = Literal["submitted", "graded", "returned"]
MarkingState = Literal["not marked", "in marking", "in review", "released"]
LatePolicy = Literal["accept", "penalise", "reject"]
Audience = Literal["student", "section", "team"]
# Decimal inside; a plain number in JSON.
Points = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


# --- courses ---


class LatePenalty(Value):
    """What being late costs: `percent` for each started `unit`, at most `most`; `floor` per cent of the points stay."""

    percent: Points = Decimal(0)
    unit: Literal["hour", "day"] = "day"
    most: Points = Decimal(100)
    floor: Points = Decimal(0)


class GradeGroup(Value):
    """A group of assignments in the gradebook: its weight, and how many of the lowest results do not count."""

    group_id: str
    name: str
    weight: Points
    drop_lowest: int = 0


class GradeLetter(Value):
    """A letter from this percentage on."""

    letter: str
    from_percent: Points


class Course(Value):
    """A course in one semester."""

    course_id: str
    name: str
    semester: str
    semester_end: datetime
    time_zone: str = "UTC"
    sections: list[str] = Field(default_factory=list)
    late_days: int = 0
    grade_groups: list[GradeGroup] = Field(default_factory=list)
    letters: list[GradeLetter] = Field(default_factory=list)
    archived_at: datetime | None = None
    # Of several archives that were written at once, the one that counts.
    archive_id: str | None = None
    created_at: datetime
    updated_at: datetime
    version: int = 1


class Enrolment(Value):
    """A user in a course, with the role there and a section."""

    user_id: str
    course_id: str
    role: CourseRole
    section: str | None = None
    name: str
    email: str
    university_id: str | None = None
    enrolled_at: datetime
    late_days_used: int = 0
    version: int = 1


class FormerEnrolment(Value):
    """A role that a user had in a course and has no more: where what the user wrote there is found by."""

    user_id: str
    course_id: str
    role: CourseRole
    ended_at: datetime


class GroupSet(Value):
    """A way to divide a course into teams."""

    course_id: str
    group_set_id: str
    name: str
    self_enrolment: bool = False
    team_size: int | None = None
    created_at: datetime
    version: int = 1


class Team(Value):
    """A team of a group set. A student is in one team of a set, held by a membership item for each."""

    course_id: str
    group_set_id: str
    team_id: str
    name: str
    member_ids: list[str] = Field(default_factory=list)
    created_at: datetime
    version: int = 1


class TeamMembership(Value):
    """The team of a student in a group set: its key is what allows one only."""

    course_id: str
    group_set_id: str
    user_id: str
    team_id: str


# --- assignments ---


class Assignment(Value):
    """Work that a course asks for. Three dates: available from, due, accepted until (CC-X18)."""

    course_id: str
    assignment_id: str
    course_name: str
    title: str
    description: str
    instructions: str | None = None
    instructor_id: str
    instructor_email: str
    instructor_name: str
    created_at: datetime
    updated_at: datetime
    available_from: datetime | None = None
    due_date: datetime
    accept_until: datetime | None = None
    status: AssignmentStatus = "draft"
    max_file_size: int
    allowed_file_types: list[str]
    max_submissions: int = 1
    submission_count: int = 0
    points: Points | None = None
    extra_credit: bool = False
    rubric_url: str | None = None
    attachments: list[str] = Field(default_factory=list)
    # Beyond the document
    late_policy: LatePolicy = "accept"
    late_penalty: LatePenalty = LatePenalty()
    grace_minutes: int = 0
    missing_grade: Points | None = None
    group_set_id: str | None = None
    grade_each: bool = False
    statement: str | None = None
    anonymous: bool = False
    hidden_graders: bool = False
    second_marking: bool = False
    rubric_id: str | None = None
    grade_group_id: str | None = None
    counts: bool = True
    released_at: datetime | None = None
    regrade_days: int = 7
    version: int = 1


class Override(Value):
    """Other dates of an assignment for a student, a section or a team; or excused. The most generous applies."""

    assignment_id: str
    audience: Audience
    audience_id: str
    available_from: datetime | None = None
    due_date: datetime | None = None
    accept_until: datetime | None = None
    extra_submissions: int = 0
    excused: bool = False
    reason: str | None = None
    created_by: str
    created_at: datetime
    version: int = 1


# --- submissions ---


class Part(Value):
    """One part of a submission: a file with its pinned bytes, a text, or a link."""

    part_id: str
    kind: Literal["file", "text", "link"]
    file_id: str | None = None
    filename: str | None = None
    file_size: int | None = None
    content_type: str | None = None
    version_id: str | None = None
    object_name: str | None = None
    checksum: str | None = None
    text: str | None = None
    url: str | None = None
    added_by: str
    added_at: datetime


class PinnedFile(Value):
    """The bytes that a file had at a moment: a newer version of the file, or its deletion, leaves them as they are."""

    file_id: str
    filename: str
    file_size: int
    content_type: str
    version_id: str
    object_name: str
    checksum: str | None = None


class Draft(Value):
    """The parts of a submission that is not submitted yet. `owner_id` is a student or a team."""

    assignment_id: str
    owner_id: str
    parts: list[Part] = Field(default_factory=list)
    comments: str | None = None
    updated_at: datetime
    version: int = 1


class Attempts(Value):
    """How many submissions an owner has made of an assignment: the counter of CC-D13."""

    assignment_id: str
    owner_id: str
    attempts: int = 0


class AcceptanceRow(Value):
    """Whether an assignment takes work, and since which change of its dates: one of several equal rows.

    A submission is written on the condition that its row is as it was read. One row for all would be in every
    transaction of a rush, and only one of them at a time could be written.
    """

    assignment_id: str
    number: int
    is_open: bool
    stamp: str


class Submission(Value):
    """One attempt of a student or a team. The first file is repeated in `file_id`, `filename`, `file_size`."""

    assignment_id: str
    submission_id: str
    owner_id: str
    course_id: str
    student_id: str
    student_email: str
    student_name: str
    university_id: str | None = None
    section: str | None = None
    team_id: str | None = None
    team_name: str | None = None
    member_ids: list[str] = Field(default_factory=list)
    file_id: str | None = None
    filename: str | None = None
    file_size: int | None = None
    file_version_id: str | None = None
    file_checksum: str | None = None
    parts: list[Part] = Field(default_factory=list)
    submitted_at: datetime
    submitted_by: str
    on_behalf: bool = False
    submission_number: int
    status: SubmissionStatus = "submitted"
    is_late: bool = False
    late_days_used: int = 0
    due_date: datetime
    statement_agreed: str | None = None
    comments: str | None = None
    idempotency_key: str | None = None
    # What was marked: `score` before the late penalty, `grade` after it; `scores`, `grades` of a team with one each.
    score: Points | None = None
    grade: Points | None = None
    max_grade: Points | None = None
    scores: dict[str, Points] = Field(default_factory=dict)
    grades: dict[str, Points] = Field(default_factory=dict)
    penalty_percent: Points | None = None
    feedback: str | None = None
    feedback_file_id: str | None = None
    feedback_file: PinnedFile | None = None
    graded_at: datetime | None = None
    graded_by: str | None = None
    graded_by_name: str | None = None
    # When its students were told the grade.
    returned_at: datetime | None = None
    marking_state: MarkingState = "not marked"
    grader_id: str | None = None
    second_grader_id: str | None = None
    withdrawn_at: datetime | None = None
    archived_at: datetime | None = None
    version: int = 1

    @property
    def submission_key(self) -> str:
        return f"{self.owner_id}#{self.submission_number:04d}"


class MemberEntry(Value):
    """A team's submission in the history of one of its members."""

    assignment_id: str
    owner_id: str
    submission_number: int
    student_id: str
    submitted_at: datetime
