"""A process that is killed while it copies its tables elsewhere: no half of a copy is taken for a whole one.

The child (copy_child.py) begins a copy a day, in small pieces, and is killed somewhere in it. Whatever is told of at
the place is whole, and of one moment: each write put the same into both tables. The next run completes what was begun.
"""

import gzip
import hashlib
import json
import os
import random
import sys
import time
from base64 import b64encode
from pathlib import Path

from tests import fork_server
from tests.app.away import TABLES, copy_today, copying_of, made, put
from tests.crash import copy_child
from tests.crash.copy_child import DayClock

from tablewright import Engine, testing
from tablewright.app.copies.store import CopiedTable, CopyPlace, made_ready, moment_name, place_of
from tablewright.engine import verify_store

KILLS = 3
OLD_ITEMS = 200
PATIENCE = 60.0


def killed(store: Path, away: Path, day: int) -> None:
    told = store.with_name(f"told-{day}")
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    with told.open("wb") as out:
        process = fork_server.start(
            [sys.executable, copy_child.__file__, store, away, str(day)],
            stdout=out,
            env={**os.environ, "PYTHONPATH": paths},
        )
        try:
            give_up = time.monotonic() + PATIENCE
            while not told.read_text():
                assert process.poll() is None, "the child ended by itself"
                assert time.monotonic() < give_up, "the child does not answer"
                time.sleep(0.005)
            time.sleep(random.uniform(0, 0.3) if day > 1 else 0)
            assert process.poll() is None, "the child ended by itself"
        finally:
            process.kill()
            process.wait(PATIENCE)


def items_of(place: CopyPlace, table: CopiedTable) -> list[str]:
    """The names in a table's copy, each file compared with the manifest."""
    listed = place.read(f"{table.home}manifest-files.json")
    assert listed is not None
    found = []
    for line in listed.splitlines():
        file = json.loads(line)
        with place.open(file["dataFileS3Key"]) as stream:
            body = stream.read()
        assert b64encode(hashlib.md5(body).digest()).decode() == file["md5Checksum"]
        found += [json.loads(text)["Item"]["sk"]["S"] for text in gzip.decompress(body).splitlines()]
    assert len(found) == table.items
    return sorted(found)


def check_place(place: CopyPlace) -> None:
    for copy in place.copies():
        cats, dogs = (items_of(place, table) for table in copy.tables)
        assert cats == dogs, "both tables are of one moment"
        assert len(cats) >= OLD_ITEMS


def test_a_kill_in_the_middle_of_a_copy_leaves_no_half_that_is_taken_for_whole(tmp_path: Path) -> None:
    store, away = tmp_path / "store", tmp_path / "away"
    away.mkdir()
    place = made_ready(place_of(str(away)))
    with Engine.open(store, durability="relaxed", world=testing.Clock(copy_child.START).world()) as engine:
        made(engine)
        for number in range(OLD_ITEMS):
            put(engine, f"old {number}")
    halfway = 0
    for day in range(1, KILLS + 1):
        killed(store, away, day)
        assert verify_store(store) == []
        check_place(place)
        halfway += not any(copy.at.day == day + 1 for copy in place.copies())
    # A child that was done whenever it was killed would prove nothing.
    assert halfway > 0
    elsewhere = {place.bucket.name: place.where}
    # A minute later, and a day later: what was begun is completed, and what never will be goes.
    for later in (0.001, 1.0):
        clock = DayClock(KILLS + later)
        with Engine.open(store, durability="relaxed", world=clock.world(), elsewhere=elsewhere) as engine:
            engine.settle()
            copy_today(engine, copying_of(engine, clock, place))
        check_place(place)
        last = place.copies()[-1]
        assert last.at.date() == clock.now().date()
        assert [table.name for table in last.tables] == list(TABLES)
    there = {key.split("/")[2] for key in place.keys("data/")}
    assert there == {moment_name(copy.at) for copy in place.copies()}
