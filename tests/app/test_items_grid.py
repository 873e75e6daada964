"""Items as a grid: filters, changes with their request shown first, CSV out and in, PartiQL. Secrets stay covered."""

import csv
import io
import re
from base64 import b64encode
from datetime import timedelta
from html import unescape
from typing import Any

import httpx
import pytest
from tests.app.browsing import Enter
from tests.app.test_console_frame import text_of

from tablewright.app.design import ACCOUNTS, Note
from tablewright.app.design import notes as letters
from tablewright.app.designs.item_csv import FileUnusable, csv_of, items_in
from tablewright.app.designs.item_writes import delete_request, digest, update_request
from tablewright.app.designs.secrets import COVER
from tablewright.app.runtime import Runtime
from tablewright.client import CallRefused

BOOK = {"table": "shelves", "k.PK": "BOOK#b007", "k.SK": "BOOK"}
KEY = {"PK": {"S": "BOOK#b007"}, "SK": {"S": "BOOK"}}
EDIT, DELETE = "/console/designs/item/edit", "/console/designs/item/delete"
DIGITS = "12345678901234567890123456789012345678"


@pytest.fixture
def rosa(enter: Enter) -> httpx.Client:
    return enter("engineer_rosa")


def keys_of(page: httpx.Response) -> list[str]:
    return [unescape(each) for each in re.findall(r'<th scope="row"><a href="[^"]+">([^<]+?) ?<', page.text)]


def shelves(rosa: httpx.Client, **asked: str) -> httpx.Response:
    return rosa.get("/console/designs/items", params={"table": "shelves", **asked})


def item_of(runtime: Runtime) -> Any:
    return runtime.call("GetItem", {"TableName": "shelves", "Key": KEY}).get("Item")


def field_of(page: httpx.Response, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]*value="([^"]*)"', page.text)
    area = re.search(rf'<textarea[^>]*name="{name}"[^>]*>([^<]*)</textarea>', page.text)
    assert found or area, name
    return unescape((found or area)[1])  # type: ignore[index]  # one of them is there


# --- the grid ---


def test_columns_are_keys_first_then_by_how_many_items_have_them(rosa: httpx.Client) -> None:
    page = shelves(rosa, entity="books")
    heads = [
        " ".join(re.sub("<[^>]+>", " ", each).split())
        for each in re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", page.text)
    ]
    assert heads[:2] == ["PK / SK", "Entity"]
    assert heads[-1] == "Size"
    assert "price N" in heads
    assert '<td class="number">12.5</td>' in page.text
    by_state = shelves(rosa, index="ByState")
    assert re.findall(r'<th scope="col">(\w+) <small>', by_state.text)[:2] == ["state", "added"]


def test_a_page_is_full_of_what_a_filter_finds_and_the_next_goes_on_behind_it(rosa: httpx.Client) -> None:
    seen: list[str] = []
    page = shelves(rosa, a1="price", o1=">=", v1="12")
    while True:
        seen += keys_of(page)
        onward = re.search(r'href="([^"]+)" rel="next"', page.text)
        if onward is None:
            break
        assert len(keys_of(page)) == 25
        page = rosa.get(unescape(onward[1]))
    assert len(seen) == len(set(seen)) == 60


@pytest.mark.parametrize(
    ("asked", "count", "verb"),
    [
        ({"partition": "BOOK#b000", "sort_op": "begins_with", "sort": "NOTE#"}, 1, "Query"),
        ({"partition": "BOOK#b000", "sort": "BOOK"}, 1, "Query"),
        ({"partition": "BOOK#b000", "sort_op": "between", "sort": "A", "sort_end": "C"}, 1, "Query"),
        ({"sort": "BOOK", "a1": "id", "v1": "b007"}, 1, "Scan"),
        ({"a1": "title", "o1": "contains", "v1": "Volume 7"}, 1, "Scan"),
        ({"a1": "text", "o1": "exists"}, 1, "Scan"),
        ({"a1": "active", "v1": "false"}, 0, "Scan"),
        ({"a1": "title", "v1": "Volume 7", "a2": "price", "o2": "<", "v2": "100"}, 1, "Scan"),
    ],
)
def test_filters_by_key_and_attributes(
    rosa: httpx.Client, asked: dict[str, str], count: int, verb: str
) -> None:
    page = shelves(rosa, **asked)
    assert len(keys_of(page)) == count
    assert f"{verb}:" in text_of(page)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"partition": "BOOK#b000", "sort_op": "between", "sort": "A"}, "A range needs both ends."),
        (
            {"partition": "BOOK#b000", "a1": "SK", "v1": "x"},
            "SK is part of the key: use the fields of the key.",
        ),
        ({"a1": "title", "o1": "like", "v1": "x"}, "Choose a comparison from the list."),
        ({"a1": "title", "o1": "contains"}, "Type what title is compared with."),
    ],
)
def test_a_filter_that_cannot_be_is_told_and_what_was_typed_stays(
    rosa: httpx.Client, asked: dict[str, str], said: str
) -> None:
    page = shelves(rosa, **asked)
    assert said in text_of(page)
    assert 'value="BOOK#b000"' in page.text or 'value="title"' in page.text


