"""What a reader may see of a submission: students without grades that are not released, markers without names. Pure.

Must hold: every answer and page about a submission passes through here. Until its grade is visible a student sees
nothing of the marking; where an assignment is anonymous its staff sees nothing that names a student; where graders are
hidden a student sees nothing that names one.
Elsewhere: when a grade is visible (release.py).
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from tablewright.systems.campus.course_model import Assignment, Draft, Part, Submission
from tablewright.systems.campus.grade_model import Comment, Mark, Regrade
from tablewright.systems.campus.grading.notices import students_of
from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.grading.totals import grade_of

GRADER = "Grader"
_UNMARKED: dict[str, Any] = {
    "score": None, "grade": None, "scores": {}, "grades": {}, "penalty_percent": None, "feedback": None,
    "feedback_file_id": None, "feedback_file": None, "graded_at": None, "graded_by": None, "graded_by_name": None,
    "returned_at": None, "status": "submitted", "marking_state": "not marked", "grader_id": None,
    "second_grader_id": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Names in anonymous marking: the same for all attempts at an assignment, another one in the next assignment.

    Only the holder of `key` can make them: without it they could be tried out with the ids of a course's students.
    """

    key: bytes

    def of(self, assignment_id: str, id: str) -> str:
        """The name of a student or a team."""
        digest = hmac.digest(self.key, f"{assignment_id}/{id}".encode(), "sha256")
        return f"Participant {digest.hex()[:10].upper()}"

    def members(self, submission: Submission) -> dict[str, str]:
        """The members of a team by their names in anonymous marking."""
        return {self.of(submission.assignment_id, each): each for each in students_of(submission)}

    def real(
        self, submission: Submission, by_name: Mapping[str, Decimal], *, hidden: bool
    ) -> dict[str, Decimal]:
        """By member, what staff entered by the names it sees; where they are `hidden`, an id is a stranger's."""
        if not hidden:
            return dict(by_name)
        members = self.members(submission)
        return {members.get(name, ""): each for name, each in by_name.items()}

    def renamed(self, assignment_id: str, by_member: Mapping[str, Decimal]) -> dict[str, Decimal]:
        return {self.of(assignment_id, member): each for member, each in by_member.items()}


def is_anonymous(assignment: Assignment, submission: Submission, now: datetime) -> bool:
    """Whether staff may not know whose this is: until its grade is visible."""
    return assignment.anonymous and not visible(assignment, submission, now)


def for_staff(
    assignment: Assignment, submission: Submission, now: datetime, pseudonyms: Pseudonyms
) -> Submission:
    """A submission as staff of its course sees it."""
    if visible(assignment, submission, now):
        return submission.model_copy(update={"marking_state": "released"})
    if not assignment.anonymous:
        return submission
    name = pseudonyms.of(submission.assignment_id, submission.owner_id)
    parts = _plain_parts(submission.parts, name)
    files = [each.filename for each in parts if each.filename is not None]
    hidden = {
        "student_id": name, "owner_id": name, "student_name": name, "student_email": "", "university_id": None,
        "section": None, "team_id": None, "team_name": name if submission.team_id else None, "member_ids": [],
        "submitted_by": name, "idempotency_key": None,
        # An extension has its own date, and a student's name beside it.
        "due_date": assignment.due_date,
        "scores": pseudonyms.renamed(submission.assignment_id, submission.scores),
        "grades": pseudonyms.renamed(submission.assignment_id, submission.grades),
        "parts": parts, "filename": files[0] if files else None,
    }  # fmt: skip
    return submission.model_copy(update=hidden)


def marks_for_staff(marks: Iterable[Mark], pseudonyms: Pseudonyms, *, hidden: bool) -> list[Mark]:
    """Marks as staff sees them: where names are `hidden`, the members of a team have others."""
    if not hidden:
        return list(marks)
    return [
        each.model_copy(update={"grades": pseudonyms.renamed(each.assignment_id, each.grades)})
        for each in marks
    ]


def draft_for_staff(draft: Draft, pseudonyms: Pseudonyms, *, hidden: bool) -> Draft:
    """A draft that staff made of a submission."""
    if not hidden:
        return draft
    name = pseudonyms.of(draft.assignment_id, draft.owner_id)
    return draft.model_copy(update={"owner_id": name, "parts": _plain_parts(draft.parts, name)})


def _plain_parts(parts: Iterable[Part], name: str) -> list[Part]:
    return [
        each.model_copy(update={"added_by": name, "filename": plain_name(each, number)})
        for number, each in enumerate(parts, 1)
    ]


def plain_name(part: Part, number: int) -> str | None:
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
