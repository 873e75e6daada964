"""The engineers' area: designs as they are, patterns that run, items as they are stored."""

import re
import threading
from datetime import timedelta

import httpx
import pytest
from tests.app.browsing import Enter
from tests.app.library import book_by_id, books, library, notes
from tests.app.test_console_frame import text_of

from tablewright import testing
from tablewright.app.design import ACCOUNTS, Note
from tablewright.app.design import app_design as own_design
from tablewright.app.design import notes as letters
from tablewright.app.designs.diagrams import owner_of
from tablewright.app.designs.secrets import COVER, is_secret
from tablewright.app.pictures.state_machines import state_machine
from tablewright.app.runtime import Runtime
from tablewright.app.systems import SYSTEMS
from tablewright.design import States
from tablewright.kit.system import Progress

BY_STATE = "/console/designs/library/patterns/books_by_state"


@pytest.fixture
def rosa(enter: Enter) -> httpx.Client:
    return enter("engineer_rosa")


def count_of(page: httpx.Response) -> int:
    """Rows of the first table."""
    body = re.search(r"<tbody>(.*?)</tbody>", page.text, re.DOTALL)
    return len(re.findall("<tr", body[1])) if body else 0


# --- looking ---


def test_every_address_the_area_links_to_is_there_and_small(rosa: httpx.Client) -> None:
    waiting, seen = ["/console/designs"], set[str]()
    while waiting and len(seen) < 80:
        address = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        page = rosa.get(address)
        assert page.status_code == 200, address
        assert len(page.content) < 50_000, address
        found = re.findall(r'href="(/console/designs[^"#]*)"', page.text)
        waiting += [each.replace("&amp;", "&") for each in found]
    assert len(seen) > 40


def test_a_design_shows_the_keys_of_each_entity_and_guard(rosa: httpx.Client) -> None:
    words = text_of(rosa.get("/console/designs/library")).replace("# {", "#{")
    for expected in ("BOOK#{id}", "NOTE#{at:ms}", "UNIQUE#books#isbn#{isbn}", "ByState · state"):
        assert expected in words


def test_an_entity_shows_its_promises_and_states(rosa: httpx.Client) -> None:
    page = rosa.get("/console/designs/library/entities/books")
    words = text_of(page)
    for expected in (
        "unique isbn",
        "never changes",
        "librarian may make any transition",
        "deleted while “active” is not true",
    ):
        assert expected in words
    assert 'aria-label="States of books: state"' in page.text
    assert "ON_SHELF to LENT by reader" in page.text
    assert "1 year after “at”; hidden from that moment" in text_of(
        rosa.get("/console/designs/library/entities/notes")
    )


def test_environments_are_shown_as_facts(rosa: httpx.Client) -> None:
    words = text_of(rosa.get("/console/designs/library/environments"))
    for expected in ("prod", "eu-west-1", "on demand", "35 days", "Deletion protection on"):
        assert expected in words


@pytest.mark.parametrize(
    "path", ["/nothing", "/library/tables/nothing", "/library/entities/nothing", "/library/patterns/nothing",
             "/items?table=nothing", "/items?table=shelves&index=nothing", "/item?table=shelves&k.PK=x&k.SK=y"],
)  # fmt: skip
def test_what_is_not_there_is_said_to_be_missing(rosa: httpx.Client, path: str) -> None:
    assert rosa.get(f"/console/designs{path}").status_code == 404


def test_the_machine_is_drawn_with_a_box_for_each_state_and_an_arrow_for_each_move() -> None:
    machine = States("s", "A", {"A": {"B": ("x",), "C": ("x",)}, "C": {"A": ("x",)}, "B": {"B": ("x",)}})
    drawn = state_machine(machine, entity="e", name="m").inline()
    assert drawn.count('<rect class="p-start"') == 1
    assert drawn.count('<rect class="p-frame"') == 2
    assert drawn.count('class="p-tip"') == 3
    assert "&lt;" in state_machine(States("s", "<b>", {}), entity="e", name="m").inline()


# --- patterns ---


def test_a_pattern_opens_with_an_example_from_the_store(rosa: httpx.Client) -> None:
    page = rosa.get("/console/designs/library/patterns/book_by_id")
    assert re.search(r'id="f-id"[^>]* value="b0\d\d"', page.text)
    assert "What it cost" not in page.text


def test_an_example_is_of_an_item_that_reads_show(rosa: httpx.Client, runtime: Runtime) -> None:
    db = runtime.running[0].db
    first, *others = db.every(books)
    db.write(books.change(first, first.model_copy(update={"active": False})))
    page = rosa.get("/console/designs/library/patterns/book_by_id").text
    found = re.search(r'id="f-id"[^>]* value="(b0\d\d)"', page)
    assert found
    assert found[1] in {book.id for book in others}


