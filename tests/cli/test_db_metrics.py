"""`tablewright db metrics`: figures and charts of a store or a server, in every region, and who may not see them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import Ran, here, served, url_in
from tests.cli.stores import PETS, pet, put, server_of, store_of_pets

from tablewright.cli.format import chart
from tablewright.client import Credentials, HttpCall
from tablewright.engine import Regions


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return store_of_pets(tmp_path / "store")


def test_a_store_shows_its_figures_with_charts(store: Path) -> None:
    ran = here("db", "metrics", "pets", "--data", store)
    assert (ran.code, ran.err) == (0, "")
    rows = {line.split()[0]: line for line in ran.out.splitlines()}
    assert "3 sum" in rows["ConsumedWriteCapacityUnits"]
    assert rows["ConsumedWriteCapacityUnits"].endswith("█")
    assert "PutItem" in rows["SuccessfulRequestLatency"]
    assert "anna" not in ran.out


def test_as_json_every_point_is_there(store: Path) -> None:
    found = json.loads(here("db", "metrics", "pets", "--data", store, "--json", "--hours", "24").out)
    (units,) = [one for one in found if one["metric"] == "ConsumedWriteCapacityUnits"]
    assert sum(point["sum"] for point in units["points"]) == 3
    index = json.loads(here("db", "metrics", "pets", "--index", "by-age", "--data", store, "--json").out)
    assert "ConsumedWriteCapacityUnits" in [one["metric"] for one in index]


def test_a_server_shows_what_its_store_would(store: Path) -> None:
    def shape(ran: Ran) -> list[tuple[object, ...]]:
        assert (ran.code, ran.err) == (0, "")
        found = json.loads(ran.out)
        return [(one["region"], one["metric"], one["unit"], one["kind"], one["minutes"]) for one in found]

    words = ("db", "metrics", "pets", "--json")
    with server_of(store) as url, HttpCall(url, "us-east-1", Credentials("any", "any")) as call:
        call("PutItem", {"TableName": "pets", "Item": pet("ben", "tom")})
        served_shape = shape(here(*words, "--endpoint", url))
        (units,) = [
            one
            for one in json.loads(here(*words, "--endpoint", url).out)
            if one["metric"] == "ConsumedWriteCapacityUnits"
        ]
        assert sum(point["sum"] for point in units["points"]) == 4, (
            "with what was there before it was started"
        )
        ran = here("db", "metrics", "pets", "--endpoint", url)
        assert "4 sum" in next(line for line in ran.out.splitlines() if line.startswith("ConsumedWrite"))
        assert "ResourceNotFoundException" in here("db", "metrics", "cats", "--endpoint", url).err
        elsewhere = here("db", "metrics", "pets", "--endpoint", url, "--region", "eu-west-1")
        assert "this server is us-east-1, not eu-west-1" in elsewhere.err
    assert shape(here(*words, "--data", store)) == served_shape


def test_every_region_of_a_store_and_of_a_server_is_shown(tmp_path: Path) -> None:
    home, there = "us-east-1", "eu-west-1"
    store = tmp_path / "store"
    with Regions.open(store, home=home, also=[there], durability="relaxed", period=None) as regions:
        for number, engine in enumerate(regions.engines.values()):
            engine.call("CreateTable", PETS)
            put(engine, *(pet("anna", str(each)) for each in range(number + 1)))

    def units(*words: str | Path) -> dict[str, float]:
        found = json.loads(here("db", "metrics", "pets", "--json", *words).out)
        consumed = [one for one in found if one["metric"] == "ConsumedWriteCapacityUnits"]
        return {one["region"]: sum(point["sum"] for point in one["points"]) for one in consumed}

    assert units("--data", store) == {home: 1, there: 2}
    assert units("--data", store, "--region", there) == {there: 2}
    heading = here("db", "metrics", "pets", "--data", store).out.splitlines()[0]
    assert heading.startswith("region ")
    with server_of(store, "--also-region", there) as url:
        assert units("--endpoint", url) == {home: 1, there: 2}
        assert units("--endpoint", url, "--region", there) == {there: 2}


def test_a_server_with_credentials_wants_its_token(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, token = tmp_path / "keys.ini", tmp_path / "token"
    keys.write_text("[anna]\naws_access_key_id = AKIDANNA\naws_secret_access_key = s3cret\n")
    token.write_text("open-sesame-open-sesame-open-sesame\n")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDANNA")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    with served("--data", store, "--credentials", keys, "--metrics-token", token) as (line, _):
        words = ("db", "metrics", "pets", "--endpoint", url_in(line))
        without = here(*words)
        assert (without.code, without.out) == (2, "")
        assert "--metrics-token FILE" in without.err
        assert here(*words, "--metrics-token", token).code == 0


def test_a_table_that_is_not_there_is_refused(store: Path) -> None:
    assert "ResourceNotFoundException" in here("db", "metrics", "cats", "--data", store).err
    assert here("db", "metrics", "pets", "--hours", "400").code == 2


def test_a_chart_is_a_row_of_bars_the_highest_full() -> None:
    assert chart([0, 1, 4, 8]) == " ▂▅█"
    assert chart([0, 0]) == "  "
    assert chart([]) == ""
