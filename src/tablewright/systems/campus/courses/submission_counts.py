"""`submissionCount` of assignments, kept from the stream of submissions in batches (CC-D14); `assignmentsSubmitted`.

For each assignment in a batch the submissions are counted and the number is stored: a batch that is delivered again
changes nothing. Must hold: a count is stored only if the number did not change since before the counting, so an older
count never replaces a newer one; the first attempt at an assignment counts once for each of its authors, until it is
taken back.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tablewright.mapping import ConditionNotMet, Consumer, Missing
from tablewright.mapping.consumer.records import Change
from tablewright.systems.campus import design as d
from tablewright.systems.campus.courses.assignments import Assignments
from tablewright.systems.campus.repository import Repository


class SubmissionCounts:
    """Keeps the numbers."""

    def __init__(self, repository: Repository, assignments: Assignments) -> None:
        self._repository, self._assignments = repository, assignments

    def consumer(self) -> Consumer:
        """The consumer of the stream of submissions."""
        table = d.submissions_table.table.name
        return Consumer(
            self._repository.db,
            [d.submissions],
            table,
            "campus counts",
            self._on_change,
            handle_many=self._on_changes,
        )

    def _on_change(self, change: Change[Any]) -> None:
        self._on_changes([change])

    def _on_changes(self, changes: Sequence[Change[Any]]) -> None:
        for change in changes:
            self._count_for_authors(change)
        rows = [change.after or change.before for change in changes if change.kind != "MODIFY"]
        for course_id, assignment_id in sorted(
            {(row.course_id, row.assignment_id) for row in rows if row is not None}
        ):
            self.count(course_id, assignment_id)

    def _count_for_authors(self, change: Change[Any]) -> None:
        """In the statistics of the student, or of each member of the team."""
        row, step = (change.after, 1) if change.kind == "INSERT" else (change.before, -1)
        if change.kind == "MODIFY" or row is None or row.submission_number != 1:
            return
        for user_id in sorted({row.student_id, *row.member_ids}):
            write = d.users.update(user_id).at(lambda user: user.statistics.assignments_submitted).add(step)
            once = f"{'submitted' if step > 0 else 'taken-back'}/{row.submission_id}/{user_id}"
            with suppress(Missing):  # erased since
                self._repository.db.write(write, once=once)

    def count(self, course_id: str, assignment_id: str) -> None:
        """Count the submissions of an assignment and store the number."""

        def attempt() -> None:
            before = self._repository.db.one(d.assignments.get(course_id, assignment_id), consistent=True)
            if before is None:
                return
            stored, found = before.submission_count, self._assignments.count(assignment_id)
            if stored == found:
                return
            update = (
                d.assignments.update(course_id, assignment_id).at(lambda a: a.submission_count).set(found)
            )
            try:
                self._repository.db.write(update.when(lambda a: a.submission_count == stored))
            except Missing:
                return

        self._repository.retried(None, attempt, on=ConditionNotMet)
