"""The engineers' area in a real browser: run a pattern, browse, explain, follow long work."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import boto3
from playwright.sync_api import expect
from tests.browser.conftest import Keep, Open, Served

from tablewright.design import files as design_files

AS_WRITTEN = Path(__file__).parents[2] / "examples" / "as-written" / "004.json"


def test_a_pattern_is_run_and_shows_request_answer_units_and_price(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/portal/patterns/tenant_by_id")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", name="What it cost").wait_for()
    expect(page.locator("#result")).to_contain_text("1 read unit", use_inner_text=True)
    expect(page.locator("#result")).to_contain_text('"ConsistentRead": true', use_inner_text=True)
    expect(page, "the page can be shared").to_have_url(re.compile("run=1"))
    keep(page, "pattern-run-1280-light")
    page.reload()
    page.get_by_role("heading", name="What it cost").wait_for()


def test_a_pattern_is_run_without_a_script_too(open_page: Open) -> None:
    page = open_page("engineer_rosa", script=False)
    page.goto("/console/designs/portal/patterns/tenant_by_id")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", name="What it cost").wait_for()


def test_a_mistake_is_told_and_what_was_typed_stays(open_page: Open) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/portal/patterns/tenant_by_id")
    page.get_by_label("Id").fill("")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Id is required.").first.wait_for()


def test_from_the_table_to_an_item_to_what_a_write_would_send(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/items?table=products&entity=product")
    page.locator("tbody a").first.click()
    page.get_by_role("heading", name="Decoded by the design").wait_for()
    page.get_by_label("Write", exact=True).select_option("create")
    page.get_by_role("button", name="Explain").click()
    page.get_by_text("PutItem").first.wait_for()
    keep(page, "item-1280-light")


def test_long_work_is_followed_to_its_end_and_found_again(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/portal/tables/tenants")
    page.get_by_role("button", name="Count and measure").click()
    page.get_by_role("heading", name="By entity").wait_for()
    keep(page, "measured-1280-light")
    page.reload()
    page.get_by_role("heading", name="By entity").wait_for()
    page.get_by_role("link", name="Store and jobs").first.click()
    page.get_by_role("link", name="Count and measure tenants").first.wait_for()
    page.get_by_role("button", name="Verify the store").click()
    page.get_by_text("The store is consistent").wait_for()


def test_what_an_sdk_writes_is_there_to_be_seen(open_page: Open, served: Served) -> None:
    client = boto3.client(
        "dynamodb",
        endpoint_url=served.dynamodb,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    client.create_table(
        TableName="pets",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "name", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "name", "KeyType": "HASH"}],
    )
    client.get_waiter("table_exists").wait(TableName="pets", WaiterConfig={"Delay": 1})
    client.put_item(TableName="pets", Item={"name": {"S": "rex"}, "age": {"N": "3"}})
    client.close()
    page = open_page("engineer_rosa")
    page.goto("/console/designs/items?table=pets")
    page.get_by_text("rex").first.wait_for()


def test_what_a_design_costs_is_computed_anew_and_each_line_shows_its_arithmetic(
    open_page: Open, keep: Keep
) -> None:
    page = open_page("engineer_rosa", width=390)
    page.goto("/console/designs/travel")
    page.get_by_role("link", name="Cost", exact=True).click()
    expect(page.get_by_text("within what was said")).to_be_visible()
    page.get_by_label("Load multiplier").fill("10")
    page.get_by_role("button", name="Calculate").click()
    page.get_by_text("Over budget").wait_for()
    page.get_by_text("visit.put").click()
    expect(page.get_by_text("3 000 000 writes a month x 4 units")).to_be_visible()
    keep(page, "cost-390-light")


def test_the_design_page_leads_to_pictures_with_a_switch_for_each_index(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa", width=390, dark=True)
    page.goto("/console/designs/travel")
    drawn = page.locator(".gallery img")
    drawn.first.scroll_into_view_if_needed()
    drawn.first.evaluate("image => image.decode()")  # fails if it cannot be loaded and drawn
    expect(drawn, "one of them is of its state machine").to_have_count(5)
    page.get_by_role("link", name="Item collections").click()
    page.get_by_role("link", name="GSI1", exact=True).click()
    picture = page.get_by_role("group", name="Item collections of skratch-data, index GSI1")
    expect(picture.get_by_role("link", name="visit", exact=True)).to_be_visible()
    keep(page, "picture-390-dark")
    page.get_by_role("link", name="Key anatomy").click()
    page.get_by_role("link", name="visit", exact=True).click()
    expect(page.get_by_role("group", name="Keys of visit")).to_be_visible()


def test_an_uploaded_document_is_checked_corrected_and_checked_again(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa", script=False)
    page.goto("/console/designs")
    page.get_by_role("link", name="Check a design").first.click()
    page.get_by_label("File").set_input_files(AS_WRITTEN)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("heading", name="Customer portal, as written").wait_for()
    expect(page.locator(".finding-line").first).to_have_text("line 77", use_inner_text=True)
    keep(page, "check-1280-light")
    page.get_by_role("textbox", name="Document").fill('{"name": "Corrected"}')
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("No open findings").wait_for()


def test_an_uploaded_design_file_is_drawn_priced_and_corrected(
    open_page: Open, keep: Keep, tmp_path: Path
) -> None:
    shop = tmp_path / "shop.yaml"
    example = files(design_files).joinpath("example.yaml").read_text("utf-8")
    shop.write_text(example.replace("name: shop\n", "name: corner\n", 1), "utf-8")
    page = open_page("engineer_rosa", script=False)
    page.goto("/console/designs/check")
    page.get_by_label("File").set_input_files(shop)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("heading", name="corner", exact=True).wait_for()
    page.wait_for_load_state()
    assert page.get_by_role("textbox", name="Document").input_value().startswith("# A design of a small shop")
    page.get_by_role("textbox", name="Document").fill(example)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("No open findings").wait_for()
    expect(page.locator("main")).to_contain_text("$0.47", use_inner_text=True)
    expect(page.get_by_role("region", name="Picture: Item collections of shop", exact=True)).to_be_visible()
    page.get_by_text("States of order: status").first.click()
    expect(page.get_by_role("region", name="Picture: States of order: status")).to_be_visible()
    keep(page, "check-file-1280-light")


def test_a_finding_leads_to_its_rule_and_to_the_element_it_is_about(open_page: Open) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/portal/findings")
    first = page.locator(".finding-head").first
    place = first.get_by_role("link").first.inner_text()
    first.locator(".finding-rule").click()
    page.get_by_role("heading", name="A bad example").wait_for()
    page.go_back()
    page.locator(".finding-head").first.get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text(place.split(".")[0])


def test_the_cost_page_draws_cost_over_load_and_fits_a_phone(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/portal/cost")
    page.get_by_role("img", name="Monthly cost from 0.01").wait_for()
    keep(page, "cost-1280-light")
    small = open_page("engineer_rosa", width=390)
    small.goto("/console/designs/portal/cost")
    small.get_by_role("heading", name="Cost over load").wait_for()
    keep(small, "cost-390-light")
    assert small.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_part_of_a_key_says_what_it_is_when_the_keyboard_reaches_it(open_page: Open) -> None:
    page = open_page("engineer_rosa", width=390)
    page.goto("/console/designs/travel/pictures/" + _first_keys(page))
    parts = page.locator(".picture g[tabindex]")
    parts.first.focus()
    expect(parts.first.locator(".p-said")).to_be_visible()
    page.keyboard.press("Tab")
    expect(parts.first.locator(".p-said")).to_be_hidden()
    expect(parts.nth(1).locator(".p-said")).to_be_visible()
    page.get_by_role("link", name="Open the picture at full size").wait_for()
    assert page.locator(".picture").bounding_box()["width"] <= 38 * 16


def _first_keys(page: Any) -> str:
    page.goto("/console/designs/travel")
    link = page.get_by_role("link", name="Key anatomy").get_attribute("href")
    return str(link).rpartition("/")[2]


def test_a_design_is_printed_with_its_pictures_and_nothing_is_cut_off(open_page: Open) -> None:
    page = open_page("engineer_rosa", width=688)  # of A4 between margins
    page.emulate_media(media="print")
    for design in ("travel", "portal"):
        page.goto(f"/console/designs/{design}")
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), design
        widths = page.evaluate(
            "() => [...document.querySelectorAll('.gallery img')].map(each => each.naturalWidth)"
        )
        assert len(widths) > 3, design
        assert min(widths) > 0, design
        expect(page.locator(".top")).to_be_hidden()
    assert page.pdf(format="A4", prefer_css_page_size=True).startswith(b"%PDF")
