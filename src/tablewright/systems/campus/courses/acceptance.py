"""Whether an assignment accepts work: what a submission depends on of it, spread over several rows.

The transaction of a submission requires that the assignment takes work and that none of its dates changed since they
were read. A check of the assignment itself would let one submission at a time be written, since transactions that meet
at an item conflict; so each of these rows has the same content, and a student's submissions check one of them.
Must hold: every change of status, dates, limits or overrides of a published assignment is written with all its rows,
with a new stamp; a row is read before what depends on it.
"""

import hashlib
from typing import Any

from tablewright.design import Write
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import AcceptanceRow, Assignment
from tablewright.systems.campus.repository import Repository

ROWS = 16


class Acceptance:
    """The rows of assignments."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def of(self, assignment_id: str, student_id: str) -> AcceptanceRow | None:
        """The row of a student; None if the assignment was never published."""
        number = int(hashlib.sha256(student_id.encode()).hexdigest()[:8], 16) % ROWS
        return self._repository.db.one(d.acceptance_rows.get(assignment_id, number), consistent=True)

    def moved(self, assignment: Assignment) -> list[Write[Any]]:
        """To be written with a change of a published assignment: what was read before it is out of date."""
        if assignment.status == "draft":
            return []
        stamp, is_open = self._repository.new_uuid(), assignment.status == "active"
        rows = (
            AcceptanceRow(assignment_id=assignment.assignment_id, number=number, is_open=is_open, stamp=stamp)
            for number in range(ROWS)
        )
        return [d.acceptance_rows.put(row) for row in rows]

    def removed(self, assignment_id: str) -> list[Write[Any]]:
        return [d.acceptance_rows.discard(assignment_id, number) for number in range(ROWS)]


def unchanged(row: AcceptanceRow) -> Write[Any]:
    """The condition that work is accepted, by the dates as they were after this row was read."""
    stamp = row.stamp
    check = d.acceptance_rows.check(row.assignment_id, row.number)
    return check.when(lambda g: (g.is_open == True) & (g.stamp == stamp))  # noqa: E712  # a condition, noted
