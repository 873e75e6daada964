"""A course with staff and students, assignments and submissions, made through the repository."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.systems.campus.talk import Place

from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import (
    Assignment,
    Course,
    CourseRole,
    Enrolment,
    Part,
    Submission,
)
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.grade_model import Criterion, CriterionMark, Level, Rubric
from tablewright.systems.campus.grading.mark_entries import MarkEntry
from tablewright.systems.campus.jobs import run_tasks
from tablewright.systems.campus.model import AuditEntry, Notification, User

D = Decimal
COURSE = "CS101-2030-SPRING"


@dataclass
class Classroom:
    """One course. `brandt` teaches it, `tessa` is its teaching assistant."""

    at: Place
    course_id: str = COURSE
    users: dict[str, User] = field(default_factory=dict)
    instructor: str = "brandt"
    assistant: str = "tessa"

    def __post_init__(self) -> None:
        now = self.now()
        course = Course(
            course_id=self.course_id,
            name="Computer science 101",
            semester="2030-spring",
            semester_end=now + timedelta(days=120),
            created_at=now,
            updated_at=now,
        )
        self.at.db.write(d.courses.create(course))
        self.enrol(self.instructor, "instructor")
        self.enrol(self.assistant, "ta")

    # --- people ---

    def enrol(self, name: str, role: CourseRole = "student", section: str | None = None) -> User:
        user = self.at.user(name, "instructor") if role == "instructor" else self.at.user(name)
        self.users[name] = user
        member = Enrolment(
            user_id=user.user_id,
            course_id=self.course_id,
            role=role,
            section=section,
            name=name.capitalize(),
            email=user.email,
            university_id=f"S-{name}",
            enrolled_at=self.now(),
        )
        self.at.db.write(d.enrolments.create(member))
        return user

    def actor(self, name: str) -> Actor:
        user = self.users[name]
        enrolment = self.at.campus.repository.enrolment(user.user_id, self.course_id)
        assert enrolment is not None
        return CourseMember(user, self.course(), enrolment.role, enrolment).actor

    # --- work ---

    def now(self) -> datetime:
        return self.at.campus.repository.now()

    def course(self) -> Course:
        return self.at.campus.repository.course(self.course_id)

    def assignment(self, title: str = "Essay", **more: Any) -> Assignment:
        now = self.now()
        made = Assignment(
            **{
                "course_id": self.course_id,
                "assignment_id": self.at.world.new_id(),
                "course_name": "Computer science 101",
                "title": title,
                "description": "Write it.",
                "instructor_id": self.users[self.instructor].user_id,
                "instructor_email": "brandt@campus.example",
                "instructor_name": "Brandt",
                "created_at": now,
                "updated_at": now,
                "due_date": now + timedelta(days=1),
                "status": "active",
                "max_file_size": 10_000_000,
                "allowed_file_types": ["text/plain"],
                "points": D(100),
                **more,
            }
        )
        self.at.db.write(d.assignments.create(made))
        return made

    def submission(
        self, assignment: Assignment, name: str, number: int = 1, members: tuple[str, ...] = (), **more: Any
    ) -> Submission:
        user, now = self.users[name], self.now()
        team_id = self.at.world.new_id() if members else None
        part = Part(
            part_id=self.at.world.new_id(),
            kind="text",
            text="First line\nSecond line",
            added_by=user.user_id,
            added_at=now,
        )
        made = Submission(
            **{
                "assignment_id": assignment.assignment_id,
                "submission_id": self.at.world.new_id(),
                "owner_id": team_id or user.user_id,
                "course_id": self.course_id,
                "student_id": user.user_id,
                "student_email": user.email,
                "student_name": name.capitalize(),
                "university_id": f"S-{name}",
                "team_id": team_id,
                "team_name": "Team" if team_id else None,
                "member_ids": [self.users[each].user_id for each in members],
                "parts": [part],
                "submitted_at": now,
                "submitted_by": user.user_id,
                "submission_number": number,
                "due_date": assignment.due_date,
                **more,
            }
        )
        self.at.db.write(d.submissions.create(made))
        return made

    def rubric(self, *levels: tuple[str, ...], title: str = "Essay rubric") -> Rubric:
        criteria = [
            Criterion(
                criterion_id="",
                title=f"Criterion {n}",
                levels=[Level(level_id="", title=f"{points} points", points=D(points)) for points in of_one],
            )
            for n, of_one in enumerate(levels, 1)
        ]
        return self.at.campus.rubrics.create(self.course_id, title, criteria, self.actor(self.instructor))

    # --- marks ---

    def again(self, submission: Submission) -> Submission:
        return self.at.campus.repository.submission(submission.submission_id)

    def mark(
        self,
        submission: Submission,
        score: str | None = None,
        by: str = "tessa",
        *,
        publish: bool = True,
        **entry: Any,
    ) -> Submission:
        """Mark the newest version."""
        row = self.again(submission)
        found = self.at.campus.repository.assignment(row.assignment_id)
        expected = self.at.campus.marks.version_for(found, row, self.actor(by))
        given = MarkEntry(score=None if score is None else D(score), **entry)
        return self.at.campus.marks.save(found, row, given, self.actor(by), expected, publish=publish)

    def history(self, submission: Submission) -> list[AuditEntry]:
        """What happened, oldest first."""
        found = self.at.db.all(d.audit.of(f"submission:{submission.submission_id}"))
        return list(reversed(list(found)))

    def actions(self, submission: Submission) -> list[str]:
        return [each.action for each in self.history(submission)]

    def notices(self, name: str) -> list[Notification]:
        return list(self.at.db.all(d.notifications_of_user(user_id=self.users[name].user_id)))

    def run_tasks(self) -> int:
        """Run the tasks that are due; how many finished."""
        return run_tasks(self.at.campus)


def levels(rubric: Rubric, *chosen: int) -> dict[str, CriterionMark]:
    """A mark with the chosen level of each criterion, counted from 0."""
    return {
        criterion.criterion_id: CriterionMark(level_id=criterion.levels[level].level_id)
        for criterion, level in zip(rubric.criteria, chosen, strict=False)
    }
