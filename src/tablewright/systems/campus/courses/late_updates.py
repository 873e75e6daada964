"""The task that follows a change of dates: due date, lateness and penalty of what was submitted are rewritten (CC-D15).

Must hold: only rows that differ are written, each with its audit entry, so the task can run again at any point; late
days that are no longer needed go back to the student with the row that used them.
Elsewhere: what adds the task (assignments.py), the arithmetic (lateness.py).
"""

from collections.abc import Mapping
from typing import Any

from tablewright.design import Write
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Enrolment, Override, Submission
from tablewright.systems.campus.courses.dates import Dates, dates_for, dates_for_team
from tablewright.systems.campus.courses.lateness import lateness
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grading.totals import graded
from tablewright.systems.campus.model import Task
from tablewright.systems.campus.repository import SYSTEM, Repository


def dates_of_submission(
    assignment: Assignment,
    overrides: list[Override],
    submission: Submission,
    enrolments: Mapping[str, Enrolment],
) -> Dates:
    """The dates that apply to the authors of a submission, by the sections they are in now."""
    if submission.team_id is not None:
        sections = [enrolments[each].section for each in submission.member_ids if each in enrolments]
        return dates_for_team(assignment, overrides, submission.team_id, submission.member_ids, sections)
    enrolment = enrolments.get(submission.student_id)
    section = enrolment.section if enrolment is not None else submission.section
    return dates_for(assignment, overrides, submission.student_id, section)


def rewritten(assignment: Assignment, dates: Dates, submission: Submission) -> Submission:
    """A submission as these dates make it: no more late days than it used, and its grade after the new penalty."""
    late = lateness(assignment, dates.due, submission.submitted_at, bank=submission.late_days_used)
    update = {"due_date": dates.due, "is_late": late.is_late, "late_days_used": late.days_used}
    return graded(assignment, submission.model_copy(update=update))


class LateUpdates:
    """Handles the task `late`."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def run(self, task: Task) -> Finished:
        """Rewrite the submissions of the assignment that the task is about."""
        assignment = self._repository.assignment(task.about)
        overrides = self._repository.overrides_of(assignment.assignment_id)
        people = self._repository.db.all(d.enrolments_of_course(course_id=assignment.course_id))
        enrolments = {each.user_id: each for each in people}
        query = d.submissions_of_assignment(assignment_id=assignment.assignment_id)
        for submission in filter(handed_in, self._repository.db.all(query)):
            dates = dates_of_submission(assignment, overrides, submission, enrolments)
            if rewritten(assignment, dates, submission) != submission:
                self._rewrite(assignment, dates, submission)
        return Finished()

    def _rewrite(self, assignment: Assignment, dates: Dates, found: Submission) -> None:
        key = found.assignment_id, found.owner_id, found.submission_number

        def attempt() -> None:
            before = self._repository.db.one(d.submissions.get(*key), consistent=True)
            if before is None:
                return  # withdrawn
            after = rewritten(assignment, dates, before)
            if after == before:
                return
            subject = f"submission:{before.submission_id}"
            entry = self._repository.audit(subject, "due date changed", SYSTEM, before, after)
            self._repository.write(
                "SUBMISSION", d.submissions.change(before, after), *self._refund(before, after), entry
            )

        self._repository.retried(None, attempt, on=Changed)

    def _refund(self, before: Submission, after: Submission) -> list[Write[Any]]:
        """Late days back to the student, with the last attempt: it is the one that needed most."""
        days = before.late_days_used - after.late_days_used
        key = before.assignment_id, before.owner_id
        attempts = self._repository.db.one(d.attempts.get(*key), consistent=True)
        if days <= 0 or attempts is None or attempts.attempts != before.submission_number:
            return []
        member = before.student_id, before.course_id
        if self._repository.enrolment(*member) is None:
            return []
        return [d.enrolments.update(*member).at(lambda e: e.late_days_used).add(-days)]
