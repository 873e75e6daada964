"""The arithmetic of grades: rubric totals, the grade after a late penalty, groups, weights, letters, what-if. Pure.

Must hold: an excused or ungraded result counts nowhere; a group never drops its last result; a dropped result never
lowers a total; only groups with a result have weight, so a total is never lower because nothing was graded yet.
Elsewhere: what being late costs (courses/lateness.py), where results come from (gradebook.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from tablewright.edge.errors import Refused
from tablewright.systems.campus.course_model import Assignment, GradeGroup, GradeLetter, Submission
from tablewright.systems.campus.courses.lateness import after_penalty, penalty
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.grade_model import Criterion, CriterionMark, Rubric

ResultState = Literal["graded", "submitted", "missing", "excused", "open"]
HUNDRED = Decimal(100)
_CENT = Decimal("0.01")
_BANDS = 10


def rounded(value: Decimal) -> Decimal:
    """Two places, half up: as grades are shown."""
    return value.quantize(_CENT, ROUND_HALF_UP)


def percent_of(part: Decimal, whole: Decimal) -> Decimal:
    return part * HUNDRED / whole


# --- one submission ---


def most_points(criterion: Criterion) -> Decimal:
    return max((level.points for level in criterion.levels), default=Decimal(0))


def rubric_points(rubric: Rubric) -> Decimal:
    """The points of the best level of every criterion."""
    return sum(map(most_points, rubric.criteria), Decimal(0))


def criterion_points(criterion: Criterion, mark: CriterionMark) -> Decimal | None:
    """The marker's own points if there are any, else those of the chosen level; None if neither is known."""
    if mark.points is not None:
        return mark.points
    return next((level.points for level in criterion.levels if level.level_id == mark.level_id), None)


def has_levels(rubric: Rubric, marks: Mapping[str, CriterionMark]) -> bool:
    """False if a level that was chosen is gone: then the rubric no longer says what the mark is worth."""
    levels = {each.criterion_id: {level.level_id for level in each.levels} for each in rubric.criteria}
    return all(
        mark.points is not None or mark.level_id is None or mark.level_id in levels[id]
        for id, mark in marks.items()
        if id in levels
    )


def rubric_total(
    rubric: Rubric, marks: Mapping[str, CriterionMark], adjustment: Decimal = Decimal(0)
) -> Decimal | None:
    """The points of the marked criteria and the adjustment, not below 0; None if no criterion is marked."""
    found = [
        criterion_points(each, marks[each.criterion_id])
        for each in rubric.criteria
        if each.criterion_id in marks
    ]
    points = [each for each in found if each is not None]
    return max(rounded(sum(points, adjustment)), Decimal(0)) if points else None


def most_of(assignment: Assignment, rubric: Rubric | None = None) -> Decimal:
    """The maximum grade: the assignment's points, else those of its rubric, else 100 (CC-D19)."""
    if assignment.points is not None:
        return assignment.points
    return rubric_points(rubric) if rubric is not None else HUNDRED


def penalty_of(assignment: Assignment, submission: Submission) -> Decimal:
    """The percent of its score that a submission loses for being late, by the due date on its row."""
    if assignment.late_policy != "penalise" or not handed_in(submission):
        return Decimal(0)
    return penalty(
        assignment.late_penalty,
        submission.due_date,
        submission.submitted_at,
        grace_minutes=assignment.grace_minutes,
        days=submission.late_days_used,
    )


def graded(assignment: Assignment, submission: Submission) -> Submission:
    """The row with the grades that follow from its scores and its lateness; to be used when either has changed."""
    percent = penalty_of(assignment, submission)
    return submission.model_copy(
        update={
            "penalty_percent": percent if submission.score is not None or submission.scores else None,
            "grade": None if submission.score is None else after_penalty(submission.score, percent),
            "grades": {member: after_penalty(score, percent) for member, score in submission.scores.items()},
        }
    )


def grade_of(submission: Submission, student_id: str) -> Decimal | None:
    """The grade of one student: their own of a team with a grade each, else that of the submission."""
    return submission.grades.get(student_id, submission.grade)


