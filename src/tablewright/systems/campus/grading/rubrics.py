"""Rubrics: criteria with levels and points, used by assignments of a course (CC-X21).

Must hold: a change of points is written with a task that recomputes every mark made with the rubric. A mark is saved
on the condition that its rubric is the version its total was computed from (marks.py), so every mark either has the new
points or is found by the task; a total that is right already is not written again (CC-S20), and that of a mark whose
level was removed stays.
Elsewhere: the totals (totals.py), what the task does with one submission (marks.py).
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Refused
from tablewright.kit.tables import Actor
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grade_model import Criterion, Level, Rubric
from tablewright.systems.campus.model import Task
from tablewright.systems.campus.repository import Repository, is_uuid

TASK = "rubric"
MOST_CRITERIA, MOST_LEVELS, MOST_POINTS = 50, 10, Decimal(10_000)
_MOST_TITLE, _MOST_TEXT = 200, 2_000


class Rubrics:
    """The rubrics of courses."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def get(self, course_id: str, rubric_id: str) -> Rubric:
        if not is_uuid(rubric_id):
            raise self._repository.not_found("RUBRIC")
        return self._repository.found(
            self._repository.db.one(d.rubrics.get(course_id, rubric_id), consistent=True), "RUBRIC"
        )

    def of_course(self, course_id: str) -> list[Rubric]:
        return list(self._repository.db.all(d.rubrics_of_course(course_id=course_id)))

    def of_assignment(self, assignment: Assignment) -> Rubric | None:
        """The rubric an assignment is marked with, if it has one."""
        if assignment.rubric_id is None:
            return None
        return self._repository.db.one(
            d.rubrics.get(assignment.course_id, assignment.rubric_id), consistent=True
        )

    def create(self, course_id: str, title: str, criteria: Sequence[Criterion], actor: Actor) -> Rubric:
        now = self._repository.now()
        rubric = Rubric(
            course_id=course_id,
            rubric_id=self._repository.new_uuid(),
            title=_text(title, "title", _MOST_TITLE),
            criteria=self._checked(criteria),
            created_at=now,
            updated_at=now,
        )
        audit = self._repository.audit(f"course:{course_id}", "rubric created", actor, None, rubric)
        self._repository.write("RUBRIC", d.rubrics.create(rubric), audit)
        return rubric

    def change(
        self, before: Rubric, title: str, criteria: Sequence[Criterion], actor: Actor, expected: int
    ) -> Rubric:
        """Change a rubric. If points change, a task recomputes the totals of all marks made with it."""
        if before.version != expected:
            raise Changed
        now = self._repository.now()
        update = {
            "title": _text(title, "title", _MOST_TITLE),
            "criteria": self._checked(criteria),
            "updated_at": now,
        }
        write = d.rubrics.change(before, before.model_copy(update=update))
        assert write.item is not None
        writes: list[Write[Any]] = [
            write,
            self._repository.audit(f"course:{before.course_id}", "rubric changed", actor, before, write.item),
        ]
        if _points(before) != _points(write.item):
            about = f"{before.course_id}/{before.rubric_id}"
            task = Task(
                task_id=self._repository.new_uuid(),
                kind=TASK,
                about=about,
                by=actor.name,
                created_at=now,
                due_at=now,
            )
            writes.append(d.tasks.add(task))
        self._repository.write("RUBRIC", *writes)
        return write.item

    def use(
        self, assignment: Assignment, rubric_id: str | None, actor: Actor, expected: int | None = None
    ) -> Assignment:
        """Mark an assignment with a rubric from now on; marks that were made stay as they are."""
        if expected is not None and assignment.version != expected:
            raise Changed
        if rubric_id is not None:
            self.get(assignment.course_id, rubric_id)
        after = assignment.model_copy(update={"rubric_id": rubric_id, "updated_at": self._repository.now()})
        write = d.assignments.change(assignment, after)
        assert write.item is not None
        subject = f"assignment:{assignment.assignment_id}"
        self._repository.write(
            "ASSIGNMENT",
            write,
            self._repository.audit(subject, "rubric chosen", actor, assignment, write.item),
        )
        return write.item

    def run(self, task: Task, recompute: Callable[[Assignment, Submission, Rubric, str], int]) -> Finished:
        """The task of a change: `recompute` each submission of each assignment of the course. Can be repeated."""
        course_id, _, rubric_id = task.about.partition("/")
        rubric = self.get(course_id, rubric_id)
        changed = 0
        for assignment in self._repository.db.all(d.assignments_of_course(course_id=course_id)):
            # An assignment that has another rubric by now may have marks of this one.
            rows = self._repository.db.all(
                d.submissions_of_assignment(assignment_id=assignment.assignment_id)
            )
            changed += sum(
                recompute(assignment, each, rubric, task.by or "")
                for each in rows
                if each.withdrawn_at is None
            )
        actor = Actor(task.by or "", "staff")
        words = {"changed": changed}
        return Finished(
            (self._repository.audit(f"course:{course_id}", "totals recomputed", actor, {}, words),)
        )

    def _checked(self, criteria: Sequence[Criterion]) -> list[Criterion]:
        """The criteria with ids where they have none yet."""
        if not 1 <= len(criteria) <= MOST_CRITERIA:
            raise Refused("INVALID_RUBRIC", f"A rubric has 1 to {MOST_CRITERIA} criteria.", "criteria")
        found = [
            Criterion(
                criterion_id=each.criterion_id or self._repository.new_uuid(),
                title=_text(each.title, f"criteria[{n}].title", _MOST_TITLE),
                description=_text(each.description, f"criteria[{n}].description", _MOST_TEXT)
                if each.description
                else None,
                levels=self._levels(each, n),
            )
            for n, each in enumerate(criteria)
        ]
        if len({each.criterion_id for each in found}) < len(found):
            raise Refused("INVALID_RUBRIC", "Two criteria have the same id.", "criteria")
        return found

    def _levels(self, criterion: Criterion, n: int) -> list[Level]:
        field = f"criteria[{n}].levels"
        if not 1 <= len(criterion.levels) <= MOST_LEVELS:
            raise Refused("INVALID_RUBRIC", f"A criterion has 1 to {MOST_LEVELS} levels.", field)
        if not all(
            level.points.is_finite() and 0 <= level.points <= MOST_POINTS for level in criterion.levels
        ):
            raise Refused("INVALID_RUBRIC", f"The points of a level are 0 to {MOST_POINTS}.", field)
        levels = [
            Level(
                level_id=level.level_id or self._repository.new_uuid(),
                title=_text(level.title, field, _MOST_TITLE),
                points=level.points,
            )
            for level in criterion.levels
        ]
        if len({level.level_id for level in levels}) < len(levels):
            raise Refused("INVALID_RUBRIC", "Two levels of a criterion have the same id.", field)
        return levels


def _points(rubric: Rubric) -> dict[tuple[str, str], Decimal]:
    """What decides totals: the points of each level."""
    return {
        (criterion.criterion_id, level.level_id): level.points
        for criterion in rubric.criteria
        for level in criterion.levels
    }


def _text(text: str | None, field: str, most: int) -> str:
    clean = (text or "").strip()
    if not 1 <= len(clean) <= most:
        raise Refused("INVALID_RUBRIC", f"{field} must have 1 to {most} characters.", field)
    return clean
