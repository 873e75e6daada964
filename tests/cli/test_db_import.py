"""`tablewright db import`: files of others come in, mistakes are told by file and line, and nothing is left behind."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Ran, here, tablewright
from tests.cli.stores import PETS, store_of_pets

from tablewright.engine import Engine, verify_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of pets whose past is kept."""
    path = store_of_pets(tmp_path / "store")
    with Engine.open(path) as engine:
        wanted = {"PointInTimeRecoveryEnabled": True}
        request = {"TableName": "pets", "PointInTimeRecoverySpecification": wanted}
        engine.call("UpdateContinuousBackups", request)
        engine.settle()
    return path


@pytest.fixture
def exported(store: Path, tmp_path: Path) -> Path:
    """A directory with an export of the pets."""
    fine(here("db", "export", "pets", "--to", tmp_path / "out", "--data", store))
    return tmp_path / "out"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    return made


def fine(ran: Ran) -> str:
    assert ran.code == 0, ran.out + ran.err
    return ran.out


def refused(ran: Ran) -> str:
    assert (ran.code, ran.out) == (2, ""), ran
    assert ran.err.count("tablewright:") == 1
    return ran.err


def scanned(store: Path, table: str) -> list[dict[str, object]]:
    with Engine.open(store) as engine:
        found = engine.call("Scan", {"TableName": table})["Items"]
        return sorted(found, key=json.dumps)


def tables(store: Path) -> list[str]:
    with Engine.open(store) as engine:
        names: list[str] = engine.call("ListTables", {})["TableNames"]
        return names


def tree(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def lines(*items: dict[str, Any]) -> str:
    return "".join(json.dumps({"Item": one}) + "\n" for one in items)


# --- files of others ---


def test_csv_is_imported_with_a_key_that_is_said(store: Path, tmp_path: Path) -> None:
    files = tmp_path / "people with spaces"
    files.mkdir()
    (files / "people.csv").write_text("email;name\nanna@example.org;Anna\nben@example.org;Ben\n")
    words = ("db", "import", files, "--to", "people", "--data", store)
    assert "--keys owner:S,name:S or --like TABLE" in refused(here(*words))
    told = fine(here(*words, "--keys", "email:S", "--delimiter", ";"))
    assert told.startswith("created people: 2 items from ")
    assert scanned(store, "people")[0] == {"email": {"S": "anna@example.org"}, "name": {"S": "Anna"}}


def test_one_file_can_be_named(store: Path, files: Path) -> None:
    (files / "one.jsonl").write_text(lines({"id": {"S": "a"}}))
    (files / "other.csv").write_text("id\nb\n")
    words = ("--to", "things", "--keys", "id:S", "--data", store)
    assert fine(here("db", "import", files / "one.jsonl", *words)).startswith("created things: 1 item ")


def test_a_table_that_is_there_is_refused(store: Path, files: Path) -> None:
    (files / "one.json").write_text(lines({"id": {"S": "a"}}))
    ran = here("db", "import", files, "--to", "pets", "--keys", "id:S", "--data", store)
    assert "pets already exists, and an import creates a new table" in refused_after(ran, "importing 1 file")


def refused_after(ran: Ran, talk: str) -> str:
    """A refusal that comes after some talk of what was found."""
    assert (ran.code, ran.out) == (2, "")
    assert talk in ran.err
    return ran.err


def test_files_that_hold_no_items_by_their_names_are_left_out_and_told(store: Path, files: Path) -> None:
    (files / "one.json").write_text(lines({"id": {"S": "a"}}))
    (files / "README").write_text("not an item")
    (files / ".DS_Store").write_text("nor this")
    ran = here("db", "import", files, "--to", "things", "--keys", "id:S", "--data", store)
    assert fine(ran).startswith("created things: 1 item ")
    assert "skipped because of their names: README\n" in ran.err


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["a.json", "b.csv"], "have several formats: .csv, .json; select some with --prefix"),
        (["a.json", "b.json.gz"], "have several formats: .json, .json.gz"),
        (["a.txt"], "format with --format"),
        ([], "has a known name"),
    ],
)
def test_files_that_cannot_be_imported_together_are_refused(
    store: Path, files: Path, names: list[str], why: str
) -> None:
    for name in names:
        (files / name).write_text("x")
    ran = here("db", "import", files, "--to", "things", "--keys", "id:S", "--data", store)
    assert why in refused(ran)
    assert tables(store) == ["pets"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--to", "new"], "the following arguments are required: DIR"),
        (["nowhere", "--to", "new"], "no such file or directory: nowhere"),
        (["nowhere", "--to", "new", "--keys", "owner"], "must be one or two attributes with types"),
    ],
)
def test_an_import_that_makes_no_sense_is_a_misuse(words: list[str], why: str) -> None:
    ran = here("db", "import", *words)
    assert ran.code == 2
    assert why in ran.err


