"""The arithmetic of grades: examples, and what holds for any numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.edge.errors import Refused
from tablewright.systems.campus.course_model import GradeGroup, GradeLetter
from tablewright.systems.campus.grade_model import Criterion, CriterionMark, Level, Rubric
from tablewright.systems.campus.grading.totals import (
    Result,
    check_grade,
    course_total,
    distribution,
    group_total,
    letter_of,
    rubric_points,
    rubric_total,
    what_if,
)
from tablewright.testing import Clock

D = Decimal
NOW = Clock().now()
LETTERS = [
    GradeLetter(letter=letter, from_percent=D(start)) for letter, start in (("A", 90), ("C", 70), ("B", 80))
]


def group(name: str, weight: int, drop: int = 0) -> GradeGroup:
    return GradeGroup(group_id=name, name=name, weight=D(weight), drop_lowest=drop)


def result(
    id: str, score: str | None, points: str = "100", group: str | None = "hw", **more: object
) -> Result:
    state = "graded" if score is not None else "open"
    return Result(id, group, D(points), None if score is None else D(score), **{"state": state, **more})  # type: ignore[arg-type]  # as given


def rubric(*criteria: tuple[str, ...]) -> Rubric:
    made = [
        Criterion(
            criterion_id=f"c{n}",
            title=f"Criterion {n}",
            levels=[
                Level(level_id=f"l{m}", title=f"Level {m}", points=D(points))
                for m, points in enumerate(levels)
            ],
        )
        for n, levels in enumerate(criteria)
    ]
    return Rubric(
        course_id="CS101", rubric_id="r", title="Essay", criteria=made, created_at=NOW, updated_at=NOW
    )


# --- one submission ---


def test_a_rubric_total_is_the_sum_of_the_levels_and_the_adjustment() -> None:
    found = rubric(("0", "3", "5"), ("0", "10"))
    marks = {"c0": CriterionMark(level_id="l1"), "c1": CriterionMark(level_id="l1")}
    assert rubric_points(found) == D(15)
    assert rubric_total(found, marks) == D(13)
    assert rubric_total(found, marks, D("-2.5")) == D("10.5")
    assert rubric_total(found, marks, D(-99)) == D(0)


def test_points_of_the_marker_replace_those_of_the_level() -> None:
    found = rubric(("0", "3", "5"))
    assert rubric_total(found, {"c0": CriterionMark(level_id="l2", points=D("4.5"))}) == D("4.5")


def test_a_rubric_without_a_marked_criterion_has_no_total() -> None:
    found = rubric(("0", "3"))
    assert rubric_total(found, {}) is None
    assert (
        rubric_total(found, {"c0": CriterionMark(comment="see me"), "gone": CriterionMark(level_id="l1")})
        is None
    )


@pytest.mark.parametrize("value", ["-0.01", "100.01", "NaN", "Infinity"])
def test_a_grade_is_0_to_the_maximum(value: str) -> None:
    with pytest.raises(Refused) as refused:
        check_grade(D(value), D(100), extra_credit=False)
    assert refused.value.code == "GRADE_OUT_OF_RANGE"


def test_extra_credit_may_be_above_the_maximum_and_never_below_0() -> None:
    assert check_grade(D(110), D(100), extra_credit=True) == D(110)
    with pytest.raises(Refused):
        check_grade(D(-1), D(100), extra_credit=True)


# --- a course ---


def test_groups_count_by_their_weights() -> None:
    groups = [group("hw", 40), group("exam", 60)]
    found = course_total(
        groups, LETTERS, [result("1", "100"), result("2", "50"), result("3", "90", group="exam")]
    )
    assert found.percent == D(84)  # 75 % of 40 and 90 % of 60
    assert found.letter == "B"


def test_a_group_without_a_result_has_no_weight_yet() -> None:
    groups = [group("hw", 40), group("exam", 60)]
    assert course_total(groups, LETTERS, [result("1", "80"), result("2", None, group="exam")]).percent == D(
        80
    )


def test_assignments_of_a_group_count_by_their_points() -> None:
    found = group_total(group("hw", 1), [result("1", "10", "10"), result("2", "0", "90")])
    assert found.percent == D(10)


def test_the_lowest_results_are_dropped_but_never_the_last_one() -> None:
    three = [result("1", "50"), result("2", "90"), result("3", "70")]
    assert group_total(group("hw", 1, drop=1), three).percent == D(80)
    assert group_total(group("hw", 1, drop=1), three).dropped == {"1"}
    assert group_total(group("hw", 1, drop=9), three).percent == D(90)
    assert group_total(group("hw", 1, drop=9), []).percent is None


def test_excused_and_uncounted_results_count_nowhere() -> None:
    results = [result("1", "80"), result("2", "0", state="excused"), result("3", "0", counts=False)]
    assert course_total([], [], results).percent == D(80)


def test_an_assignment_in_no_group_does_not_count_where_there_are_groups() -> None:
    results = [result("1", "80"), result("2", "0", group=None)]
    assert course_total([group("hw", 100)], [], results).percent == D(80)
    assert course_total([], [], results).percent == D(40)


def test_nothing_graded_is_no_total() -> None:
    assert course_total([group("hw", 100)], LETTERS, [result("1", None)]).percent is None


@pytest.mark.parametrize(
    ("percent", "letter"), [("100", "A"), ("90", "A"), ("89.99", "B"), ("70", "C"), ("69.99", None)]
)
def test_a_letter_begins_at_its_bound(percent: str, letter: str | None) -> None:
    assert letter_of(LETTERS, D(percent)) == letter


def test_what_if_replaces_grades_and_open_results_but_not_excused_ones() -> None:
    results = [result("1", "50"), result("2", None), result("3", None, state="excused")]
    found = what_if(results, {"1": D(70), "2": D(90), "3": D(0)})
    assert course_total([], [], found).percent == D(80)
    assert course_total([], [], results).percent == D(50)


def test_the_distribution_has_ten_bands() -> None:
    assert distribution([D(0), D("9.99"), D(10), D(100), D(115)]) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]


# --- for any numbers ---

scores = st.decimals(0, 100, places=2)
results = st.lists(
    st.builds(
        lambda n, score, points, where: result(str(n), str(score), str(points), where),
        st.integers(), scores, st.integers(1, 200), st.sampled_from(["hw", "exam"]),
    ), min_size=1, max_size=12,
)  # fmt: skip
GROUPS = [group("hw", 30), group("exam", 70)]


@given(results, st.integers(0, 5))
def test_dropping_never_lowers_a_group(found: list[Result], drop: int) -> None:
    before, after = (group_total(group("hw", 1, n), found).percent for n in (0, drop))
    assert before is not None
    assert after is not None
    assert after >= before


@given(results)
def test_a_total_is_between_the_lowest_and_the_highest_result(found: list[Result]) -> None:
    total = course_total(GROUPS, [], found).percent
    assert total is not None
    percents = [each.percent for each in found]
    assert min(percents) - D("0.01") <= total <= max(percents) + D("0.01")


@given(results, st.randoms())
def test_the_order_of_results_does_not_matter(found: list[Result], chance: object) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    assert course_total(GROUPS, [], shuffled).percent == course_total(GROUPS, [], found).percent


@given(results, scores)
def test_a_result_that_does_not_count_changes_nothing(found: list[Result], score: Decimal) -> None:
    for more in ({"counts": False}, {"state": "excused"}):
        extra = result("extra", str(score), **more)
        assert (
            course_total(GROUPS, LETTERS, [*found, extra]).percent
            == course_total(GROUPS, LETTERS, found).percent
        )


@given(results)
def test_a_better_result_never_lowers_the_total(found: list[Result]) -> None:
    best = [found[0], *found[1:]]
    guess = what_if(best[:1], {best[0].assignment_id: max(best[0].points, best[0].score or D(0))})
    before, after = (
        course_total(GROUPS, [], found).percent,
        course_total(GROUPS, [], [*guess, *found[1:]]).percent,
    )
    assert before is not None
    assert after is not None
    assert after >= before