def test_a_key_of_numbers_refuses_other_texts(rosa: httpx.Client, pets: None) -> None:
    page = rosa.get("/console/designs/items", params={"table": "pets", "partition": "rex"})
    assert "n is of the type N" in text_of(page)
    assert (
        len(keys_of(rosa.get("/console/designs/items", params={"table": "pets", "partition": DIGITS}))) == 1
    )


@pytest.fixture
def pets(runtime: Runtime) -> None:
    key = {"AttributeName": "n"}
    table = {"KeySchema": [key | {"KeyType": "HASH"}], "AttributeDefinitions": [key | {"AttributeType": "N"}]}
    runtime.call("CreateTable", {"TableName": "pets", "BillingMode": "PAY_PER_REQUEST", **table})
    runtime.engine.settle()
    odd = {"n": {"N": DIGITS}, "name": {"S": "=1+1"}, "tags": {"SS": ["a,b", '"c"']}, "age": {"N": "-3"}}
    runtime.call("PutItem", {"TableName": "pets", "Item": odd})
    runtime.call(
        "PutItem",
        {
            "TableName": "pets",
            "Item": {"n": {"N": "1"}, "name": {"N": "5"}, "m": {"M": {"B": {"B": "AP8="}}}},
        },
    )


# --- changes ---


def edited(rosa: httpx.Client) -> tuple[str, str]:
    """The text of the form, and what says which item was read."""
    page = rosa.get(EDIT, params=BOOK)
    return field_of(page, "json"), field_of(page, "read")


def test_a_change_is_shown_as_its_request_and_sent_only_when_confirmed(
    rosa: httpx.Client, runtime: Runtime
) -> None:
    text, read = edited(rosa)
    before = item_of(runtime)
    typed = {"json": text.replace("Volume 8", "Volume <8>"), "read": read}
    plan = rosa.post(EDIT, params=BOOK, data={**typed, "step": "plan"})
    words = unescape(text_of(plan))
    assert '"UpdateExpression": "SET #0 = :0"' in words
    assert '"ConditionExpression": ' in words
    assert item_of(runtime) == before
    done = rosa.post(
        EDIT,
        params=BOOK,
        data={"json": field_of(plan, "json"), "read": field_of(plan, "read"), "step": "send"},
    )
    assert "The item was changed." in done.text
    assert item_of(runtime) == {**before, "title": {"S": "Volume <8>"}}


def test_a_change_of_an_item_that_was_changed_since_is_refused_and_the_text_is_kept(
    rosa: httpx.Client, runtime: Runtime
) -> None:
    text, read = edited(rosa)
    typed = {"json": text.replace("Volume 8", "Mine"), "read": read, "step": "send"}
    runtime.call("PutItem", {"TableName": "shelves", "Item": {**item_of(runtime), "extra": {"S": "theirs"}}})
    refused = rosa.post(EDIT, params=BOOK, data=typed)
    assert refused.status_code == 409
    assert "the item changed since you read it" in refused.text
    assert "Mine" in field_of(refused, "json")
    assert "theirs" in refused.text
    assert item_of(runtime)["title"] == {"S": "Volume 8"}
    again = {"json": field_of(refused, "json"), "read": field_of(refused, "read"), "step": "plan"}
    assert "REMOVE #1" in rosa.post(EDIT, params=BOOK, data=again).text, "their attribute is not in my text"


