"""`tablewright db verify`: OK, what is broken, or why it could not look."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from tests.cli.command import here, served

from tablewright.engine import Engine


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one table and one item, closed."""
    path = tmp_path / "store"
    with Engine.open(path) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "pets",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
            },
        )
        engine.settle()
        engine.call("PutItem", {"TableName": "pets", "Item": {"name": {"S": "rex"}}})
    return path


def break_it(store: Path) -> None:
    """Lose an item behind the engine's back."""
    connection = apsw.Connection(str(next(store.glob("*.sqlite"))))
    connection.execute("DELETE FROM t1")
    connection.close()


def test_a_sound_store_is_ok(store: Path) -> None:
    ran = here("db", "verify", store)
    assert (ran.code, ran.out, ran.err) == (0, "OK\n", "")


def test_a_sound_store_has_an_empty_list_in_json(store: Path) -> None:
    ran = here("db", "verify", store, "--json")
    assert (ran.code, json.loads(ran.out)) == (0, [])


def test_each_broken_invariant_is_a_sentence_and_the_code_is_1(store: Path) -> None:
    break_it(store)
    ran = here("db", "verify", store)
    assert ran.code == 1
    assert ran.out.strip()
    assert "OK" not in ran.out
    as_json = here("db", "verify", store, "--json")
    assert (as_json.code, json.loads(as_json.out)) == (1, ran.out.rstrip("\n").split("\n"))


def test_a_directory_that_is_not_there_is_a_misuse(tmp_path: Path) -> None:
    ran = here("db", "verify", tmp_path / "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere" in ran.err
    assert not (tmp_path / "nowhere").exists()


def test_a_directory_without_a_store_is_a_misuse_and_stays_empty(tmp_path: Path) -> None:
    ran = here("db", "verify", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tablewright: ")
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_use_is_a_misuse(tmp_path: Path) -> None:
    with served("--data", tmp_path):
        ran = here("db", "verify", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "is open" in ran.err
