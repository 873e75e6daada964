"""Late arithmetic: a table of examples, and what must hold for any policy and any moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.systems.campus.course_model import Assignment, LatePenalty, Override
from tablewright.systems.campus.courses.dates import dates_for, dates_for_team, last_end
from tablewright.systems.campus.courses.lateness import after_penalty, is_late, lateness, missing, penalty

FRIDAY = datetime(2026, 11, 20, 18, tzinfo=UTC)
TEN_A_DAY = LatePenalty(percent=Decimal(10), unit="day", floor=Decimal(50))
HOURS, MINUTES, SECONDS = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
DAYS = timedelta(days=1)


def assignment(**fields: object) -> Assignment:
    given_fields: dict[str, object] = {
        "course_id": "CS101", "assignment_id": "a", "course_name": "Computing", "title": "Lab", "description": "",
        "instructor_id": "i", "instructor_email": "i@example.edu", "instructor_name": "I", "created_at": FRIDAY,
        "updated_at": FRIDAY, "due_date": FRIDAY, "max_file_size": 1, "allowed_file_types": [],
        "late_policy": "penalise", "late_penalty": TEN_A_DAY, **fields,
    }  # fmt: skip
    return Assignment.model_validate(given_fields)


def override(audience: str, audience_id: str, **fields: object) -> Override:
    given_fields = {"assignment_id": "a", "audience": audience, "audience_id": audience_id, "created_by": "i"}
    return Override.model_validate({**given_fields, "created_at": FRIDAY, **fields})


@pytest.mark.parametrize(
    ("after", "percent"),
    [
        (-DAYS, 0),
        (0 * SECONDS, 0),
        (timedelta(milliseconds=500), 0),  # whole seconds
        (SECONDS, 10),
        (DAYS - SECONDS, 10),
        (DAYS, 10),
        (DAYS + SECONDS, 20),
        (4 * DAYS, 40),
        (6 * DAYS, 50),  # Thursday after: the floor
        (400 * DAYS, 50),
    ],
)
def test_cc_s17_ten_percent_for_each_started_day_with_a_floor_of_fifty(
    after: timedelta, percent: int
) -> None:
    assert penalty(TEN_A_DAY, FRIDAY, FRIDAY + after) == percent


def test_cc_s17_an_override_for_a_section_moves_it_for_that_section_only() -> None:
    later = override("section", "B", due_date=FRIDAY + DAYS)
    for section, percent in (("A", 20), ("B", 10), (None, 20)):
        due = dates_for(assignment(), [later], "u1", section).due
        assert penalty(TEN_A_DAY, due, FRIDAY + DAYS + SECONDS) == percent


def test_cc_s17_excused_counts_nowhere() -> None:
    work = assignment(missing_grade=Decimal(0), status="closed")
    excused = dates_for(work, [override("student", "u1", excused=True)], "u1").excused
    assert missing(work, None, FRIDAY, excused=excused) is None
    assert missing(work, None, FRIDAY, excused=dates_for(work, [], "u2").excused) == 0


def test_cc_s8_lateness_compares_whole_seconds() -> None:
    due = datetime(2024, 2, 1, 23, 59, 59, tzinfo=UTC)
    assert not is_late(due, due + timedelta(milliseconds=500))
    assert is_late(due, due + SECONDS)


@pytest.mark.parametrize(
    ("policy", "grace", "after", "percent"),
    [
        (LatePenalty(percent=Decimal(5), unit="hour"), 0, SECONDS, 5),
        (LatePenalty(percent=Decimal(5), unit="hour"), 0, HOURS + SECONDS, 10),
        (LatePenalty(percent=Decimal(5), unit="hour", most=Decimal(25)), 0, DAYS, 25),
        (LatePenalty(percent=Decimal(5), unit="hour"), 0, 5 * DAYS, 100),
        (LatePenalty(percent=Decimal("2.5"), unit="hour"), 15, 15 * MINUTES, 0),  # still in grace
        (LatePenalty(percent=Decimal("2.5"), unit="hour"), 15, 15 * MINUTES + SECONDS, Decimal("2.5")),
        (LatePenalty(percent=Decimal("2.5"), unit="hour"), 15, 61 * MINUTES, 5),  # counted from the due date
        (LatePenalty(), 0, 9 * DAYS, 0),
    ],
)
def test_percent_unit_cap_and_grace(
    policy: LatePenalty, grace: int, after: timedelta, percent: Decimal
) -> None:
    assert penalty(policy, FRIDAY, FRIDAY + after, grace_minutes=grace) == percent


@pytest.mark.parametrize(
    ("bank", "after", "percent", "used"),
    [
        (0, DAYS, 10, 0),
        (1, DAYS, 0, 1),
        (1, 2 * DAYS, 10, 1),
        (3, HOURS, 0, 1),
        (3, 2 * DAYS + SECONDS, 0, 3),
        (2, -SECONDS, 0, 0),
        (1, 30 * DAYS, 50, 0),  # the floor is reached either way: no day is spent on nothing
    ],
)
def test_late_days_move_the_due_date_before_anything_costs(
    bank: int, after: timedelta, percent: int, used: int
) -> None:
    found = lateness(assignment(), FRIDAY, FRIDAY + after, bank=bank)
    assert (int(found.penalty), found.days_used) == (percent, used)


def test_late_work_that_is_accepted_costs_nothing_and_is_late() -> None:
    found = lateness(assignment(late_policy="accept"), FRIDAY, FRIDAY + DAYS, bank=3)
    assert (found.is_late, int(found.penalty), found.days_used) == (True, 0, 0)


@pytest.mark.parametrize(
    ("score", "percent", "left"),
    [("100", "0", "100"), ("80", "10", "72"), ("33.33", "50", "16.67"), ("7", None, "7"), ("0", "100", "0")],
)
def test_a_penalty_is_taken_off_the_score(score: str, percent: str | None, left: str) -> None:
    taken = Decimal(percent) if percent is not None else None
    assert after_penalty(Decimal(score), taken) == Decimal(left)


def test_a_missing_grade_is_given_once_work_is_no_longer_accepted() -> None:
    work = assignment(missing_grade=Decimal(0), status="active")
    end = dates_for(work.model_copy(update={"accept_until": FRIDAY}), [], "u1").accept_until
    assert missing(work, end, FRIDAY, excused=False) is None
    assert missing(work, end, FRIDAY + SECONDS, excused=False) == 0
    assert missing(assignment(status="closed"), end, FRIDAY + SECONDS, excused=False) is None


# --- dates ---


def test_of_all_overrides_the_most_generous_applies_field_by_field() -> None:
    work = assignment(available_from=FRIDAY - DAYS, accept_until=FRIDAY + DAYS)
    overrides = [
        override("student", "u1", due_date=FRIDAY + HOURS, available_from=FRIDAY - 2 * DAYS),
        override("section", "B", due_date=FRIDAY + 5 * HOURS, accept_until=FRIDAY + 3 * DAYS),
        override("team", "t1", due_date=FRIDAY - DAYS, extra_submissions=1),
        override("student", "u2", due_date=FRIDAY + 9 * DAYS),
    ]
    mine = dates_for(work, overrides, "u1", "B", "t1")
    assert (mine.available_from, mine.due, mine.accept_until, mine.extra_submissions) == (
        FRIDAY - 2 * DAYS, FRIDAY + 5 * HOURS, FRIDAY + 3 * DAYS, 1,
    )  # fmt: skip
    assert dates_for(work, overrides, "u3").due == FRIDAY


def test_extra_attempts_of_several_overrides_are_not_added_up() -> None:
    overrides = [
        override("student", "u1", extra_submissions=1),
        override("section", "B", extra_submissions=3),
        override("team", "t1", extra_submissions=2),
        override("student", "u2", extra_submissions=9),
    ]
    assert dates_for(assignment(), overrides, "u1", "B", "t1").extra_submissions == 3
    assert dates_for_team(assignment(), overrides, "t1", ["u1"], ["B"]).extra_submissions == 3
    assert dates_for_team(assignment(), overrides, "t1", ["u1", "u2"]).extra_submissions == 9
    assert dates_for(assignment(), overrides, "u3").extra_submissions == 0


def test_an_extension_beyond_the_end_moves_the_end_with_it() -> None:
    work = assignment(accept_until=FRIDAY + HOURS, grace_minutes=10)
    extended = dates_for(work, [override("student", "u1", due_date=FRIDAY + DAYS)], "u1")
    assert extended.accept_until == FRIDAY + DAYS + 10 * MINUTES


def test_without_an_end_late_work_is_accepted_unless_the_policy_rejects_it() -> None:
    assert dates_for(assignment(), [], "u1").accept_until is None
    rejecting = dates_for(assignment(late_policy="reject", grace_minutes=5), [], "u1")
    assert rejecting.accept_until == FRIDAY + 5 * MINUTES
    assert rejecting.is_open(FRIDAY + 5 * MINUTES + timedelta(milliseconds=900))
    assert rejecting.is_over(FRIDAY + 5 * MINUTES + SECONDS)


def test_an_extension_for_one_member_is_one_for_the_team_and_only_a_whole_team_is_excused() -> None:
    overrides = [override("student", "u2", due_date=FRIDAY + DAYS, excused=True)]
    dates = dates_for_team(assignment(), overrides, "t1", ["u1", "u2"])
    assert (dates.due, dates.excused) == (FRIDAY + DAYS, False)
    assert dates_for_team(assignment(), [override("team", "t1", excused=True)], "t1", []).excused


def test_an_assignment_closes_when_the_last_extension_ends() -> None:
    end = FRIDAY + 100 * DAYS
    assert last_end(assignment(late_policy="reject"), [], end) == FRIDAY
    extended = [override("student", "u1", due_date=FRIDAY + DAYS)]
    assert last_end(assignment(late_policy="reject"), extended, end) == FRIDAY + DAYS
    assert last_end(assignment(late_policy="accept"), [], end) == end


# --- properties ---

policies = st.builds(
    LatePenalty,
    percent=st.decimals(0, 100, places=2),
    unit=st.sampled_from(("hour", "day")),
    most=st.decimals(0, 100, places=2),
    floor=st.decimals(0, 100, places=2),
)
delays = st.integers(-(10**6), 10**7).map(lambda tenths: timedelta(milliseconds=100 * tenths))
graces = st.integers(0, 300)


@given(policies, delays, delays, graces)
def test_a_penalty_never_falls_as_time_goes_on(
    policy: LatePenalty, one: timedelta, other: timedelta, grace: int
) -> None:
    early, late = sorted((one, other))
    costs = [penalty(policy, FRIDAY, FRIDAY + delay, grace_minutes=grace) for delay in (early, late)]
    assert 0 <= costs[0] <= costs[1] <= 100


@given(policies, delays, graces, st.integers(0, 30))
def test_late_days_never_make_it_worse_and_are_never_more_than_there_are(
    policy: LatePenalty, delay: timedelta, grace: int, bank: int
) -> None:
    work = assignment(late_penalty=policy, grace_minutes=grace)
    found = lateness(work, FRIDAY, FRIDAY + delay, bank=bank)
    assert 0 <= found.days_used <= bank
    assert 0 <= found.penalty <= lateness(work, FRIDAY, FRIDAY + delay).penalty


@given(policies, delays, delays, st.integers(0, 30))
def test_with_late_days_too_a_penalty_never_falls_as_time_goes_on(
    policy: LatePenalty, one: timedelta, other: timedelta, bank: int
) -> None:
    work = assignment(late_penalty=policy)
    early, late = (lateness(work, FRIDAY, FRIDAY + delay, bank=bank) for delay in sorted((one, other)))
    assert early.penalty <= late.penalty


@given(st.decimals(0, 1000, places=2), st.decimals(0, 100, places=2))
def test_what_is_left_of_a_score_is_never_negative_and_never_more(score: Decimal, percent: Decimal) -> None:
    assert 0 <= after_penalty(score, percent) <= score


@given(st.lists(st.tuples(st.sampled_from(("u1", "u2")), delays), max_size=6))
def test_an_override_never_makes_a_date_worse(given_overrides: list[tuple[str, timedelta]]) -> None:
    overrides = [override("student", who, due_date=FRIDAY + delay) for who, delay in given_overrides]
    due = dates_for(assignment(), overrides, "u1").due
    assert due >= FRIDAY
    assert due in {FRIDAY, *(FRIDAY + delay for who, delay in given_overrides if who == "u1")}