# --- mistakes ---


def with_mistakes(files: Path) -> dict[str, bytes]:
    text = (
        lines({"id": {"S": "a"}}) + "\n" + lines({"id": {"N": "1"}}, {"id": {"S": "b"}}, {"no": {"S": "key"}})
    )
    (files / "items.json.gz").write_bytes(gzip.compress(text.encode()))
    return tree(files)


def test_items_that_a_put_would_refuse_are_told_once_by_file_and_line(store: Path, files: Path) -> None:
    before = with_mistakes(files)
    words = ("db", "import", files, "--keys", "id:S", "--data", store)
    for table in ("things", "again"):  # the first leaves nothing that the second would take for items
        ran = here(*words, "--to", table)
        assert ran.code == 1
        said, first, second = ran.out.splitlines()
        assert said == f"created {table}: 2 items imported, 2 refused"
        assert first.startswith(f"  {files}/items.json.gz, line 3: ")
        assert "Type mismatch for key id" in first
        assert second.startswith(f"  {files}/items.json.gz, line 5: ")
        assert "correct the refused items and import them into another table" in ran.err
        assert "bucket" not in ran.out + ran.err
        assert scanned(store, table) == [{"id": {"S": "a"}}, {"id": {"S": "b"}}]
        assert tree(files) == before, "nothing is written into the directory"
    assert verify_store(store) == []


def test_as_json_all_that_was_refused_is_listed(store: Path, files: Path) -> None:
    with_mistakes(files)
    ran = here("db", "import", files, "--to", "things", "--keys", "id:S", "--data", store, "--json")
    told = json.loads(ran.out)
    assert (ran.code, told["ImportedItemCount"], told["ErrorCount"]) == (1, 2, 2)
    assert [(one["File"], one["Line"]) for one in told["Refused"]] == [
        (f"{files}/items.json.gz", n) for n in (3, 5)
    ]
    assert told["Source"] == str(files)


def test_many_mistakes_are_not_all_told(store: Path, files: Path) -> None:
    (files / "items.csv").write_text("id,n\n" + "x\n" * 30)
    ran = here("db", "import", files, "--to", "things", "--keys", "id:S", "--data", store)
    told = ran.out.splitlines()
    assert told[0] == "created things: 0 items imported, 30 refused"
    assert [line.split(":")[0].rpartition(" ")[2] for line in told[1:21]] == [str(n) for n in range(2, 22)]
    assert told[21:] == ["  and 10 more; --json lists all"]


def test_a_line_after_which_nothing_is_read_says_so(store: Path, files: Path) -> None:
    (files / "items.json").write_text(lines({"id": {"S": "a"}}) + "broken\n" + lines({"id": {"S": "b"}}))
    ran = here("db", "import", files, "--to", "things", "--keys", "id:S", "--data", store)
    assert ran.code == 1
    (told,) = ran.out.splitlines()[1:]
    assert told.startswith(f"  {files}/items.json, line 2: the line is not JSON")
    assert told.endswith("the rest of the object was not read")


# --- exports ---


def data_file(exported: Path) -> Path:
    (found,) = exported.glob("AWSDynamoDB/*/data/*.json.gz")
    return found


def test_an_export_is_compared_with_its_manifest_and_told(store: Path, exported: Path) -> None:
    before = tree(exported)
    ran = tablewright("db", "import", exported, "--to", "pets-again", "--data", store)
    assert fine(ran).endswith(", matching the export's manifest\n")
    assert "importing the export of pets of 20" in ran.err
    assert "checksums and counts match the manifest" in ran.err
    assert scanned(store, "pets-again") == scanned(store, "pets")
    assert tree(exported) == before


