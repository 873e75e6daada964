"""`tablewright db backup`, `recovery` and `restore`: a table's past, kept and brought back from the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Ran, tablewright
from tests.cli.stores import server_of, store_of_pets

from tablewright.cli.backups import BackupUnclear, backup_arn
from tablewright.client import Call


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
    return {
        one["name"]: one["items"] for one in json.loads(fine(tablewright("db", "tables", *place, "--json")))
    }


def test_a_backup_is_made_listed_restored_and_deleted(place: list[str]) -> None:
    made = fine(tablewright("db", "backup", "create", "pets", "--name", "first", *place))
    assert made.startswith("first  AVAILABLE  ")
    listed = fine(tablewright("db", "backup", "list", *place)).splitlines()
    assert listed[1].split()[:4] == ["first", "pets", "AVAILABLE", "user"]
    (one,) = json.loads(fine(tablewright("db", "backup", "list", "pets", *place, "--json")))
    assert one["BackupArn"] in made

    told = fine(tablewright("db", "restore", "--from", "first", "--to", "pets-again", *place))
    assert told == "pets-again is there, with 3 items\n"
    assert items(place) == {"pets": 3, "pets-again": 3}
    again = tablewright("db", "restore", "--from", one["BackupArn"], "--to", "pets-again", *place)
    assert "TableAlreadyExistsException" in refused(again)

    plan = tablewright("db", "backup", "delete", "first", *place)
    assert plan.code == 1
    assert "the backup first of pets" in plan.out
    assert "--yes" in plan.err
    assert fine(tablewright("db", "backup", "delete", "first", *place, "--yes")).endswith("deleted first\n")
    assert fine(tablewright("db", "backup", "list", *place)) == "there are no backups\n"
    assert "there is no backup first" in refused(
        tablewright("db", "backup", "delete", "first", *place, "--yes")
    )


def test_recovery_is_switched_on_and_a_moment_restored(place: list[str]) -> None:
    assert fine(tablewright("db", "recovery", "pets", *place)) == "off\n"
    assert fine(tablewright("db", "recovery", "pets", "--on", "--days", "7", *place)).startswith(
        "on, 7 days: "
    )
    told = fine(
        tablewright("db", "restore", "pets", "--at", "latest", "--to", "pets-then", "--no-indexes", *place)
    )
    assert told == "pets-then is there, with 3 items\n"
    described = json.loads(fine(tablewright("db", "describe", "pets-then", *place, "--json")))
    assert "GlobalSecondaryIndexes" not in described["Table"]
    long_ago = tablewright("db", "restore", "pets", "--at", "2001-01-01T00:00:00Z", "--to", "older", *place)
    assert "InvalidRestoreTimeException" in refused(long_ago)
    plan = tablewright("db", "recovery", "pets", "--off", *place)
    assert (plan.code, "will be forgotten" in plan.out) == (1, True)
    assert fine(tablewright("db", "recovery", "pets", "--off", "--yes", *place)).endswith("off\n")


def test_without_recovery_a_moment_is_refused_in_the_services_words(store: Path) -> None:
    ran = tablewright("db", "restore", "pets", "--at", "latest", "--to", "pets-then", "--data", store)
    assert "PointInTimeRecoveryUnavailableException" in refused(ran)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["pets", "--to", "new"], "one of the arguments --from --at is required"),
        (["--at", "latest", "--to", "new"], "either TABLE and --at TIME, or --from BACKUP"),
        (["pets", "--from", "first", "--to", "new"], "either TABLE and --at TIME, or --from BACKUP"),
        (["pets", "--at", "yesterday", "--to", "new"], "a moment is written as 2026-11-16T08:30:00Z"),
    ],
)
def test_a_restore_that_makes_no_sense_is_a_misuse(words: list[str], why: str) -> None:
    ran = tablewright("db", "restore", *words)
    assert ran.code == 2
    assert why in ran.err


def test_a_backup_has_a_name_of_its_own_if_none_is_given(store: Path) -> None:
    made = json.loads(fine(tablewright("db", "backup", "create", "pets", "--json", "--data", store)))
    assert made["BackupName"].startswith("pets-20")


def test_a_name_that_two_backups_have_is_refused_with_their_arns() -> None:
    summaries = [{"BackupName": "twin", "BackupArn": f"arn:{n}"} for n in range(2)]
    call: Call = lambda verb, request: {"BackupSummaries": summaries}  # noqa: E731
    with pytest.raises(BackupUnclear, match="2 backups are named twin; name one by its ARN: arn:0, arn:1"):
        backup_arn(call, "twin")
    assert backup_arn(call, "arn:1") == "arn:1"