def test_the_store_refuses_a_change_that_arrives_between_the_check_and_the_write(runtime: Runtime) -> None:
    before = item_of(runtime)
    sent = update_request("shelves", ["PK", "SK"], before, {**before, "title": {"S": "Mine"}}, ["lent_to"])
    for theirs in ({**before, "price": {"N": "1"}}, {**before, "lent_to": {"S": "Tom"}}):
        runtime.call("PutItem", {"TableName": "shelves", "Item": theirs})
        with pytest.raises(CallRefused, match="ConditionalCheckFailed"):
            runtime.call("UpdateItem", sent)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("{", "This is not JSON"),
        ("[]", "Write an object with attributes"),
        ('{"PK": {"S": "x"}, "SK": {"S": "BOOK"}}', "The key of an item cannot be changed"),
        ('{"PK": {"S": "BOOK#b007"}, "SK": {"S": "BOOK"}, "n": {"N": "many"}}', "n: "),
        ("same", "Nothing is changed yet."),
    ],
)
def test_what_cannot_be_written_is_told_beside_the_text(rosa: httpx.Client, typed: str, said: str) -> None:
    text, read = edited(rosa)
    data = {"json": text if typed == "same" else typed, "read": read, "step": "send"}
    assert said in text_of(rosa.post(EDIT, params=BOOK, data=data))


def test_an_item_is_added_once(rosa: httpx.Client, runtime: Runtime) -> None:
    where = {"table": "shelves"}
    text = '{"PK": {"S": "it\'s"}, "SK": {"S": "new"}, "n": {"N": "1.0"}}'
    plan = rosa.post("/console/designs/item/add", params=where, data={"json": text, "step": "plan"})
    assert "attribute_not_exists(#0)" in plan.text
    send = {"json": text, "step": "send"}
    assert "The item was added." in rosa.post("/console/designs/item/add", params=where, data=send).text
    again = rosa.post("/console/designs/item/add", params=where, data=send)
    assert (again.status_code, "there is an item with this key already" in again.text) == (409, True)
    empty = rosa.post(
        "/console/designs/item/add", params=where, data={"json": '{"PK": {"S": ""}, "SK": {"S": "x"}}'}
    )
    assert "cannot be empty" in empty.text


def test_a_delete_asks_first_and_fails_if_the_item_changed(rosa: httpx.Client, runtime: Runtime) -> None:
    ask = rosa.get(DELETE, params=BOOK)
    assert "DeleteItem" in ask.text
    read = field_of(ask, "read")
    before = item_of(runtime)
    runtime.call("PutItem", {"TableName": "shelves", "Item": {**before, "price": {"N": "1"}}})
    refused = rosa.post(DELETE, params=BOOK, data={"read": read})
    assert (refused.status_code, "Not deleted" in refused.text) == (409, True)
    assert item_of(runtime)
    done = rosa.post(DELETE, params=BOOK, data={"read": field_of(refused, "read")})
    assert "The item was deleted." in done.text
    assert item_of(runtime) is None


def test_only_engineers_and_only_this_site_may_write(
    rosa: httpx.Client, enter: Enter, runtime: Runtime
) -> None:
    read = digest(runtime.secret, item_of(runtime))
    for path in (DELETE, EDIT):
        refused = rosa.post(
            path, params=BOOK, data={"read": read}, headers={"Origin": "https://evil.example"}
        )
        assert refused.status_code == 403
        assert enter(follow=False).post(path, params=BOOK, data={"read": read}).status_code == 401
    assert item_of(runtime)


