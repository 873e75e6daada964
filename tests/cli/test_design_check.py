"""`tablewright design check`: the rules of a design, and what a target lacks of it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import here

HOME = Path(__file__).parents[2]
BAD = """
from pydantic import BaseModel
from tablewright.design import Design

class Pet(BaseModel):
    owner: str

def key(owner: str) -> None: ...

PETS = Design("pets")
table = PETS.table("pets", pk="PK")
pet = table.entity(Pet, key, tag="pet", pk="PET#{nobody}")
"""


def test_a_design_that_holds_is_fine_and_one_that_a_target_cannot_run_is_not() -> None:
    assert "travel: 1 design checked, OK" in here("design", "check", "travel").out
    ran = here("design", "check", "travel", "--target", "amazon", "--environment", "prod")
    assert ran.code == 0
    assert "travel: 1 design checked on amazon, OK; " in ran.out
    ran = here("design", "check", "travel", "--target", "moto", "--json")
    said = json.loads(ran.out)
    assert (ran.code, said["target"], said["designs"]) == (1, "moto", ["travel"])
    assert {one["rule"] for one in said["findings"] if one["severity"] != "information"} == {"T002"}
    assert "travel.skratch-data" in {one["where"] for one in said["findings"]}


def test_the_findings_of_a_design_that_cannot_be_built_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(BAD)
    ran = here("design", "check", f"{file}:PETS", "--json")
    said = json.loads(ran.out)
    assert (ran.code, said["designs"]) == (1, ["pets"])
    assert [one["rule"] for one in said["findings"]] == ["K001"]


def test_an_environment_that_the_design_does_not_have_is_refused() -> None:
    ran = here("design", "check", "travel", "--target", "moto", "--environment", "sit")
    assert (ran.code, ran.out) == (2, "")
    assert "travel has no environment sit" in ran.err


def test_what_a_design_accepts_is_shown_on_request_with_its_reason() -> None:
    silent, all_ = (here("design", "check", "portal", *more, "--json") for more in ((), ("--accepted",)))
    said = json.loads(all_.out)["findings"]
    assert (silent.code, all_.code) == (0, 0)
    reasons = [one["reason"] for one in said if one["reason"]]
    assert len(reasons) == json.loads(silent.out)["accepted"] > 0
    assert "accepted: " in here("design", "check", "portal", "--accepted").out


def test_a_document_is_checked_line_by_line() -> None:
    ran = here("design", "check", HOME / "examples" / "as-written" / "004.json")
    assert ran.code == 1
    assert "error       KEY-TYPE at " in ran.out
    assert "(line 198)" in ran.out


def test_a_document_with_a_field_that_is_not_known_is_refused_by_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"name": "mine", "tables": [{"name": "t", "hsah": {"name": "PK"}}]}')
    ran = here("design", "check", file)
    assert (ran.code, ran.out) == (2, "")
    assert f"{file}: tables.0." in ran.err
    assert "--target and --environment" in here("design", "check", file, "--target", "moto").err


def test_a_rule_is_explained_by_its_name() -> None:
    ran = here("design", "check", "--explain", "r-key-type")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "KEY-TYPE (error)")
    ran = here("design", "check", "--explain", "KEY-NONE")
    assert ran.code == 2
    assert "there is no rule KEY-NONE; did you mean " in ran.err
    assert "`tablewright design check --explain all` lists every rule" in ran.err
    assert len(ran.err) < 250
    assert "did you mean IDX-LOWCARD? " in here("design", "check", "--explain", "IDX-LOWCRD").err
    assert "name what to check" in here("design", "check").err


def test_a_code_of_the_design_language_is_explained_and_all_are_listed() -> None:
    for code in ("K001", "k002", "P001", "T001"):
        ran = here("design", "check", "--explain", code)
        assert (ran.code, ran.out.splitlines()[0]) == (0, f"{code.upper()} (error)")
        assert "\nFix: " in ran.out
    told = json.loads(here("design", "check", "--explain", "all", "--json").out)
    assert {"K001", "P001", "T001", "IDX-LOWCARD"} <= {each["rule"] for each in told}
    assert len(here("design", "check", "--explain", "all").out.splitlines()) == 1 + len(told)
