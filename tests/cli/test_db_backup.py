"""`tablewright db backup`, `recovery` and `restore`: a table's past, kept and brought back from the terminal."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Ran, here
from tests.cli.stores import server_of, store_of_pets
from tests.engine.history_requests import back_up, recover
from tests.engine.stepped_engine import SteppedEngine

from tablewright.cli.db import restore as db_restore
from tablewright.cli.db.backups import backup_arn
from tablewright.cli.output import UsageError
from tablewright.cli.target import Target
from tablewright.client import Call, embedded
from tablewright.engine import Engine, verify_store


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


def fine(ran: Ran) -> str:
    assert ran.code == 0, ran.err
    return ran.out


def refused(ran: Ran) -> str:
    assert (ran.code, ran.out) == (2, "")
    return ran.err


def items(place: list[str]) -> dict[str, int]:
    return {one["name"]: one["items"] for one in json.loads(fine(here("db", "tables", *place, "--json")))}


def test_a_backup_is_made_listed_restored_and_deleted(place: list[str]) -> None:
    made = fine(here("db", "backup", "create", "pets", "--name", "first", *place))
    assert made.startswith("first  AVAILABLE  ")
    listed = fine(here("db", "backup", "list", *place)).splitlines()
    assert listed[1].split()[:4] == ["first", "pets", "AVAILABLE", "user"]
    (one,) = json.loads(fine(here("db", "backup", "list", "pets", *place, "--json")))
    assert one["BackupArn"] in made

    told = fine(here("db", "restore", "--from", "first", "--to", "pets-again", *place))
    assert told == "restored pets-again: 3 items\n"
    assert items(place) == {"pets": 3, "pets-again": 3}
    again = here("db", "restore", "--from", one["BackupArn"], "--to", "pets-again", *place)
    assert "already exists, and a restore does not overwrite" in refused(again)
    there = here("db", "restore", "--from", "first", "--to", "pets", *place)
    assert "pets already exists, and a restore does not overwrite" in refused(there)

    plan = here("db", "backup", "delete", "first", *place)
    assert plan.code == 1
    assert "the backup first of pets" in plan.out
    assert "--yes" in plan.err
    assert fine(here("db", "backup", "delete", "first", *place, "--yes")).endswith("deleted first\n")
    assert fine(here("db", "backup", "list", *place)) == "no backups\n"
    assert "no backup named first" in refused(here("db", "backup", "delete", "first", *place, "--yes"))


def test_recovery_is_switched_on_and_a_moment_restored(place: list[str]) -> None:
    assert fine(here("db", "recovery", "pets", *place)) == "off\n"
    assert fine(here("db", "recovery", "pets", "--on", "--days", "7", *place)).startswith("on, 7 days: ")
    told = fine(here("db", "restore", "pets", "--at", "latest", "--to", "pets-then", *place))
    assert told == "restored pets-then: 3 items\n"
    long_ago = here("db", "restore", "pets", "--at", "2001-01-01T00:00:00Z", "--to", "older", *place)
    assert "InvalidRestoreTimeException" in refused(long_ago)
    plan = here("db", "recovery", "pets", "--off", *place)
    assert (plan.code, "will delete the recovery history" in plan.out) == (1, True)
    assert fine(here("db", "recovery", "pets", "--off", "--yes", *place)).endswith("off\n")


def test_a_moment_after_the_latest_is_refused_and_the_latest_is_not(place: list[str]) -> None:
    fine(here("db", "recovery", "pets", "--on", *place))
    late = here("db", "restore", "pets", "--at", "2099-01-01", "--to", "pets-then", *place)
    assert "LatestRestorableDateTime" in refused(late)
    fine(here("db", "restore", "pets", "--at", "latest", "--to", "pets-then", *place))


# --- cut off, and called again ---


def cut_off(store: Path, verb: str, **request: Any) -> None:
    """A restore that was asked for and has not been begun: its process was killed then."""
    with SteppedEngine.stepped(store) as engine:
        engine.call(verb, {"TargetTableName": "pets-again", **request})


def back_up_and_recover(store: Path) -> str:
    with Engine.open(store) as engine:
        arn: str = back_up(engine, name="first")
        recover(engine)
        engine.settle()
    return arn


def test_a_restore_that_was_cut_off_is_waited_for_by_the_same_command(store: Path) -> None:
    cut_off(store, "RestoreTableFromBackup", BackupArn=back_up_and_recover(store))
    ran = here("db", "restore", "--from", "first", "--to", "pets-again", "--data", store)
    assert fine(ran) == "restored pets-again: 3 items\n"
    assert "restoring pets-again from the backup arn:" in ran.err
    assert verify_store(store) == []


def test_a_restore_that_went_on_when_the_store_was_opened_is_waited_for_though_it_is_done(
    store: Path,
) -> None:
    cut_off(store, "RestoreTableFromBackup", BackupArn=back_up_and_recover(store))
    parser = argparse.ArgumentParser()
    db_restore.arguments(parser)
    given = parser.parse_args(["--from", "first", "--to", "pets-again"])
    with Engine.open(store) as engine:
        engine.settle()
        summary, _ = db_restore._start_or_find(given, Target(embedded(engine), "here", engine))
    assert not summary["RestoreInProgress"]


def test_without_recovery_a_moment_is_refused_in_the_services_words(store: Path) -> None:
    ran = here("db", "restore", "pets", "--at", "latest", "--to", "pets-then", "--data", store)
    assert "PointInTimeRecoveryUnavailableException" in refused(ran)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["pets", "--to", "new"], "one of the arguments --from --at is required"),
        (["--at", "latest", "--to", "new"], "either TABLE and --at TIME, or --from BACKUP"),
        (["pets", "--from", "first", "--to", "new"], "either TABLE and --at TIME, or --from BACKUP"),
        (["pets", "--at", "yesterday", "--to", "new"], "must be a time like 2026-11-16T08:30:00Z"),
    ],
)
def test_a_restore_that_makes_no_sense_is_a_misuse(words: list[str], why: str) -> None:
    ran = here("db", "restore", *words)
    assert ran.code == 2
    assert why in ran.err


def test_a_backup_has_a_name_of_its_own_if_none_is_given(store: Path) -> None:
    made = json.loads(fine(here("db", "backup", "create", "pets", "--json", "--data", store)))
    assert made["BackupName"].startswith("pets-20")


def test_a_name_that_two_backups_have_is_refused_with_their_arns() -> None:
    summaries = [{"BackupName": "twin", "BackupArn": f"arn:{n}"} for n in range(2)]
    call: Call = lambda verb, request: {"BackupSummaries": summaries}  # noqa: E731
    with pytest.raises(UsageError, match="2 backups are named twin; give the ARN instead: arn:0, arn:1"):
        backup_arn(call, "twin")
    assert backup_arn(call, "arn:1") == "arn:1"