def check_grade(value: Decimal, most: Decimal, *, extra_credit: bool, field: str = "score") -> Decimal:
    """The grade, rounded; GRADE_OUT_OF_RANGE below 0 or, without extra credit, above the maximum (CC-D19)."""
    if not value.is_finite() or value < 0 or (value > most and not extra_credit) or value > most * 10 + 1000:
        words = f"{field} must be 0 to {most.normalize():f}."
        raise Refused("GRADE_OUT_OF_RANGE", words, field, {"most": float(most)})
    return rounded(value)


# --- a course ---


@dataclass(frozen=True, slots=True)
class Result:
    """What a student has for an assignment. `points` is the maximum; without a `score` it does not count yet."""

    assignment_id: str
    group_id: str | None
    points: Decimal
    score: Decimal | None
    state: ResultState
    counts: bool = True

    @property
    def is_counted(self) -> bool:
        return self.counts and self.score is not None and self.points > 0 and self.state != "excused"

    @property
    def percent(self) -> Decimal:
        return percent_of(self.score or Decimal(0), self.points)


@dataclass(frozen=True, slots=True)
class GroupTotal:
    """A group's part of a total: its percentage, None if nothing in it counts yet, and what was dropped."""

    group: GradeGroup
    percent: Decimal | None
    dropped: frozenset[str]


@dataclass(frozen=True, slots=True)
class CourseTotal:
    """A student's total in a course."""

    groups: tuple[GroupTotal, ...]
    percent: Decimal | None
    letter: str | None

    @property
    def dropped(self) -> frozenset[str]:
        return frozenset().union(*(each.dropped for each in self.groups))


# A course without groups: all its assignments are one.
EVERYTHING = GradeGroup(group_id="", name="Assignments", weight=HUNDRED)


def group_total(group: GradeGroup, results: Sequence[Result]) -> GroupTotal:
    """The percentage of a group's points, without its lowest results by percentage."""
    counted = sorted(
        (each for each in results if each.is_counted), key=lambda each: (each.percent, -each.points)
    )
    drop = max(min(group.drop_lowest, len(counted) - 1), 0)
    kept = counted[drop:]
    if not kept:
        return GroupTotal(group, None, frozenset())
    scores = sum((each.score or Decimal(0) for each in kept), Decimal(0))
    points = sum((each.points for each in kept), Decimal(0))
    dropped = frozenset(each.assignment_id for each in counted[:drop])
    return GroupTotal(group, percent_of(scores, points), dropped)


def course_total(
    groups: Sequence[GradeGroup], letters: Sequence[GradeLetter], results: Sequence[Result]
) -> CourseTotal:
    """A student's total. With groups, an assignment in none of them does not count."""
    if groups:
        totals = [
            group_total(group, [each for each in results if each.group_id == group.group_id])
            for group in groups
        ]
    else:
        totals = [group_total(EVERYTHING, results)]
    weighed = [
        (each.group.weight, each.percent)
        for each in totals
        if each.percent is not None and each.group.weight > 0
    ]
    if not weighed:
        return CourseTotal(tuple(totals), None, None)
    weight = sum((weight for weight, _ in weighed), Decimal(0))
    percent = rounded(sum((weight * percent for weight, percent in weighed), Decimal(0)) / weight)
    return CourseTotal(tuple(totals), percent, letter_of(letters, percent))


def letter_of(letters: Sequence[GradeLetter], percent: Decimal) -> str | None:
    """The letter with the highest bound that a percentage reaches; None below the lowest bound."""
    reached = [each for each in letters if each.from_percent <= percent]
    return max(reached, key=lambda each: each.from_percent).letter if reached else None


def what_if(results: Sequence[Result], guesses: Mapping[str, Decimal]) -> list[Result]:
    """The results with a student's guesses instead of what was graded or is still open; excused stays excused."""
    return [
        replace(each, score=guesses[each.assignment_id], state="graded")
        if each.assignment_id in guesses and each.state != "excused"
        else each
        for each in results
    ]


def distribution(percents: Sequence[Decimal]) -> list[int]:
    """How many are in each band of ten per cent; 100 and more are in the last."""
    bands = [0] * _BANDS
    for percent in percents:
        bands[min(max(int(percent // _BANDS), 0), _BANDS - 1)] += 1
    return bands
