"""The notices about grades, to all students of a submission; each is written with the change it is about."""

from collections.abc import Iterable
from typing import Any

from tablewright.design import Write
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.grade_model import Regrade
from tablewright.systems.campus.people.notifications import Kind, Notifier
from tablewright.systems.campus.repository import Repository

GRADE_PAGE = "/console/campus/submissions/{}/grade"
REGRADE_PAGE = "/console/campus/regrades/{}/{}"


def students_of(submission: Submission) -> list[str]:
    """The members of the team, as they were when it was submitted; else the student."""
    return submission.member_ids or [submission.student_id]


class GradeNotices:
    """Notices to students and graders."""

    def __init__(self, repository: Repository, notifier: Notifier) -> None:
        self._repository, self._notifier = repository, notifier

    def released(self, assignment: Assignment, submission: Submission) -> list[Write[Any]]:
        text = f"Your grade for “{assignment.title}” is available."
        return self._tell(students_of(submission), "grade", text, GRADE_PAGE.format(submission.submission_id))

    def changed(self, assignment: Assignment, submission: Submission) -> list[Write[Any]]:
        text = f"Your grade for “{assignment.title}” was changed."
        return self._tell(students_of(submission), "grade", text, GRADE_PAGE.format(submission.submission_id))

    def regrade_asked(
        self, assignment: Assignment, submission: Submission, regrade: Regrade
    ) -> list[Write[Any]]:
        """To the grader; without a known one, to the instructor of the assignment."""
        text = f"A regrade was requested for “{assignment.title}”."
        link = REGRADE_PAGE.format(regrade.submission_id, regrade.regrade_id)
        return self._tell([submission.graded_by or assignment.instructor_id], "regrade", text, link)

    def regrade_answered(self, assignment: Assignment, regrade: Regrade) -> list[Write[Any]]:
        text = f"Your regrade request for “{assignment.title}” has an answer."
        link = REGRADE_PAGE.format(regrade.submission_id, regrade.regrade_id)
        return self._tell([regrade.student_id], "regrade", text, link)

    def _tell(self, user_ids: Iterable[str], kind: Kind, text: str, link: str) -> list[Write[Any]]:
        users = self._repository.db.many([d.user_by_id(each) for each in dict.fromkeys(user_ids)])
        return [
            write
            for user in users
            if user is not None
            for write in self._notifier.tell(user, kind, text, link=link)
        ]
