"""`tablewright design heat`: the table, JSON, the picture, and live tables beside the prediction."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.command import here

from tablewright import Engine
from tablewright.client import embedded
from tablewright.mapping import Db
from tablewright.systems.travel.design import TRAVEL


def test_a_load_that_is_served_ends_with_code_0_and_one_that_is_throttled_with_1() -> None:
    calm, hot = (
        here("design", "heat", "portal", "--times", times, "--seconds", "60") for times in ("1", "2000")
    )
    assert calm.code == 0
    assert calm.out.startswith("portal at 1 times its load:")
    assert calm.out.endswith("No request is throttled.\n")
    assert hot.code == 1
    (row,) = (line for line in hot.out.splitlines() if line.startswith("portal_desk.OutboxIndex {state}"))
    assert "5 shards (new items are the last in the sort key)" in row


def test_every_figure_of_a_column_has_the_same_form() -> None:
    """Thousands in groups, units and shares with two places, in each row and in the first line."""
    ran = here("design", "heat", "portal", "--times", "2000", "--seconds", "60")
    head, _, _, *rows = ran.out.splitlines()
    assert head.startswith("portal at 2 000 times its load: ")
    figure = r"\d{1,3}( \d{3})*\.\d\d"
    columns = re.compile(rf".* {figure} +{figure} % +{figure} % .*")
    assert len(rows) > 3
    assert [row for row in rows if not columns.fullmatch(row)] == []


def test_json_has_every_key_and_the_number_of_requests_that_was_asked_for() -> None:
    ran = here("design", "heat", "travel", "--requests", "100000000", "--seconds", "60", "--json")
    told = json.loads(ran.out)
    assert told["requests"] == pytest.approx(10**8, rel=0.02)
    assert {"table", "key", "kind", "throttledShare", "first", "shards", "cure"} <= told["keys"][0].keys()
    assert told["keys"][0]["throttledShare"] > 0


def test_the_page_on_scale_has_what_the_command_prints() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    block = page.partition("`tablewright design heat portal --times 1000`:\n\n```\n")[2].partition("```")[0]
    ran = here("design", "heat", "portal", "--times", "1000")
    assert len(block.splitlines()) == 4
    assert block in ran.out


def test_the_picture_is_written_to_its_file(tmp_path: Path) -> None:
    file = tmp_path / "heat.svg"
    ran = here("design", "heat", "travel", "--seconds", "60", "--picture", file)
    assert (ran.code, ran.err) == (0, f"tablewright: wrote {file}\n")
    assert ElementTree.fromstring(file.read_text()).tag.endswith("svg")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--data", "."), "--data is for live tables; add --live"),
        (("--times", "2", "--requests", "10"), "not allowed with argument"),
        (("--zipf", "x"), "must be a number from 0 to 5"),
        (("--live", "--environment", "moon", "--data", "."), "travel has no environment moon"),
    ],
)
def test_a_misuse_names_the_option(options: tuple[str, ...], words: str) -> None:
    ran = here("design", "heat", "travel", *options)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_live_tables_are_shown_beside_the_prediction_and_keys_only_on_request(tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        call = embedded(engine)
        Db(call, TRAVEL).create_tables()
        for number in range(5):
            item = {"PK": {"S": f"USER#u{number % 2}"}, "SK": {"S": f"VISIT#{number}"}}
            call("PutItem", {"TableName": "skratch-data", "Item": item})
    ran = here("design", "heat", "travel", "--seconds", "60", "--live", "--data", tmp_path)
    assert ran.code == 0
    row = next(line.split() for line in ran.out.splitlines() if "items," in line)
    assert row[:2] == ["skratch-data", "USER#{user_id}"]
    assert "USER#u0" not in ran.out
    ran = here(
        "design", "heat", "travel", "--seconds", "60", "--live", "--data", tmp_path, "--show-keys", "--json"
    )
    (live,) = json.loads(ran.out)["live"]
    assert (live["keys"], live["itemsRead"], live["largest"][0]["key"]) == (2, 5, "USER#u0")
    assert live["predictedKeys"] > 2
