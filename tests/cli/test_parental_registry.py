"""`tablewright parental registry`: the list of apps put in, kept up to date (PC-17)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import here
from tests.cli.stores import server_of

from tablewright.app.runtime import open_app
from tablewright.app.systems import PARENTAL
from tablewright.engine import Engine
from tablewright.systems.parental.model import App
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.seed import OPERATOR

LOAD = ("parental", "registry", "load")
OURS = {"appName": "Puzzles", "appCategory": "Gaming", "domains": ["*.puzzles.example"], "defaultPorts": []}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A closed store with the tables of parental controls, and no app."""
    home = tmp_path / "store"
    open_app(home, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False).close()
    return home


def edited(store: Path) -> None:
    """TikTok as an operator wrote it."""
    with open_app(store, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False) as runtime:
        parental: Parental = runtime.running[0].service
        fields = {"appCategory": "Social Media", "domains": ["tiktok.com"], "defaultPorts": []}
        parental.registry.save("TikTok", fields, OPERATOR)


def listed(store: Path) -> dict[str, App]:
    with open_app(store, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False) as runtime:
        parental: Parental = runtime.running[0].service
        return {app.app_name: app for app in parental.registry.all()}


def file_of(path: Path, *apps: Any, version: Any = 1) -> Path:
    path.write_text(json.dumps({"dataVersion": version, "apps": list(apps)}))
    return path


def test_loading_twice_is_loading_once(store: Path) -> None:
    first = here(*LOAD, "--data", store, "--json")
    assert first.code == 0, first.err
    created = json.loads(first.out)["created"]
    assert created[:5] == ["TikTok", "YouTube", "Instagram", "Snapchat", "Fortnite"]
    again = here(*LOAD, "--data", store)
    assert (again.code, again.out) == (0, "all apps already match the list\n")
    apps = listed(store)
    assert len(apps) == len(created) > 100
    assert apps["TikTok"].popularity == 1


def test_a_plan_does_nothing(store: Path) -> None:
    plan = here(*LOAD, "--data", store, "--plan")
    assert "apps would be created: TikTok, YouTube," in plan.out
    assert listed(store) == {}
    told = json.loads(here(*LOAD, "--data", store, "--plan", "--json").out)
    assert (told["done"], len(told["created"]) > 100) == (False, True)


def test_what_an_operator_wrote_stays_unless_forced_and_agreed_to(store: Path) -> None:
    here(*LOAD, "--data", store)
    edited(store)
    kept = here(*LOAD, "--data", store)
    assert kept.out == "1 app kept with an operator's edits: TikTok\n"
    asked = here(*LOAD, "--data", store, "--force")
    assert "1 app would be overwritten despite edits (also counted as updated): TikTok" in asked.out
    assert "dry run; add --yes to apply" in asked.err
    assert listed(store)["TikTok"].domains == ["tiktok.com"]
    told = json.loads(here(*LOAD, "--data", store, "--force", "--json").out)
    assert (told["overwritten"], told["done"]) == (["TikTok"], False)
    assert listed(store)["TikTok"].domains == ["tiktok.com"]
    done = here(*LOAD, "--data", store, "--force", "--yes")
    assert done.code == 0
    assert "tiktokcdn.com" in listed(store)["TikTok"].domains


def test_a_list_of_ones_own_is_loaded_and_brought_up_to_date_by_its_version(
    store: Path, tmp_path: Path
) -> None:
    file = file_of(tmp_path / "ours.json", OURS)
    assert here(*LOAD, file, "--data", store).out == "1 app created: Puzzles\n"
    more = {**OURS, "domains": ["puzzles.example", "puzzles.test"]}
    assert here(*LOAD, file_of(file, more), "--data", store).out == "all apps already match the list\n"
    assert here(*LOAD, file_of(file, more, version=2), "--data", store).out == "1 app updated: Puzzles\n"
    assert listed(store)["Puzzles"].domains == ["puzzles.example", "puzzles.test"]


@pytest.mark.parametrize(
    ("apps", "version", "said"),
    [
        ([{**OURS, "domains": ["not a domain"]}], 1, "Puzzles (domains[0])"),
        ([{**OURS, "ipRanges": ["300.0.0.0/8"]}], 1, "Puzzles (ipRanges[0].cidr)"),
        ([{**OURS, "speed": 3}], 1, "Puzzles (speed)"),
        ([OURS, {**OURS, "appName": "PUZZLES"}], 1, "PUZZLES is in the list twice"),
        ([{"appCategory": "Gaming"}], 1, "Entry 1 of the list has no appName"),
        ([OURS], 0, "A list of apps is"),
        ([OURS], "1", "A list of apps is"),
    ],
)
def test_a_list_that_is_wrong_is_refused_whole_with_where_it_is_wrong(
    store: Path, tmp_path: Path, apps: list[Any], version: Any, said: str
) -> None:
    good = {**OURS, "appName": "Good", "domains": ["good.example"]}
    ran = here(*LOAD, file_of(tmp_path / "x.json", good, *apps, version=version), "--data", store)
    if "Entry 1" in said:
        said = said.replace("1", "2")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert listed(store) == {}


def test_a_file_that_is_no_list_and_one_that_is_not_there_are_refused(store: Path, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("no JSON")
    assert "A list of apps is" in here(*LOAD, tmp_path / "x.json", "--data", store).err
    (tmp_path / "y.json").write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in here(*LOAD, tmp_path / "y.json", "--data", store).err
    ran = here(*LOAD, tmp_path / "none.json", "--data", store)
    assert (ran.code, "none.json" in ran.err) == (2, True)


def test_a_store_without_parental_controls_is_left_as_it_is(tmp_path: Path) -> None:
    Engine.open(tmp_path / "bare", durability="relaxed").close()
    ran = here(*LOAD, "--data", tmp_path / "bare")
    assert (ran.code, ran.out) == (2, "")
    assert "table ApplicationRegistry does not exist" in ran.err
    assert here("db", "tables", "--data", tmp_path / "bare").out.startswith("no tables")


def test_a_server_is_asked_by_its_endpoint(store: Path) -> None:
    with server_of(store) as url:
        assert "apps created" in here(*LOAD, "--endpoint", url).out
    assert "Fortnite" in listed(store)
