"""Who a submission is made for: a student, or the student's team; with the dates that apply and the attempts made.

Must hold: what is decided on here is read consistently; the conditions that hold it until the write are the caller's.
"""

from dataclasses import dataclass
from datetime import datetime

from tablewright.edge.errors import Conflict, Forbidden, NotFound, Refused
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Course, Enrolment, Submission, Team
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.dates import Dates, dates_for, dates_for_team
from tablewright.systems.campus.courses.lateness import Lateness, lateness
from tablewright.systems.campus.courses.teams import Teams
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.repository import Repository


@dataclass(frozen=True, slots=True)
class Owner:
    """A student, or a team with its members."""

    student: Enrolment
    team: Team | None
    members: tuple[Enrolment, ...]
    dates: Dates

    @property
    def owner_id(self) -> str:
        return self.team.team_id if self.team is not None else self.student.user_id

    @property
    def member_ids(self) -> list[str]:
        return [each.user_id for each in self.members]


class Owners:
    """Finds owners and what they have done."""

    def __init__(self, repository: Repository, teams: Teams) -> None:
        self._repository, self._teams = repository, teams

    def now(self) -> datetime:
        return self._repository.now()

    def dates(self, assignment: Assignment, student: Enrolment) -> Dates:
        """The dates of a student without a team."""
        overrides = self._repository.overrides_of(assignment.assignment_id)
        return dates_for(assignment, overrides, student.user_id, student.section)

    def student(self, member: CourseMember, on_behalf_of: str | None = None) -> Enrolment:
        """The student this is about: the caller, or the one that staff acts for."""
        if member.is_staff:
            if on_behalf_of is None:
                raise Refused("STUDENT_REQUIRED", "Choose the student this is for.", "onBehalfOf")
            found = self._repository.enrolment(on_behalf_of, member.course.course_id)
            if found is None or found.role != "student":
                raise NotFound("student", "This student is not in this course.", "onBehalfOf")
            return found
        if on_behalf_of is not None and on_behalf_of != member.user.user_id:
            raise Forbidden(
                "COURSE_STAFF_ONLY", "Only staff of this course can submit for others.", "onBehalfOf"
            )
        if member.enrolment is None:
            raise Forbidden("NOT_ENROLLED", "You are not enrolled in this course.")
        return member.enrolment

    def of(self, assignment: Assignment, student: Enrolment) -> Owner:
        """The owner of a student's work; NO_TEAM if the assignment is for teams and the student is in none."""
        if assignment.group_set_id is None:
            return Owner(student, None, (student,), self.dates(assignment, student))
        overrides = self._repository.overrides_of(assignment.assignment_id)
        team = self._teams.team_of(assignment.course_id, assignment.group_set_id, student.user_id)
        if team is None:
            raise Conflict(
                "NO_TEAM", "You are not in a team for this assignment. Join one, or ask your instructor."
            )
        members = self._teams.members(team)
        ids, sections = [each.user_id for each in members], [each.section for each in members]
        return Owner(
            student, team, tuple(members), dates_for_team(assignment, overrides, team.team_id, ids, sections)
        )

    def attempts(self, assignment: Assignment, owner_id: str) -> int:
        found = self._repository.db.one(d.attempts.get(assignment.assignment_id, owner_id), consistent=True)
        return found.attempts if found is not None else 0

    def submissions(self, assignment_id: str, owner_id: str) -> list[Submission]:
        """What an owner has submitted, by number (CC-S9)."""
        query = d.submissions_of_owner(assignment_id=assignment_id, owner_id=owner_id)
        return list(filter(handed_in, self._repository.db.all(query)))

    def last(self, assignment: Assignment, owner_id: str, attempts: int) -> Submission | None:
        key = assignment.assignment_id, owner_id, attempts
        return self._repository.db.one(d.submissions.get(*key), consistent=True) if attempts else None

    def lateness(
        self, assignment: Assignment, course: Course, owner: Owner, last: Submission | None
    ) -> Lateness:
        """What submitting now costs. Late days are a student's own: work of a team does not use them.

        Days that an earlier attempt used for this assignment are there for the next one.
        """
        bank = 0
        if owner.team is None:
            used_here = last.late_days_used if last is not None else 0
            bank = max(0, course.late_days - owner.student.late_days_used) + used_here
        return lateness(assignment, owner.dates.due, self._repository.now(), bank=bank)
