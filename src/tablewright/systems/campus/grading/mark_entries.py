"""What a marker enters, and whether it can be entered: levels of the rubric, points in bounds, members of the team."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from tablewright.edge.errors import Refused
from tablewright.systems.campus.course_model import Assignment, PinnedFile, Submission
from tablewright.systems.campus.grade_model import CriterionMark, Mark, Rubric
from tablewright.systems.campus.grading.notices import students_of
from tablewright.systems.campus.grading.totals import check_grade, most_of, most_points, rubric_total

MOST_FEEDBACK, MOST_ADJUSTMENT, MOST_POINTS = 20_000, 10_000, 100_000
_CENT = Decimal("0.01")
_NUMBER = re.compile(r"(?a:[+-]?\d{1,9}(\.\d{0,9})?|[+-]?\.\d{1,9})")


@dataclass(frozen=True, slots=True)
class MarkEntry:
    """What a marker enters: levels of the rubric with an adjustment, or a score; a score each for members of a team."""

    score: Decimal | None = None
    criteria: Mapping[str, CriterionMark] = field(default_factory=dict)
    adjustment: Decimal = Decimal(0)
    scores: Mapping[str, Decimal] = field(default_factory=dict)
    feedback: str | None = None
    feedback_file_id: str | None = None
    # What is pinned of that file; set where the mark is saved.
    feedback_file: PinnedFile | None = None


def typed_number(text: str) -> Decimal | None:
    """A number as people type it, such as 12.5 or 12,5; None if it is not one."""
    plain = text.strip().replace(",", ".")
    return Decimal(plain) if _NUMBER.fullmatch(plain) else None


def in_cents(entry: MarkEntry) -> MarkEntry:
    """The entry with its numbers to two decimals; GRADE_OUT_OF_RANGE for one that has more, or is too large."""
    criteria = {
        id: each
        if each.points is None
        else each.model_copy(update={"points": _cents(each.points, "criteria")})
        for id, each in entry.criteria.items()
    }
    return replace(
        entry,
        score=None if entry.score is None else _cents(entry.score, "score"),
        criteria=criteria,
        adjustment=_cents(entry.adjustment, "adjustment"),
        scores={member: _cents(each, "scores") for member, each in entry.scores.items()},
    )


def changed_entry(
    mark: Mark | None,
    rubric: Rubric | None,
    score: Decimal | None,
    scores: Mapping[str, Decimal],
    feedback: str | None,
) -> MarkEntry:
    """Numbers of a file over what the mark has: levels stay, and the adjustment makes up the difference."""
    known = MarkEntry()
    if mark is not None:
        known = MarkEntry(
            mark.score, mark.criteria, mark.adjustment, mark.grades, mark.feedback, mark.feedback_file_id
        )
    entry = replace(known, feedback=feedback, scores=scores or known.scores)
    if score is None:
        return entry
    if entry.criteria and rubric is not None:
        bare = rubric_total(rubric, entry.criteria) or Decimal(0)
        return replace(entry, adjustment=score - bare)
    return replace(entry, score=score)


def _cents(value: Decimal, field: str) -> Decimal:
    if not value.is_finite() or abs(value) > MOST_POINTS or (cents := value.quantize(_CENT)) != value:
        words = f"{field} must be a number with at most 2 decimals, up to {MOST_POINTS}."
        raise Refused("GRADE_OUT_OF_RANGE", words, field)
    return cents


def refuse_without_score(mark: Mark) -> None:
    refuse_missing_score(mark.score, mark.grades)


def refuse_missing_score(score: Decimal | None, scores: Mapping[str, Decimal]) -> None:
    if score is None and not scores:
        raise Refused("GRADE_MISSING", "Enter a grade, or choose a level for each criterion.", "score")


def checked_feedback(text: str | None) -> str | None:
    clean = (text or "").strip()
    if len(clean) > MOST_FEEDBACK:
        raise Refused("INVALID_FEEDBACK", f"feedback can have {MOST_FEEDBACK} characters.", "feedback")
    return clean or None


def scores_of(
    assignment: Assignment, submission: Submission, rubric: Rubric | None, entry: MarkEntry
) -> tuple[Decimal | None, dict[str, Decimal]]:
    """The total of an entry, and the scores of members; each within its bounds (CC-D19)."""
    most = most_of(assignment, rubric)
    score = entry.score
    if not entry.adjustment.is_finite() or abs(entry.adjustment) > MOST_ADJUSTMENT:
        words = f"An adjustment adds or takes {MOST_ADJUSTMENT} points at most."
        raise Refused("GRADE_OUT_OF_RANGE", words, "adjustment")
    if entry.criteria:
        _refuse_unknown(rubric, entry.criteria)
        assert rubric is not None
        score = rubric_total(rubric, entry.criteria, entry.adjustment)
    if entry.scores:
        _refuse_strangers(assignment, submission, entry.scores)
    scores = {
        member: check_grade(each, most, extra_credit=assignment.extra_credit, field="scores")
        for member, each in entry.scores.items()
    }
    return (
        None if score is None else check_grade(score, most, extra_credit=assignment.extra_credit),
        scores,
    )


def _refuse_unknown(rubric: Rubric | None, criteria: Mapping[str, CriterionMark]) -> None:
    """Only criteria and levels of the rubric can be marked, and points are 0 to those of the best level."""
    known = {each.criterion_id: each for each in rubric.criteria} if rubric is not None else {}
    for id, mark in criteria.items():
        if id not in known:
            raise Refused(
                "UNKNOWN_CRITERION", "The rubric has no such criterion. Reload the page.", "criteria"
            )
        levels = {level.level_id for level in known[id].levels}
        if mark.level_id is not None and mark.level_id not in levels:
            raise Refused(
                "UNKNOWN_LEVEL", f"“{known[id].title}” has no such level. Reload the page.", "criteria"
            )
        most = most_points(known[id])
        if mark.points is not None and not (mark.points.is_finite() and 0 <= mark.points <= most):
            words = f"The points of “{known[id].title}” must be 0 to {most.normalize():f}."
            raise Refused("GRADE_OUT_OF_RANGE", words, "criteria", {"criterionId": id})
        if mark.comment is not None and len(mark.comment) > MOST_FEEDBACK:
            raise Refused("INVALID_FEEDBACK", f"A comment can have {MOST_FEEDBACK} characters.", "criteria")


def _refuse_strangers(assignment: Assignment, submission: Submission, scores: Mapping[str, Decimal]) -> None:
    if not assignment.grade_each:
        raise Refused("ONE_GRADE", "All members of a team get the same grade in this assignment.", "scores")
    if not set(scores) <= set(students_of(submission)):
        raise Refused("UNKNOWN_MEMBER", "Only members of the team get a grade.", "scores")
