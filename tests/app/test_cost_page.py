"""The Cost page of a design: totals, bars, what was stated, and the arithmetic behind each line."""

import re
from decimal import Decimal

import httpx
import pytest
from pydantic import BaseModel
from tests.app.browsing import Enter, browsers
from tests.app.library import library
from tests.app.test_console_frame import text_of

from tablewright import testing
from tablewright.app.designs.cost import part_bars
from tablewright.app.runtime import open_app
from tablewright.app.serve import app_of
from tablewright.design import Design
from tablewright.design.cost import Options, cost_of
from tablewright.edge import serving_app
from tablewright.english import money
from tablewright.kit.system import System
from tablewright.systems.travel.design import TRAVEL

PAGE = "/console/designs/library/cost"


class Silent(BaseModel):
    id: str


def _silent_key(id: str) -> None: ...


@pytest.fixture
def rosa(enter: Enter) -> httpx.Client:
    return enter("engineer_rosa")


def total(times: str = "1", months: int = 12, free_tier: bool = False) -> str:
    environment = list(library.environments.values())[-1]
    return money(cost_of(library, environment, options=Options(Decimal(times), months, free_tier)).total)


def test_a_design_leads_to_its_cost_with_the_arithmetic_of_each_line(rosa: httpx.Client) -> None:
    assert f'href="{PAGE}"' in rosa.get("/console/designs/library").text
    page = rosa.get(PAGE)
    assert page.status_code == 200
    words = text_of(page)
    assert f"Monthly cost {total()}" in words
    assert "10 000 reads a month x 3.5 units (25 items of 1 KB, eventually consistent)" in words
    assert "Monthly cost of each part" in page.text
    assert not re.search(r"<script>|<style|style=|onclick=", page.text), "the content policy forbids them"


def test_a_design_without_a_load_is_not_said_to_cost_nothing(clock: testing.Clock) -> None:
    silent = Design("silent")
    silent.table("silent", pk="PK").entity(Silent, _silent_key, tag="silent", pk="{id}")
    system = System("silent", "Silent", "States no load.", (silent.build(),), lambda given: given.db)
    with (
        open_app(memory=True, systems=(system,), world=clock.world(), jobs=False) as runtime,
        serving_app(app_of(runtime)) as url,
        browsers(url) as enter,
    ):
        words = text_of(enter("engineer_rosa").get("/console/designs/silent/cost"))
    assert "No load stated" in words
    assert "load=Load(per_month=...)" in words
    assert "$0.00" not in words


def test_the_page_computes_so_many_times_the_workload(rosa: httpx.Client) -> None:
    words = text_of(rosa.get(PAGE, params={"times": "1000", "months": "24", "free": "on"}))
    assert f"Monthly cost {total('1000', 24, True)}" in words
    assert total("1000", 24, True) != total()


def test_a_table_has_every_figure_by_part(rosa: httpx.Client) -> None:
    words = text_of(rosa.get(PAGE, params={"table": "shelves"}))
    assert "Cost of library, shelves" in words
    assert "books_by_state" in words


def test_what_was_typed_wrongly_is_told_beside_the_field_and_kept(rosa: httpx.Client) -> None:
    for given in (
        {"times": "lots"},
        {"times": "-1"},
        {"times": "NaN"},
        {"months": "1.5"},
        {"months": "9999"},
    ):
        page = rosa.get(PAGE, params=given)
        assert page.status_code == 200
        ((name, typed),) = given.items()
        assert re.search(rf'name="{name}"[^>]*value="{typed}"[^>]*aria-invalid="true"', page.text), given
        assert f"Monthly cost {total()}" in text_of(page)


@pytest.mark.parametrize("given", [{"environment": "moon"}, {"table": "chairs"}, {"tables": "shelves"}])
def test_an_address_that_asks_for_what_there_is_not_is_refused(
    rosa: httpx.Client, given: dict[str, str]
) -> None:
    assert rosa.get(PAGE, params=given).status_code == 400


def test_a_design_without_environments_is_priced_on_demand(rosa: httpx.Client) -> None:
    words = text_of(rosa.get("/console/designs/house/cost"))
    assert "on demand, us-east-1" in words
    assert "the design states no budget" in words


def test_the_parts_add_up_to_the_month_with_what_is_free_among_them() -> None:
    report = cost_of(TRAVEL, TRAVEL.environments["prod"], options=Options(free_tier=True))
    bars = part_bars(report)
    assert bars[-1].label == "Free of charge"
    assert sum(bar.value for bar in bars) == pytest.approx(float(report.total))


def test_the_page_compares_capacity_modes_draws_cost_over_load_and_shows_what_was_measured(
    rosa: httpx.Client,
) -> None:
    plan = next(plan for plan in library.plans if plan.load is not None and plan.kind == "query")
    page = rosa.get(PAGE)
    words = text_of(page)
    assert "On demand or provisioned" in words
    assert "29 % of the provisioned units" in words
    assert page.text.count('class="chart curve"') == 1
    assert "Monthly cost from 0.01 to 10000 times the stated load" in page.text
    assert plan.name in words
    assert "this load" in words
