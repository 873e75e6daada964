"""Members: a user in a course, with the role there, and what they have before them: an assignment or a submission.

Elsewhere: finding them for a request (access.py).
"""

from dataclasses import dataclass

from tablewright.edge.errors import Forbidden
from tablewright.kit.tables import Actor
from tablewright.systems.campus.course_model import Assignment, Course, CourseRole, Enrolment, Submission
from tablewright.systems.campus.model import User


@dataclass(frozen=True, slots=True)
class CourseMember:
    """A user in a course. An admin without an enrolment counts as an instructor."""

    user: User
    course: Course
    role: CourseRole
    enrolment: Enrolment | None = None

    @property
    def is_staff(self) -> bool:
        return self.role in ("ta", "instructor")

    @property
    def actor(self) -> Actor:
        return Actor(
            self.user.name, "staff" if self.is_staff else "student", self.user.user_id, self.user.email
        )

    def refuse_students(self) -> None:
        """Raise COURSE_STAFF_ONLY for a student."""
        if not self.is_staff:
            raise Forbidden("COURSE_STAFF_ONLY", "Only staff of this course can do this.")

    def refuse_all_but_instructors(self) -> None:
        """Raise INSTRUCTOR_ONLY for a student or an assistant."""
        if self.role != "instructor":
            raise Forbidden("INSTRUCTOR_ONLY", "Only an instructor of this course can do this.")


@dataclass(frozen=True, slots=True)
class MemberAssignment:
    """An assignment, and the caller as a member of its course."""

    member: CourseMember
    assignment: Assignment


@dataclass(frozen=True, slots=True)
class MemberSubmission:
    """A submission with its assignment, and the caller as a member of the course."""

    member: CourseMember
    assignment: Assignment
    submission: Submission
