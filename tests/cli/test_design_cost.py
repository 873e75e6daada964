"""`tablewright design cost`: what a design costs, in a terminal."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import COMMAND, here, tablewright

from tablewright.app.systems import SYSTEMS
from tablewright.design.cost import Options, cost_of
from tablewright.systems.travel.design import TRAVEL


def told(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(here("design", "cost", *words, "--json").out)
    return found


def test_all_systems_have_a_line_each_and_a_total() -> None:
    ran = tablewright("design", "cost")
    assert ran.code == 0
    head, *rows = ran.out.splitlines()
    assert head.split()[:3] == ["system", "environment", "region"]
    assert [row.split()[0] for row in rows[:6]] == ["campus", "chat", "parental", "portal", "travel", "all"]
    assert "per month for 5 systems" in ran.out


def test_the_systems_are_those_that_are_served() -> None:
    assert {report["design"] for report in told()} == {
        design.name for system in SYSTEMS for design in system.designs
    }


def test_a_system_is_shown_by_part_and_table_what_costs_most_first_beside_what_was_stated() -> None:
    ran = here("design", "cost", "travel")
    assert ran.code == 0
    expected = cost_of(TRAVEL, TRAVEL.environments["prod"])
    assert ran.out.startswith(f"travel, prod in us-east-1: ${expected.total:.2f} per month\n")
    lines = ran.out.partition("skratch-data: ")[2].splitlines()[2:10]
    amounts = [float(line.split()[-1].rstrip("*")) for line in lines]
    assert amounts == sorted(amounts, reverse=True)
    for words in (
        "total stated by the author  $5.00 to $15.00",
        "within what was said",
        "limit",
        "prices: us-east-1: AWS",
    ):
        assert words in ran.out
    assert "* Derived price" in ran.out


def test_the_json_has_every_figure_with_its_arithmetic() -> None:
    (report,) = told("travel", "--times", "2.5", "--months", "3", "--free-tier")
    expected = cost_of(
        TRAVEL, TRAVEL.environments["prod"], options=Options(Decimal("2.5"), 3, free_tier=True)
    )
    assert Decimal(report["total"]) == expected.total
    assert sum(Decimal(line["amount"]) for line in report["lines"]) == pytest.approx(expected.total)
    assert len(report["lines"]) == len(expected.lines)
    assert all(line["how"] for line in report["lines"])


def test_the_arithmetic_is_shown_when_asked_with_what_was_assumed() -> None:
    out = here("design", "cost", "travel", "--explain").out
    assert "300 000 writes a month x 4 units (2: 700 B, doubled in a transaction + 1: GSI1 follows" in out
    assert "assumed: one follower, which asks every second" in out


def test_a_figure_is_rounded_in_the_table_as_in_its_arithmetic() -> None:
    exact = next(line["amount"] for line in told("travel")[0]["lines"] if line["name"] == "profile.update")
    assert exact == "1.125"
    shown = next(row for row in here("design", "cost", "travel").out.splitlines() if "profile.update" in row)
    assert shown.split()[-1] == "1.13"
    assert "= $1.13" in here("design", "cost", "travel", "--explain").out


def test_what_is_taken_off_stands_under_the_other_figures() -> None:
    rows = here("design", "cost", "travel", "--free-tier").out.splitlines()
    head = next(row for row in rows if row.startswith("part"))
    off = next(row for row in rows if row.startswith("Free of charge"))
    assert off.index("-0.78") + len("-0.78") == head.index("$ a month") + len("$ a month")


def test_another_environment_and_another_region_can_be_asked_for() -> None:
    (dev,), (prod,) = told("portal", "--environment", "dev"), told("portal")
    assert (dev["environment"], prod["environment"]) == ("dev", "prod")
    assert Decimal(dev["total"]) < Decimal(prod["total"])
    (there,) = told("portal", "--environment", "dev", "--region", "us-east-1")
    assert there["region"] == "us-east-1"
    assert Decimal(there["total"]) < Decimal(dev["total"])
    assert not any(line["derived"] for line in there["lines"])


def test_the_code_is_1_if_it_is_over_the_limit() -> None:
    ran = here("design", "cost", "travel", "--times", "10")
    assert ran.code == 1
    assert re.search(r"limit .* over", ran.out)
    assert here("design", "cost", "--times", "10").code == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("zoo",),
            "no system named zoo; choose one of campus, chat, parental, portal, travel, or name your own design",
        ),
        (("travel", "--environment", "sit"), "travel has no environment sit; its design has dev, prod"),
        (("no.zoo:PETS",), "no.zoo could not be imported: No module named 'no'"),
        (
            ("travel", "--region", "mars-1"),
            "no prices of 'mars-1' are known here; of these regions there are: af-",
        ),
        (("travel", "--times", "0"), "must be a number greater than 0 and at most 1000000, got '0'"),
        (("travel", "--times", "many"), "must be a number greater than 0 and at most 1000000, got 'many'"),
        (("travel", "--times", "1e30"), "must be a number greater than 0 and at most 1000000, got '1e30'"),
        (
            ("travel", "--times", "1e999999"),
            "must be a number greater than 0 and at most 1000000, got '1e999999'",
        ),
        (("travel", "--months", "0"), "must be a whole number of months from 1 to 120, got '0'"),
    ],
)
def test_a_misuse_is_told_in_a_sentence(words: tuple[str, ...], why: str) -> None:
    ran = here("design", "cost", *words)
    assert ran.code == 2
    assert why in ran.err
    assert ran.out == ""


PETS = """
from pydantic import BaseModel
from tablewright.design import Design, Load

