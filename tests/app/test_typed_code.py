"""The typed Python of the engineers' pages, executed as it is shown: designs from files, and every entity of a demo."""

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from tests.app.browsing import browsers
from tests.app.small import SMALL
from tests.app.test_code_pages import code_of, run_python
from tests.app.test_console_frame import text_of

from tablewright.app.designs.diagrams import owner_of
from tablewright.app.designs.item_grid import item_href
from tablewright.app.own_designs import own_system
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.design import Design
from tablewright.design import files as design_files
from tablewright.design.files import load_design
from tablewright.edge import serving_app
from tablewright.mapping import Db
from tablewright.mapping.items import is_expired
from tablewright.values import Item

SHOP = files(design_files).joinpath("example.yaml").read_text("utf-8")
NOTES = """{
  "format": "tablewright-design/1", "name": "notes",
  "tables": [{"name": "notes", "pk": "id", "entities": [{"tag": "note", "pk": "NOTE#{x}", "fields": {"x": "string"}}]}],
  "patterns": [{"name": "note_by_x", "kind": "get", "of": ["note"], "parameters": {"x": "string"}}]
}"""
PORTAL = next(each for each in SMALL if each.name == "portal")
AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("shop")
    (home / "shop.yaml").write_text(SHOP)
    (home / "notes.json").write_text(NOTES)
    return home


@pytest.fixture(scope="module")
def runtime(home: Path) -> Iterator[Runtime]:
    shop = own_system([load_design(home / "shop.yaml")], "shop.yaml")
    # The real clock, by which the programs on the pages find what has expired.
    with open_app(memory=True, systems=(PORTAL, shop), dynamodb_port=0, jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def rosa(runtime: Runtime) -> Iterator[httpx.Client]:
    with serving_app(app_of(runtime)) as url, browsers(url) as enter:
        yield enter("engineer_rosa")


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs are run where the files of the designs are."""
    monkeypatch.chdir(home)


def item_page(design: Design, db: Db, item: Item) -> str:
    table = next(iter(design.tables.values()))
    return item_href(db.physical(table.name), item, table.key_names)


def test_a_design_from_a_file_has_typed_python_for_its_items_and_its_patterns(
    runtime: Runtime, rosa: httpx.Client
) -> None:
    design, db = runtime.designs["shop"]
    customer, order = design.entities["customer"], design.entities["order"]
    ana = customer.model(customer_id="c1", email="ana@example.com", name="Ana", created_at=AT)
    bought = order.model(customer_id="c1", order_id="o1", status="open", placed_at=AT, lines=[], total=5)
    db.write(customer.create(ana), order.create(bought))
    for entity, stored in ((customer, ana), (order, bought)):
        href = item_page(design, db, entity.shape.key_of(stored.__dict__))
        text = code_of(rosa, href)["Typed Python"]
        assert 'load_design("shop.yaml")' in text
        assert run_python(text)["found"].model_dump() == stored.model_dump()
    text = code_of(rosa, "/console/designs/shop/patterns/orders_of?customer_id=c1")["Typed Python"]
    assert [each.model_dump() for each in run_python(text)["page"].items] == [bought.model_dump()]


def test_an_uploaded_design_has_it_too(runtime: Runtime, rosa: httpx.Client) -> None:
    assert (
        rosa.post("/console/designs/check/add", data={"document": NOTES, "name": "notes.json"}).status_code
        == 200
    )
    rosa.post("/console/designs/notes/create-tables")
    design, db = runtime.designs["notes"]
    db.write(design.entities["note"].create(design.entities["note"].model(x="a'\"b")))
    for path in (
        item_page(design, db, {"id": {"S": "NOTE#a'\"b"}}),
        "/console/designs/notes/patterns/note_by_x?x=a'%22b",
    ):
        text = code_of(rosa, path)["Typed Python"]
        assert 'load_design("notes.json")  # the file that was uploaded' in text
        assert run_python(text)["found"].x == "a'\"b"


def test_every_entity_of_the_demo_has_typed_python_that_reads_its_item(
    runtime: Runtime, rosa: httpx.Client
) -> None:
    now, seen, refused = int(runtime.world.now().timestamp()), set(), set()
    for design in PORTAL.designs:
        _, db = runtime.designs[design.name]
        for table in design.tables.values():
            physical = runtime.open_table(db, table.name)
            scan = {"TableName": physical}
            for item in (each for page in [runtime.call("Scan", scan)] for each in page["Items"]):
                owner = owner_of(design, table.name, item)
                kind = (table.name, owner.kind, owner.name)
                if kind in seen or (owner.shape and is_expired(owner.shape, item, now)):
                    continue
                seen.add(kind)
                href = item_href(physical, item, table.key_names)
                if owner.shape is None:
                    refused.add(owner.kind)
                    assert "No typed Python call: this item guards a unique value" in text_of(rosa.get(href))
                    continue
                found = run_python(code_of(rosa, href)["Typed Python"])["found"]
                assert owner.shape.key_of(found.__dict__).items() <= item.items(), kind
    entities = {name for _, kind, name in seen if kind == "entity"}
    assert len(entities) > 12, entities
    assert refused == {"guard"}


def test_an_item_that_the_design_does_not_know_says_why_there_is_none(
    runtime: Runtime, rosa: httpx.Client
) -> None:
    design, db = runtime.designs["shop"]
    stranger: Item = {"PK": {"S": "ELSE"}, "SK": {"S": "1"}}
    runtime.call("PutItem", {"TableName": db.physical("shop"), "Item": stranger})
    href = item_page(design, db, stranger)
    assert "Typed Python" not in code_of(rosa, href)
    assert "No typed Python call: the design does not know this item." in text_of(rosa.get(href))
