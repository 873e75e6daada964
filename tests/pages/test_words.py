"""How values read: numbers, sizes, money, times, JSON, pictures."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.app.json_words import pretty
from tablewright.pages.charts import Bar, bars
from tablewright.pages.icons import icon
from tablewright.pages.words import (
    ago,
    coded,
    exact,
    label,
    lifetime,
    linked,
    money,
    number,
    plural,
    size,
    when,
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
    assert plural(0.5, "read unit") == "0.5 read units"


def test_sizes_are_in_powers_of_1024() -> None:
    assert [size(n) for n in (0, 640, 1024, 1536, 5 * 1024**2, 3 * 1024**3)] == [
        "0 B", "640 B", "1 KB", "1.5 KB", "5 MB", "3 GB",
    ]  # fmt: skip


def test_money_has_two_digits_and_says_when_it_is_less() -> None:
    assert spaced(money(Decimal("1299.985"), "ZAR")) == "R 1 299.99"
    assert money(Decimal("0.72")) == "$0.72"
    assert money(Decimal("0.0008")) == "less than $0.01"
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


def test_the_exact_time_is_on_hover_with_its_zone() -> None:
    assert exact(NOW, "Africa/Johannesburg") == "16 November 2026, 14:00:00 SAST"
    shown = when(NOW - timedelta(minutes=5), NOW)
    assert 'title="16 November 2026, 11:55:00 UTC"' in shown
    assert "5 minutes ago" in shown
    assert when(None, NOW) == "–"


def test_names_and_lifetimes_become_words() -> None:
    assert label("discountPercentage") == label("discount_percentage") == "Discount percentage"
    assert [lifetime(timedelta(days=n)) for n in (1, 30, 365, 2557)] == [
        "1 day",
        "30 days",
        "1 year",
        "7 years",
    ]
    assert lifetime(timedelta(hours=2)) == "2 hours"


def test_json_breaks_only_where_a_line_would_be_too_long() -> None:
    assert pretty({"a": {"S": "x"}, "b": []}) == '{\n  "a": {"S": "x"},\n  "b": []\n}'
    assert pretty({"a": {"S": "x" * 100}}).count("\n") == 4
    assert pretty([]) == "[]"


def test_bars_say_each_value_and_the_longest_fills_the_room() -> None:
    drawn = bars([Bar("orders & more", 40, "units"), Bar("x", 0), Bar("y", 20)], about="Units")
    assert "orders &amp; more" in drawn
    assert "40 units" in drawn
    lengths = [float(part.partition('"')[0]) for part in drawn.split('width="')[1:]]
    assert lengths[1] == 0
    assert lengths[2] == pytest.approx(lengths[0] / 2, abs=0.1)
    assert 'role="img"' in drawn
    assert 'role="group"' in bars([Bar("a", 1, href="/x")], about="Units")


def test_a_chart_of_short_labels_is_narrow_and_begins_at_the_left() -> None:
    years = bars([Bar("2023", 4), Bar("2024", 12)], about="Places by year")
    assert 'class="chart bars short"' in years
    labels = [float(x) for x in re.findall(r'class="chart-label" x="([\d.]+)"', years)]
    assert max(labels) < 40
    long = bars([Bar("a label that is cut as it is too long", 4, "of all of them, 40 % of")], about="Long")
    assert 'class="chart bars"' in long


def test_names_between_backticks_are_code_and_the_rest_is_escaped() -> None:
    assert coded("`tax` is <VAT>") == "<code>tax</code> is &lt;VAT&gt;"
    assert coded("one ` alone") == "one ` alone"


def test_an_icon_says_nothing_to_who_listens() -> None:
    assert 'aria-hidden="true"' in icon("home")


def test_links_in_a_mail_are_followed_and_nothing_else_in_it_is_run() -> None:
    made = linked(
        'Open /console/portal/verify?a=1&b="2" or https://bbws.example/x <b>now</b>, not x/console/portal/y'
    )
    assert '<a href="/console/portal/verify?a=1&amp;b=&#34;2&#34;">' in made
    assert '<a href="https://bbws.example/x">' in made
    assert "<b>" not in made
    assert made.count("<a ") == 2
