"""Gates: what a submission depends on of its assignment, spread over several rows.

The transaction of a submission requires that the assignment takes work and that none of its dates changed since they
were read. A check of the assignment itself would let one submission at a time be written, since transactions that meet
at an item conflict; so each of these rows has the same content, and a student's submissions check one of them.
Must hold: every change of status, dates, limits or overrides of a published assignment is written with all its gates,
with a new stamp; a gate is read before what depends on it.
"""

import hashlib
from typing import Any

from tablewright.design import Write
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Gate
from tablewright.systems.campus.repository import Repository

GATES = 16


class Gates:
    """The gates of assignments."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def of(self, assignment_id: str, student_id: str) -> Gate | None:
        """The gate of a student; None if the assignment was never published."""
        number = int(hashlib.sha256(student_id.encode()).hexdigest()[:8], 16) % GATES
        return self._repository.db.one(d.gates.get(assignment_id, number), consistent=True)

    def moved(self, assignment: Assignment) -> list[Write[Any]]:
        """To be written with a change of a published assignment: what was read before it is out of date."""
        if assignment.status == "draft":
            return []
        stamp, is_open = self._repository.new_uuid(), assignment.status == "active"
        gates = (
            Gate(assignment_id=assignment.assignment_id, number=number, is_open=is_open, stamp=stamp)
            for number in range(GATES)
        )
        return [d.gates.put(gate) for gate in gates]

    def removed(self, assignment_id: str) -> list[Write[Any]]:
        return [d.gates.discard(assignment_id, number) for number in range(GATES)]


def unchanged(gate: Gate) -> Write[Any]:
    """The condition that work is accepted, by the dates as they were after this gate was read."""
    stamp = gate.stamp
    check = d.gates.check(gate.assignment_id, gate.number)
    return check.when(lambda g: (g.is_open == True) & (g.stamp == stamp))  # noqa: E712  # a condition, noted
