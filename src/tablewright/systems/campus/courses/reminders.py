"""What students are told about assignments: that one is published, and that one is due within a day (CC-X10).

Both are tasks, so that a course of any size is told without a long transaction. Must hold: each student is told once,
and reminded once of each date, by a receipt written with the notification; a date that was moved is another one; who
has submitted, or is excused, is not reminded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.english import WEEKDAYS, full_date, in_zone
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Enrolment, Override, Team
from tablewright.systems.campus.courses.dates import Dates, dates_for, dates_for_team
from tablewright.systems.campus.courses.teams import Teams
from tablewright.systems.campus.model import Task, User
from tablewright.systems.campus.people.notifications import Kind, Notifier
from tablewright.systems.campus.repository import Repository

REMIND = "reminder"
BEFORE = timedelta(hours=24)
# How far after the assignment's own date an extension is still looked for.
LONGEST_EXTENSION = timedelta(days=180)


def in_words(moment: datetime, zone: str) -> str:
    """A moment as a person reads it: Friday 20 November 2026, 18:00 (Europe/Berlin)."""
    local = in_zone(moment, zone)
    return f"{WEEKDAYS[local.weekday()]} {full_date(local)}, {local:%H:%M} ({zone})"


class Reminders:
    """Announcements and reminders."""

    def __init__(self, repository: Repository, notifier: Notifier, teams: Teams) -> None:
        self._repository, self._notifier, self._teams = repository, notifier, teams

    def announce(self, task: Task) -> Finished:
        """Handles the task `published`: tell every student of the course."""
        assignment = self._repository.assignment(task.about)
        for _, user, dates in self._students(assignment):
            text = f"{assignment.title} is due {in_words(dates.due, user.time_zone)}."
            self._tell(
                assignment, user, "assignment", "published", f"New in {assignment.course_name}: {text}"
            )
        return Finished()

    def plan(self) -> int:
        """A job: add a task for each moment within the next day at which an assignment is due, by any of its dates."""
        now, added = self._repository.now(), 0
        query = d.assignments_by_due_date(status="active", since=now - LONGEST_EXTENSION, until=now + BEFORE)
        for each in self._repository.db.all(query):
            overrides = self._repository.overrides_of(each.assignment_id)
            moments = {each.due_date, *(one.due_date for one in overrides if one.due_date is not None)}
            for due in sorted(moment for moment in moments if now < moment <= now + BEFORE):
                added += self._repository.try_write(d.tasks.add(self._task(each, due)))
        return added

    def remind(self, task: Task) -> Finished:
        """Handles the task `reminder`: tell the students whose work is due at that moment and not handed in."""
        assignment = self._repository.assignment(task.about)
        due = datetime.fromisoformat(task.position or "")
        if assignment.status != "active":
            return Finished()
        for enrolment, user, dates in self._students(assignment):
            if dates.due == due and not dates.excused and not self._has_submitted(assignment, enrolment):
                text = f"{assignment.title} is due {in_words(due, user.time_zone)}. You have not submitted it yet."
                self._tell(assignment, user, "reminder", f"reminder:{int(due.timestamp())}", text)
        return Finished()

    # --- parts ---

    def _task(self, assignment: Assignment, due: datetime) -> Task:
        now = self._repository.now()
        # The name makes it one task for a moment, however often the job runs.
        name = f"remind-{assignment.assignment_id}-{int(due.timestamp())}"
        return Task(
            task_id=name, kind=REMIND, created_at=now, due_at=now, about=assignment.assignment_id,
            position=due.isoformat(),
        )  # fmt: skip

    def _students(self, assignment: Assignment) -> Iterator[tuple[Enrolment, User, Dates]]:
        overrides = self._repository.overrides_of(assignment.assignment_id)
        for each in self._repository.db.all(d.enrolments_of_course(course_id=assignment.course_id)):
            user = self._repository.db.one(d.user_by_id(each.user_id)) if each.role == "student" else None
            if user is not None and user.status == "active":
                yield each, user, self._dates(assignment, overrides, each)

    def _dates(self, assignment: Assignment, overrides: Sequence[Override], student: Enrolment) -> Dates:
        """The dates of the student's team, else of the student; excused is also who is excused alone."""
        team = self._team(assignment, student)
        if team is None:
            return dates_for(assignment, overrides, student.user_id, student.section)
        members = self._teams.members(team)
        ids, sections = [each.user_id for each in members], [each.section for each in members]
        own = dates_for(assignment, overrides, student.user_id, student.section, team.team_id)
        dates = dates_for_team(assignment, overrides, team.team_id, ids, sections)
        return replace(dates, excused=own.excused)

    def _team(self, assignment: Assignment, student: Enrolment) -> Team | None:
        if assignment.group_set_id is None:
            return None
        return self._teams.team_of(assignment.course_id, assignment.group_set_id, student.user_id)

    def _has_submitted(self, assignment: Assignment, enrolment: Enrolment) -> bool:
        team = self._team(assignment, enrolment)
        owner = team.team_id if team is not None else enrolment.user_id
        attempts = self._repository.db.one(d.attempts.get(assignment.assignment_id, owner), consistent=True)
        return attempts is not None and attempts.attempts > 0

    def _tell(self, assignment: Assignment, user: User, kind: Kind, once: str, text: str) -> None:
        link = f"/console/campus/assignments/{assignment.assignment_id}"
        writes: list[Write[Any]] = self._notifier.tell(user, kind, text, link=link)
        if writes:
            self._repository.db.write(*writes, once=f"{once}:{assignment.assignment_id}:{user.user_id}")
