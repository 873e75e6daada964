"""When students see their grades: one by one as they are returned, or all of an assignment from a moment on (CC-S18).

Must hold: a grade is visible from the very second on, because that is computed when it is read; the notice that follows
is written once, in the transaction that makes the row `returned`.
Elsewhere: what a student sees of a submission (disclosure.py), publishing after the release (marks.py).
"""

from datetime import datetime
from functools import partial
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict
from tablewright.kit.tables import Actor
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grading.notices import GradeNotices
from tablewright.systems.campus.model import Task
from tablewright.systems.campus.repository import SYSTEM, Repository

TASK = "release"


def visible(assignment: Assignment, submission: Submission, now: datetime) -> bool:
    """Whether students see the grade: it was returned, or it is published and its assignment released."""
    return visible_since(assignment, submission, now) is not None


def visible_since(assignment: Assignment, submission: Submission, now: datetime) -> datetime | None:
    """The moment from which students see the grade; None if they do not see it now."""
    if submission.status == "returned":
        return submission.returned_at or submission.graded_at
    if submission.status == "submitted" or not is_released(assignment, now):
        return None
    moments = (assignment.released_at, submission.graded_at)
    return max(each for each in moments if each is not None)


def is_released(assignment: Assignment, now: datetime) -> bool:
    return assignment.released_at is not None and assignment.released_at <= now


class Release:
    """Releases the grades of assignments."""

    def __init__(self, repository: Repository, notices: GradeNotices) -> None:
        self._repository, self._notices = repository, notices

    def release(
        self, assignment: Assignment, actor: Actor, at: datetime | None = None, expected: int | None = None
    ) -> Assignment:
        """Release all grades now, or at a moment. Before it has come the moment can be changed."""
        now = self._repository.now()
        self._refuse_released(assignment, now)
        moment = max(at, now) if at is not None else now
        task = Task(
            task_id=self._repository.new_uuid(),
            kind=TASK,
            about=assignment.assignment_id,
            created_at=now,
            due_at=moment,
        )
        return self._changed(assignment, moment, actor, "grades released", expected, d.tasks.add(task))

    def hold(self, assignment: Assignment, actor: Actor, expected: int | None = None) -> Assignment:
        """Take back a moment that has not come yet."""
        self._refuse_released(assignment, self._repository.now())
        return self._changed(assignment, None, actor, "release withdrawn", expected)

    def _refuse_released(self, assignment: Assignment, now: datetime) -> None:
        if is_released(assignment, now):
            raise Conflict("RELEASED", "The grades of this assignment are released already.")

    def _changed(
        self,
        before: Assignment,
        moment: datetime | None,
        actor: Actor,
        action: str,
        expected: int | None,
        *more: Write[Any],
    ) -> Assignment:
        if expected is not None and before.version != expected:
            raise Changed
        after = before.model_copy(update={"released_at": moment, "updated_at": self._repository.now()})
        write = d.assignments.change(before, after)
        assert write.item is not None
        audit = self._repository.audit(
            f"assignment:{before.assignment_id}", action, actor, before, write.item
        )
        self._repository.write("ASSIGNMENT", write, audit, *more)
        return write.item

    # --- the notices ---

    def run(self, task: Task) -> Finished:
        """The task of a release: make every published grade `returned` and notify its students, each once."""
        assignment = self._repository.assignment(task.about)
        if is_released(assignment, self._repository.now()):
            for submission in self._repository.db.all(d.submissions_of_assignment(assignment_id=task.about)):
                if submission.status == "graded":
                    self._repository.retried(
                        None, partial(self._return, assignment, submission.submission_id)
                    )
        return Finished()

    def _return(self, assignment: Assignment, submission_id: str) -> None:
        before = self._repository.submission(submission_id)
        if before.status != "graded":
            return
        now = self._repository.now()
        since = visible_since(assignment, before, now)
        after = before.model_copy(
            update={"status": "returned", "marking_state": "released", "returned_at": since}
        )
        write = d.submissions.move(before, after, by="system")
        audit = self._repository.audit(
            f"submission:{submission_id}", "grade released", SYSTEM, before, write.item
        )
        self._repository.write("SUBMISSION", write, audit, *self._notices.released(assignment, after))
