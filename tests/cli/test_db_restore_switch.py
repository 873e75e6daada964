"""`tablewright db restore --switch`: a table gets back what it was while others write to it (CP-S11, one command)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import here
from tests.cli.stores import PETS, pet, put, server_of, store_of_pets

from tablewright.client import embedded
from tablewright.client.comparison import differences
from tablewright.client.reversal import put_back
from tablewright.engine import Engine

PUT_BACK = "will set back 1 changed and put again 1 removed items of pets; leaves 1 added since\n"


def key(name: str, owner: str = "anna") -> dict[str, Any]:
    return {"owner": {"S": owner}, "name": {"S": name}}


def spoil(engine: Engine) -> None:
    """One pet changed, one came, one went."""
    put(engine, {**pet("anna", "pet 1", 9), "note": {"SS": ["b", "a"]}}, pet("zoe", "rex", 2))
    engine.call("DeleteItem", {"TableName": "pets", "Key": key("pet 2")})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Pets with a backup, spoilt after it."""
    store = store_of_pets(tmp_path / "store")
    with Engine.open(store) as engine:
        engine.call("CreateBackup", {"TableName": "pets", "BackupName": "before"})
        engine.settle()
        spoil(engine)
    return store


def pets_in(store: Path) -> dict[str, Any]:
    with Engine.open(store) as engine:
        items = engine.call("Scan", {"TableName": "pets"})["Items"]
    return {item["name"]["S"]: item for item in items}


def test_the_plan_is_shown_and_the_same_command_with_yes_puts_the_items_back(store: Path) -> None:
    command = ("db", "restore", "--from", "before", "--to", "then", "--switch", "--data", store)
    spoilt = pets_in(store)
    plan = here(*command)
    assert plan.code == 1, plan.err
    assert plan.out.endswith(PUT_BACK)
    assert [line.split()[0] for line in plan.out.splitlines()[2:-1]] == ["changed", "removed", "added"]
    assert pets_in(store) == spoilt
    done = here(*command, "--yes")
    assert (done.code, done.out.splitlines()[-1]) == (0, "2 items of pets put back"), done.err
    assert "time to switch" in done.err
    assert pets_in(store) == {
        **{f"pet {n}": pet("anna", f"pet {n}", n) for n in range(3)},
        "rex": spoilt["rex"],
    }
    assert here(*command, "--delete-added", "--yes").out.endswith("1 item of pets put back\n")
    assert "rex" not in pets_in(store)


def test_a_moment_is_switched_to_on_a_server(tmp_path: Path) -> None:
    with server_of(store_of_pets(tmp_path / "store")) as url:
        assert here("db", "recovery", "pets", "--on", "--endpoint", url).code == 0
        command = ("db", "restore", "pets", "--at", "latest", "--to", "then", "--switch", "--endpoint", url)
        assert here(*command).out.endswith("leaves 0 added since\n")
        done = here(*command, "--yes")
    assert (done.code, done.out.splitlines()[-1]) == (0, "0 items of pets put back"), done.err


def test_a_table_that_was_restored_from_something_else_is_not_switched_to(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateBackup", {"TableName": "pets", "BackupName": "after"})
        engine.settle()
    assert here("db", "restore", "--from", "after", "--to", "then", "--data", store).code == 0
    for words in (("--from", "before", "--to", "then"), ("--from", "before", "--to", "pets")):
        ran = here("db", "restore", *words, "--switch", "--yes", "--data", store)
        assert (ran.code, "already exists" in ran.err) == (2, True)


def test_yes_without_switch_is_a_misuse() -> None:
    assert here("db", "restore", "--from", "b", "--to", "c", "--yes").code == 2


def test_what_others_write_during_the_switch_is_left_and_told() -> None:
    with Engine.open(":memory:") as engine:
        call = embedded(engine)
        _tables(engine)
        writes = iter([pet("anna", "pet 1", 77), pet("anna", "pet 2", 78), pet("zoe", "rex", 79)])

        def racing(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            """Someone else is always a moment earlier."""
            if verb in ("PutItem", "UpdateItem", "DeleteItem"):
                put(engine, next(writes))
            return call(verb, request)

        found = list(put_back(racing, "then", "pets", delete_added=True))
        assert [(one.kind, is_done) for one, is_done in found] == [
            ("changed", False),
            ("removed", False),
            ("added", False),
        ]
        items = call("Scan", {"TableName": "pets"})["Items"]
        assert sorted(item["age"]["N"] for item in items) == ["0", "77", "78", "79"]
        assert [is_done for _, is_done in put_back(call, "then", "pets", delete_added=True)] == [True] * 3
        assert list(differences(call, "then", "pets")) == []


def test_attributes_that_do_not_differ_keep_what_others_wrote_in_the_meantime() -> None:
    with Engine.open(":memory:") as engine:
        call = embedded(engine)
        _tables(engine)

        def noting(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            if verb == "UpdateItem":
                call(verb, {
                    "TableName": "pets", "Key": key("pet 1"), "UpdateExpression": "SET fed = :yes",
                    "ExpressionAttributeValues": {":yes": {"BOOL": True}},
                })  # fmt: skip
            return call(verb, request)

        assert all(is_done for _, is_done in put_back(noting, "then", "pets"))
        item = call("GetItem", {"TableName": "pets", "Key": key("pet 1")})["Item"]
        assert item == {**pet("anna", "pet 1", 1), "fed": {"BOOL": True}}


def _tables(engine: Engine) -> None:
    """Pets that were spoilt, and then: what they were."""
    for name in ("pets", "then"):
        engine.call("CreateTable", {**PETS, "TableName": name})
    engine.settle()
    for number in range(3):
        for name in ("pets", "then"):
            engine.call("PutItem", {"TableName": name, "Item": pet("anna", f"pet {number}", number)})
    spoil(engine)
