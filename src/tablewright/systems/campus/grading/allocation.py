"""Which grader marks which submission: evenly, by section, or by hand (CC-X24).

Must hold: a submission that has a grader keeps it, unless it is allocated by hand; with second marking the second
grader is another person. A submission that changes at the same moment is allocated on its newest version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablewright.edge.errors import Refused
from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Enrolment, Submission
from tablewright.systems.campus.repository import Repository


@dataclass(frozen=True, slots=True)
class Graders:
    """The graders of one submission."""

    first: str | None
    second: str | None = None


def evenly(submissions: Sequence[Submission], graders: Sequence[str], *, second: bool) -> dict[str, Graders]:
    """Graders for the submissions that have none: each time the one with the fewest. Pure."""
    load = dict.fromkeys(graders, 0)
    for each in submissions:
        for grader in (each.grader_id, each.second_grader_id):
            if grader in load:
                load[grader] += 1

    def next_of(without: str | None) -> str | None:
        free = [grader for grader in graders if grader != without]
        if not free:
            return None
        chosen = min(free, key=lambda grader: load[grader])
        load[chosen] += 1
        return chosen

    found: dict[str, Graders] = {}
    for each in submissions:
        first = each.grader_id or next_of(each.second_grader_id)
        other = each.second_grader_id or (next_of(first) if second else None)
        if (first, other) != (each.grader_id, each.second_grader_id):
            found[each.submission_id] = Graders(first, other)
    return found


def by_section(submissions: Sequence[Submission], graders: Mapping[str, str]) -> dict[str, Graders]:
    """The grader of its section for each submission that has none. Pure."""
    found = {}
    for each in submissions:
        grader = graders.get(each.section or "")
        if each.grader_id is None and grader is not None and grader != each.second_grader_id:
            found[each.submission_id] = Graders(grader, each.second_grader_id)
    return found


class Allocation:
    """Allocates the submissions of an assignment to graders."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def staff(self, course_id: str) -> list[Enrolment]:
        """Who can grade in a course: teaching assistants first, then instructors, by name."""
        found = [
            each
            for each in self._repository.db.all(d.enrolments_of_course(course_id=course_id))
            if each.role != "student"
        ]
        return sorted(found, key=lambda each: (each.role != "ta", each.name, each.user_id))

    def evenly(self, assignment: Assignment, graders: Sequence[str], actor: Actor) -> int:
        """Share the submissions without a grader among graders; how many were allocated."""
        chosen = list(dict.fromkeys(graders))
        self._refuse_strangers(assignment.course_id, chosen)
        if not chosen or (assignment.second_marking and len(chosen) < 2):
            words = "Choose two graders or more." if assignment.second_marking else "Choose a grader."
            raise Refused("GRADERS_MISSING", words, "graders")
        wanted = evenly(self._open(assignment), chosen, second=assignment.second_marking)
        return self._apply(assignment, wanted, actor)

    def by_section(self, assignment: Assignment, graders: Mapping[str, str], actor: Actor) -> int:
        """Give each section's submissions to its grader; how many were allocated."""
        self._refuse_strangers(assignment.course_id, list(graders.values()))
        return self._apply(assignment, by_section(self._open(assignment), graders), actor)

    def by_hand(
        self,
        assignment: Assignment,
        submission: Submission,
        first: str | None,
        second: str | None,
        actor: Actor,
    ) -> Submission:
        """Give one submission to a grader, to another one, or to no grader."""
        self._refuse_strangers(assignment.course_id, [each for each in (first, second) if each is not None])
        if first is not None and first == second:
            raise Refused("SAME_GRADER", "The second grader must be another person.", "secondGraderId")
        self._allocate(submission.submission_id, Graders(first, second), actor, replace=True)
        return self._repository.submission(submission.submission_id)

    def _open(self, assignment: Assignment) -> list[Submission]:
        """What is to be marked: not withdrawn, not graded."""
        rows = self._repository.db.all(d.submissions_of_assignment(assignment_id=assignment.assignment_id))
        return [each for each in rows if each.withdrawn_at is None and each.status == "submitted"]

    def _apply(self, assignment: Assignment, wanted: Mapping[str, Graders], actor: Actor) -> int:
        return sum(self._allocate(id, graders, actor, replace=False) for id, graders in wanted.items())

    def _allocate(self, submission_id: str, graders: Graders, actor: Actor, *, replace: bool) -> bool:
        def attempt() -> bool:
            before = self._repository.submission(submission_id)
            first = graders.first if replace else before.grader_id or graders.first
            second = graders.second if replace else before.second_grader_id or graders.second
            if (first, second) == (before.grader_id, before.second_grader_id) or (
                first is not None and first == second
            ):
                return False
            after = before.model_copy(update={"grader_id": first, "second_grader_id": second})
            write = d.submissions.change(before, after)
            audit = self._repository.audit(
                f"submission:{submission_id}", "allocated", actor, before, write.item
            )
            self._repository.write("SUBMISSION", write, audit)
            return True

        return self._repository.retried(None, attempt)

    def _refuse_strangers(self, course_id: str, graders: Sequence[str]) -> None:
        known = {each.user_id for each in self.staff(course_id)}
        if not set(graders) <= known:
            raise Refused("UNKNOWN_GRADER", "A grader must be staff of this course.", "graders")
