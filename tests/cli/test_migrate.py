"""`tablewright migrate`: Skratch's table from a plan to the end, in a store on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Ran, here
from tests.systems.travel.talk import sign_up

from tablewright.app.copies.backups import environment_of
from tablewright.app.systems import SYSTEMS
from tablewright.client import embedded
from tablewright.engine import Engine
from tablewright.mapping import Db
from tablewright.mapping.migrate import MigrationContext, Round, abandon, cutover, migration_context
from tablewright.mapping.migrate.epochs import restart
from tablewright.systems.travel.design import TRAVEL
from tablewright.testing import Clock

NAME = "skratch-visits-2"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Skratch with a traveller, served by nobody."""
    monkeypatch.setattr(cutover, "MARGIN", 0.01)  # nobody else believes anything
    with Engine.open(tmp_path / "store", durability="relaxed") as engine:
        db = Db(embedded(engine), TRAVEL)
        db.create_tables()
        sign_up(db, Clock())
    return tmp_path / "store"


def migrate(store: Path, verb: str, *words: str) -> Ran:
    return here("migrate", verb, *words, "--data", store)


def status(store: Path) -> dict[str, Any]:
    (found,) = json.loads(migrate(store, "status", NAME, "--json").out)
    assert isinstance(found, dict)
    return found


def test_from_a_plan_to_the_switch_back_and_again_to_the_end(store: Path) -> None:
    assert "not planned" in migrate(store, "status").out
    planned = migrate(store, "plan", NAME, "--segments", "2")
    assert (planned.code, "skratch-data-2" in planned.out) == (0, True)
    ran = migrate(store, "run", NAME)
    assert (ran.code, "following" in ran.out) == (0, True)
    early = migrate(store, "switch", NAME, "--yes")
    assert (early.code, "verify" in early.err) == (2, True)
    verified = migrate(store, "verify", NAME, "--json")
    report = json.loads(verified.out)
    assert (verified.code, report["phase"], report["digests_agree"]) == (0, "verified", True)
    assert {part["table"] for part in report["parts"]} == {"skratch-data", "skratch-data-2"}
    shown = migrate(store, "switch", NAME)
    assert (shown.code, "dry run" in shown.err, status(store)["phase"]) == (0, True, "verified")
    done = migrate(store, "switch", NAME, "--yes")
    assert (done.code, "skratch-data-2" in done.out) == (0, True)
    assert (status(store)["side"], status(store)["writes"]) == ("target", "open")
    assert "kept until" in migrate(store, "finish", NAME, "--yes").err
    back = migrate(store, "rollback", NAME, "--yes")
    assert (back.code, status(store)["phase"]) == (0, "rolled_back")
    assert f"{NAME} is rolled back; writes go to skratch-data\n" in back.out
    assert "reads and writes go to the table skratch-data now" in back.err
    assert "rolled back" in migrate(store, "status", NAME).out
    assert "is rolled back; " in migrate(store, "verify", NAME).err
    for verb, *words in (["plan", NAME], ["run", NAME], ["verify", NAME], ["switch", NAME, "--yes"]):
        assert migrate(store, verb, *words).code == 0
    ended = migrate(store, "finish", NAME, "--early", "--yes")
    assert (ended.code, status(store)["phase"]) == (0, "finished")
    tables = here("db", "tables", "--json", "--data", store)
    assert "skratch-data" not in [one["name"] for one in json.loads(tables.out)]


def test_the_state_has_the_same_names_in_json_and_in_the_table(store: Path) -> None:
    migrate(store, "plan", NAME)
    with Engine.open(store) as engine:
        key = {"PK": {"S": f"MIGRATION#{NAME}"}, "SK": {"S": "STATE"}}
        item = engine.call("GetItem", {"TableName": "migrations", "Key": key})["Item"]
    shown = status(store)
    assert item.keys() - {"PK", "SK"} <= shown.keys()
    assert [int(item[name]["N"]) for name in ("epoch", "turn")] == [shown["epoch"], shown["turn"]]


