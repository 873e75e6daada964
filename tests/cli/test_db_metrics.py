"""`tablewright db metrics`: figures and charts of a store, what a server has counted, and who may not see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import served, tablewright, url_in
from tests.cli.stores import pet, server_of, store_of_pets

from tablewright.cli.prometheus import told
from tablewright.cli.words import chart
from tablewright.client import Credentials, HttpCall


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return store_of_pets(tmp_path / "store")


def test_a_store_shows_its_figures_with_charts(store: Path) -> None:
    ran = tablewright("db", "metrics", "pets", "--data", store)
    assert (ran.code, ran.err) == (0, "")
    rows = {line.split()[0]: line for line in ran.out.splitlines()}
    assert "3 sum" in rows["ConsumedWriteCapacityUnits"]
    assert rows["ConsumedWriteCapacityUnits"].endswith("█")
    assert "PutItem" in rows["SuccessfulRequestLatency"]
    assert "anna" not in ran.out


def test_as_json_every_point_is_there(store: Path) -> None:
    found = json.loads(tablewright("db", "metrics", "pets", "--data", store, "--json", "--hours", "24").out)
    (units,) = [one for one in found if one["metric"] == "ConsumedWriteCapacityUnits"]
    assert sum(point["sum"] for point in units["points"]) == 3
    index = json.loads(
        tablewright("db", "metrics", "pets", "--index", "by-age", "--data", store, "--json").out
    )
    assert "ConsumedWriteCapacityUnits" in [one["metric"] for one in index]


def test_a_server_tells_what_it_has_counted(store: Path) -> None:
    with server_of(store) as url, HttpCall(url, "us-east-1", Credentials("any", "any")) as call:
        call("PutItem", {"TableName": "pets", "Item": pet("ben", "tom")})
        ran = tablewright("db", "metrics", "pets", "--endpoint", url)
        assert (ran.code, ran.err) == (0, "")
        assert "consumed_write_capacity_units_total" in ran.out
        found = json.loads(tablewright("db", "metrics", "pets", "--endpoint", url, "--json").out)
        values = {one["metric"]: one["value"] for one in found}
        assert values["consumed_write_capacity_units_total"] == 1
        assert all(one["labels"]["table"] == "pets" for one in found)


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
        without = tablewright(*words)
        assert (without.code, without.out) == (2, "")
        assert "--metrics-token FILE" in without.err
        assert tablewright(*words, "--metrics-token", token).code == 0


def test_a_table_that_is_not_there_is_refused(store: Path) -> None:
    assert "ResourceNotFoundException" in tablewright("db", "metrics", "cats", "--data", store).err
    assert tablewright("db", "metrics", "pets", "--hours", "400").code == 2


def test_prometheus_text_is_read_with_escaped_labels_and_without_buckets() -> None:
    text = (
        "# HELP tablewright_x_total x.\n"
        'tablewright_x_total{table="a\\"b\\\\c",index="i"} 3\n'
        'tablewright_t_seconds_bucket{table="a",le="+Inf"} 2\n'
        'tablewright_t_seconds_sum{table="a"} 0.25\n'
        "tablewright_bare 1e3\n"
    )
    assert list(told(text)) == [
        {"metric": "x_total", "labels": {"table": 'a"b\\c', "index": "i"}, "value": 3.0},
        {"metric": "t_seconds_sum", "labels": {"table": "a"}, "value": 0.25},
        {"metric": "bare", "labels": {}, "value": 1000.0},
    ]


def test_a_chart_is_a_row_of_bars_the_highest_full() -> None:
    assert chart([0, 1, 4, 8]) == " ▂▅█"
    assert chart([0, 0]) == "  "
    assert chart([]) == ""
