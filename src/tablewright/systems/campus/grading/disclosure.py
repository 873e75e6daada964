"""What a reader may see of a submission: students without grades that are not released, markers without names. Pure.

Must hold: every answer and page about a submission passes through here. Until its grade is visible a student sees
nothing of the marking; where an assignment is anonymous its staff sees nothing that names a student; where graders are
hidden a student sees nothing that names one.
Elsewhere: when a grade is visible (release.py).
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.grading.totals import grade_of
from tablewright.systems.campus.model import Assignment, Comment, Part, Regrade, Submission

GRADER = "Grader"
_UNMARKED: dict[str, Any] = {
    "score": None, "grade": None, "scores": {}, "grades": {}, "penalty_percent": None, "feedback": None,
    "feedback_file_id": None, "graded_at": None, "graded_by": None, "graded_by_name": None, "returned_at": None,
    "status": "submitted", "marking_state": "not marked", "grader_id": None, "second_grader_id": None,
}  # fmt: skip


def pseudonym(submission_id: str) -> str:
    """The name of a student or team in anonymous marking.

    Made of an id that no list has beside a name: from the ids of students the names could be tried out.
    """
    return f"Participant {hashlib.sha256(submission_id.encode()).hexdigest()[:6].upper()}"


def is_anonymous(assignment: Assignment, submission: Submission, now: datetime) -> bool:
    """Whether staff may not know whose this is: until its grade is visible."""
    return assignment.anonymous and not visible(assignment, submission, now)


def for_staff(assignment: Assignment, submission: Submission, now: datetime) -> Submission:
    """A submission as staff of its course sees it."""
    if visible(assignment, submission, now):
        return submission.model_copy(update={"marking_state": "released"})
    if not assignment.anonymous:
        return submission
    name = pseudonym(submission.submission_id)
    parts = [
        each.model_copy(update={"added_by": name, "filename": _plain_name(each, number)})
        for number, each in enumerate(submission.parts, 1)
    ]
    files = [each.filename for each in parts if each.filename is not None]
    hidden = {
        "student_id": name, "owner_id": name, "student_name": name, "student_email": "", "university_id": None,
        "section": None, "team_id": None, "team_name": name if submission.team_id else None, "member_ids": [],
        "submitted_by": name, "idempotency_key": None,
        "parts": parts, "filename": files[0] if files else None,
    }  # fmt: skip
    return submission.model_copy(update=hidden)


def _plain_name(part: Part, number: int) -> str | None:
    """A name of a file without what its author called it, which may be their own name."""
    if part.filename is None:
        return None
    ending = PurePosixPath(part.filename).suffix
    return f"file-{number}{ending if len(ending) <= 8 else ''}"


def for_student(assignment: Assignment, submission: Submission, student_id: str, now: datetime) -> Submission:
    """A submission as one of its students sees it."""
    if not visible(assignment, submission, now):
        return submission.model_copy(update=_UNMARKED)
    update: dict[str, Any] = {
        "grade": grade_of(submission, student_id),
        "score": submission.scores.get(student_id, submission.score),
        "grades": {},
        "scores": {},
        "marking_state": "released",
        "status": "returned",
        "grader_id": None,
        "second_grader_id": None,
    }
    if assignment.hidden_graders:
        update |= {"graded_by": None, "graded_by_name": GRADER}
    return submission.model_copy(update=update)


def comments_for_student(assignment: Assignment, comments: Iterable[Comment]) -> list[Comment]:
    """Comments of a visible grade."""
    if not assignment.hidden_graders:
        return list(comments)
    return [each.model_copy(update={"author_id": "", "author_name": GRADER}) for each in comments]


def regrade_for_student(assignment: Assignment, regrade: Regrade, student_id: str) -> Regrade:
    if not assignment.hidden_graders:
        return regrade
    posts = [
        post
        if post.author_id == student_id
        else post.model_copy(update={"author_id": "", "author_name": GRADER})
        for post in regrade.posts
    ]
    return regrade.model_copy(update={"posts": posts})
