"""`tablewright db autoscaling`: shown and set, in a store and through a server, for the table and for an index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import here
from tests.cli.stores import PETS, server_of

from tablewright.engine import Engine

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a table of provisioned units, and one without."""
    table: dict[str, Any] = PETS | {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
    indexes = [one | {"ProvisionedThroughput": UNITS} for one in PETS["GlobalSecondaryIndexes"]]
    with Engine.open(tmp_path / "store", durability="relaxed") as engine:
        engine.call("CreateTable", table | {"GlobalSecondaryIndexes": indexes})
        engine.call("CreateTable", PETS | {"TableName": "free"})
    return tmp_path / "store"


def settings(*words: str | Path) -> dict[tuple[str, str], tuple[Any, Any, Any]]:
    ran = here("db", "autoscaling", *words, "--json")
    assert (ran.code, ran.err) == (0, "")
    return {
        (one["of"], one["units"]): (one["least"], one["most"], one["target"]) for one in json.loads(ran.out)
    }


OFF = (None, None, None)


def test_settings_are_made_shown_and_taken_away_in_a_store(store: Path) -> None:
    at = ("--data", store)
    assert set(settings("pets", *at).values()) == {OFF}
    found = settings("pets", *at, "--read", "5", "100", "70", "--write", "1", "50", "62.5")
    assert found == {
        ("table", "read"): (5, 100, 70.0),
        ("table", "write"): (1, 50, 62.5),
        ("by-age", "read"): OFF,
        ("by-age", "write"): OFF,
    }
    index = settings("pets", *at, "--index", "by-age", "--write", "5", "10", "50", "--read", "6", "11", "51")
    assert index == {("by-age", "read"): (6, 11, 51.0), ("by-age", "write"): (5, 10, 50.0)}
    assert settings("pets", *at, "--off", "read")[("table", "read")] == OFF
    ran = here("db", "autoscaling", "pets", *at)
    assert ran.out.splitlines()[0].split() == ["region", "of", "units", "min", "max", "target"]
    assert "us-east-1  table   write    1   50  62.5 %" in ran.out
    assert set(settings("pets", *at, "--off").values()) == {OFF, (6, 11, 51.0), (5, 10, 50.0)}


def test_a_server_is_asked_the_same(store: Path) -> None:
    with server_of(store) as url:
        assert settings("pets", "--endpoint", url, "--write", "2", "9", "70")[("table", "write")] == (
            2,
            9,
            70.0,
        )
        assert settings("pets", "--endpoint", url)[("table", "write")] == (2, 9, 70.0)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nobody",), "ResourceNotFoundException"),
        (("free", "--read", "1", "2", "70"), "There are no provisioned units of table free"),
        (("pets", "--index", "size", "--off"), "pets has no global index size; its global indexes: by-age"),
        (("pets", "--read", "1", "2", "95"), "a target is 20 to 90 percent, not 95"),
        (("pets", "--read", "3", "2", "70"), "not from 3 to 2"),
        (("pets", "--read", "1.5", "2", "70"), "MIN and MAX must be whole numbers"),
        (("pets", "--read", "1", "2", "70", "--off"), "--read and --off both cannot be combined"),
    ],
)
def test_what_cannot_be_set_is_one_sentence(store: Path, words: tuple[str, ...], sentence: str) -> None:
    ran = here("db", "autoscaling", *words, "--data", store)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