class Pet(BaseModel):
    name: str

def key(name: str) -> None: ...

PETS = Design("pets")
PETS.table("pets", pk="PK").entity(Pet, key, tag="pet", pk="PET#{name}", load={"create": Load(per_month=1_000_000)})
"""


def test_a_design_of_ones_own_in_this_directory_is_priced_even_if_it_names_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "our_pets.py").write_text(PETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    ran = here("design", "cost", "our_pets:PETS")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("pets, on demand in us-east-1: $")
    refused = here("design", "cost", "our_pets:PETS", "--environment", "prod")
    assert (refused.code, refused.out) == (2, "")
    assert "pets has no environment prod; its design has none" in refused.err


def test_who_reads_only_the_beginning_is_told_no_fault() -> None:
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.join(COMMAND)} design cost travel --explain | head -1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.startswith("travel, prod")
    assert ran.stderr == ""


WRITTEN = Path(__file__).parents[2] / "examples" / "as-written"


def test_the_short_name_is_the_same_command() -> None:
    assert here("cost", "travel").out == here("design", "cost", "travel").out


def test_both_capacity_modes_and_their_break_even_are_shown_and_a_curve_if_asked() -> None:
    out = here("design", "cost", "portal", "--curve").out
    assert "break-even: 29 % of provisioned units used on average" in out
    assert re.search(r"^all +\$[\d.]+ +\$[\d.]+$", out, re.MULTILINE)
    assert re.search(r"^ +10000 +\$[\d .]+ +\$[\d .]+$", out, re.MULTILINE)
    assert "times the load" not in here("design", "cost", "portal").out
    (value,) = told("portal", "--curve")
    assert [point["times"] for point in value["curve"]][:3] == ["0.01", "0.03", "0.1"]
    assert Decimal(value["modes"]["onDemand"]) < Decimal(value["modes"]["provisioned"])


def test_cp_d41_cp_d42_cp_d43_the_costs_of_a_document_are_recomputed_line_by_line() -> None:
    ran = here("design", "cost", str(WRITTEN / "004.json"))
    assert ran.code == 1
    rows = {int(row.split()[0]): row for row in ran.out.splitlines() if row.strip()[:1].isdigit()}
    assert re.search(r"\$250\.00 +\$0\.25 +\$0\.17 +COST-ARITH", rows[2627])
    assert re.search(r"\$715\.62 +\$0\.72 +\$0\.48 +COST-ARITH", rows[2634])
    assert re.search(r"\$1\.00 +\$1\.00 +\$2 907\.36 +COST-BACKUPS; 2 160 backups are kept", rows[2635])
    assert re.search(r"\$10\.00 +\$10 485\.76 +- +COST-ARITH", rows[2636])


def test_cc_d23_requests_without_a_mix_cost_a_range() -> None:
    rows = json.loads(here("design", "cost", str(WRITTEN / "001.json"), "--json").out)
    total = next(row for row in rows if row["name"] == "Total")
    assert (total["line"], total["stated"], total["own"]) == (527, "9.75", "9.75")
    assert (Decimal(total["corrected"]["low"]), Decimal(total["corrected"]["high"])) == (
        Decimal("5.5"),
        Decimal("18.5"),
    )


def test_a_document_that_cannot_be_read_is_a_misuse(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"name": "x", "prices": 3}')
    ran = here("design", "cost", str(tmp_path / "x.json"))
    assert (ran.code, ran.out) == (2, "")
    assert "x.json: prices:" in ran.err


@pytest.mark.parametrize("document", ["001", "003", "004"])
def test_the_page_about_cost_shows_what_the_command_prints(document: str) -> None:
    page = (WRITTEN.parents[1] / "docs" / "cost.md").read_text()
    assert here("design", "cost", str(WRITTEN / f"{document}.json")).out.rstrip() in page