def test_a_run_shows_the_request_the_answer_its_units_and_the_price_of_a_month(rosa: httpx.Client) -> None:
    words = text_of(rosa.get("/console/designs/library/patterns/book_by_id", params={"id": "b007"}))
    for expected in (
        "Volume 8",
        "0.5 read units",
        "&#34;TableName&#34;: &#34;shelves&#34;",
        "2 592 000 calls",
    ):
        assert expected in words
    # 2 592 000 calls at half a unit each, at $0.1415 for a million where the design is deployed.
    assert "$0.18" in words


def test_a_pattern_is_priced_in_the_region_of_the_cost_page(rosa: httpx.Client) -> None:
    words = text_of(rosa.get("/console/designs/library/patterns/book_by_id", params={"id": "b007"}))
    assert "On demand in eu-west-1" in words
    assert "prod, eu-west-1" in text_of(rosa.get("/console/designs/library/cost"))
    assert "on demand in eu-west-1" in text_of(rosa.get("/console/designs/library"))


def test_a_batch_of_gets_is_measured_and_priced_by_its_keys(rosa: httpx.Client, runtime: Runtime) -> None:
    db = runtime.running[0].db
    db.many([book_by_id(id=f"b{number:03}") for number in range(20)])
    words = text_of(rosa.get("/console/designs/library"))
    assert re.search(r"2 592 000 20 1 request 0\.5 \$0\.18", words)
    words = text_of(rosa.get("/console/designs/library/patterns/book_by_id"))
    assert "20 calls in 1 request, 0.5 read units each" in words


def test_a_run_counts_as_a_call_of_the_pattern(rosa: httpx.Client, runtime: Runtime) -> None:
    before = runtime.running[0].db.meter.spent().get("books_by_state")
    rosa.get(BY_STATE, params={"state": "ON_SHELF"})
    after = runtime.running[0].db.meter.spent()["books_by_state"]
    assert before is None
    assert after.calls == 1


def test_a_run_goes_on_page_by_page_and_back(rosa: httpx.Client) -> None:
    first = rosa.get(BY_STATE, params={"state": "ON_SHELF"})
    assert "Volume 60" in first.text
    second = rosa.get(link(first, "next"))
    assert "Volume 40" in second.text
    third = rosa.get(link(second, "next"))
    assert "Volume 20" in third.text
    assert 'rel="next"' not in third.text
    back = rosa.get(link(third, "prev"))
    assert sorted(re.findall(r"<td>(Volume \d+)</td>", back.text)) == sorted(
        re.findall(r"<td>(Volume \d+)</td>", second.text)
    )
    assert 'rel="prev"' not in rosa.get(link(back, "prev")).text


def link(page: httpx.Response, rel: str) -> str:
    found = re.search(rf'href="([^"]+)" rel="{rel}"', page.text)
    assert found is not None
    return found[1].replace("&amp;", "&")


def test_a_page_token_of_somebody_else_does_not_open(rosa: httpx.Client, enter: Enter) -> None:
    address = link(rosa.get(BY_STATE, params={"state": "ON_SHELF"}), "next")
    page = enter("lib_ines").get(address)
    assert page.status_code == 400
    assert "begin at the first page" in page.text
    assert "Reset filters" in page.text


def test_a_mistake_in_the_form_is_told_and_what_was_typed_stays(rosa: httpx.Client) -> None:
    address = "/console/designs/library/patterns/notes_on"
    page = rosa.get(address, params={"book": "b000", "since": "yesterday"})
    assert "Since must be a time such as" in text_of(page)
    assert 'value="yesterday"' in page.text
    assert "Book is required." in text_of(rosa.get(address, params={"run": "1"}))
    assert "the range ends before it begins" in text_of(
        rosa.get(address, params={"book": "b000", "since": "2026-02-01", "until": "2026-01-01"})
    )


def test_a_time_without_a_zone_is_utc(rosa: httpx.Client) -> None:
    address = "/console/designs/library/patterns/notes_on"
    found = rosa.get(address, params={"book": "b000", "since": "2026-01-01T00:00:00"})
    assert "Could not put it down." in found.text


def test_what_has_expired_is_not_shown_by_a_pattern_but_by_the_browser(
    rosa: httpx.Client, runtime: Runtime, clock: testing.Clock
) -> None:
    clock.move(timedelta(days=366))
    rosa.post("/sign-in", data={"person": "engineer_rosa"})
    assert (
        "No items found"
        in rosa.get("/console/designs/library/patterns/notes_on", params={"book": "b000"}).text
    )
    listed = rosa.get("/console/designs/items", params={"table": "shelves", "entity": "notes"})
    assert count_of(listed) == 1
    item = re.search(r'href="(/console/designs/item\?[^"]+)"', listed.text)
    assert item is not None
    assert "This item has expired" in rosa.get(item[1].replace("&amp;", "&")).text