def test_a_reader_sees_the_items_and_is_refused_every_write(enter: Enter, runtime: Runtime) -> None:
    ines, read = enter("lib_ines"), digest(runtime.secret, item_of(runtime))
    before = runtime.call("Scan", {"TableName": "shelves"})["Items"]
    page = shelves(ines)
    assert keys_of(page)
    assert "/item/add" not in page.text
    assert "/items/import" not in page.text
    assert "item/edit" not in ines.get("/console/designs/item", params=BOOK).text
    new = '{"PK": {"S": "x"}, "SK": {"S": "y"}}'
    file = b64encode(b"PK,SK\nx,y\n").decode()
    posts: list[tuple[str, dict[str, str], dict[str, str]]] = [
        (EDIT, BOOK, {"json": new, "read": read, "step": "send"}),
        (DELETE, BOOK, {"read": read}),
        ("/console/designs/item/add", {"table": "shelves"}, {"json": new, "step": "send"}),
        ("/console/designs/items/import", {"table": "shelves"}, {"content": file, "step": "send"}),
    ]
    for path, where, data in posts:
        assert ines.get(path, params=where).status_code == 403, path
        assert ines.post(path, params=where, data=data).status_code == 403, path
    for text in (
        """DELETE FROM "shelves" WHERE PK = 'BOOK#b007' AND SK = 'BOOK'""",
        """UPDATE "shelves" SET n = 1 WHERE PK = 'BOOK#b007' AND SK = 'BOOK'""",
        """INSERT INTO "shelves" VALUE {'PK': 'x', 'SK': 'y'}""",
    ):
        assert statement(ines, text, step="send").status_code == 403
    assert statement(ines, 'SELECT * FROM "shelves"').status_code == 200
    assert runtime.call("Scan", {"TableName": "shelves"})["Items"] == before


def test_the_store_refuses_a_delete_of_an_item_that_is_another_by_then(runtime: Runtime) -> None:
    before = item_of(runtime)
    sent = delete_request("shelves", ["PK", "SK"], before, ["lent_to"])
    for theirs in ({**before, "price": {"N": "1"}}, {**before, "lent_to": {"S": "Tom"}}):
        runtime.call("PutItem", {"TableName": "shelves", "Item": theirs})
        with pytest.raises(CallRefused, match="ConditionalCheckFailed"):
            runtime.call("DeleteItem", sent)
        assert item_of(runtime) == theirs


# --- CSV ---


def test_a_file_of_the_filter_is_read_as_the_same_items(
    rosa: httpx.Client, runtime: Runtime, pets: None
) -> None:
    answer = rosa.get("/console/designs/items.csv", params={"table": "pets"})
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert rows[0] == ["n:N", "name:JSON", "age:N", "m:M", "tags:SS"]
    found = items_in(answer.content, {"n": "N"}, {}, frozenset())
    stored = runtime.call("Scan", {"TableName": "pets"})["Items"]
    assert [line.item for line in found.lines] == stored
    assert (
        len(csv_rows(rosa.get("/console/designs/items.csv", params={"table": "shelves", "entity": "notes"})))
        == 2
    )


def csv_rows(answer: httpx.Response) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_a_spreadsheet_runs_nothing_of_a_file_and_quotes_come_back() -> None:
    texts = [
        "=1+1",
        "+x",
        "-x",
        "@x",
        "\tx",
        "\n=x",
        "＝1",
        "'=x",
        "'",
        "plain",
        'a,"b"\nc',
        "ends ",
        "a;=1+1",
    ]
    items = [{"id": {"S": text}} for text in texts]
    text = csv_of(items, ["id"])
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\n", "＝")) for row in rows for cell in row)
    assert '"a;=1+1"' in text, "quoted: a spreadsheet that separates by ; does not take it apart"
    assert [line.item for line in items_in(text.encode(), {"id": "S"}, {}, frozenset()).lines] == items


def test_a_file_is_previewed_with_types_and_mistakes_by_line_and_then_put(
    rosa: httpx.Client, runtime: Runtime, pets: None
) -> None:
    def sent(text: str, **more: str) -> httpx.Response:
        files = {"file": ("pets.csv", text.encode(), "text/csv")}
        return rosa.post("/console/designs/items/import", params={"table": "pets"}, files=files, data=more)

    wrong = text_of(sent("n,name,age:N\n7,rex,old\nx,ann,1\n8,bo,2\n8,ida,3\n"))
    for expected in ("2 age is not of the type N", "3 n is not of the type N", "5 Line 4 has the same key."):
        assert expected in wrong
    right = "n,name,age:N\n7,rex,3\n1,taken,\n"
    page = sent(right)
    assert "n N, by key" in text_of(page)
    assert runtime.call("Scan", {"TableName": "pets"})["Count"] == 2
    content = b64encode(right.encode()).decode()
    send = {"content": content, "step": "send"}
    done = rosa.post("/console/designs/items/import", params={"table": "pets"}, data=send)
    assert "1 item written, 1 kept as it was." in text_of(done)
    assert "Kept line 3: an item with this key exists" in text_of(done)
    one = {"TableName": "pets", "Key": {"n": {"N": "1"}}}
    assert runtime.call("GetItem", one)["Item"]["name"] == {"N": "5"}
    rosa.post("/console/designs/items/import", params={"table": "pets"}, data=send | {"replace": "on"})
    assert runtime.call("GetItem", one)["Item"] == {"n": {"N": "1"}, "name": {"S": "taken"}}


