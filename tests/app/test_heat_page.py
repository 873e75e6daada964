"""The Heat page of a design: which keys are hot at a load, and what cures them."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import httpx
import pytest
from tests.app.browsing import browsers
from tests.app.test_console_frame import text_of

from tablewright import testing
from tablewright.app.own_designs import own_system
from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.design import Design
from tablewright.design.files import from_yaml
from tablewright.edge import serving_app

PAGE = "/console/designs/jobs/heat"
JOBS = """
format: tablewright-design/1
name: jobs
tables:
  - name: jobs
    pk: PK
    indexes: [{name: by-state, pk: GPK, sk: GSK}]
    entities:
      - tag: job
        fields: {job_id: string, at: time, state: {choice: [open, done]}}
        pk: JOB#{job_id}
        indexes: {by-state: {pk: "STATE#{state}", sk: "{at:ms}#{job_id}"}}
        load: {create: {per_second: 30, item_bytes: 500}}
"""
SILENT = """
format: tablewright-design/1
name: silent
tables:
  - {name: silent, pk: id, entities: [{tag: a, pk: "A#{x}", fields: {x: string}}]}
"""


@pytest.fixture(scope="module")
def rosa() -> Iterator[httpx.Client]:
    designs: list[Design] = [from_yaml(text) for text in (JOBS, SILENT)]
    with (
        open_app(memory=True, systems=(own_system(designs, "jobs.yaml"),), world=testing.Clock().world(), jobs=False)
        as runtime,
        serving_app(app_of(runtime)) as url,
        browsers(url) as enter,
    ):  # fmt: skip
        yield enter("engineer_rosa")


def test_a_design_leads_to_its_heat_at_the_stated_load(rosa: httpx.Client) -> None:
    assert f'href="{PAGE}"' in rosa.get("/console/designs/jobs").text
    page = rosa.get(PAGE)
    assert page.status_code == 200
    words = text_of(page)
    assert "No request is throttled at 1 times the stated load." in words
    assert "The hottest key would be throttled at about 3 times this load." in words
    assert "Hottest keys" in words
    assert not re.search(r"<script>|<style|style=|onclick=", page.text), "the content policy forbids them"
    assert len(page.content) < 50_000


def test_a_hot_key_is_named_with_the_shards_that_cure_it(rosa: httpx.Client) -> None:
    words = text_of(rosa.get(PAGE, params={"times": "20", "minutes": "15"}))
    assert "key is throttled at 20 times" in words or "keys are throttled at 20 times" in words
    row = words[words.index("STATE#{state}") :]
    place = r"STATE#\{state\} writes of jobs, by-state 2 values, 1 busy at a time; job.create"
    assert re.match(place + r" .* % .*Spread the key over \d+ shards", row)


def test_the_picture_is_of_the_same_simulation(rosa: httpx.Client) -> None:
    page = rosa.get(PAGE, params={"times": "20", "minutes": "5"})
    found = re.search(rf'src="({PAGE}\.svg\?[^"]+)"', page.text)
    assert found is not None
    picture = rosa.get(found[1].replace("&amp;", "&"))
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "jobs at 20 times its load, 300 seconds" in "".join(
        ElementTree.fromstring(picture.text).itertext()
    )


def test_the_command_that_is_exact_names_the_file_of_the_design(rosa: httpx.Client) -> None:
    page = text_of(rosa.get(PAGE, params={"times": "20"}))
    assert "tablewright design heat jobs.yaml --times 20 --seconds 900" in page


def test_a_design_without_a_load_says_what_to_state(rosa: httpx.Client) -> None:
    assert "No load stated" in text_of(rosa.get("/console/designs/silent/heat"))


@pytest.mark.parametrize("typed", ["lots", "-1", "0", "NaN", "10001"])
def test_a_multiplier_that_does_not_fit_is_kept_beside_its_mistake(rosa: httpx.Client, typed: str) -> None:
    page = rosa.get(PAGE, params={"times": typed})
    assert page.status_code == 200
    assert re.search(rf'name="times"[^>]*value="{typed}"[^>]*aria-invalid="true"', page.text)
    assert rosa.get(f"{PAGE}.svg", params={"times": typed}).status_code == 200


@pytest.mark.parametrize("given", [{"minutes": "7"}, {"hours": "1"}])
def test_an_address_that_asks_for_what_there_is_not_is_refused(
    rosa: httpx.Client, given: dict[str, str]
) -> None:
    assert rosa.get(PAGE, params=given).status_code == 400
    assert rosa.get(f"{PAGE}.svg", params=given).status_code == 400
