"""The engineers' area in a real browser: run a pattern, browse, explain, follow long work."""

import boto3
from tests.browser.conftest import Keep, Open, Served


def test_a_pattern_is_run_and_shows_request_answer_units_and_price(open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/portal/patterns/tenant_by_id")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", name="What it cost").wait_for()
    assert "1 read unit" in page.locator("#result").inner_text()
    assert '"ConsistentRead": true' in page.locator("#result").inner_text()
    assert "run=1" in page.url, "the page can be shared"
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
    assert page.get_by_text("within what was said").is_visible()
    page.get_by_label("Load multiplier").fill("10")
    page.get_by_role("button", name="Calculate").click()
    page.get_by_text("Over budget").wait_for()
    page.get_by_text("visit.put").click()
    assert page.get_by_text("3 000 000 writes a month x 4 units").is_visible()
    keep(page, "cost-390-light")
