"""The grid of items in a real browser: filter, change with its request shown, conflict, delete, code to copy."""

import json
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from playwright.sync_api import expect
from tests.browser.conftest import PATIENCE, Keep, Open, Served
from tests.browser.looks import looked_at


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[Any]:
    client = boto3.client(
        "dynamodb",
        endpoint_url=served.dynamodb,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    client.create_table(
        TableName="zoo",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("kind", "name")],
        KeySchema=[
            {"AttributeName": "kind", "KeyType": "HASH"},
            {"AttributeName": "name", "KeyType": "RANGE"},
        ],
    )
    client.get_waiter("table_exists").wait(TableName="zoo", WaiterConfig={"Delay": 1})
    for number, name in enumerate(("Ada", "Bo", "Cleo", "Dina", "Edda")):
        client.put_item(
            TableName="zoo",
            Item={
                "kind": {"S": "owl" if number % 2 else "okapi"},
                "name": {"S": name},
                "age": {"N": str(3 + number)},
                "fed": {"BOOL": number != 2},
                "likes": {"SS": ["apples", "sun"][: 1 + number % 2]},
                "home": {"M": {"house": {"S": "North"}, "box": {"N": str(number)}}},
                "note": {
                    "S": "A calm animal that likes to be brushed in the evening, before the lights go out."
                },
            },
        )
    yield client
    client.close()


def test_a_filter_finds_an_item_and_its_code_can_be_read(client: Any, open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/items?table=zoo")
    page.get_by_label("Partition").fill("owl")
    page.get_by_text("Filter by attributes").click()
    page.get_by_label("Attribute 1").fill("age")
    page.get_by_label("Comparison 1").select_option(">")
    page.get_by_label("Value 1").fill("4")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("Query: 2 items read").wait_for()
    expect(page.locator(".grid tbody tr")).to_have_count(1)
    looked_at(page, keep, "grid")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".grid tbody tr").hover()
    page.get_by_role("button", name="Copy the key of this item").click()
    page.locator(".copy-key.copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert json.loads(copied) == {"kind": {"S": "owl"}, "name": {"S": "Dina"}}
    page.get_by_role("link", name="owl Dina").click()
    page.get_by_text("Plain JSON").click()
    expect(page.get_by_text('"age": 6')).to_be_visible()
    page.get_by_text("AWS CLI", exact=True).click()
    code = page.locator("pre", has_text="aws dynamodb get-item")
    expect(code).to_be_visible()
    assert """--key '{"kind": {"S": "owl"}, "name": {"S": "Dina"}}'""" in code.inner_text()
    looked_at(page, keep, "grid-item")


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """A page of the engineer that may be refused: chromium counts an answer of 409 as an error of the console."""
    context = browser.new_context(base_url=served.url)
    context.set_default_timeout(PATIENCE)
    context.request.post("/sign-in", form={"person": "engineer_rosa"}, max_redirects=0)
    yield context.new_page()
    context.close()


def test_a_change_shows_its_request_and_a_conflict_keeps_the_text(client: Any, page: Any, keep: Keep) -> None:
    page.goto("/console/designs/item?table=zoo&k.kind=okapi&k.name=Ada")
    with page.expect_navigation():
        page.get_by_role("link", name="Edit").click()
    text = page.get_by_label("Item in DynamoDB JSON")
    text.fill(text.input_value().replace('"age": {"N": "3"}', '"age": {"N": "4"}'))
    page.get_by_role("button", name="Show the request").click()
    page.get_by_text('"UpdateExpression": "SET #0 = :0"').wait_for()
    looked_at(page, keep, "grid-plan")
    client.update_item(
        TableName="zoo",
        Key={"kind": {"S": "okapi"}, "name": {"S": "Ada"}},
        UpdateExpression="SET fed = :f",
        ExpressionAttributeValues={":f": {"BOOL": False}},
    )
    with page.expect_response(lambda answer: answer.status == 409):
        page.get_by_role("button", name="Change the item").click()
    page.get_by_text("Not written: the item changed since you read it.").wait_for()
    looked_at(page, keep, "grid-conflict")
    expect(page.get_by_label("Item in DynamoDB JSON")).to_have_value(
        re.compile(re.escape('"age": {"N": "4"}'))
    )


def test_the_code_of_a_pattern_follows_what_is_typed(client: Any, open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/portal/patterns/tenants_by_status")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("The exact request").wait_for()
    page.get_by_text("Typed Python").click()
    code = page.locator("pre", has_text="from tablewright.systems.portal.design import")
    expect(code).to_be_visible()
    assert "tenants_by_status(" in code.inner_text()
    looked_at(page, keep, "grid-pattern")
    page.goto("/console/designs/items?table=tenants")
    page.locator(".grid tbody tr").first.wait_for()
    looked_at(page, keep, "grid-portal")


def test_an_item_is_deleted_after_a_confirmation(client: Any, open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/item?table=zoo&k.kind=okapi&k.name=Edda")
    page.get_by_role("link", name="Delete").click()
    looked_at(page, keep, "grid-delete")
    page.get_by_role("button", name="Delete the item").click()
    page.get_by_text("The item was deleted.").wait_for()
    assert "Item" not in client.get_item(TableName="zoo", Key={"kind": {"S": "okapi"}, "name": {"S": "Edda"}})


def test_a_file_and_a_statement_are_shown_before_they_write(client: Any, open_page: Open, keep: Keep) -> None:
    page = open_page("engineer_rosa")
    page.goto("/console/designs/items/import?table=zoo")
    content = b"kind,name,age:N,fed:BOOL\nibis,Fay,2,true\nibis,Gus,old,true\n"
    page.get_by_label("CSV file").set_input_files(
        {"name": "zoo.csv", "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("button", name="Preview").click()
    page.get_by_text("1 line cannot be read.").wait_for()
    looked_at(page, keep, "grid-import")
    page.goto("/console/designs/partiql?table=zoo")
    page.get_by_label("Statement").fill("""UPDATE "zoo" SET age = 9 WHERE kind = 'owl' AND name = 'Bo'""")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Send UpdateItem").wait_for()
    looked_at(page, keep, "grid-partiql")
    page.get_by_role("button", name="Send UpdateItem").click()
    page.get_by_text("UpdateItem was carried out").wait_for()
