"""`tablewright db compare`: the items in which two tables differ, as a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import here
from tests.cli.stores import pet, put, store_of_pets

from tablewright.engine import Engine


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Pets, and the same as they were before one grew, one came and one went."""
    store = store_of_pets(tmp_path / "store")
    with Engine.open(store) as engine:
        engine.call("UpdateContinuousBackups", {
            "TableName": "pets", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        })  # fmt: skip
        engine.call("CreateBackup", {"TableName": "pets", "BackupName": "before"})
        engine.settle()
        put(engine, pet("anna", "pet 1", 9), pet("zoe", "rex", 2))
        engine.call(
            "DeleteItem", {"TableName": "pets", "Key": {"owner": {"S": "anna"}, "name": {"S": "pet 2"}}}
        )
        engine.call("CreateTable", {
            "TableName": "by-name", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
        })  # fmt: skip
    assert here("db", "restore", "--from", "before", "--to", "then", "--data", store).code == 0
    return store


def test_a_report_lists_what_was_changed_added_and_removed(store: Path) -> None:
    ran = here("db", "compare", "then", "pets", "--data", store)
    assert ran.code == 1, ran.err
    assert [line.split("  ") for line in ran.out.splitlines()[1:-1]] == [
        ["changed", '{"owner":{"S":"anna"},"name":{"S":"pet 1"}}', "age"],
        ["removed", '{"owner":{"S":"anna"},"name":{"S":"pet 2"}}'],
        ["added", "", '{"owner":{"S":"zoe"},"name":{"S":"rex"}}'],
    ]
    assert ran.out.splitlines()[-1] == "3 items of then and pets differ"
    found = json.loads(here("db", "compare", "then", "pets", "--data", store, "--json").out)
    assert {one["what"]: one["attributes"] for one in found} == {
        "changed": ["age"],
        "removed": [],
        "added": [],
    }


def test_tables_with_the_same_items_say_so(store: Path) -> None:
    ran = here("db", "compare", "pets", "pets", "--data", store)
    assert (ran.code, ran.out) == (0, "pets and pets have the same items\n")


def test_tables_with_different_keys_are_refused(store: Path) -> None:
    ran = here("db", "compare", "pets", "by-name", "--data", store)
    assert (ran.code, ran.out) == (2, "")
    assert "pets and by-name have different keys" in ran.err
    assert "ResourceNotFoundException" in here("db", "compare", "pets", "none", "--data", store).err


def test_a_restore_says_how_long_it_took(store: Path) -> None:
    ran = here("db", "restore", "--from", "before", "--to", "again", "--data", store)
    assert "time to restore: " in ran.err