def test_an_import_that_stops_says_what_was_written_and_what_was_not_tried(
    rosa: httpx.Client, runtime: Runtime
) -> None:
    name = {"AttributeName": "name", "AttributeType": "S"}
    key, index = [{"AttributeName": "n", "KeyType": "HASH"}], [{"AttributeName": "name", "KeyType": "HASH"}]
    runtime.call(
        "CreateTable",
        {
            "TableName": "named", "BillingMode": "PAY_PER_REQUEST", "KeySchema": key,
            "AttributeDefinitions": [{"AttributeName": "n", "AttributeType": "N"}, name],
            "GlobalSecondaryIndexes": [
                {"IndexName": "ByName", "KeySchema": index, "Projection": {"ProjectionType": "ALL"}}
            ],
        },
    )  # fmt: skip
    runtime.engine.settle()
    file = "n,name:JSON\n" + "\n".join(f'{n},"{{""{t}"": ""7""}}"' for n, t in enumerate("SSNSS"))
    send = {"content": b64encode(file.encode()).decode(), "step": "send"}
    stopped = rosa.post("/console/designs/items/import", params={"table": "named"}, data=send)
    assert stopped.status_code == 409
    for words in ("The import stopped at line 4.", "Written lines 2 to 3", "Not tried lines 5 to 6"):
        assert words in text_of(stopped)
    assert runtime.call("Scan", {"TableName": "named"})["Count"] == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"name\nrex\n", "missing: n"), (b"n,n\n1,2\n", "twice: n"), (b"\xff\xfe", "not UTF-8"),
     (b'n\n"1', "Line 2 cannot be read"), (b"n,pin\n1,2\n", "Secret attributes cannot be written from a file: pin")],
)  # fmt: skip
def test_a_file_that_is_not_a_table_of_items_is_refused_as_a_whole(text: bytes, said: str) -> None:
    with pytest.raises(FileUnusable, match=said):
        items_in(text, {"n": "N"}, {}, frozenset(("pin",)))


# --- PartiQL ---


def statement(rosa: httpx.Client, text: str, **more: str) -> httpx.Response:
    return rosa.post("/console/designs/partiql", data={"statement": text, "limit": "25", **more})


def test_a_select_runs_at_once_and_shows_its_units(rosa: httpx.Client) -> None:
    words = text_of(
        statement(rosa, """SELECT title, price FROM "shelves" WHERE PK = 'BOOK#b007' AND SK = 'BOOK'""")
    )
    assert "Volume 8" in words
    assert "read unit" in words
    assert "There is more: at most 25 items were read." in text_of(statement(rosa, 'SELECT * FROM "shelves"'))


def test_a_statement_that_writes_is_a_plan_until_it_is_confirmed(
    rosa: httpx.Client, runtime: Runtime
) -> None:
    text = """UPDATE "shelves" SET title = 'New' WHERE PK = 'BOOK#b007' AND SK = 'BOOK' AND price > 1"""
    plan = unescape(text_of(statement(rosa, text)))
    assert '"UpdateExpression": "SET' in plan
    assert "Volume 8" in plan
    assert item_of(runtime)["title"] == {"S": "Volume 8"}
    assert "UpdateItem was carried out" in statement(rosa, text, step="send").text
    assert item_of(runtime)["title"] == {"S": "New"}
    refused = statement(rosa, text.replace("price > 1", "price > 99"), step="send")
    assert "the condition does not hold" in refused.text
    statement(rosa, """DELETE FROM "shelves" WHERE PK = 'BOOK#b007' AND SK = 'BOOK'""", step="send")
    assert item_of(runtime) is None
    insert = """INSERT INTO "shelves" VALUE {'PK': 'BOOK#b007', 'SK': 'BOOK', 'n': 1}"""
    assert "PutItem was carried out" in statement(rosa, insert, step="send").text
    assert "the condition does not hold" in statement(rosa, insert, step="send").text


