"""`tablewright people`: who may sign in, given and taken by who runs the server."""

from __future__ import annotations

import json
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import COMMAND, here
from tests.cli.stores import server_of

from tablewright.app import passwords
from tablewright.app.passwords import is_password
from tablewright.app.runtime import open_app
from tablewright.engine import Engine

ADA = "ada@example.com"


@pytest.fixture(autouse=True)
def passwords_are_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_LOG_N", 6)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed store in which no accounts."""
    home = tmp_path / "store"
    open_app(home, systems=(), durability="relaxed", jobs=False).close()
    return home


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, *typed: str) -> None:
    """Whoever is asked types these, and goes on with the last."""
    waiting = list(typed)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda prompt: waiting.pop(0) if len(waiting) > 1 else waiting[0])


def people(store: Path, *words: str | Path) -> Any:
    ran = here("people", *words, "--data", store, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_somebody_is_added_listed_changed_closed_and_opened_again(store: Path) -> None:
    assert "no accounts" in here("people", "list", "--data", store).out
    ada = people(store, "add", " Ada@Example.com", "--name", "Ada", "--role", "parental.operator")
    assert (ada["email"], ada["roles"], ada["hasPassword"]) == (ADA, ["parental.operator"], False)
    assert people(store, "list") == [ada]
    roles = ("--role", "travel.admin", "--role", "engineer")
    assert people(store, "change", ADA, *roles)["roles"] == ["engineer", "travel.admin"]
    assert people(store, "change", ADA, "--no-roles", "--name", "Ada L.")["roles"] == []
    assert people(store, "change", ADA, "--close")["closed"] is not None
    assert "closed" in here("people", "list", "--data", store).out
    again = people(store, "change", ADA, "--reopen")
    assert (again["closed"], again["name"], again["subject"]) == (None, "Ada L.", ada["subject"])


def test_a_password_comes_from_a_file_of_ones_own_and_is_told_to_nobody(store: Path, tmp_path: Path) -> None:
    people(store, "add", ADA)
    file = tmp_path / "password"
    file.write_text("correct horse battery\n")
    file.chmod(0o644)
    exposed = here("people", "password", ADA, "--password-file", file, "--data", store)
    assert (exposed.code, "chmod 600" in exposed.err) == (2, True)
    file.chmod(0o600)
    file.write_bytes(b"correct h\xf6rse battery\n")
    foreign = here("people", "password", ADA, "--password-file", file, "--data", store)
    assert (foreign.code, "not UTF-8 text" in foreign.err) == (2, True)
    file.write_text("correct horse battery\n")
    ran = here("people", "password", ADA, "--password-file", file, "--data", store, "--json")
    assert json.loads(ran.out)["hasPassword"] is True
    assert "horse" not in ran.out + ran.err
    assert "scrypt" not in ran.out
    assert "password and code" in here("people", "list", "--data", store).out
    with open_app(store, systems=(), durability="relaxed", jobs=False) as runtime:
        known = runtime.accounts.with_address(ADA)
        assert known is not None
        assert is_password("correct horse battery", known.password or "")


def test_a_password_can_be_taken_away_and_roles_without_one_are_pointed_out(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = here("people", "add", ADA, "--role", "engineer", "--data", store).out
    assert f"none; required for these roles: tablewright people password {ADA}" in told
    assert people(store, "list")[0]["needsPassword"] is True
    at_a_terminal(monkeypatch, "correct horse battery")
    assert people(store, "password", ADA)["needsPassword"] is False
    assert people(store, "password", ADA, "--remove")["hasPassword"] is False
    softer = here("people", "change", ADA, "--role", "travel.admin", "--data", store).out
    assert "recommended as a second factor" in softer
    assert "password" not in here("people", "change", ADA, "--no-roles", "--data", store).out


def test_an_account_is_erased_when_that_is_meant(store: Path) -> None:
    people(store, "add", ADA, "--role", "travel.admin")
    planned = here("people", "erase", ADA, "--data", store)
    assert (planned.code, "will erase the account" in planned.out, "--yes" in planned.err) == (1, True, True)
    assert len(people(store, "list")) == 1
    assert people(store, "erase", ADA, "--yes") == {"erased": ADA}
    assert people(store, "list") == []
    again = people(store, "add", ADA)
    assert again["roles"] == [], "the address is free"


def test_a_password_that_is_typed_is_asked_for_twice(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people(store, "add", ADA)
    at_a_terminal(monkeypatch, "correct horse battery", "another horse battery", "short", "short")
    assert "the passwords do not match" in here("people", "password", ADA, "--data", store).err
    assert "12 to 256 characters" in here("people", "password", ADA, "--data", store).err
    assert people(store, "list")[0]["hasPassword"] is False


def test_a_password_from_a_pipe_is_a_line_and_nobody_is_asked(store: Path) -> None:
    people(store, "add", ADA)
    piped = subprocess.run(
        [*COMMAND, "people", "password", ADA, "--data", str(store), "--json"],
        input="correct horse battery\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (piped.returncode, piped.stderr) == (0, "")
    assert json.loads(piped.stdout)["hasPassword"] is True
    with open_app(store, systems=(), durability="relaxed", jobs=False) as runtime:
        known = runtime.accounts.with_address(ADA)
        assert known is not None
        assert is_password("correct horse battery", known.password or "")


def test_a_pipe_without_a_password_changes_nothing(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people(store, "add", ADA)
    for nothing in ("", "\n"):
        monkeypatch.setattr("sys.stdin", StringIO(nothing))
        ran = here("people", "password", ADA, "--data", store)
        assert (ran.code, "no password given" in ran.err) == (2, True)
    assert people(store, "list")[0]["hasPassword"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "ada"), "valid e-mail address"),
        (("add", "ada@example.com", "--role", "parental.boss"), "there are engineer, parental.operator"),
        (("change", "bob@example.com", "--close"), "bob@example.com has no account"),
        (("password", "bob@example.com"), "bob@example.com has no account"),
        (("erase", "bob@example.com", "--yes"), "bob@example.com has no account"),
        (("change", "ada@example.com"), "nothing to change"),
    ],
)
def test_a_mistake_is_said_and_changes_nothing(store: Path, words: tuple[str, ...], said: str) -> None:
    ran = here("people", *words, "--data", store)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert people(store, "list") == []


def test_an_account_is_not_given_twice(store: Path) -> None:
    people(store, "add", ADA)
    ran = here("people", "add", "ADA@example.com", "--data", store)
    assert (ran.code, "already has an account" in ran.err) == (2, True)


def test_a_store_without_accounts_is_left_as_it_is(tmp_path: Path) -> None:
    Engine.open(tmp_path / "bare", durability="relaxed").close()
    ran = here("people", "add", ADA, "--data", tmp_path / "bare")
    assert (ran.code, "table house_accounts does not exist" in ran.err) == (2, True)
    assert here("db", "tables", "--data", tmp_path / "bare").out.startswith("no tables")


def test_a_server_is_asked_by_its_endpoint(store: Path) -> None:
    with server_of(store) as url:
        assert "ada@example.com" in here("people", "add", ADA, "--endpoint", url).out
        assert json.loads(here("people", "list", "--endpoint", url, "--json").out)[0]["email"] == ADA
