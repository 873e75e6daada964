"""Raw edits and the attributes that a design makes of fields: a stale index key is marked, and an edit mends it."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.app.browsing import browsers
from tests.app.test_console_frame import text_of
from tests.app.test_items_grid import field_of

from tablewright import testing
from tablewright.app.own_designs import own_system
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.design.files import from_yaml
from tablewright.edge import serving_app

DOCUMENT = """
format: tablewright-design/1
name: yard
tables:
  - name: yard
    pk: PK
    sk: SK
    indexes: [{name: by-state, pk: GPK, sk: GSK}]
    entities:
      - tag: device
        fields: {id: string, state: string, seen: time}
        pk: DEVICE#{id}
        sk: DEVICE
        indexes: {by-state: {pk: "STATE#{state}", sk: "{id}"}}
        load: {create: {per_month: 10}}
"""
KEY = {"PK": {"S": "DEVICE#d1"}, "SK": {"S": "DEVICE"}}
ASKED = {"table": "yard", "k.PK": "DEVICE#d1", "k.SK": "DEVICE"}
ITEM, EDIT, ADD = (f"/console/designs/item{each}" for each in ("", "/edit", "/add"))


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    systems = (own_system([from_yaml(DOCUMENT)], "yard.yaml"),)
    with open_app(memory=True, systems=systems, world=testing.Clock().world(), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def rosa(runtime: Runtime) -> Iterator[httpx.Client]:
    with serving_app(app_of(runtime)) as url, browsers(url) as enter:
        yield enter("engineer_rosa")


@pytest.fixture(autouse=True)
def device(runtime: Runtime) -> None:
    seen = {"seen": {"S": "2026-01-31T09:30:00.000Z"}, "GPK": {"S": "STATE#on"}, "GSK": {"S": "d1"}}
    item = {**KEY, "id": {"S": "d1"}, "state": {"S": "on"}, **seen}
    runtime.call("PutItem", {"TableName": "yard", "Item": item})


def stored(runtime: Runtime) -> Any:
    return runtime.call("GetItem", {"TableName": "yard", "Key": KEY})["Item"]


def edited(rosa: httpx.Client, **more: str) -> httpx.Response:
    page = rosa.get(EDIT, params=ASKED)
    item = {**json.loads(field_of(page, "json")), "state": {"S": "off"}}
    sent = {"json": json.dumps(item), "read": field_of(page, "read"), **more}
    plan = rosa.post(EDIT, params=ASKED, data={**sent, "step": "plan"})
    assert ("STATE#off" in plan.text) == ("derive" in more)
    return rosa.post(EDIT, params=ASKED, data={**sent, "step": "send"})


def test_an_index_key_that_does_not_fit_is_marked_with_what_is_expected(rosa: httpx.Client) -> None:
    assert "do not fit the fields" not in text_of(rosa.get(ITEM, params=ASKED))
    words = " ".join(text_of(edited(rosa)).split())
    assert "GPK is STATE#on , expected STATE#off" in words


def test_an_edit_recomputes_what_is_made_of_fields(rosa: httpx.Client, runtime: Runtime) -> None:
    form = rosa.get(EDIT, params=ASKED).text
    assert "checked" in form.partition('name="derive"')[2][:60]
    assert "do not fit the fields" not in text_of(edited(rosa, derive="on"))
    assert stored(runtime)["GPK"] == {"S": "STATE#off"}


def test_a_new_item_starts_with_the_form_of_an_entity(rosa: httpx.Client) -> None:
    page = rosa.get(ADD, params={"table": "yard", "entity": "device"})
    text = field_of(page, "json")
    assert set(json.loads(text)) == {"PK", "SK", "id", "state", "seen", "GPK", "GSK"}
    assert json.loads(text)["PK"] == {"S": "DEVICE#{id}"}
    refused = rosa.post(ADD, params={"table": "yard"}, data={"json": text, "step": "plan"})
    assert "PK is still the template DEVICE#{id}" in text_of(refused)
    assert rosa.get(ADD, params={"table": "yard", "entity": "nothing"}).status_code == 400


def test_a_time_of_an_entity_is_called_a_time(rosa: httpx.Client) -> None:
    words = text_of(rosa.get("/console/designs/yard/entities/device"))
    assert "seen seen time" in words


def test_the_home_page_asks_for_a_design(rosa: httpx.Client) -> None:
    assert "Paste a design of your own" in text_of(rosa.get("/"))
