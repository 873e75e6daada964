"""`tablewright db compact`: the file shrinks to what it holds, and is the old or the new one whenever it is killed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cli.command import here
from tests.cli.stores import PETS, server_of, store_of_pets

from tablewright.engine import Engine, verify_store
from tablewright.engine.storage import compact as storage_compact
from tablewright.engine.storage.compact import COPY, DiskTooFull, compact, file_space
from tablewright.engine.storage.sqlite import FILE

ITEMS = 400


class Usage(NamedTuple):
    free: int


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of some megabytes, most of them gaps."""
    path = store_of_pets(tmp_path / "store")
    with Engine.open(path, durability="relaxed") as engine:
        engine.call(
            "CreateTable", PETS | {"TableName": "heavy", "StreamSpecification": {"StreamEnabled": False}}
        )
        for number in range(ITEMS):
            item = {
                "owner": {"S": "x"},
                "name": {"S": str(number)},
                "age": {"N": "1"},
                "text": {"S": "x" * 9000},
            }
            engine.call("PutItem", {"TableName": "heavy", "Item": item})
        engine.call("DeleteTable", {"TableName": "heavy"})
        engine.settle()
    return path


def size_of(store: Path) -> int:
    return (store / FILE).stat().st_size


def contents(store: Path) -> object:
    with Engine.open(store) as engine:
        return engine.call("Scan", {"TableName": "pets"}), engine.call("DescribeTable", {"TableName": "pets"})


def test_the_plan_is_shown_first_and_changes_nothing(store: Path) -> None:
    before = size_of(store)
    ran = here("db", "compact", "--data", store)
    assert ran.code == 1
    assert "is free; it will be rewritten" in ran.out
    assert "--yes" in ran.err
    assert size_of(store) == before


def test_the_file_shrinks_and_holds_the_same(store: Path) -> None:
    before, held = size_of(store), contents(store)
    ran = here("db", "compact", "--data", store, "--yes", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert told["bytes_before"] == before
    assert (
        told["bytes"] == size_of(store) < before * 0.6
    )  # half of it was the journal's, which stays for a day
    assert contents(store) == held
    assert verify_store(store) == []
    assert not (store / COPY).exists()
    # A second time there is nothing to gain, and it is still the same store.
    assert here("db", "compact", "--data", store, "--yes").code == 0
    assert contents(store) == held


def test_the_stores_of_further_regions_are_done_as_well(store: Path) -> None:
    further = store / "regions" / "eu-west-1"
    shutil.copytree(store, further)
    before, held = size_of(further), contents(further)
    plan = here("db", "compact", "--data", store)
    assert f"{store} and eu-west-1 is " in plan.out
    told = json.loads(here("db", "compact", "--data", store, "--yes", "--json").out)
    assert told["bytes_before"] == 2 * before
    assert told["bytes"] == size_of(store) + size_of(further)
    assert size_of(further) < before * 0.6
    assert contents(further) == held


def test_a_further_store_that_is_open_keeps_all_as_they_are(store: Path) -> None:
    further = store / "regions" / "eu-west-1"
    shutil.copytree(store, further)
    before = size_of(store)
    with server_of(further):
        ran = here("db", "compact", "--data", store, "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert size_of(store) == before


def test_a_store_that_a_server_has_open_is_refused(store: Path) -> None:
    with server_of(store):
        ran = here("db", "compact", "--data", store, "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert "is open" in ran.err


def test_a_directory_without_a_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    ran = here("db", "compact", "--data", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_for_the_copy_is_refused_before_anything_is_written(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(free=10))
    with pytest.raises(DiskTooFull, match="10 are free there"):
        compact(store)
    assert not (store / COPY).exists()


def test_progress_is_told_up_to_the_end(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_compact, "_STEPS", 10)
    told: list[tuple[int, int]] = []
    room = file_space(store)
    compact(store, lambda done, total: told.append((done, total)))
    assert told[-1] == (room.size - room.free, room.size - room.free)
    assert told == sorted(told)


SLOW = """
import sys, time
from tablewright.engine import storage_compact
storage_compact._STEPS = 50
def told(done, total):
    print(done, flush=True)
    time.sleep(0.01)
storage_compact.compact(sys.argv[1], told)
"""


@pytest.mark.parametrize("moment", ["while it copies", "between copy and rename", "after the rename"])
def test_killed_at_any_point_the_store_is_whole_and_can_be_compacted_again(store: Path, moment: str) -> None:
    held = contents(store)
    program = {
        "while it copies": SLOW,
        "between copy and rename": "import os, pathlib\npathlib.Path.rename = lambda *a: os._exit(9)\n"
        + SLOW,
        "after the rename": (
            "import os\nfrom tablewright.engine.storage.sqlite import Storage\nStorage.close = lambda self: os._exit(9)"
            " if not os.path.exists(str(self._file) + '.compacting') else None\n" + SLOW
        ),
    }[moment]
    process = subprocess.Popen([sys.executable, "-c", program, str(store)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    if moment == "while it copies":
        process.stdout.readline()
        process.kill()
    process.wait(30)
    process.stdout.close()
    assert process.returncode != 0
    assert verify_store(store) == []
    assert contents(store) == held
    compact(store)
    assert contents(store) == held
    assert verify_store(store) == []
    assert not (store / COPY).exists()


def test_ctrl_c_leaves_the_store_as_it_was_and_nothing_beside_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_compact, "_STEPS", 50)
    before, held = size_of(store), contents(store)

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compact(store, interrupted)
    assert (size_of(store), contents(store)) == (before, held)
    assert not (store / COPY).exists()