# --- items ---


def test_items_are_recognised_by_their_keys(runtime: Runtime) -> None:
    note = {"PK": {"S": "BOOK#b1"}, "SK": {"S": "NOTE#2026-01-01T00:00:00.000Z"}}
    guard = {"PK": {"S": "UNIQUE#books#isbn#9780000000001"}, "SK": {"S": "UNIQUE"}}
    assert owner_of(library, "shelves", note).shape == notes.shape
    assert owner_of(library, "shelves", guard).kind == "guard"
    assert owner_of(library, "shelves", {"PK": {"S": "X"}, "SK": {"S": "Y"}}).kind == "stranger"
    assert owner_of(None, "receipts", {"id": {"S": "x"}}).kind == "receipt"


def test_browsing_a_table_page_by_page_shows_every_item_once_and_goes_back(rosa: httpx.Client) -> None:
    pages = [rosa.get("/console/designs/items", params={"table": "shelves"})]
    while 'rel="next"' in pages[-1].text:
        pages.append(rosa.get(link(pages[-1], "next")))
    keys = [key for page in pages for key in re.findall(r'href="(/console/designs/item\?[^"]+)"', page.text)]
    assert len(keys) == len(set(keys)) == 121  # 60 books, 60 guards, a note
    back = rosa.get(link(pages[2], "prev"))
    assert back.text.count("/console/designs/item?") == 25
    assert re.findall(r"k\.PK=[^&]+", back.text) == re.findall(r"k\.PK=[^&]+", pages[1].text)


def test_browsing_by_entity_partition_and_index(rosa: httpx.Client) -> None:
    def count(**asked: str) -> int:
        return count_of(rosa.get("/console/designs/items", params={"table": "shelves", **asked}))

    assert count(entity="notes") == 1
    assert count(partition="BOOK#b000") == 2
    assert count(partition="BOOK#b000", entity="notes") == 1
    assert count(index="ByState", partition="LENT") == 0
    assert count(index="ByState", partition="ON_SHELF") == 25


def test_a_table_no_design_knows_can_be_browsed_too(rosa: httpx.Client, runtime: Runtime) -> None:
    key = {"AttributeName": "n"}
    pets = {"KeySchema": [key | {"KeyType": "HASH"}], "AttributeDefinitions": [key | {"AttributeType": "N"}]}
    runtime.call("CreateTable", {"TableName": "pets", "BillingMode": "PAY_PER_REQUEST", **pets})
    runtime.engine.settle()
    runtime.call("PutItem", {"TableName": "pets", "Item": {"n": {"N": "7"}, "name": {"S": "<rex>"}}})
    listed = rosa.get("/console/designs/items", params={"table": "pets"})
    assert "not in the design" not in listed.text
    page = rosa.get("/console/designs/item", params={"table": "pets", "k.n": "7"})
    assert "&lt;rex&gt;" in page.text


def test_an_item_is_shown_as_the_design_reads_it_and_as_it_is_stored(rosa: httpx.Client) -> None:
    page = rosa.get("/console/designs/item", params={"table": "shelves", "k.PK": "BOOK#b007", "k.SK": "BOOK"})
    words = text_of(page)
    for expected in ("Volume 8", "state = ON_SHELF", "&#34;PK&#34;: {&#34;S&#34;: &#34;BOOK#b007&#34;}"):
        assert expected in words


def test_a_write_is_explained_and_not_run(rosa: httpx.Client, runtime: Runtime) -> None:
    where = {"table": "shelves", "k.PK": "BOOK#b007", "k.SK": "BOOK"}
    book = runtime.running[0].service.book("b007")
    asked = book.model_copy(update={"state": "LENT"}).model_dump_json()
    page = rosa.post("/console/designs/item", params=where, data={"kind": "change", "json": asked})
    assert "UpdateItem" in page.text
    assert "&#34;LENT&#34;" in page.text
    assert runtime.running[0].service.book("b007") == book
    created = rosa.post("/console/designs/item", params=where, data={"kind": "create", "json": asked})
    assert "TransactWriteItems" in created.text


@pytest.mark.parametrize(
    ("change", "said"),
    [('"isbn"', "Field required"), ("{", "Invalid JSON"), ('"id":"b007"', "never changes")],
)
def test_a_write_that_cannot_be_is_told_beside_what_was_typed(
    rosa: httpx.Client, runtime: Runtime, change: str, said: str
) -> None:
    where = {"table": "shelves", "k.PK": "BOOK#b007", "k.SK": "BOOK"}
    text = runtime.running[0].service.book("b007").model_dump_json()
    wrong = {
        '"isbn"': text.replace('"isbn"', '"x"'),
        "{": text[1:],
        '"id":"b007"': text.replace('"b007"', '"b9"'),
    }
    page = rosa.post("/console/designs/item", params=where, data={"kind": "change", "json": wrong[change]})
    assert said in text_of(page)
    assert page.status_code == 200


