"""`tablewright copy`: over HTTP, from a served store to our own server and to moto's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import here, served, url_in
from tests.cli.stores import pet, store_of_pets
from tests.terraform.command import moto

from tablewright.client import Credentials, HttpCall
from tablewright.engine import Engine


def call_to(url: str) -> HttpCall:
    return HttpCall(url, "us-east-1", Credentials("any", "any"))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of 60 pets."""
    store = store_of_pets(tmp_path_factory.mktemp("source") / "store", 60)
    with served("--data", store, "--durability", "relaxed") as (line, _):
        yield url_in(line)


@pytest.fixture
def target() -> Iterator[str]:
    with served("--memory") as (line, _):
        yield url_in(line)


def test_a_served_table_is_copied_followed_verified_and_finished(source: str, target: str) -> None:
    ran = here("copy", "run", source, target, "--tables", "pets", "--parallel", "2")
    assert ran.code == 0, ran.err
    assert "all changes so far are copied" in ran.out
    with call_to(source) as call:
        call("PutItem", {"TableName": "pets", "Item": pet("zoe", "rex", 4)})
    differs = here("copy", "verify", source, target, "--tables", "pets", "--json")
    assert differs.code == 1
    (table,) = json.loads(differs.out)
    assert [(one["what"], one["key"]["name"]) for one in table["different"]] == [("removed", {"S": "rex"})]
    done = here("copy", "finish", source, target, "--tables", "pets", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["is_finished"]
    assert found["changes"] >= 1
    assert found["pause_seconds"] >= found["drain_seconds"]
    (row,) = json.loads(here("copy", "status", target, "--json").out)
    assert (row["phase"], row["is_running"]) == ("finished", False)
    with call_to(source) as call:
        call("DeleteItem", {"TableName": "pets", "Key": {"owner": {"S": "zoe"}, "name": {"S": "rex"}}})


def test_a_table_is_copied_to_the_endpoint_of_another_maker(source: str) -> None:
    with moto() as there:
        ran = here("copy", "run", source, there, "--tables", "pets", "--write-units", "5000")
        assert ran.code == 0, ran.err
        done = here("copy", "finish", source, there, "--tables", "pets")
        assert done.code == 0, done.err + done.out
        assert "equal" in done.out
        assert "writes were paused for" in done.out
        with call_to(there) as call:
            made = call("DescribeTable", {"TableName": "pets"})["Table"]
            assert made["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
            assert [index["IndexName"] for index in made["GlobalSecondaryIndexes"]] == ["by-age"]
            count = call("Scan", {"TableName": "pets", "Select": "COUNT", "ConsistentRead": True})["Count"]
        assert count == 60


def test_a_store_is_copied_into_a_directory_that_is_made(tmp_path: Path) -> None:
    store = store_of_pets(tmp_path / "store", 5)
    ran = here("copy", "run", store, tmp_path / "other", "--once")
    assert ran.code == 0, ran.err
    assert "creating a new store" in ran.err
    assert here("copy", "verify", store, tmp_path / "other").code == 0
    with Engine.open(tmp_path / "other") as engine:
        assert engine.call("Scan", {"TableName": "pets"})["Count"] == 5


def test_a_target_with_items_is_refused_without_into_existing(tmp_path: Path) -> None:
    store, other = store_of_pets(tmp_path / "store", 2), store_of_pets(tmp_path / "other", 3)
    ran = here("copy", "run", store, other)
    assert ran.code == 2
    assert "the table pets of the target has items already" in ran.err
    assert here("copy", "run", store, other, "--into-existing").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("copy", "run", "{store}", "{store}"), "the same place"),
        (("copy", "run", "{store}", "{tmp}/other", "--tables", "cats"), "the source has no table cats"),
        (("copy", "run", "{tmp}/none", "{store}"), "no store found in"),
        (("copy", "run", "{store}", "amazon:"), "names no region"),
        (("copy", "run", "{store}", "{tmp}/other", "--environment", "prod"), "need --system"),
        (("copy", "finish", "{store}", "{made}", "--tables", "pets"), "is not copied completely"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    store, made = store_of_pets(tmp_path / "store", 1), tmp_path / "made"
    if "{made}" in arguments:
        assert here("copy", "run", store, made, "--once").code == 0
        assert here("copy", "finish", store, made, "--tables", "pets").code == 0
    words = [word.format(store=store, tmp=tmp_path, made=made) for word in arguments]
    ran = here(*words)
    assert ran.code == 2, ran.out
    assert message in ran.err
