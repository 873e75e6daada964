"""`tablewright db import` into a store that does not exist yet, and to a server; and what is written again."""

from __future__ import annotations

import gzip
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import here
from tests.cli.stores import server_of
from tests.cli.test_db_import import exported, files, fine, lines, refused, scanned, store, tables, tree

from tablewright.cli.db import import_items
from tablewright.cli.db.import_files import select_files
from tablewright.cli.target import Target
from tablewright.client import Call, CallRefused, embedded
from tablewright.engine import verify_store
from tablewright.testing import engine as an_engine
from tablewright.wire import serving

__all__ = ["exported", "files", "store"]


def people(files: Path, count: int, name: str = "people.jsonl") -> None:
    (files / name).write_text(lines(*({"id": {"S": f"p{number}"}} for number in range(count))))


# --- a store that does not exist ---


def test_a_store_that_is_named_and_missing_is_created_and_said(tmp_path: Path, files: Path) -> None:
    people(files, 3)
    ran = here("db", "import", files, "--to", "people", "--keys", "id:S", "--data", tmp_path / "new")
    assert fine(ran).startswith("created people: 3 items")
    assert f"creating a new store in {tmp_path / 'new'}" in ran.err
    assert len(scanned(tmp_path / "new", "people")) == 3
    assert verify_store(tmp_path / "new") == []


def test_an_export_makes_its_table_in_a_new_store(tmp_path: Path, store: Path, exported: Path) -> None:
    fine(here("db", "import", exported, "--to", "pets", "--data", tmp_path / "new"))
    assert scanned(tmp_path / "new", "pets") == scanned(store, "pets")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "--keys owner:S,name:S or --like TABLE"),
        (("--keys", "id:S,id:S"), "the keys or indexes of the table are not valid"),
        (("--keys", "id:S", "--prefix", "none"), "no file in"),
        (("--like", "pets"), "no store found in"),
    ],
)
def test_what_cannot_be_imported_creates_no_store(
    tmp_path: Path, files: Path, words: tuple[str, ...], why: str
) -> None:
    people(files, 1)
    ran = here("db", "import", files, "--to", "people", *words, "--data", tmp_path / "new")
    assert why in refused(ran)
    assert not (tmp_path / "new").exists()


