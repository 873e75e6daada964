"""Hints that can be pasted: a command that is suggested is about the same tables as the one that suggests it."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Ran, here
from tests.cli.stores import PETS

from tablewright.app.design import app_design
from tablewright.cli.hints import add_target_to_hints, command_hint
from tablewright.cli.parser import parse
from tablewright.client import embedded
from tablewright.engine import Engine
from tablewright.mapping import Db
from tablewright.mapping.migrate import cutover
from tablewright.systems.parental.design import PARENTAL
from tablewright.systems.travel.design import TRAVEL
from tablewright.wire import serving

NAME = "skratch-visits-2"
TARGETS = ("data", "endpoint", "region", "profile", "environment", "credentials")
# What is done, in order, in one store; and whether a command is suggested by it.
SITUATIONS = [
    (f"migrate verify {NAME}", "migrate plan"),
    (f"migrate plan {NAME} --environment dev", "migrate run"),
    (f"migrate verify {NAME} --environment dev", "migrate run"),
    (f"migrate plan {NAME}", "migrate run"),
    (f"migrate switch {NAME}", "migrate run"),
    (f"migrate run {NAME}", ""),
    (f"migrate switch {NAME}", "migrate verify"),
    (f"migrate verify {NAME}", ""),
    (f"migrate switch {NAME} --yes", ""),
    (f"migrate rollback {NAME} --yes", "migrate abandon"),
    ("db export pets --bucket backups", "db recovery pets --on"),
    ("db backup delete nothing", "db backup list"),
    ("db restore --from nothing --to cats", "db backup list"),
    ("people list", "people add"),
    ("people add olga@example.com --role engineer", "people password"),
    ("people add olga@example.com", "people change"),
    ("people change ada@example.com --close", "people list"),
]


@pytest.fixture(scope="module")
def patient() -> Iterator[None]:
    before, cutover.MARGIN = cutover.MARGIN, 0.01
    yield
    cutover.MARGIN = before


def filled(engine: Engine) -> None:
    engine.call("CreateTable", PETS)
    for design in (TRAVEL, PARENTAL, app_design):
        Db(embedded(engine), design).create_tables()


def hints_of(ran: Ran) -> list[str]:
    """Every command in what was said."""
    return [found.strip() for found in re.findall(r"tablewright [a-z][^`\n]*", ran.out + ran.err)]


def check(words: list[str], ran: Ran, suggested: str) -> None:
    hints = hints_of(ran)
    assert "Traceback" not in ran.err
    assert bool(hints) == bool(suggested), (words, ran)
    asked = vars(parse(words))
    for hint in hints:
        assert hint.startswith(f"tablewright {suggested}")
        parsed = vars(parse(shlex.split(hint)[1:]))
        wanted = {name: str(asked[name]) for name in TARGETS if name in asked and name in parsed}
        assert {name: str(parsed[name]) for name in wanted} == wanted, hint


def test_every_hint_about_a_store_names_the_store(tmp_path: Path, patient: None) -> None:
    store = tmp_path / "my store"
    with Engine.open(store, durability="relaxed") as engine:
        filled(engine)
    for text, suggested in SITUATIONS:
        words = [*shlex.split(text), "--data", str(store), "--region", "us-east-1"]
        check(words, here(*words), suggested)


def test_every_hint_about_a_server_names_the_server(tmp_path: Path, patient: None) -> None:
    with (
        Engine.open(tmp_path / "store", durability="relaxed") as engine,
        serving(engine) as url,
    ):
        filled(engine)
        for text, suggested in SITUATIONS:
            words = [*shlex.split(text), "--endpoint", url]
            check(words, here(*words), suggested)


def test_hints_where_tables_are_missing_name_the_store_too(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store", durability="relaxed"):
        pass
    for text in ("people list", "parental registry load"):
        words = [*text.split(), "--data", str(tmp_path / "store")]
        check(words, here(*words), "serve")


def test_a_hint_is_quoted_for_a_shell_and_says_nothing_twice() -> None:
    given = argparse.Namespace(data=Path("my data"), endpoint=None, profile="$HOME")
    hint = command_hint(given, "db", "tables")
    assert shlex.split(hint) == ["tablewright", "db", "tables", "--data", "my data", "--profile", "$HOME"]
    assert add_target_to_hints(given, f"first `{hint}`, then stop") == f"first `{hint}`, then stop"
