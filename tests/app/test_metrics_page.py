"""The figures of a table as pictures and numbers."""

import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from tests.app.browsing import Enter
from tests.app.library import LIBRARY
from tests.app.test_console_frame import text_of

from tablewright import testing
from tablewright.app.designs.metrics import SPANS, ms
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.edge import serving_app
from tablewright.english import number
from tablewright.pages.charts import Line, Timeline

PAGE = "/console/designs/metrics"
PETS = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def rosa(enter: Enter) -> httpx.Client:
    return enter("engineer_rosa")


@pytest.fixture
def pets(runtime: Runtime, clock: testing.Clock) -> Runtime:
    """A table with five puts a minute for three minutes, and one mistake."""
    runtime.call("CreateTable", PETS)
    for minute in range(3):
        for count in range(5):
            runtime.call("PutItem", {"TableName": "pets", "Item": {"pk": {"S": f"{minute} {count}"}}})
        clock.move(timedelta(minutes=1))
    runtime.engine.settle()
    return runtime


def test_a_table_shows_its_figures_and_operations(rosa: httpx.Client, pets: Runtime) -> None:
    page = rosa.get(PAGE, params={"table": "pets"})
    assert page.status_code == 200
    assert len(page.content) < 50_000
    words = text_of(page)
    assert "Requests 15" in words
    assert "Write units 15" in words
    assert "Items 15 now" in words
    for title in ("Read capacity", "Write capacity", "Latency", "Refusals", "Operations in the last hour"):
        assert title in words
    assert "PutItem 15" in words
    assert 'aria-label="Requests: PutItem 0 now, 5 max"' in page.text


@pytest.mark.parametrize("span", SPANS)
def test_every_span_is_a_page_of_modest_size(rosa: httpx.Client, pets: Runtime, span: str) -> None:
    page = rosa.get(PAGE, params={"table": "pets", "span": span})
    assert page.status_code == 200
    assert len(page.content) < 50_000
    assert SPANS[span][0] in text_of(page)


def test_a_table_nobody_asked_for_says_so(rosa: httpx.Client, runtime: Runtime) -> None:
    runtime.call("CreateTable", PETS)
    words = text_of(rosa.get(PAGE, params={"table": "pets"}))
    assert "No requests" in words


def test_without_a_table_the_busiest_is_shown(rosa: httpx.Client, pets: Runtime) -> None:
    for _ in range(200):
        pets.call("GetItem", {"TableName": "pets", "Key": {"pk": {"S": "0 0"}}})
    assert '<option value="pets" selected>' in rosa.get(PAGE).text


def test_a_table_there_is_not_is_told(rosa: httpx.Client, runtime: Runtime) -> None:
    page = rosa.get(PAGE, params={"table": "nobody"})
    assert page.status_code == 404
    assert "There is no table of this name" in page.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"hours": "abc"}, "Unknown parameter hours"),
        ({"span": "abc"}, "There is no span abc"),
        ({"region": "mars"}, "There is no region mars"),
    ],
)
def test_an_address_that_asks_for_what_there_is_not_is_refused(
    rosa: httpx.Client, pets: Runtime, asked: dict[str, str], words: str
) -> None:
    page = rosa.get(PAGE, params={"table": "pets", **asked})
    assert page.status_code == 400
    assert words in page.text


def test_every_region_has_its_own_charts(clock: testing.Clock) -> None:
    there = "eu-west-1"
    with open_app(memory=True, systems=(LIBRARY,), world=clock.world(), also_regions=[there]) as runtime:
        engine = runtime.regions[there]
        engine.call("CreateTable", PETS | {"TableName": "cats"})
        engine.call("PutItem", {"TableName": "cats", "Item": {"pk": {"S": "tom"}}})
        with serving_app(app_of(runtime)) as url, httpx.Client(base_url=url, follow_redirects=True) as rosa:
            rosa.headers["Accept"] = "text/html"
            rosa.post("/sign-in", data={"person": "engineer_rosa"})
            page = rosa.get(PAGE, params={"region": there, "table": "cats"})
            assert "Write units 1" in text_of(page)
            assert f'<option value="{there}" selected>' in page.text
            assert rosa.get(PAGE, params={"table": "cats"}).status_code == 404
            assert '<option value="us-east-1" selected>' in rosa.get(PAGE).text


def test_figures_are_for_those_who_are_signed_in(enter: Enter, runtime: Runtime) -> None:
    assert "/sign-in" in str(enter().get(PAGE).url)


def test_every_global_index_has_a_line_in_the_capacity_charts(rosa: httpx.Client, runtime: Runtime) -> None:
    names = [f"by_{letter}" for letter in "abcde"]
    keys = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", *names)]
    index = [
        {
            "IndexName": f"index_{name}",
            "KeySchema": [{"AttributeName": name, "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        for name in names
    ]
    runtime.call("CreateTable", PETS | {"AttributeDefinitions": keys, "GlobalSecondaryIndexes": index})
    page = rosa.get(PAGE, params={"table": "pets"}).text
    for kind in ("Read", "Write"):
        about = re.search(f'aria-label="{kind} capacity: ([^"]*)"', page)
        assert about
        assert [f"index_{name} 0 now" in about[1] for name in names] == [True] * 5


# --- pictures ---


def drawn(*lines: Line) -> Timeline:
    return Timeline("Units", "", START, timedelta(minutes=1), lines, number)


def test_what_is_not_known_leaves_a_gap() -> None:
    text = drawn(Line("Table", [1.0, 2.0, None, 4.0])).drawn()
    path = text.split('class="timeline-1 dashes-1" d="')[1].split('"')[0]
    assert path.count("M") == 2
    assert path.count("L") == 1
    assert path.endswith("h1"), "a point with no neighbours can be seen"


def test_the_legend_says_newest_mean_and_most_of_what_is_known() -> None:
    legend = drawn(Line("Table", [1.0, 5.0, 3.0]), Line("Unknown", [None, None, None])).legend()
    assert [row[1:] for row in legend] == [("Table", "3", "3", "5")]


def test_no_two_of_21_lines_look_the_same() -> None:
    legend = drawn(*(Line(f"Index {number}", [1.0]) for number in range(21))).legend()
    assert len({sample for sample, *_ in legend}) == 21


def test_a_line_of_nothing_draws_no_line_and_says_so() -> None:
    text = drawn(Line("Table", [None, None])).drawn()
    assert "timeline-1" not in text
    assert "no data" in text


def test_names_in_pictures_are_escaped() -> None:
    assert "<b>" not in drawn(Line("<b>", [1.0])).drawn()


@pytest.mark.parametrize(
    ("value", "text"), [(0.084, "0.08 ms"), (9.5, "9.5 ms"), (12.4, "12 ms"), (1500, "1.5 s")]
)
def test_times_read_in_the_unit_that_fits(value: float, text: str) -> None:
    assert ms(value) == text