@pytest.mark.parametrize(
    ("text", "said"),
    [("SELEC", "Statement wasn't well formed"), ('DELETE FROM "shelves" WHERE PK = \'x\'', "The key is PK, SK."),
     ('SELECT * FROM "nothing"', "There is no table of this name")],
)  # fmt: skip
def test_a_statement_that_cannot_be_is_told(rosa: httpx.Client, text: str, said: str) -> None:
    assert said in unescape(text_of(statement(rosa, text)))


# --- secrets ---


def test_a_secret_is_covered_everywhere_kept_by_a_change_and_cannot_be_guessed(
    rosa: httpx.Client, runtime: Runtime
) -> None:
    now = runtime.world.now()
    note = Note(
        id="note_1", recipient="ada@example.com", subject="Your code: 479048", body="It is 479048.", state="FAILED",
        written=now, until=now + timedelta(minutes=15),
    )  # fmt: skip
    runtime.db.write(letters.messages.create(note))
    where = {"table": ACCOUNTS, "k.PK": "NOTE#note_1", "k.SK": "NOTE"}
    edit = rosa.get(EDIT, params=where)
    typed = {"json": field_of(edit, "json").replace("ada@", "eva@"), "read": field_of(edit, "read")}
    plan = rosa.post(EDIT, params=where, data={**typed, "step": "plan"})
    pages = [
        edit,
        plan,
        rosa.get(DELETE, params=where),
        rosa.get("/console/designs/items", params={"table": ACCOUNTS, "all": "1"}),
        rosa.get("/console/designs/items.csv", params={"table": ACCOUNTS}),
        statement(rosa, f'SELECT * FROM "{ACCOUNTS}"'),
    ]
    for page in pages:
        assert page.status_code == 200
        assert "479048" not in page.text
        assert COVER in page.text
    changed = rosa.post(
        EDIT, params=where, data={**typed, "json": typed["json"].replace(COVER, "x"), "step": "send"}
    )
    assert "is marked as secret" in changed.text
    assert "The item was changed." in rosa.post(EDIT, params=where, data={**typed, "step": "send"}).text
    key = {"PK": {"S": "NOTE#note_1"}, "SK": {"S": "NOTE"}}
    item = runtime.call("GetItem", {"TableName": ACCOUNTS, "Key": key})["Item"]
    assert (item["recipient"], item["body"]) == ({"S": "eva@example.com"}, {"S": "It is 479048."})
    file = b64encode(b"PK,SK,recipient\nNOTE#note_1,NOTE,x\n").decode()
    import_of = {"content": file, "step": "send", "replace": "on"}
    kept = rosa.post("/console/designs/items/import", params={"table": ACCOUNTS}, data=import_of)
    assert "the item has a secret, which a file cannot replace" in kept.text
    copied = {
        "json": f'{{"PK": {{"S": "a"}}, "SK": {{"S": "b"}}, "body": {{"S": "{COVER}"}}}}',
        "step": "send",
    }
    refused = rosa.post("/console/designs/item/add", params={"table": ACCOUNTS}, data=copied)
    assert "body is marked as secret, and this is its cover" in refused.text
    assert runtime.call("GetItem", {"TableName": ACCOUNTS, "Key": key})["Item"] == item
    guess = rosa.get(
        "/console/designs/items",
        params={"table": ACCOUNTS, "a1": "body", "o1": "begins_with", "v1": "It is 4"},
    )
    assert "marked as secret and cannot be filtered by" in guess.text
    for text in (
        f'SELECT body FROM "{ACCOUNTS}"',
        f"""SELECT * FROM "{ACCOUNTS}" WHERE begins_with(body, 'It is 4')""",
        f"""UPDATE "{ACCOUNTS}" SET other = body WHERE PK = 'NOTE#note_1' AND SK = 'NOTE'""",
    ):
        assert "body is marked as secret" in statement(rosa, text, step="send").text