def test_a_store_that_nobody_named_is_not_created(
    tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(files, 1)
    monkeypatch.chdir(tmp_path)
    assert "no store found in data" in refused(
        here("db", "import", files, "--to", "a-table", "--keys", "id:S")
    )
    assert not (tmp_path / "data").exists()


# --- a server ---


def test_local_files_are_written_to_a_server(store: Path, files: Path) -> None:
    people(files, 60)
    before = tree(files)
    with server_of(store) as url:
        ran = here("db", "import", files, "--to", "people", "--keys", "id:S", "--endpoint", url)
    assert fine(ran).startswith("created people: 60 items from ")
    assert "importing people" in ran.err
    assert len(scanned(store, "people")) == 60
    assert tree(files) == before
    assert verify_store(store) == []


def test_an_export_is_compared_and_its_table_made_on_a_server(store: Path, exported: Path) -> None:
    with server_of(store) as url:
        ran = here("db", "import", exported, "--to", "pets-again", "--endpoint", url)
        assert fine(ran).endswith(", matching the export's manifest\n")
        again = here("db", "describe", "pets-again", "--endpoint", url, "--json")
    assert "by-age" in again.out
    assert "tablewright:importing" not in again.out
    assert scanned(store, "pets-again") == scanned(store, "pets")


def test_csv_is_written_with_the_types_of_the_key(store: Path, files: Path) -> None:
    (files / "people.csv").write_text("id,name\n1,Anna\n2,Ben\n")
    with server_of(store) as url:
        fine(here("db", "import", files, "--to", "people", "--keys", "id:N", "--endpoint", url))
    assert scanned(store, "people")[0] == {"id": {"N": "1"}, "name": {"S": "Anna"}}


def test_items_that_a_put_would_refuse_are_told_by_file_and_line(store: Path, files: Path) -> None:
    text = lines({"id": {"S": "a"}}) + "\n" + lines({"id": {"N": "1"}}, {"id": {"S": "b"}})
    (files / "items.json.gz").write_bytes(gzip.compress(text.encode() + b"not json\n"))
    with server_of(store) as url:
        words = ("db", "import", files, "--keys", "id:S", "--endpoint", url, "--to")
        ran, as_json = here(*words, "some"), here(*words, "same", "--json")
    assert (ran.code, as_json.code) == (1, 1)
    assert ran.out.startswith("created some: 2 items imported, 2 refused\n")
    assert f"{files / 'items.json.gz'}, line 3: " in ran.out
    assert f"{files / 'items.json.gz'}, line 5: the line is not JSON" in ran.out
    assert [one["Line"] for one in json.loads(as_json.out)["Refused"]] == [3, 5]
    assert len(scanned(store, "some")) == 2


def test_a_table_that_is_there_is_refused_and_stays_as_it_is(store: Path, files: Path) -> None:
    people(files, 1)
    before = scanned(store, "pets")
    with server_of(store) as url:
        ran = here("db", "import", files, "--to", "pets", "--keys", "id:S", "--endpoint", url)
    assert "pets already exists" in refused(ran)
    assert scanned(store, "pets") == before


def test_keys_that_make_no_table_reach_no_server(store: Path, files: Path) -> None:
    people(files, 1)
    with server_of(store) as url:
        ran = here("db", "import", files, "--to", "people", "--keys", "id:S,id:S", "--endpoint", url)
    assert "the keys or indexes of the table are not valid" in refused(ran)
    assert tables(store) == ["pets"]


def test_an_import_that_was_cut_off_says_so_and_is_finished_by_the_same_command(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(files, 60)
    words = ("db", "import", files, "--to", "people", "--keys", "id:S", "--endpoint")
    with an_engine() as engine, serving(engine) as url:
        with monkeypatch.context() as patched:
            patched.setattr(import_items, "GROUP", 25)
            patched.setattr(import_items, "_write", cut_after(1))
            ran = here(*words, url)
        assert ran.code == 2
        assert "people is not complete: 25 items were written. Run the same command again" in ran.err
        assert engine.call("Scan", {"TableName": "people"})["Count"] == 25
        other = here(*words[:2], files / "people.jsonl", *words[3:], url)
        assert "people already exists" in refused(other)
        ran = here(*words, url)
        assert fine(ran).startswith("created people: 60 items")
        assert "continuing an earlier import into people; all items are written again" in ran.err
        assert engine.call("Scan", {"TableName": "people"})["Count"] == 60
        assert "people already exists" in refused(here(*words, url))


def cut_after(batches: int) -> Any:
    """Writing that breaks off after so many batches."""
    write, left = import_items._write, [batches]

    def cut(*given: Any) -> None:
        if not left[0]:
            raise OSError("the connection was lost")
        left[0] -= 1
        write(*given)

    return cut


def test_what_only_the_server_refuses_is_told_by_its_line(files: Path) -> None:
    people(files, 30)
    refuse = CallRefused("ValidationException", "no p7 here", 400)

    def picky(call: Call) -> Call:
        def answer(verb: str, request: Any) -> Any:
            if verb in ("BatchWriteItem", "PutItem") and '"p7"' in json.dumps(request):
                raise refuse
            return call(verb, request)

        return answer

    with an_engine() as engine:
        done = imported(Target(picky(embedded(engine)), "here"), files)
        assert engine.call("Scan", {"TableName": "people"})["Count"] == 29
    assert (done.written, [(one.line, one.reason) for one in done.refused]) == (29, [(8, "no p7 here")])


def imported(target: Target, files: Path) -> import_items.Imported:
    table: Any = {
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    given = Namespace(source=files, to="people", delimiter=None)
    return import_items.import_items(given, target, select_files(files, None, None, None), table)


@pytest.mark.parametrize("way", ["store", "server"])
def test_of_two_items_with_one_key_the_later_one_is_kept(files: Path, way: str) -> None:
    said = [{"id": {"S": f"p{number % 20}"}, "n": {"N": str(number)}} for number in range(90)]
    (files / "people.jsonl").write_text(lines(*said))
    with an_engine() as engine:
        target = Target(embedded(engine), "here", engine if way == "store" else None)
        assert imported(target, files).written == 90
        found = engine.call("Scan", {"TableName": "people"})["Items"]
    assert {one["id"]["S"]: one["n"]["N"] for one in found} == {
        f"p{number % 20}": str(number) for number in range(70, 90)
    }
