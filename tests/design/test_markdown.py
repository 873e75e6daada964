"""A design as Markdown: everything it declares is on the page, with the figures of the bill."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from tests.cli.command import here
from tests.design import travel as small

from tablewright.app.systems import SYSTEMS
from tablewright.design import States
from tablewright.design.cost import cost_of, usual_environment
from tablewright.design.markdown import markdown, states_text
from tablewright.english import lifetime
from tablewright.kit.system import System
from tablewright.systems.portal.design import DESIGNS as PORTAL


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_everything_that_a_design_declares_is_on_its_page(system: System) -> None:
    for design in system.designs:
        page = markdown(design, usual_environment(system.designs[0]))
        names = [
            *design.tables,
            *(index.name for index in design.indexes),
            *(plan.name for plan in design.plans),
        ]
        names += [shape.tag for shape in design.shapes] + [alarm.name for alarm in design.alarms]
        names += [name for shape in design.shapes for name in shape.fields]
        assert [name for name in names if f"`{name}`" not in page] == []
        texts = [text for shape in design.shapes for key in shape.keys for text in [key.template.text]]
        assert [text for text in texts if f"`{text}`" not in page] == []
        assert all(" ".join(each.reason.split()) in page for each in design.accepted)


_PYTHON = re.compile(
    r"\b(?:timedelta|datetime|Literal|Optional|Union|Annotated|NewType|Decimal|UUID\(|JsonValue|NoneType|frozenset|dict\[|list\[|"
    r"tuple\[|set\[|str\b|int\b|bool\b|float\b|bytes \||None\b|True\b|False\b|days?, \d+:\d\d)|<class|~T"
)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_page_has_plain_words_for_types_and_durations_and_no_python(system: System) -> None:
    for design in system.designs:
        page = markdown(design, usual_environment(design))
        # Names, templates and the words of the design's author are theirs.
        types = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
        cells = [cell for row in types for cell in row if not cell.startswith(("`", "| `"))]
        facts = [
            line
            for line in page.splitlines()
            if line.startswith(("- expires", "- deleted softly", "Version"))
        ]
        assert [text for text in (*cells, *facts) if _PYTHON.search(text)] == []


def test_the_page_of_the_example_reads_as_a_person_would_say_it(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    assert here("design", "new", file).code == 0
    page = here("design", "docs", file).out
    for words in (
        "1 table, 2 entities, 3 access patterns",
        "- expires: 10 years after `placed_at`",
        "one of open, paid, sent, cancelled",
        "list of Line (product, count, price)",
        "text, may be empty",
        "10 years, then deleted (tax law)",
    ):
        assert words in page, words


def test_a_page_says_which_entity_is_to_be_deleted_and_has_no_time_to_live(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    assert here("design", "new", file).code == 0
    kept = "10 years, then deleted (tax law)"
    assert f"| `order` | {kept} |" in here("design", "docs", file).out
    text = file.read_text("utf-8")
    line = next(line for line in text.splitlines() if line.lstrip().startswith("expires:"))
    file.write_text(text.replace(f"{line}\n", ""), "utf-8")
    page = here("design", "docs", file).out
    assert f"| `order` | {kept}; it has no time to live: a job has to delete it |" in page


@pytest.mark.parametrize(
    ("period", "words"),
    [(timedelta(days=3650), "10 years"), (timedelta(days=365), "1 year"), (timedelta(days=90), "90 days"),
     (timedelta(days=1), "1 day"), (timedelta(hours=36), "36 hours"), (timedelta(0), "0 days")],
)  # fmt: skip
def test_a_duration_is_said_in_its_largest_whole_unit(period: timedelta, words: str) -> None:
    assert lifetime(period) == words


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_row_of_a_table_has_the_columns_of_its_head(system: System) -> None:
    for design in system.designs:
        blocks = re.findall(r"(?:^\|.*\|\n?)+", markdown(design, usual_environment(design)), re.MULTILINE)
        for block in blocks:
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_what_a_million_calls_cost_agrees_with_the_bill() -> None:
    design = PORTAL[0]
    environment = usual_environment(design)
    page = markdown(design, environment)
    line = max(
        (line for line in cost_of(design, environment).lines if line.part == "reads"),
        key=lambda line: line.amount,
    )
    (row,) = re.findall(rf"^\| `{line.name}` .*$", page, re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    price, calls = Decimal(cells[-1]), Decimal(cells[-3].replace(" ", ""))
    assert calls * price / 1_000_000 == pytest.approx(line.amount, rel=Decimal("0.05"))


def test_states_are_lines_of_moves_and_who_makes_them() -> None:
    states = States(
        "stage", "draft", {"draft": {"booked": ("user", "staff")}, "booked": {"done": ("job",)}}, ("root",)
    )
    assert states_text(states).splitlines() == [
        "draft (start)", "  -> booked  by user, staff", "booked", "  -> done  by job", "done (end)",
        "any move: by root",
    ]  # fmt: skip


def test_the_command_writes_a_page_and_says_when_it_is_out_of_date(tmp_path: Path) -> None:
    file = tmp_path / "travel.md"
    assert here("design", "docs", "travel", "--to", file).code == 0
    assert file.read_text() == here("design", "docs", "travel").out
    assert here("design", "docs", "travel", "--to", file, "--check").code == 0
    file.write_text("old")
    ran = here("design", "docs", "travel", "--to", file, "--check")
    assert (ran.code, ran.out) == (1, f"{file}: out of date\n")
    assert here("design", "docs", "travel", "--environment", "moon").code == 2
    assert markdown(small.travel, usual_environment(small.travel)).startswith("# ")
