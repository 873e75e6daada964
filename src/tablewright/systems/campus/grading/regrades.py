"""Regrade requests: a thread between a student and the staff about a visible grade (CC-X23).

    open -> answered (by staff) -> open (the student writes again) ... -> closed (by either)

Must hold: a student has one thread for a submission, because its id is the student's; it can be opened while the window
of the assignment is open, counted from the moment the grade became visible. A post and its state are one write.
"""

from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, Refused
from tablewright.kit.tables import Actor, is_user_id
from tablewright.mapping import Page
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grade_model import Regrade, RegradePost, RegradeStatus
from tablewright.systems.campus.grading.notices import GradeNotices, students_of
from tablewright.systems.campus.grading.release import visible_since
from tablewright.systems.campus.repository import Repository

MOST_TEXT, MOST_POSTS = 5_000, 50


def open_until(assignment: Assignment, submission: Submission, now: datetime) -> datetime | None:
    """The end of the window for a request; None if the grade is not visible."""
    since = visible_since(assignment, submission, now)
    return None if since is None else since + timedelta(days=assignment.regrade_days)


class Regrades:
    """Threads about grades."""

    def __init__(self, repository: Repository, notices: GradeNotices) -> None:
        self._repository, self._notices = repository, notices

    def get(self, submission_id: str, regrade_id: str) -> Regrade:
        if not is_user_id(regrade_id):
            raise self._repository.not_found("REGRADE")
        found = self._repository.db.one(d.regrades.get(submission_id, regrade_id), consistent=True)
        return self._repository.found(found, "REGRADE")

    def of(self, submission_id: str) -> list[Regrade]:
        return list(self._repository.db.all(d.regrades_of_submission(submission_id=submission_id)))

    def own(self, submission_id: str, student_id: str) -> Regrade | None:
        return self._repository.db.one(d.regrades.get(submission_id, student_id), consistent=True)

    def queue(
        self,
        course_id: str,
        status: RegradeStatus,
        reader: str,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[Regrade]:
        """The requests of a course in a status, oldest first."""
        return self._repository.page(
            d.regrades_of_course(course_id=course_id, status=status), size, after, reader
        )

    def request(self, assignment: Assignment, submission: Submission, text: str, actor: Actor) -> Regrade:
        """Open a thread, as a student of the submission."""
        now = self._repository.now()
        if actor.subject not in students_of(submission):
            raise self._repository.not_found("SUBMISSION")
        self._refuse_outside_window(assignment, submission, now)
        regrade = Regrade(
            submission_id=submission.submission_id,
            regrade_id=actor.subject,
            assignment_id=assignment.assignment_id,
            course_id=assignment.course_id,
            student_id=actor.subject,
            student_name=actor.name,
            posts=[self._post(text, actor, now)],
            opened_at=now,
        )
        audit = self._repository.audit(
            _subject(regrade), "regrade requested", actor, None, None, text.strip()
        )
        notices = self._notices.regrade_asked(assignment, submission, regrade)
        try:
            self._repository.write("REGRADE", d.regrades.create(regrade), audit, *notices)
        except Conflict as refused:
            if refused.code != "EXISTS":
                raise
            words = "You have asked for a regrade already. Write in that request."
            raise Conflict("REGRADE_EXISTS", words) from None
        return regrade

    def reply(
        self, assignment: Assignment, submission: Submission, regrade: Regrade, text: str, actor: Actor
    ) -> Regrade:
        """Write in a thread: staff answers it; the student opens it again, within the window."""
        now = self._repository.now()
        if regrade.status == "closed":
            raise Conflict("REGRADE_CLOSED", "This regrade request is closed.")
        if len(regrade.posts) >= MOST_POSTS:
            raise Conflict("TOO_MANY", f"A regrade request can have {MOST_POSTS} messages.")
        if actor.role != "staff":
            self._refuse_outside_window(assignment, submission, now)
        status: RegradeStatus = "answered" if actor.role == "staff" else "open"
        after = regrade.model_copy(
            update={"status": status, "posts": [*regrade.posts, self._post(text, actor, now)]}
        )
        notices = (
            self._notices.regrade_answered(assignment, regrade)
            if actor.role == "staff"
            else self._notices.regrade_asked(assignment, submission, regrade)
        )
        return self._saved(
            regrade,
            after,
            actor,
            "regrade answered" if actor.role == "staff" else "regrade asked again",
            *notices,
        )

    def close(self, regrade: Regrade, actor: Actor, expected: int | None = None) -> Regrade:
        """End a thread; again changes nothing."""
        if regrade.status == "closed":
            return regrade
        if expected is not None and regrade.version != expected:
            raise Changed
        return self._saved(regrade, regrade.model_copy(update={"status": "closed"}), actor, "regrade closed")

    def _saved(
        self, before: Regrade, after: Regrade, actor: Actor, action: str, *more: Write[Any]
    ) -> Regrade:
        by = "staff" if actor.role == "staff" else "student"
        moved = before.status != after.status
        write = d.regrades.move(before, after, by=by) if moved else d.regrades.change(before, after)
        assert write.item is not None
        audit = self._repository.audit(
            _subject(before), action, actor, {"status": before.status}, {"status": after.status}
        )
        self._repository.write("REGRADE", write, audit, *more)
        return write.item

    def _post(self, text: str, actor: Actor, now: datetime) -> RegradePost:
        clean = text.strip()
        if not 1 <= len(clean) <= MOST_TEXT:
            raise Refused("INVALID_TEXT", f"Write 1 to {MOST_TEXT} characters.", "text")
        return RegradePost(author_id=actor.subject, author_name=actor.name, text=clean, at=now)

    def _refuse_outside_window(self, assignment: Assignment, submission: Submission, now: datetime) -> None:
        until = open_until(assignment, submission, now)
        if until is None:
            raise Conflict("NOT_GRADED", "There is no grade to ask about yet.")
        if now > until:
            words = f"Regrades could be requested for {assignment.regrade_days} days after the grade was released."
            raise Refused("WINDOW_CLOSED", words, facts={"until": until.isoformat()})


def _subject(regrade: Regrade) -> str:
    return f"submission:{regrade.submission_id}"
