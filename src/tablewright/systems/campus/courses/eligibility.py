"""Whether a student can submit an assignment now: the dates that apply, attempts made, what it costs.

Elsewhere: finding it out for a submission (owners.py), the arithmetic (lateness.py).
"""

from dataclasses import dataclass
from datetime import datetime

from tablewright.edge.errors import Conflict
from tablewright.systems.campus.course_model import Assignment, Submission, Team
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.dates import Dates
from tablewright.systems.campus.courses.lateness import Lateness
from tablewright.systems.campus.courses.owners import Owners


@dataclass(frozen=True, slots=True)
class Eligibility:
    """A student and an assignment at one moment. `owner_id` is None for a student without the team they need."""

    owner_id: str | None
    team: Team | None
    dates: Dates
    lateness: Lateness
    attempts: int
    most: int
    last: Submission | None
    late_days_left: int
    time_zone: str
    now: datetime
    is_active: bool

    @property
    def is_early(self) -> bool:
        return self.dates.is_early(self.now)

    @property
    def is_open(self) -> bool:
        """Whether the student can submit now, attempts aside."""
        return self.is_active and self.owner_id is not None and self.dates.is_open(self.now)

    @property
    def can_submit(self) -> bool:
        return self.is_open and self.attempts < self.most

    def shown(self, assignment: Assignment) -> Assignment:
        """The assignment as the student sees it: before it is available, only what and when."""
        if not self.is_early:
            return assignment
        hidden: dict[str, object] = {
            "description": "",
            "instructions": None,
            "attachments": [],
            "rubric_url": None,
        }
        return assignment.model_copy(update=hidden)


def eligibility_of(owners: Owners, member: CourseMember, assignment: Assignment) -> Eligibility | None:
    """The caller's eligibility; None for staff."""
    if member.is_staff or member.enrolment is None:
        return None
    now, mine = owners.now(), member.enrolment
    left = max(0, member.course.late_days - mine.late_days_used)
    zone, is_active = member.user.time_zone, assignment.status == "active"
    try:
        owner = owners.of(assignment, mine)
    except Conflict:
        dates = owners.dates(assignment, mine)
        none = Lateness(is_late=False)
        return Eligibility(
            None, None, dates, none, 0, assignment.max_submissions, None, left, zone, now, is_active
        )
    attempts = owners.attempts(assignment, owner.owner_id)
    last = owners.last(assignment, owner.owner_id, attempts)
    late = owners.lateness(assignment, member.course, owner, last)
    most = assignment.max_submissions + owner.dates.extra_submissions
    return Eligibility(
        owner.owner_id, owner.team, owner.dates, late, attempts, most, last, left, zone, now, is_active
    )