SECRET = "479048"


def test_what_signs_people_in_is_shown_to_no_engineer(rosa: httpx.Client, runtime: Runtime) -> None:
    account = runtime.accounts.add("ada@example.com")
    runtime.accounts.set_password("ada@example.com", "correct horse battery")
    note = Note(
        id="note_1",
        recipient="ada@example.com",
        subject=f"Your sign-in code: {SECRET}",
        body=f"Your code is {SECRET}.",
        state="FAILED",  # one that is sent would be deleted by the job that sends, at any moment
        written=runtime.world.now(),
        until=runtime.world.now() + timedelta(minutes=15),
    )
    runtime.db.write(letters.messages.create(note))
    stranger = {"PK": {"S": "X"}, "SK": {"S": "X"}, "body": {"S": SECRET}, "password": {"M": {}}}
    runtime.call("PutItem", {"TableName": ACCOUNTS, "Item": stranger})
    pages = [rosa.get("/console/designs/items", params={"table": ACCOUNTS})]
    for pk, sk in (("NOTE#note_1", "NOTE"), (f"ACCOUNT#{account.subject}", "ACCOUNT"), ("X", "X")):
        where = {"table": ACCOUNTS, "k.PK": pk, "k.SK": sk}
        pages.append(rosa.get("/console/designs/item", params=where))
        assert COVER in pages[-1].text, pk
        if sk != "X":
            pages += [
                rosa.post("/console/designs/item", params=where, data={"kind": kind})
                for kind in ("change", "create", "delete")
            ]
    pages.append(rosa.get("/console/designs/house/patterns/notes_by_state", params={"state": "FAILED"}))
    assert "note_1" in pages[-1].text
    for page in pages:
        assert page.status_code == 200
        assert SECRET not in page.text
        assert "scrypt" not in page.text


def test_the_letters_of_every_system_are_secret_and_every_secret_is_a_text() -> None:
    shapes = [shape for system in SYSTEMS for design in system.designs for shape in design.shapes]
    letters = [shape for shape in shapes if {"recipient", "subject", "body"} <= shape.fields.keys()]
    assert len(letters) == 5
    for shape in letters:
        assert is_secret(shape, "subject"), shape.tag
        assert is_secret(shape, "body"), shape.tag
    for shape in (*shapes, *own_design.shapes):
        for each in shape.attributes:
            # Else what covers it would not fit its model, and no write of it could be explained.
            assert not is_secret(shape, each.field) or each.kind.letter == "S"


# --- long work ---


def test_a_table_is_counted_and_measured(rosa: httpx.Client, runtime: Runtime) -> None:
    page = rosa.post("/console/designs/store/measure", data={"table": "shelves"})
    work = str(page.url).rpartition("/")[2]
    runtime.works.wait(work)
    told = rosa.get(f"/console/running/{work}", headers={"Accept": "application/json"}).json()
    assert (told["state"], told["percent"], told["result"]["items"]) == ("DONE", 100, 121)
    assert {each["name"]: each["items"] for each in told["result"]["entities"]} == {
        "books": 60, "books, unique isbn (guard)": 60, "notes": 1,
    }  # fmt: skip
    assert "By entity" in rosa.get(f"/console/running/{work}").text


def test_the_store_is_verified_and_the_work_is_listed(rosa: httpx.Client, runtime: Runtime) -> None:
    page = rosa.post("/console/designs/store/verify")
    runtime.works.wait(str(page.url).rpartition("/")[2])
    assert "The store is consistent" in rosa.get(page.url.path).text
    assert "Verify the store</a>" in rosa.get("/console/designs/store").text


def test_work_that_runs_is_followed_with_and_without_a_script(rosa: httpx.Client, runtime: Runtime) -> None:
    go = threading.Event()

    def job(told: Progress) -> None:
        told(1, 4, "items")
        go.wait(10)

    work = runtime.works.start("count", "Count", job, by="Rosa")
    page = rosa.get(f"/console/running/{work.id}").text
    assert 'hx-trigger="every 1s"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    go.set()
    runtime.works.wait(work.id)
    assert "hx-trigger" not in rosa.get(f"/console/running/{work.id}").text
    assert rosa.get("/console/running/nothing").status_code == 404


def test_measuring_a_table_that_is_not_there_is_refused(rosa: httpx.Client) -> None:
    assert rosa.post("/console/designs/store/measure", data={"table": "nothing"}).status_code == 404
