"""Designs that an engineer uploads: they get every page, tables on request, and leave nothing behind if removed."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from tests.app.browsing import browsers
from tests.app.library import LIBRARY
from tests.app.test_console_frame import text_of

from tablewright import testing
from tablewright.app.own_designs import own_system
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.uploaded_designs import UploadedDesigns
from tablewright.design import files as design_files
from tablewright.design.files import from_yaml
from tablewright.design.review import review
from tablewright.design.review.designs import facts_of
from tablewright.edge import serving_app

SHOP = files(design_files).joinpath("example.yaml").read_text("utf-8")
NOTES = """
format: tablewright-design/1
name: notes
tables:
  - {name: notes, pk: id, entities: [{tag: note, pk: "NOTE#{x}", fields: {x: string}}]}
"""
CLINIC = """
format: tablewright-design/1
name: clinic
tables:
  - name: clinic
    pk: id
    entities: [{tag: pet, pk: "PET#{x}", fields: {x: string, owner: string}, data: {owner: personal}}]
"""
DESIGNS = "/console/designs"
SYSTEMS = (LIBRARY, own_system([from_yaml(CLINIC)], "pets/clinic.yaml"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "data"


@pytest.fixture(scope="module")
def runtime(data: Path) -> Iterator[Runtime]:
    with open_app(data, systems=SYSTEMS, world=testing.Clock().world(), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def rosa(url: str, runtime: Runtime) -> Iterator[httpx.Client]:
    with browsers(url) as enter:
        yield enter("engineer_rosa")
        for name in runtime.uploads.all():
            runtime.uploads.remove(name)


def added(rosa: httpx.Client, text: str, name: str = "") -> httpx.Response:
    return rosa.post(f"{DESIGNS}/check/add", data={"document": text, "name": name})


def test_a_design_that_was_checked_can_be_added(rosa: httpx.Client) -> None:
    page = rosa.post(f"{DESIGNS}/check", files={"file": ("mine.yaml", SHOP.encode())}, data={"document": ""})
    assert 'formaction="/console/designs/check/add"' in page.text
    assert 'name="name" value="mine.yaml"' in page.text
    shown = added(rosa, SHOP, "C:\\files\\mine.yaml")
    assert str(shown.url).endswith(f"{DESIGNS}/shop")
    words = text_of(shown)
    assert "shop was added." in words
    assert "as mine.yaml." in words
    assert "· uploaded" in text_of(rosa.get(DESIGNS))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "Create its tables"),
        ("/cost", "Monthly cost $0.47"),
        ("/heat", "No request is throttled"),
        ("/findings", "tablewright design check mine.yaml --accepted"),
        ("/environments", "prod"),
        ("/tables/shop", "by-status"),
        ("/entities/order", "ORDER# {placed_at:ms}"),
        ("/patterns/orders_of", "Create its tables"),
        ("/patterns/orders_of?customer_id=1", "Code for this call"),
        ("/patterns/orders_of?run=1", "Customer id is required."),
        ("/pictures/shop-collections", "Item collections of shop"),
    ],
)
def test_an_uploaded_design_has_every_page_before_its_tables_exist(
    rosa: httpx.Client, path: str, words: str
) -> None:
    added(rosa, SHOP, "mine.yaml")
    page = rosa.get(f"{DESIGNS}/shop{path}")
    assert page.status_code == 200
    assert words in text_of(page)


def test_its_tables_are_created_only_on_request_and_then_hold_items(
    rosa: httpx.Client, runtime: Runtime
) -> None:
    added(rosa, SHOP)
    assert "shop" not in runtime.call("ListTables", {})["TableNames"]
    assert rosa.get(f"{DESIGNS}/items?table=shop").status_code == 404
    created = rosa.post(f"{DESIGNS}/shop/create-tables")
    assert "The tables are in this store." in text_of(created)
    assert "Create its tables" not in text_of(created)
    item = {
        "PK": {"S": "CUSTOMER#1"},
        "SK": {"S": "PROFILE"},
        "customerId": {"S": "1"},
        "email": {"S": "a@b.c"},
    }
    runtime.call(
        "PutItem", {"TableName": "shop", "Item": item | {"createdAt": {"S": "2026-01-01T00:00:00Z"}}}
    )
    assert "CUSTOMER#1" in text_of(rosa.get(f"{DESIGNS}/items?table=shop"))
    assert "Result: 1 item" in text_of(rosa.get(f"{DESIGNS}/shop/patterns/customer_by_id?customer_id=1"))
    assert "active" in text_of(rosa.get(f"{DESIGNS}/shop/tables/shop"))
    runtime.call("DeleteTable", {"TableName": "shop"})


def test_a_removed_design_leaves_its_tables_unless_the_form_says_otherwise(
    rosa: httpx.Client, runtime: Runtime
) -> None:
    for ticked, left in (({}, True), ({"tables": "on"}, False)):
        added(rosa, NOTES)
        rosa.post(f"{DESIGNS}/notes/create-tables")
        assert "Delete its tables too" in text_of(rosa.get(f"{DESIGNS}/notes/remove"))
        assert "notes was removed" in text_of(rosa.post(f"{DESIGNS}/notes/remove", data=ticked))
        assert rosa.get(f"{DESIGNS}/notes").status_code == 404
        assert ("notes" in runtime.call("ListTables", {})["TableNames"]) is left


def test_a_table_of_another_form_is_not_taken_for_the_designs(rosa: httpx.Client, runtime: Runtime) -> None:
    runtime.call(
        "CreateTable",
        {
            "TableName": "notes",
            "KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "other", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    added(rosa, NOTES)
    answer = rosa.post(f"{DESIGNS}/notes/create-tables")
    assert answer.status_code == 409
    assert "the table notes is in this store and is another" in text_of(answer)
    runtime.call("DeleteTable", {"TableName": "notes"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NOTES.replace("name: notes", "name: library", 1), "this server has a design named library"),
        (NOTES.replace("name: notes", "name: clinic", 1), "this server has a design named clinic"),
        (NOTES.replace("{name: notes", "{name: shelves"), "this server has a table named shelves"),
        (
            NOTES.replace("{name: notes", "{name: house_accounts"),
            "this server has a table named house_accounts",
        ),
        (NOTES.replace("{name: notes", "{name: migrations"), "this server has a table named migrations"),
        (NOTES.replace("name: notes", "name: store", 1), "it is a page of the workbench"),
        (NOTES.replace("name: notes", "name: ../up", 1), "use letters, digits"),
        (NOTES.replace("NOTE#{x}", "NOTE#{y}"), "Not added: the design has errors."),
        ("!!python/object/apply:os.system [ls]", "Not added: the design has errors."),
    ],
)
def test_what_cannot_be_served_beside_the_others_is_refused_in_words(
    rosa: httpx.Client, runtime: Runtime, text: str, words: str
) -> None:
    answer = added(rosa, text)
    assert answer.status_code in (409, 422)
    assert words in text_of(answer)
    assert runtime.uploads.all() == {}


def test_a_design_is_added_once(rosa: httpx.Client) -> None:
    added(rosa, NOTES)
    assert "remove the uploaded design of that name first" in text_of(added(rosa, NOTES))
    other = NOTES.replace("name: notes", "name: other", 1)
    assert "this server has a table named notes" in text_of(added(rosa, other))


def test_own_designs_are_in_the_menu_as_long_as_they_are_here(rosa: httpx.Client) -> None:
    def menu(path: str) -> str:
        page = rosa.get(path).text
        return page[page.index('<nav id="side"') : page.index("<main")]

    assert 'href="/console/designs/clinic"' in menu("/")
    assert 'href="/console/designs/notes"' not in menu("/")
    added(rosa, NOTES)
    assert "Your designs" in menu("/")
    assert 'href="/console/designs/notes" aria-current="page"' in menu(f"{DESIGNS}/notes/cost")
    assert 'href="/console/designs/library"' not in menu("/")


def test_a_reader_of_the_demo_sees_an_upload_and_cannot_change_it(url: str, rosa: httpx.Client) -> None:
    added(rosa, NOTES)
    with browsers(url) as enter:
        reader = enter("lib_ines")
        page = text_of(reader.get(f"{DESIGNS}/notes"))
        assert "Create its tables" not in page
        assert added(reader, SHOP).status_code == 403
        assert reader.post(f"{DESIGNS}/notes/create-tables").status_code == 403
        assert reader.post(f"{DESIGNS}/notes/remove").status_code == 403
        stranger = enter(None, follow=False)
        assert "Design notes" not in text_of(stranger.get("/search?q=notes"))
        assert "Design notes" in text_of(rosa.get("/search?q=notes"))


def test_a_design_the_server_was_started_with_cannot_be_removed(rosa: httpx.Client) -> None:
    assert rosa.post(f"{DESIGNS}/clinic/remove").status_code == 404
    assert rosa.post(f"{DESIGNS}/library/create-tables").status_code == 404


def test_the_findings_of_a_design_file_name_the_file_and_its_own_form(rosa: httpx.Client) -> None:
    page = rosa.get(f"{DESIGNS}/clinic/findings")
    words = text_of(page)
    assert "tablewright design check pets/clinic.yaml --accepted" in words
    assert "design.accept(" not in words
    example = page.text[page.text.index("accepted:\n  - rule: OPS-UNPROTECTED") :].split("</code>")[0]
    accepting = review(facts_of(from_yaml(CLINIC + example)))
    assert [each.reason for each in accepting if each.rule == "OPS-UNPROTECTED"] == ["why this is right here"]


def test_an_upload_is_there_after_a_restart_and_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    systems, world = (own_system([from_yaml(CLINIC)]),), testing.Clock().world()
    with open_app(tmp_path, systems=systems, world=world, jobs=False) as first:
        upload = first.uploads.add("mine.yaml", NOTES)
        at = tmp_path / "designs" / "notes.json"
        assert at.stat().st_mode & 0o077 == 0
    (tmp_path / "designs" / "bad.json").write_text("{")
    clash = json.dumps({"file": "x.yaml", "at": "2026-01-01T00:00:00+00:00", "text": CLINIC})
    (tmp_path / "designs" / "clinic.json").write_text(clash)
    with open_app(tmp_path, systems=systems, world=world, jobs=False) as again:
        (found,) = again.uploads.all().values()
        assert (found.file, found.text, found.at) == ("mine.yaml", NOTES, upload.at)
        assert ["bad.json" in again.advice[0], "clinic.json" in again.advice[1]] == [True, True]


def test_where_processes_share_tables_no_upload_is_taken(runtime: Runtime) -> None:
    closed = UploadedDesigns(None, runtime.world, lambda design: runtime.db, (), ())
    assert not closed.is_open
    with pytest.raises(ValueError, match="takes no uploads"):
        closed.add("x.yaml", NOTES)
