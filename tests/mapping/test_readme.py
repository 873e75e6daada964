"""The room's README says what the code does."""

from __future__ import annotations

import inspect
from pathlib import Path

import tablewright.mapping
from tablewright.mapping import Db, MappingMistake, WriteRefused
from tablewright.mapping.page_tokens import LIFETIME
from tablewright.mapping.receipts import RECEIPT_LIFETIME, TABLE

HOME = Path(tablewright.mapping.__file__).parent
README = (HOME / "README.md").read_text()


def test_the_readme_names_what_a_db_does() -> None:
    public = [name for name, _ in inspect.getmembers(Db, inspect.isfunction) if not name.startswith("_")]
    assert [name for name in public if f"`{name}`" not in README] == ["create_tables", "physical"]
    assert "db.create_tables()" in README


def test_the_readme_names_every_error() -> None:
    errors = [
        name
        for name in tablewright.mapping.__all__
        if isinstance(found := getattr(tablewright.mapping, name), type) and issubclass(found, MappingMistake)
    ]
    assert [name for name in errors if f"`{name}`" not in README] == []
    first_six = ("AlreadyExists", "NotUnique", "Missing", "Stale", "Outdated", "ConditionNotMet")
    assert {name for name in errors if issubclass(getattr(tablewright.mapping, name), WriteRefused)} == {
        *first_six,
        "WriteRefused",
    }


def test_the_readme_names_every_file() -> None:
    files = {path.name for path in HOME.glob("*.py")} - {"__init__.py"}
    assert {name for name in files if f"`{name}`" not in README} == set()


def test_the_readme_tells_the_figures_as_they_are() -> None:
    assert LIFETIME.days == 1
    assert "die after a day" in README
    assert f"items of the table `{TABLE.name}`, kept for {RECEIPT_LIFETIME.days} days" in README
