"""How values read in English: numbers, sizes, money, times, plurals."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.english import (
    ago,
    day_and_month,
    exact,
    full_date,
    join_words,
    lifetime,
    moment,
    moment_of_week,
    money,
    month_and_year,
    number,
    plain,
    plural,
    size,
)

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def spaced(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def test_numbers_are_grouped_and_keep_two_digits_behind_the_point() -> None:
    assert [spaced(number(n)) for n in (0, 7, 12400, 0.5, 1.005, 1234567.891)] == [
        "0", "7", "12 400", "0.5", "1", "1 234 567.89",
    ]  # fmt: skip


def test_one_is_one_and_everything_else_is_many() -> None:
    assert [plural(n, "entity", "entities") for n in (0, 1, 2)] == ["0 entities", "1 entity", "2 entities"]
    assert plural(2, "copy") == "2 copies"
    assert plural(3, "day") == "3 days"
    assert plural(0.5, "read unit") == "0.5 read units"


def test_sizes_are_in_powers_of_1024() -> None:
    assert [size(n) for n in (0, 640, 1024, 1536, 5 * 1024**2, 3 * 1024**3)] == [
        "0 B", "640 B", "1 KB", "1.5 KB", "5 MB", "3 GB",
    ]  # fmt: skip


def test_money_has_two_digits_and_says_when_it_is_less() -> None:
    assert spaced(money(Decimal("1299.985"), "ZAR")) == "R 1 299.99"
    assert money(Decimal("0.72")) == "$0.72"
    assert money(Decimal("0.0008")) == "less than $0.01"
    assert money(Decimal("0.007")) == "$0.01"
    assert money(Decimal(0)) == "$0.00"
    assert money(Decimal("-0.5")) == "−$0.50"


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=59), "59 seconds ago"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=2), "2 days ago"),
        (timedelta(days=60), "17 September 2026"),
        (-timedelta(days=3), "in 3 days"),
        (-timedelta(seconds=2), "in a moment"),
    ],
)
def test_time_is_told_from_here(passed: timedelta, words: str) -> None:
    assert ago(NOW - passed, NOW) == words


@given(st.timedeltas(timedelta(days=-4000), timedelta(days=4000)))
def test_every_distance_has_words(passed: timedelta) -> None:
    assert ago(NOW - passed, NOW)


def test_a_moment_names_its_zone() -> None:
    assert moment(NOW, "Africa/Johannesburg") == "16 November 2026, 14:00 SAST"
    assert exact(NOW, "Africa/Johannesburg") == "16 November 2026, 14:00:00 SAST"
    assert moment_of_week(NOW, "America/New_York") == "Mon 16 November 2026, 07:00 EST"


def test_every_month_and_weekday_has_its_name() -> None:
    first = [datetime(2026, month, 1, tzinfo=UTC) for month in range(1, 13)]
    # The tests run in the C locale, whose names are English.
    assert [month_and_year(at) for at in first] == [f"{at:%B %Y}" for at in first]
    assert [moment_of_week(at)[:3] for at in first] == [f"{at:%a}" for at in first]


def test_a_date_has_no_leading_zero() -> None:
    day = date(2026, 12, 5)
    assert [full_date(day), day_and_month(day), month_and_year(day)] == [
        "5 December 2026",
        "5 December",
        "December 2026",
    ]


def test_a_lifetime_is_in_its_largest_whole_unit() -> None:
    days = [lifetime(timedelta(days=n)) for n in (0, 1, 30, 365, 2557, 3650)]
    assert days == ["0 days", "1 day", "30 days", "1 year", "7 years", "10 years"]
    assert [lifetime(timedelta(hours=n)) for n in (2, 36)] == ["2 hours", "36 hours"]


def test_a_list_ends_with_a_word() -> None:
    assert [join_words(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_plain_text_has_the_characters_of_a_keyboard() -> None:
    assert plain(money(Decimal("-1299.9"), "ZAR")) == "-R 1 299.90"
