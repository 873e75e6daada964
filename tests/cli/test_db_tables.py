"""`tablewright db tables` and `describe`: the same words from a store and from a server; refusals as one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Ran, here, tablewright
from tests.cli.stores import PETS, server_of, store_of_pets

from tablewright.engine import Engine, Regions


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return store_of_pets(tmp_path / "store")


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, store: Path) -> Iterator[list[str]]:
    """The options that lead to the same tables on either way."""
    if request.param == "store":
        yield ["--data", str(store)]
        return
    with server_of(store) as url:
        yield ["--endpoint", url]


def test_tables_are_listed_with_their_items_and_settings(place: list[str]) -> None:
    ran = here("db", "tables", *place)
    assert (ran.code, ran.err) == (0, "")
    head, row = ran.out.splitlines()
    assert head.split() == ["table", "status", "items", "size", "indexes", "billing", "stream", "protected"]
    assert row.split()[:3] == ["pets", "ACTIVE", "3"]
    assert row.split()[-2:] == ["NEW_AND_OLD_IMAGES", "no"]


def test_tables_as_json_are_a_list_of_objects(place: list[str]) -> None:
    (one,) = json.loads(here("db", "tables", *place, "--json").out)
    assert (one["name"], one["items"], one["indexes"], one["billing"]) == (
        "pets",
        3,
        ["by-age"],
        "PAY_PER_REQUEST",
    )


def test_a_table_is_described_with_everything_that_is_set_on_it(place: list[str]) -> None:
    ran = here("db", "describe", "pets", *place)
    assert (ran.code, ran.err) == (0, "")
    facts, _, indexes = ran.out.partition("\n\n")
    told = dict(line.split(maxsplit=1) for line in facts.splitlines())
    assert told["key"] == "owner (S, hash), name (S, range)"
    assert (told["items"], told["billing"], told["tags"]) == ("3", "on demand", "team=vets")
    assert told["stream"] == "NEW_AND_OLD_IMAGES"
    assert "time to live  off" in facts
    assert indexes.splitlines()[1].split()[:2] == ["by-age", "global"]


def test_a_vector_index_is_described_with_the_others(tmp_path: Path) -> None:
    index = {
        "IndexName": "near",
        "VectorAttribute": {"AttributeName": "v"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": 3,
        "DistanceFunction": "COSINE",
        "SearchSchema": [{"AttributeName": "owner", "SearchSchemaElementType": "HASH"}],
    }
    names = ("owner", "name")
    with Engine.open(tmp_path / "one") as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "pets",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
                "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
                "VectorIndexes": [index],
            },
        )
    shown = here("db", "describe", "pets", "--data", str(tmp_path / "one")).out
    assert "v (3, COSINE), owner (hash)" in shown


def test_a_table_described_as_json_is_in_the_services_words(place: list[str]) -> None:
    found = json.loads(here("db", "describe", "pets", *place, "--json").out)
    assert found["Table"]["TableName"] == "pets"
    assert found["Tags"] == [{"Key": "team", "Value": "vets"}]


def test_nothing_of_an_item_is_shown(place: list[str]) -> None:
    shown = [here("db", *words, *place).out for words in (["tables"], ["describe", "pets"])]
    assert not any("anna" in text for text in shown)


def refused(ran: Ran) -> str:
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tablewright: ")
    assert ran.err.count("\n") == 1
    return ran.err


def test_a_table_that_is_not_there_is_refused_in_the_services_words(place: list[str]) -> None:
    assert "ResourceNotFoundException" in refused(here("db", "describe", "cats", *place))


def test_a_store_that_a_server_has_open_is_refused_with_what_to_do(store: Path) -> None:
    with server_of(store):
        said = refused(here("db", "tables", "--data", store))
    assert "is open by process" in said
    assert "--endpoint URL" in said


def test_a_directory_without_a_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    assert "no store found in" in refused(here("db", "tables", "--data", tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_store_in_data_is_looked_at_where_none_is_named(tmp_path: Path) -> None:
    store_of_pets(tmp_path / "data")
    assert "pets" in tablewright("db", "tables", cwd=tmp_path).out


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    assert "ListTables got no answer" in refused(here("db", "tables", "--endpoint", "http://127.0.0.1:1"))


def test_an_address_that_is_none_is_one_sentence() -> None:
    assert "cannot be used" in refused(here("db", "tables", "--endpoint", "localhost:8000"))


def test_a_store_and_a_server_exclude_each_other(store: Path) -> None:
    ran = here("db", "tables", "--data", store, "--endpoint", "http://127.0.0.1:8000")
    assert ran.code == 2
    assert "not allowed with" in ran.err


def test_looking_at_a_store_sweeps_nothing(store: Path) -> None:
    specification = {"Enabled": True, "AttributeName": "age"}
    with Engine.open(store, ttl_seconds=3600) as engine:
        engine.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        engine.call(
            "PutItem",
            {
                "TableName": "pets",
                "Item": {"owner": {"S": "ben"}, "name": {"S": "old"}, "age": {"N": "1700000000"}},
            },
        )
    here("db", "tables", "--data", store)
    ((one,),) = [json.loads(here("db", "tables", "--data", store, "--json").out)]
    assert one["items"] == 4


def test_a_region_alone_is_amazons_and_without_keys_it_is_told_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    said = refused(here("db", "tables", "--region", "eu-west-1"))
    assert "no credentials were found: set AWS_ACCESS_KEY_ID" in said


def test_the_region_of_a_store_is_that_of_its_tables(tmp_path: Path) -> None:
    with Engine.open(tmp_path, region="eu-west-1") as engine:
        engine.call("CreateTable", PETS)
    assert here("db", "backup", "create", "pets", "--name", "first", "--data", tmp_path).code == 0
    assert here("db", "restore", "--from", "first", "--to", "again", "--data", tmp_path).code == 0
    with Engine.open(tmp_path, region="eu-west-1") as engine:
        arn = engine.call("DescribeTable", {"TableName": "again"})["Table"]["TableArn"]
    assert arn.startswith("arn:aws:dynamodb:eu-west-1:")
    said = refused(here("db", "tables", "--data", tmp_path, "--region", "us-west-2"))
    assert "belongs to region eu-west-1 and has no store of us-west-2 below it" in said


def test_a_store_of_several_regions_is_asked_for_one_of_them(tmp_path: Path) -> None:
    with Regions.open(tmp_path, also=("eu-west-1",), period=None) as regions:
        regions["us-east-1"].call("CreateTable", PETS)
        regions["eu-west-1"].call("CreateTable", PETS | {"TableName": "cats"})
    found = {
        region: [one["name"] for one in json.loads(
            here("db", "tables", "--data", tmp_path, "--json", *more).out)]
        for region, more in (("home", ()), ("us", ("--region", "us-east-1")), ("eu", ("--region", "eu-west-1")))
    }  # fmt: skip
    assert found == {"home": ["pets"], "us": ["pets"], "eu": ["cats"]}
