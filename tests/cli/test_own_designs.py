"""A design of one's own on the command line: `path/file.py:NAME` and `package.module:NAME`, and what can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import here, tablewright

CLINIC = """
from __future__ import annotations
from pydantic import BaseModel
from tablewright.design import Design, Environment, Load

class Pet(BaseModel):
    owner: str
    name: str

def pet_key(owner: str, name: str) -> None: ...

clinic = Design("clinic")
clinic.environment(Environment("prod", "us-east-1", account="123456789012"))
table = clinic.table("clinic", pk="PK", sk="SK")
pets = table.entity(Pet, pet_key, tag="pet", pk="OWNER#{owner}", sk="PET#{name}"LOAD)
several = [clinic]
"""
LOADED = CLINIC.replace("LOAD)", ', load={"create": Load(per_month=1000)})')
BROKEN = CLINIC.replace("{owner}", "{nobody}").replace("LOAD)", ")")
COMMANDS = ("cost {}", "design repository {} --to tree", "design policy {} --environment prod")


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "loaded_clinic.py").write_text(LOADED)
    (tmp_path / "silent_clinic.py").write_text(CLINIC.replace("LOAD)", ")"))
    (tmp_path / "broken_clinic.py").write_text(BROKEN)
    (tmp_path / "faulty_clinic.py").write_text("from pathlib import Path\n\n1 / 0\n")
    (tmp_path / "unfinished_clinic.py").write_text("def (\n")
    (tmp_path / "ending_clinic.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "named", ["./loaded_clinic.py:clinic", "loaded_clinic.py:several", "loaded_clinic:clinic"]
)
def test_a_design_is_named_by_its_file_or_its_module(clinic: Path, command: str, named: str) -> None:
    ran = here(*command.format(named).split())
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("./nothing.py:clinic", "no such file: nothing.py"),
        (".:clinic", "could not be imported"),
        ("./:clinic", "is a directory"),
        ("./loaded_clinic.py", "./loaded_clinic.py does not name a design; add its name as"),
        ("./loaded_clinic.py:", "designs in it: clinic"),
        ("./loaded_clinic.py:desing", "./loaded_clinic.py has no desing; designs in it: clinic"),
        ("./loaded_clinic.py:pets", "is not a Design"),
        ("./broken_clinic.py:clinic", "the design 'clinic' has"),
        (
            "./faulty_clinic.py:clinic",
            "could not be imported: ZeroDivisionError: division by zero (line 3 of ",
        ),
        ("./unfinished_clinic.py:clinic", "could not be imported: invalid syntax (line 1 of "),
        ("./ending_clinic.py:clinic", "could not be imported: SystemExit: 3"),
        ("no_such.module:clinic", "could not be imported: No module named 'no_such'"),
        ("loaded_clinic:desing", "loaded_clinic has no desing; designs in it: clinic"),
        ("nothing", "or name your own design as path/file.py:NAME, package.module:NAME, FILE.json or"),
    ],
)
def test_what_cannot_be_had_is_a_sentence_and_code_2(
    clinic: Path, command: str, named: str, words: str
) -> None:
    ran = here(*command.format(named).split())
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_an_environment_that_is_not_named_says_how_to_add_one(clinic: Path) -> None:
    text = "\n".join(line for line in LOADED.splitlines() if "clinic.environment(" not in line)
    (clinic / "bare_clinic.py").write_text(text)
    ran = here("design", "policy", "./bare_clinic.py:clinic", "--environment", "prod")
    assert ran.code == 2
    assert "its design has none; add one: design.environment(Environment(NAME, REGION))" in ran.err


def test_a_design_without_a_load_is_not_said_to_cost_nothing(clinic: Path) -> None:
    ran = here("cost", "./silent_clinic.py:clinic")
    assert ran.code == 0
    assert ran.out.startswith(
        "clinic, prod in us-east-1: No load stated\nState how often each is called: load="
    )
    assert "$0.00" not in ran.out
    (told,) = json.loads(here("cost", "./silent_clinic.py:clinic", "--json").out)
    assert (told["total"], told["loadStated"]) == (None, False)
    assert any(note.startswith("No load stated") for note in told["notes"])
    (told,) = json.loads(here("cost", "./loaded_clinic.py:clinic", "--json").out)
    assert (told["total"] > "0", told["loadStated"]) == (True, True)


def test_a_file_imports_what_lies_beside_it_wherever_the_command_is_run(clinic: Path, tmp_path: Path) -> None:
    (clinic / "here").mkdir()
    (clinic / "here" / "design.py").write_text("from models import clinic\n")
    (clinic / "here" / "models.py").write_text(LOADED)
    ran = tablewright("cost", "here/design.py:clinic", cwd=clinic)
    assert (ran.code, ran.err) == (0, "")