def test_an_export_can_be_named_by_its_own_directory_and_be_copied_anywhere(
    store: Path, exported: Path, tmp_path: Path
) -> None:
    (home,) = exported.glob("AWSDynamoDB/*-*")
    words = ("--to", "pets-again", "--data", store)
    assert fine(here("db", "import", home, *words)).startswith("created pets-again: 3 items ")
    copied = shutil.copytree(home, tmp_path / "elsewhere")
    said = here("db", "import", copied, "--to", "third", "--data", store)
    assert "--keys owner:S,name:S or --like TABLE" in refused(said), "its table.json was not copied"
    fine(here("db", "import", copied, "--to", "third", "--like", "pets", "--data", store))
    assert scanned(store, "third") == scanned(store, "pets")


def test_only_the_files_that_the_manifest_lists_are_taken(store: Path, exported: Path) -> None:
    (data_file(exported).parent / "stray.json.gz").write_bytes(gzip.compress(b"no item"))
    fine(here("db", "import", exported, "--to", "pets-again", "--data", store))
    assert scanned(store, "pets-again") == scanned(store, "pets")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ("data", "differs from the manifest"),
        ("missing", "is missing, but is listed in the manifest in"),
        ("files", "does not match its checksum in manifest-files.md5"),
        ("summary", "is not the summary of an export"),
        ("count", "disagree: 4 items in the summary, 3 in the list of files"),
        ("whole", "is incomplete: manifest-summary.json"),
        ("ion", "export as DYNAMODB_JSON"),
        ("outside", "which is not a file of this export"),
    ],
)
def test_a_damaged_export_is_refused_before_a_table_is_made(
    store: Path, exported: Path, damage: str, why: str
) -> None:
    data = data_file(exported)
    summary, listed = (data.parent.parent / name for name in ("manifest-summary.json", "manifest-files.json"))

    def change(path: Path, **members: object) -> None:
        path.write_text(json.dumps(json.loads(path.read_text()) | members))
        path.with_suffix(".md5").unlink()

    match damage:
        case "data":
            data.write_bytes(gzip.compress(b"\n".join(gzip.decompress(data.read_bytes()).split(b"\n")[1:])))
        case "missing":
            data.unlink()
        case "files":
            listed.write_text(listed.read_text() + "\n")
        case "summary":
            summary.write_text("{}")
        case "count":
            change(summary, itemCount=4)
        case "whole":
            summary.unlink()
        case "ion":
            change(summary, outputFormat="ION")
        case "outside":
            change(listed, dataFileS3Key="AWSDynamoDB/../../store/data.json.gz")
    ran = here("db", "import", exported, "--to", "pets-again", "--data", store)
    assert why in refused_after(ran, "tablewright: ")
    assert tables(store) == ["pets"]


def test_an_incremental_export_is_refused_with_a_sentence(store: Path, exported: Path) -> None:
    summary = data_file(exported).parent.parent / "manifest-summary.json"
    about = json.loads(summary.read_text()) | {"exportType": "INCREMENTAL_EXPORT", "outputView": "NEW_IMAGE"}
    summary.write_text(json.dumps(about))
    ran = here("db", "import", exported, "--to", "pets-again", "--data", store)
    assert "contains only an incremental export, which cannot be imported" in refused(ran)


def test_of_several_exports_of_a_table_the_newest_is_taken_and_of_several_tables_none(
    store: Path, exported: Path
) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", PETS | {"TableName": "cats"})
        engine.call(
            "DeleteItem", {"TableName": "pets", "Key": {"owner": {"S": "anna"}, "name": {"S": "pet 0"}}}
        )
    fine(here("db", "export", "pets", "--to", exported, "--data", store))
    told = fine(here("db", "import", exported, "--to", "pets-again", "--data", store))
    assert told.startswith("created pets-again: 2 items ")
    fine(here("db", "recovery", "cats", "--on", "--data", store))
    fine(here("db", "export", "cats", "--to", exported, "--data", store))
    ran = here("db", "import", exported, "--to", "third", "--data", store)
    assert "contains exports of several tables: cats, pets; name the directory of one" in refused(ran)
