"""Points become a state as CloudWatch does it; the tables are those of its documentation on missing data."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.app.alarms.evaluation import MinutePoint, State, evaluate, range_of, state_of, values_in
from tablewright.design.alarms import Alarm, Comparison, MissingData, Statistic

NOW = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ALARM = Alarm("a", "m", Decimal(5), 1, periods=3)
TREATMENTS: tuple[MissingData, ...] = ("missing", "ignore", "breaching", "notBreaching")
STATES: tuple[State, ...] = ("OK", "ALARM", "INSUFFICIENT_DATA")
values = st.lists(st.none() | st.sampled_from([0.0, 9.0]), min_size=5, max_size=5)
treatments, states = st.sampled_from(TREATMENTS), st.sampled_from(STATES)


def _values(text: str) -> list[float | None]:
    """`0 - X`: within the threshold, missing, breaching."""
    return [{"0": 0.0, "X": 9.0, "-": None}[each] for each in text.split()]


@pytest.mark.parametrize(
    ("to_alarm", "seen", "expected"),
    [
        (3, "0 - X - X", "OK OK OK OK"),
        (3, "- - - - 0", "OK OK OK OK"),
        (3, "- - - - -", "INSUFFICIENT_DATA same ALARM OK"),
        (3, "0 X X - X", "ALARM ALARM ALARM ALARM"),
        (3, "- - X - -", "ALARM same ALARM OK"),
        (2, "0 - X - X", "ALARM ALARM ALARM ALARM"),
        (2, "0 0 X 0 X", "ALARM ALARM ALARM ALARM"),
        (2, "0 - X - -", "OK OK ALARM OK"),
        (2, "- - - - 0", "OK OK ALARM OK"),
        (2, "- - - X -", "ALARM same ALARM OK"),
    ],
)
def test_missing_data_is_treated_as_the_tables_of_cloudwatch_say(
    to_alarm: int, seen: str, expected: str
) -> None:
    for treatment, state in zip(TREATMENTS, expected.split(), strict=True):
        alarm = replace(ALARM, to_alarm=to_alarm, missing=treatment)
        for current in STATES:
            wanted = current if state == "same" else state
            assert state_of(alarm, _values(seen), current) == wanted, (treatment, current)


def test_a_first_breach_after_silence_waits_until_it_is_as_old_as_the_alarm_asks() -> None:
    alarm = replace(ALARM, missing="missing")
    assert state_of(alarm, _values("- - - - X"), "OK") == "OK"
    assert state_of(alarm, _values("- - - X -"), "OK") == "OK"
    assert state_of(alarm, _values("- - X - -"), "OK") == "ALARM"


@given(values, treatments, states, st.integers(1, 3))
def test_with_enough_values_neither_missing_data_nor_the_state_before_matter(
    seen: list[float | None], treatment: MissingData, current: State, to_alarm: int
) -> None:
    known = [value for value in seen if value is not None]
    alarm = replace(ALARM, missing=treatment, to_alarm=to_alarm)
    if len(known) >= alarm.periods:
        breaching = sum(value > 5 for value in known[-alarm.periods :])
        assert state_of(alarm, seen, current) == ("ALARM" if breaching >= to_alarm else "OK")


@given(values, states, st.integers(1, 3))
def test_breaching_rings_at_least_as_often_as_the_others_and_not_breaching_at_most(
    seen: list[float | None], current: State, to_alarm: int
) -> None:
    found = {
        treatment: state_of(replace(ALARM, missing=treatment, to_alarm=to_alarm), seen, current)
        for treatment in TREATMENTS
    }
    if found["notBreaching"] == "ALARM":
        assert set(found.values()) == {"ALARM"}
    if found["breaching"] == "OK":
        assert set(found.values()) == {"OK"}


@given(values, treatments, states)
def test_a_further_breach_never_ends_an_alarm(
    seen: list[float | None], treatment: MissingData, current: State
) -> None:
    alarm = replace(ALARM, missing=treatment, to_alarm=2)
    if state_of(alarm, seen, current) == "ALARM":
        for place, value in enumerate(seen):
            if value == 0.0:
                worse = [*seen[:place], 9.0, *seen[place + 1 :]]
                assert state_of(alarm, worse, current) == "ALARM"


@given(values, treatments, states)
def test_to_evaluate_again_changes_nothing(
    seen: list[float | None], treatment: MissingData, current: State
) -> None:
    alarm = replace(ALARM, missing=treatment, to_alarm=2)
    once = state_of(alarm, seen, current)
    assert state_of(alarm, seen, once) == once


@pytest.mark.parametrize(
    ("comparison", "breaching"),
    [
        ("GreaterThanThreshold", [6]),
        ("GreaterThanOrEqualToThreshold", [5, 6]),
        ("LessThanThreshold", [4]),
        ("LessThanOrEqualToThreshold", [4, 5]),
    ],
)
def test_a_value_is_compared_with_the_threshold(comparison: Comparison, breaching: list[int]) -> None:
    alarm = replace(ALARM, comparison=comparison, periods=1)
    assert [value for value in (4, 5, 6) if state_of(alarm, [value], "OK") == "ALARM"] == breaching


@pytest.mark.parametrize(
    ("statistic", "value"), [("Sum", 15), ("Average", 5), ("Maximum", 9), ("Minimum", 1), ("SampleCount", 3)]
)
def test_a_period_has_the_statistic_of_all_its_points(statistic: Statistic, value: float) -> None:
    points = [MinutePoint(NOW, 2, 6, 1, 5), MinutePoint(NOW + MINUTE, 1, 9, 9, 9)]
    assert values_in(points, statistic, NOW, NOW + 4 * MINUTE, 2 * MINUTE) == [value, None]


def test_the_running_minute_does_not_count_and_the_period_slides_with_each_minute() -> None:
    alarm = replace(ALARM, minutes=5, periods=1)
    start, end = range_of(alarm, NOW)
    assert (end, end - start) == (NOW.replace(second=0), 15 * MINUTE)
    points = [MinutePoint(end - 6 * MINUTE, 1, 4, 4, 4), MinutePoint(end - 3 * MINUTE, 1, 3, 3, 3)]
    now = MinutePoint(end, 1, 90, 90, 90)
    assert evaluate(alarm, [*points, now], NOW, "OK").value == 3
    assert evaluate(alarm, points, NOW - 2 * MINUTE, "OK").state == "ALARM"
