"""Taking an attempt back: by its authors until it is due, by staff at any time before it is marked.

Must hold: only the last attempt is taken back, in one transaction that makes its parts a draft again, lets go of its
bytes, gives its late days and its number back, and keeps the audit entry: so numbers never have gaps. What markers
had begun to write about it is removed by a task of the same transaction.
"""

from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, Forbidden, Refused
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Draft, Submission
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.lateness import lateness
from tablewright.systems.campus.courses.owners import Owners
from tablewright.systems.campus.courses.parts import MOST_PARTS
from tablewright.systems.campus.courses.submissions import RACES, other_members
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.grading.feedback_files import FeedbackFiles
from tablewright.systems.campus.model import Task
from tablewright.systems.campus.repository import Repository

WITHDRAWN = "withdrawn"


def clearing_task(repository: Repository, submission: Submission) -> Task:
    """To be written with the end of a submission: removes what markers had begun to write about it."""
    now, id = repository.now(), repository.new_uuid()
    return Task(task_id=id, kind=WITHDRAWN, created_at=now, due_at=now, about=submission.submission_id)


class Withdrawals:
    """Takes attempts back."""

    def __init__(
        self, repository: Repository, library: Library, owners: Owners, feedback: FeedbackFiles
    ) -> None:
        self._repository, self._library, self._owners = repository, library, owners
        self._feedback = feedback

    def withdraw(self, member: CourseMember, assignment: Assignment, submission: Submission) -> Draft:
        """The student or team takes the last attempt back, before the deadline; its parts are a draft again."""
        student = self._owners.student(member)
        if member.user.user_id != submission.student_id and member.user.user_id not in submission.member_ids:
            raise Forbidden("NOT_YOURS", "Only its authors can withdraw a submission.")
        owner = self._owners.of(assignment, student)
        if lateness(assignment, owner.dates.due, self._repository.now()).is_late:
            raise Refused("DEADLINE_PASSED", "A submission can be withdrawn until it is due.")
        return self._taken_back(member, submission, "withdrawn")

    def set_back(self, member: CourseMember, submission: Submission, reason: str | None = None) -> Draft:
        """Staff makes the last attempt a draft again, so that it can be corrected."""
        member.refuse_students()
        return self._taken_back(member, submission, "set back to draft", reason)

    def _taken_back(
        self, member: CourseMember, submission: Submission, action: str, reason: str | None = None
    ) -> Draft:
        key = submission.assignment_id, submission.owner_id

        def attempt() -> Draft:
            found = self._repository.db.one(
                d.submissions.get(*key, submission.submission_number), consistent=True
            )
            before = self._repository.found(found, "SUBMISSION")
            attempts = self._repository.db.one(d.attempts.get(*key), consistent=True)
            if before.submission_id != submission.submission_id or attempts is None:
                raise Changed()
            if attempts.attempts != before.submission_number or not handed_in(before):
                raise Conflict("NOT_LAST", "Only the last attempt can be taken back.")
            if before.status != "submitted":
                raise Conflict("ALREADY_MARKED", "This attempt is marked already.")
            draft, write = self._draft_again(before)
            entry = self._repository.audit(
                f"submission:{before.submission_id}", action, member.actor, before, None, reason
            )
            self._repository.db.write(
                d.submissions.delete(before),
                d.attempts.upsert(attempts).at(lambda a: a.attempts).add(-1)
                .when(lambda a: a.attempts == before.submission_number),
                write,
                *self._released(before),
                *(d.member_entries.discard(*key, before.submission_number, member) for member in other_members(before)),
                *self._days_back(before),
                d.tasks.add(clearing_task(self._repository, before)),
                entry,
            )  # fmt: skip
            return write.item or draft

        return self._repository.retried(None, attempt, on=RACES)

    def clear(self, task: Task) -> Finished:
        """Handles the task `withdrawn`: marks and comments of a submission that is no more, and their files."""
        db, id = self._repository.db, task.about
        self._feedback.release(id, self._feedback.ids_of(id))
        for mark in list(db.all(d.marks_of_submission(submission_id=id))):
            db.write(d.marks.discard(id, mark.marker_id))
        for comment in list(db.all(d.comments_of_submission(submission_id=id))):
            db.write(d.comments.discard(id, comment.comment_id))
        return Finished()

    def _draft_again(self, submission: Submission) -> tuple[Draft, Write[Any]]:
        key = submission.assignment_id, submission.owner_id
        before = self._repository.db.one(d.drafts.get(*key), consistent=True)
        kept = before.parts if before is not None else []
        known = {part.part_id for part in kept}
        parts = [*(part for part in submission.parts if part.part_id not in known), *kept][:MOST_PARTS]
        after = Draft(
            assignment_id=key[0],
            owner_id=key[1],
            parts=parts,
            comments=before.comments if before is not None and before.comments else submission.comments,
            updated_at=self._repository.now(),
            version=before.version if before is not None else 1,
        )
        return after, d.drafts.create(after) if before is None else d.drafts.change(before, after)

    def _released(self, submission: Submission) -> list[Write[Any]]:
        ids = dict.fromkeys(part.file_id for part in submission.parts if part.file_id is not None)
        files = [self._repository.file(file_id) for file_id in ids]
        return [self._library.unhold(file, submission.submission_id) for file in files]

    def _days_back(self, submission: Submission) -> list[Write[Any]]:
        """Late days back that no earlier attempt needs."""
        rows = self._owners.submissions(submission.assignment_id, submission.owner_id)
        needed = max(
            (row.late_days_used for row in rows if row.submission_id != submission.submission_id), default=0
        )
        days = submission.late_days_used - needed
        member = submission.student_id, submission.course_id
        if days <= 0 or self._repository.enrolment(*member) is None:
            return []
        return [d.enrolments.update(*member).at(lambda e: e.late_days_used).add(-days)]
