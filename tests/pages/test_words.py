"""How values are shown on a page: times, names, JSON, pictures."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from tablewright.app.json_words import pretty
from tablewright.pages.charts import Bar, bars
from tablewright.pages.icons import icon
from tablewright.pages.words import coded, label, linked, when

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


def test_the_exact_time_is_on_hover_with_its_zone() -> None:
    shown = when(NOW - timedelta(minutes=5), NOW)
    assert 'title="16 November 2026, 11:55:00 UTC"' in shown
    assert "5 minutes ago" in shown
    assert when(None, NOW) == "–"


def test_a_field_name_becomes_words() -> None:
    assert label("discountPercentage") == label("discount_percentage") == "Discount percentage"


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