@pytest.mark.parametrize("verb", ["switch", "rollback", "finish"])
def test_what_cannot_be_done_is_refused_before_it_is_proposed(store: Path, verb: str) -> None:
    migrate(store, "plan", NAME)
    for words in ([], ["--yes"]):
        refused = migrate(store, verb, NAME, *words)
        assert (refused.code, refused.out, "is planned" in refused.err) == (2, "", True)


def test_what_is_abandoned_is_gone(store: Path) -> None:
    migrate(store, "plan", NAME)
    migrate(store, "run", NAME)
    assert migrate(store, "abandon", NAME, "--yes").code == 0
    assert status(store)["phase"] == "abandoned"
    assert migrate(store, "run", NAME).code == 2


def test_run_does_not_say_that_all_is_copied_of_what_was_given_up_meanwhile(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given_up(context: MigrationContext, worker: str) -> Round:
        return Round(abandon(context))

    migrate(store, "plan", NAME)
    monkeypatch.setattr("tablewright.cli.migrate.run.advance", given_up)
    ran = migrate(store, "run", NAME)
    assert (ran.code, ran.out, "is abandoned" in ran.err) == (2, "", True)


def test_status_says_that_changes_were_missed_and_run_puts_it_right(store: Path) -> None:
    migrate(store, "plan", NAME)
    migrate(store, "run", NAME)
    assert "no process has copied changes" not in migrate(store, "status", NAME).out
    with Engine.open(store, durability="relaxed") as engine:
        (system,) = [system for system in SYSTEMS if system.migrations]
        at = migration_context(
            embedded(engine), *system.migrations, environment=environment_of(system.designs)
        )
        restart(at, at.state(), at.state().since)
    assert (status(store)["phase"], status(store)["catching_up"]) == ("copying", True)
    assert f"{NAME}: no process has copied changes since" in migrate(store, "status", NAME).out
    assert migrate(store, "run", NAME).code == 0
    assert (status(store)["phase"], status(store)["catching_up"]) == ("following", False)


def test_verify_finds_what_differs_and_repairs_it(store: Path) -> None:
    migrate(store, "plan", NAME)
    migrate(store, "run", NAME)
    with Engine.open(store, durability="relaxed") as engine:
        item = engine.call("Scan", {"TableName": "skratch-data-2", "Limit": 1})["Items"][0]
        key = {name: item[name] for name in ("PK", "SK")}
        engine.call("DeleteItem", {"TableName": "skratch-data-2", "Key": key})
    found = migrate(store, "verify", NAME)
    assert (found.code, status(store)["phase"]) == (1, "following")
    assert migrate(store, "verify", NAME, "--repair").code == 0
    assert status(store)["phase"] == "verified"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "no-such"], "no migration named"),
        (["run", NAME], "is not planned"),
        (["plan", NAME, "--segments", "0"], "at least 1"),
        (["status", "--environment", "moon", NAME], "no environment moon"),
    ],
)
def test_what_is_misused_is_said(store: Path, words: list[str], said: str) -> None:
    done = migrate(store, *words)
    assert (done.code, said in done.err) == (2, True)


def test_a_table_that_is_being_migrated_is_not_filled_until_the_switch(store: Path) -> None:
    words = ("travel", "--table", "skratch-data")
    assert migrate(store, "backfill", *words).code == 0
    migrate(store, "plan", NAME)
    migrate(store, "run", NAME)
    refused = migrate(store, "backfill", *words, "--check")
    assert (refused.code, f"skratch-data is being migrated ({NAME} is following)" in refused.err) == (2, True)
    migrate(store, "verify", NAME)
    migrate(store, "switch", NAME, "--yes")
    filled = json.loads(migrate(store, "backfill", *words, "--check", "--json").out)
    assert (filled["lacking"], filled["unreadable"]) == (0, 0)
