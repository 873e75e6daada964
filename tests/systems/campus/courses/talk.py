"""A course with its people for the tests of courses: an instructor, a TA, students, assignments, files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.systems.campus.talk import Place

from tablewright.systems.campus import design as d
from tablewright.systems.campus.access import member_of
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment, CourseRole, GroupSet, Submission, Team
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.jobs import run_tasks
from tablewright.systems.campus.model import File, User

COURSE = "CS101-2030-SPRING"


@dataclass
class Class:
    """A course and the people in it."""

    at: Place
    teacher: User
    people: dict[str, User] = field(default_factory=dict)

    @property
    def campus(self) -> Campus:
        return self.at.campus

    def now(self) -> datetime:
        return self.at.clock.now()

    def member(self, who: User | str | None = None) -> CourseMember:
        """Someone as a member of the course, as it is now; the teacher without a name."""
        user = self.teacher if who is None else self.people[who] if isinstance(who, str) else who
        return member_of(self.campus, self.at.again(user), COURSE)

    def person(self, name: str, role: CourseRole = "student", section: str | None = None) -> User:
        user = self.at.user(name)
        self.campus.courses.place(self.member(), user, role, section)
        self.people[name] = user
        return user

    def assignment(self, *, published: bool = True, **fields: Any) -> Assignment:
        given = {
            "title": "Lab 1", "description": "Measure it.", "due_date": self.now() + timedelta(days=7),
            "max_file_size": 10_000, "allowed_file_types": [], "max_submissions": 3, **fields,
        }  # fmt: skip
        made = self.campus.assignments.create(self.member(), given)
        return self.campus.assignments.publish(self.member(), made.assignment_id) if published else made

    def file(self, who: User | str, content: bytes = b"a result\n", name: str = "result.txt") -> File:
        user = self.people[who] if isinstance(who, str) else who
        return self.campus.uploads.store_whole(self.at.again(user), name, [content], len(content))

    def submit(self, who: str, assignment: Assignment, *parts: NewPart, **more: Any) -> Submission:
        chosen: Sequence[NewPart] = parts or [NewPart("text", text="my answer")]
        return self.campus.submissions.submit(self.member(who), assignment, parts=chosen, **more)

    def team(self, *names: str, group_set: GroupSet | None = None) -> tuple[GroupSet, Team]:
        found = group_set or self.campus.teams.create_set(self.member(), "Projects")
        members = [self.people[name].user_id for name in names]
        return found, self.campus.teams.create_team(self.member(), found, f"Team {names[0]}", members)

    def row(self, submission: Submission) -> Submission | None:
        key = submission.assignment_id, submission.owner_id, submission.submission_number
        return self.at.db.one(d.submissions.get(*key), consistent=True)

    def again(self, assignment: Assignment) -> Assignment:
        return self.campus.repository.assignment(assignment.assignment_id)

    def run_tasks(self) -> int:
        return run_tasks(self.campus)


def course_of(at: Place) -> Class:
    """A course with nobody in it but its teacher, Petra Quast."""
    teacher = at.user("brandt", "instructor")
    teacher = at.campus.users.change_profile(teacher, {"name": "Petra Quast"})
    now = at.clock.now()
    fields = {"course_id": COURSE, "name": "CS", "semester": "S", "semester_end": now + timedelta(days=90)}
    at.campus.courses.create(teacher, fields)
    return Class(at, teacher)


def text(words: str = "my answer") -> NewPart:
    return NewPart("text", text=words)


def file_part(file: File) -> NewPart:
    return NewPart("file", file_id=file.file_id)
