"""The dates of an assignment that apply to a student or a team: available from, due, accepted until (CC-X18).

Pure. An override is for a student, a section or a team; of all that match the most generous applies, field by field:
the earliest start, the latest due date, the latest end, the most extra attempts. Must hold: an override never
makes a date worse, and the end is never before the due date.
Elsewhere: what being late costs (lateness.py), writing overrides (assignments.py).
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tablewright.systems.campus.course_model import Assignment, Audience, Override


@dataclass(frozen=True, slots=True)
class Dates:
    """What applies. `accept_until` None is open until staff closes the assignment or the semester ends."""

    available_from: datetime | None
    due: datetime
    accept_until: datetime | None
    excused: bool = False
    extra_submissions: int = 0

    def is_open(self, at: datetime) -> bool:
        """Whether work is accepted at this moment, compared in whole seconds as lateness is."""
        return not self.is_early(at) and not self.is_over(at)

    def is_early(self, at: datetime) -> bool:
        return self.available_from is not None and at < self.available_from

    def is_over(self, at: datetime) -> bool:
        return self.accept_until is not None and whole_second(at) > whole_second(self.accept_until)


def whole_second(moment: datetime) -> datetime:
    """Dates are compared by their seconds: half a second after the deadline is in time (CC-S8)."""
    return moment.replace(microsecond=0)


def dates_for(
    assignment: Assignment,
    overrides: Iterable[Override],
    student_id: str,
    section: str | None = None,
    team_id: str | None = None,
) -> Dates:
    """The dates that apply to a student."""
    audiences: set[tuple[Audience, str]] = {("student", student_id)}
    if section is not None:
        audiences.add(("section", section))
    if team_id is not None:
        audiences.add(("team", team_id))
    return dates_of(assignment, overrides, audiences)


def dates_for_team(
    assignment: Assignment,
    overrides: Iterable[Override],
    team_id: str,
    member_ids: Iterable[str],
    sections: Iterable[str | None] = (),
) -> Dates:
    """The dates of a team: an extension for one member is one for all. Only a team as a whole is excused."""
    found = list(overrides)
    audiences: set[tuple[Audience, str]] = {("team", team_id)}
    audiences.update(("student", member) for member in member_ids)
    audiences.update(("section", section) for section in sections if section is not None)
    excused = any(each.excused for each in found if each.audience == "team" and each.audience_id == team_id)
    dates = dates_of(assignment, found, audiences)
    return Dates(dates.available_from, dates.due, dates.accept_until, excused, dates.extra_submissions)


def dates_of(
    assignment: Assignment, overrides: Iterable[Override], audiences: Collection[tuple[Audience, str]]
) -> Dates:
    """The most generous of the assignment's own dates and the overrides for one of these audiences."""
    matching = [each for each in overrides if (each.audience, each.audience_id) in audiences]
    due = max([assignment.due_date, *(each.due_date for each in matching if each.due_date is not None)])
    return Dates(
        _earliest(assignment.available_from, matching),
        due,
        _end(assignment, matching, due),
        any(each.excused for each in matching),
        max((each.extra_submissions for each in matching), default=0),
    )


def last_end(assignment: Assignment, overrides: Iterable[Override], semester_end: datetime) -> datetime:
    """When the last student's work is due for the last time: the moment to close the assignment (CC-D44)."""
    found = list(overrides)
    audiences = {(each.audience, each.audience_id) for each in found}
    end = dates_of(assignment, found, audiences).accept_until
    return end if end is not None else max(semester_end, assignment.due_date)


def _earliest(start: datetime | None, matching: list[Override]) -> datetime | None:
    if start is None:
        return None
    return min([start, *(each.available_from for each in matching if each.available_from is not None)])


def _end(assignment: Assignment, matching: list[Override], due: datetime) -> datetime | None:
    in_grace = due + timedelta(minutes=assignment.grace_minutes)
    end = assignment.accept_until
    if end is None and assignment.late_policy != "reject":
        return None
    ends = [each.accept_until for each in matching if each.accept_until is not None]
    return max([in_grace, *ends, *([end] if end is not None and assignment.late_policy != "reject" else [])])
