"""`tablewright db copies`: what is at a place, and the way back from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.app.away import A_DAY, STORE, copy_today, copying_of, home, names, put
from tests.cli.command import here
from tests.cli.stores import server_of

from tablewright import Engine, testing
from tablewright.app.copies.restore import TAG, TablesThere, refuse_there, restore_tables
from tablewright.app.copies.store import CopyPlace, place_of
from tablewright.cli.db.copies_restore import temporary_name
from tablewright.client import embedded
from tablewright.engine import verify_store
from tablewright.world import machine_time


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """A place with the copies of two days: 30 pets in each of two tables, and 31."""
    clock = testing.Clock()
    (tmp_path / "away").mkdir()
    with home(str(tmp_path / "away"), clock) as (engine, copying):
        for number in range(30):
            put(engine, f"pet {number:02d}")
        for day in range(2):
            clock.move(timedelta(seconds=2))
            copy_today(engine, copying)
            clock.move(A_DAY)
            put(engine, f"pet of day {day}")
    return tmp_path / "away"


def test_whole_copies_are_listed(away: Path, tmp_path: Path) -> None:
    ran = here("db", "copies", "list", away)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["made", "2026-01-01", "2026-01-02"]
    told = json.loads(here("db", "copies", "list", away, "--json").out)
    assert [[table["items"] for table in copy["tables"]] for copy in told] == [[30, 30], [31, 31]]
    assert set(told[0]) == {"at", "state", "store", "where", "tables", "items", "bytes"}
    assert set(told[0]["tables"][0]) == {"name", "items", "bytes"}
    assert (told[0]["state"], told[0]["items"], told[0]["bytes"] > 1000) == ("whole", 60, True)
    assert (Path(told[0]["where"]) / "AWSDynamoDB").is_dir()
    (tmp_path / "nothing" / "tablewright-copies").mkdir(parents=True)
    assert here("db", "copies", "list", tmp_path / "nothing").code == 1
    assert "does not exist" in here("db", "copies", "list", tmp_path / "nowhere").err


def test_a_copy_that_is_under_way_is_listed_as_what_it_is(away: Path) -> None:
    place, now = place_of(str(away)), machine_time()
    place.put(f"begun/{STORE}.json", json.dumps({"at": now.isoformat()}).encode())
    place.put("begun/others.json", json.dumps({"at": (now - 3 * A_DAY).isoformat()}).encode())
    place.put("begun/damaged.json", b"{")
    ran = here("db", "copies", "list", away)
    assert [line.split("  ")[1].strip() for line in ran.out.splitlines()[3:]] == ["cut off", "under way"]
    told = json.loads(here("db", "copies", "list", away, "--json").out)
    assert [(one["store"], one["state"], one["tables"]) for one in told[2:]] == [
        ("others", "cut off", None),
        (STORE, "under way", None),
    ]


def test_who_reads_no_further_and_who_stops_it_get_no_words(
    away: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [sys.executable, "-m", "tablewright", "db", "copies", "list", away],
        stdout=write, stderr=subprocess.PIPE, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, b"")

    def stopped(*_: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(CopyPlace, "copies", stopped)
    assert here("db", "copies", "list", away).code == 130


def test_a_place_where_nothing_was_ever_copied_says_so(tmp_path: Path) -> None:
    ran = here("db", "copies", "list", tmp_path)
    assert ran.code == 2
    assert "no copies found at" in ran.err


def test_all_tables_come_back_into_a_new_directory(away: Path, tmp_path: Path) -> None:
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes")
    assert ran.code == 0, ran
    assert "item counts match the copy" in ran.out
    assert verify_store(tmp_path / "new") == []
    assert [path.name for path in tmp_path.glob("new*")] == ["new"]
    assert (tmp_path / "new" / "copies.id").read_text().strip() == STORE
    with Engine.open(tmp_path / "new") as engine:
        assert names(engine, "cats") == names(engine, "dogs")
        assert len(names(engine, "cats")) == 31
        table = engine.call("DescribeTable", {"TableName": "dogs"})["Table"]
        assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == ["by-colour"]
        assert [index["IndexName"] for index in table["LocalSecondaryIndexes"]] == ["local"]
        assert engine.call("ListTagsOfResource", {"ResourceArn": table["TableArn"]})["Tags"] == []


def test_a_day_can_be_named_and_without_yes_only_the_plan_is_shown(away: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    ran = here("db", "copies", "restore", away, "--day", "2026-01-01", "--data", new)
    assert ran.code == 0
    assert "as of 2026-01-01" in ran.out
    assert "--yes" in ran.err
    assert list(tmp_path.glob("new*")) == []
    ran = here("db", "copies", "restore", away, "--day", "2026-01-01", "--data", new, "--yes", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert told["tables"][0] == {"table": "cats", "copied": 30, "restored": 30}
    assert told["is_equal"] is True
    assert told["at"] == json.loads(here("db", "copies", "list", away, "--json").out)[0]["at"]
    ran = here("db", "copies", "restore", away, "--day", "2026-01-09", "--data", tmp_path / "other", "--yes")
    assert ran.code == 2
    assert "2026-01-01, 2026-01-02" in ran.err
    ran = here("db", "copies", "restore", away, "--store", "nobody's", "--data", tmp_path / "other")
    assert f"2026-01-02 of {STORE}" in ran.err


def test_nothing_that_is_there_is_overwritten(away: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine").write_text("mine")
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes")
    assert ran.code == 2
    assert "does not overwrite" in ran.err
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["mine"]
    assert here("db", "copies", "restore", away, "--yes").code == 2


def test_a_server_gets_the_tables_of_a_copy_once(away: Path, tmp_path: Path) -> None:
    with server_of(tmp_path / "served") as url:
        ran = here("db", "copies", "restore", away, "--endpoint", url, "--yes")
        assert ran.code == 0, ran
        again = here("db", "copies", "restore", away, "--endpoint", url, "--yes")
        assert again.code == 2
        assert "cats, dogs already exist" in again.err
    with Engine.open(tmp_path / "served") as engine:
        assert len(names(engine, "dogs")) == 31


class _Cut(Exception):
    pass


def test_a_restore_that_was_cut_off_is_gone_on_from_and_no_half_of_it_is_a_directory(
    away: Path, tmp_path: Path
) -> None:
    place = place_of(str(away))
    copy = place.copies()[-1]
    with Engine.open(tmp_path / temporary_name("new", copy)) as engine:

        def cut(verb: str, request: Any) -> dict[str, Any]:
            if verb == "BatchWriteItem" and "dogs" in request["RequestItems"]:
                raise _Cut
            answer: dict[str, Any] = embedded(engine)(verb, request)
            return answer

        with pytest.raises(_Cut):
            restore_tables(cut, place, copy)
        arn = engine.call("DescribeTable", {"TableName": "dogs"})["Table"]["TableArn"]
        assert [tag["Key"] for tag in engine.call("ListTagsOfResource", {"ResourceArn": arn})["Tags"]] == [
            TAG
        ]
    assert not (tmp_path / "new").exists()
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes")
    assert ran.code == 0, ran
    with Engine.open(tmp_path / "new") as engine:
        assert len(names(engine, "cats")) == len(names(engine, "dogs")) == 31


def test_a_restore_that_was_cut_off_after_its_tables_is_gone_on_from(away: Path, tmp_path: Path) -> None:
    place = place_of(str(away))
    copy = place.copies()[-1]
    with Engine.open(tmp_path / temporary_name("new", copy)) as engine:
        restore_tables(embedded(engine), place, copy)
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes")
    assert ran.code == 0, ran


def test_half_of_a_restore_behind_an_endpoint_is_gone_on_from_by_its_own_copy_alone(away: Path) -> None:
    place = place_of(str(away))
    first, last = place.copies()
    with testing.engine() as engine:

        def cut(verb: str, request: Any) -> dict[str, Any]:
            if verb == "BatchWriteItem" and "dogs" in request["RequestItems"]:
                raise _Cut
            answer: dict[str, Any] = embedded(engine)(verb, request)
            return answer

        with pytest.raises(_Cut):
            restore_tables(cut, place, last)
        refuse_there(embedded(engine), last)  # the table that was filled is not in the way of the other
        with pytest.raises(TablesThere, match="cats, dogs already exist"):
            refuse_there(embedded(engine), first)


def test_a_copy_that_was_damaged_is_refused(away: Path, tmp_path: Path) -> None:
    place = place_of(str(away))
    home_of_cats = place.copies()[-1].tables[0].home
    (data,) = list(place.keys(f"{home_of_cats}data/"))
    place.put(data, b"something else")
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes")
    assert ran.code == 2
    assert "its checksum is another" in ran.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("which", "now", "told"),
    [
        ("manifest-files.json", b'{"itemCount": 3', "is lost, or was changed"),
        ("manifest-files.json", b"", "is lost, or was changed"),
        ("manifest-files.json", None, "is lost, or was changed"),
        ("data/", None, "is lost, and part of the copy of cats"),
    ],
)
def test_a_copy_that_lost_a_part_says_so_and_makes_no_directory(
    away: Path, tmp_path: Path, which: str, now: bytes | None, told: str
) -> None:
    place = place_of(str(away))
    (key,) = place.keys(place.copies()[-1].tables[0].home + which)
    place.remove(key)
    if now is not None:
        place.put(key, now)
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes")
    assert ran.code == 2
    assert told in ran.err
    assert "choose another day" in ran.err
    assert not (tmp_path / "new").exists()


def test_a_directory_may_be_where_one_stands_or_behind_a_link_but_no_mount(
    away: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert here("db", "copies", "restore", away, "--data", tmp_path / "link", "--yes").code == 0
    assert verify_store(tmp_path / "real") == []
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert here("db", "copies", "restore", away, "--data", ".", "--yes").code == 0
    assert verify_store(tmp_path / "here") == []
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "mount")
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "mount", "--yes")
    assert ran.code == 2
    assert "name a directory in it" in ran.err


def test_a_file_beside_the_tables_cannot_leave_the_new_directory(away: Path, tmp_path: Path) -> None:
    place = place_of(str(away))
    place.put(f"beside/{STORE}/travel/../../../escaped", b"x")
    ran = here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes")
    assert ran.code == 2
    assert "is not the name of a file" in ran.err
    assert not list(tmp_path.glob("escaped"))
    assert list(tmp_path.glob("new*")) == [], "it is looked at before anything is made"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("store-1", "../../x"),
        ("2026-01-02T00:00:04Z", "2026-01-02T00:00:04"),
        ("2026-01-02", "2040-01-02"),
        ("{", ""),
    ],
)
def test_what_is_no_copy_is_told_and_hides_no_other(away: Path, tmp_path: Path, was: str, now: str) -> None:
    place = place_of(str(away))
    entry = list(place.keys("whole/"))[-1]
    place.put(entry, (place.read(entry) or b"").replace(was.encode(), now.encode()))
    ran = here("db", "copies", "list", away)
    assert ran.code == 0
    assert f"{entry} at {away} does not describe a copy" in ran.err
    assert [line.split()[0] for line in ran.out.splitlines()] == ["made", "2026-01-01"]
    assert here("db", "copies", "restore", away, "--data", tmp_path / "new", "--yes").code == 0


def test_copies_of_several_stores_at_one_place_are_told_apart(away: Path, tmp_path: Path) -> None:
    clock = testing.Clock()
    with home(str(away), clock) as (engine, copying):
        copy_today(engine, copying_of(engine, clock, copying.place, "other-store"))
    ran = here("db", "copies", "restore", away, "--day", "2026-01-01", "--data", tmp_path / "new")
    assert ran.code == 2
    assert "other-store, store-1" in ran.err
    restore = ("db", "copies", "restore", away, "--store", "other", "--data", tmp_path / "new")
    assert "2 tables" in here(*restore).out
